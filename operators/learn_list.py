"""Learn a chain's list from the armature's motion."""

from collections.abc import Generator
from dataclasses import replace
from time import perf_counter
from typing import Any, Final

import bpy
import numpy as np
from bpy.props import IntProperty

from .. import bridge
from ..core import CoreError
from ..core.contribution import Learned, learning
from ..core.formats.chain_list import NUMBERS, Ccd
from ..core.formats.table import FRAME_LIMIT
from ..core.steps import finish
from ..edits.chains import chain_method, tune, write_actuations, write_numbers
from ..edits.words import counted
from .chains import ListTool, active_chain
from .tool import action_of, fill_scene_range
from .waiting import Waiting

_TICK: Final = 0.2  # seconds of learning between two draws, which may take as long
_NUMBERS: Final = {name: getattr(Ccd(), name) for name in NUMBERS} | {"successive": True}  # for learning
_RANGE: Final[dict[str, Any]] = {"min": -FRAME_LIMIT, "max": FRAME_LIMIT, "options": {"SKIP_SAVE"}}


class POISE_OT_learn_list(ListTool, bpy.types.Operator):
    """Find the list by which the chain, led along its effector's path, moves as in these frames; Esc ends it"""

    bl_idname = "poise.learn_list"
    bl_label = "Learn List"
    bl_options = {"UNDO"}  # not REGISTER: adjusting would learn again

    frame_start: IntProperty(name="Start", description="First frame to learn from", default=1, **_RANGE)
    frame_end: IntProperty(name="End", description="Last frame to learn from", default=250, **_RANGE)

    @classmethod
    def need(cls, context: Any, armature: Any) -> None:
        super().need(context, armature)
        action_of(armature)

    def invoke(self, context: Any, event: bpy.types.Event) -> set[str]:
        fill_scene_range(context, self)
        return context.window_manager.invoke_props_dialog(self, confirm_text="Learn")

    def execute(self, context: Any) -> set[str]:
        fill_scene_range(context, self)
        try:
            self._begin(context.active_object)
            if not bpy.app.background:
                self._waiting = Waiting(context, self, None, _TICK)
                return {"RUNNING_MODAL"}
            return self._keep(context, finish(self._steps))
        except CoreError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}

    def modal(self, context: Any, event: Any) -> set[str]:
        if event.type == "ESC" and event.value == "PRESS":
            self.cancel(context)
            self.report({"INFO"}, "Learning was ended; the list is as it was")
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        end = perf_counter() + _TICK
        share = 0.0
        try:
            while perf_counter() < end:
                share = next(self._steps)
        except StopIteration as done:
            self.cancel(context)
            return self._keep(context, done.value)
        except BaseException:
            self.cancel(context)
            raise
        self._waiting.show(context, share)
        context.workspace.status_text_set(f"Learning the list: {share:.0%}, Esc ends it")
        return {"RUNNING_MODAL"}

    def cancel(self, context: Any) -> None:
        """Remove what learning shows."""
        self._waiting.end(context)

    def _begin(self, armature: Any) -> None:
        """Read the motion, and begin to learn."""
        chain, rig = active_chain(armature), bridge.read_rig(armature)
        motion, _ = bridge.read_motion(armature, rig, np.arange(self.frame_start, self.frame_end + 1))
        self._object, self._chain = armature.name, chain.name
        skeleton, method = chain_method(armature, chain, rig.skeleton, motion.pose)
        self._steps: Generator[float, None, Learned] = learning(
            skeleton, motion.pose, chain.effector, chain.base, tuple(chain.point), replace(method, **_NUMBERS)
        )

    def _keep(self, context: Any, learned: Learned) -> set[str]:
        armature: Any = bpy.data.objects.get(self._object)
        chain = armature.poise_chains.get(self._chain) if armature is not None else None
        if chain is None:
            self.report({"WARNING"}, f'The chain "{self._chain}" is gone; what was learnt is lost')
            return {"CANCELLED"}
        write_actuations(chain, learned.actuations)
        write_numbers(chain, _NUMBERS)
        tune(context, armature, chain)
        error, uniform = np.degrees([learned.error, learned.uniform_error]).tolist()
        self.report(
            {"INFO"},
            f"A list of {counted(len(learned.actuations), 'line')} follows the motion to {error:.1f} degrees a joint; "
            f"one that all joints share alike to {uniform:.1f}",
        )
        return {"FINISHED"}


CLASSES = (POISE_OT_learn_list,)
