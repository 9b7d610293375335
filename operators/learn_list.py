"""Learn a chain's list from the armature's motion."""

from dataclasses import replace
from functools import partial
from typing import Any, Final

import bpy
import numpy as np

from .. import bridge
from ..bridge.turns import in_main_thread
from ..core import CoreError
from ..core.contribution import Learned, learning
from ..core.formats.chain_list import NUMBERS, Ccd
from ..core.steps import run_steps
from ..edits.chains import chain_method, tune, write_actuations, write_numbers
from ..edits.learn import action_of
from ..edits.words import counted
from .chains import ListTool, active_chain
from .lasting import Lasting
from .tool import fill_scene_range, frame_property

_NUMBERS: Final = {name: getattr(Ccd(), name) for name in NUMBERS} | {"successive": True}  # for learning


class POISE_OT_learn_list(ListTool, Lasting, bpy.types.Operator):
    """Find the contribution list with which the chain moves as in these frames. Esc cancels"""

    bl_idname = "poise.learn_list"
    bl_label = "Learn List from Action"
    bl_options = {"UNDO"}  # not REGISTER: adjusting would learn again
    tick = budget = 0.2  # seconds of learning between two draws, which may take as long

    frame_start: frame_property("Start", "First frame to learn from", 1)
    frame_end: frame_property("End", "Last frame to learn from", 250)

    @classmethod
    def need(cls, context: Any, armature: Any) -> None:
        super().need(context, armature)
        action_of(armature)

    def invoke(self, context: Any, event: bpy.types.Event) -> set[str]:
        fill_scene_range(context, self)
        return context.window_manager.invoke_props_dialog(self, confirm_text="Learn")

    def execute(self, context: Any) -> set[str]:
        fill_scene_range(context, self)
        return super().execute(context)

    def escape(self) -> set[str]:
        return self.refuse("Canceled; the list was not changed", "INFO")

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        chain, rig = active_chain(armature), bridge.read_rig(armature)
        motion, _ = bridge.read_motion(armature, rig, np.arange(self.frame_start, self.frame_end + 1))
        skeleton, method = chain_method(armature, chain, rig.skeleton, motion.pose)
        method = replace(method, **_NUMBERS)
        steps = learning(skeleton, motion.pose, chain.effector, chain.base, tuple(chain.point), method)
        owner, name = armature.name, chain.name
        learned = run_steps(steps, bridge.check_stopped)
        return in_main_thread(partial(_give, context, owner, name, learned))


def _give(context: Any, owner: str, name: str, learned: Learned) -> tuple[str, str]:
    """Give the chain what was learned; return the report. Raises CoreError if it is gone."""
    armature: Any = bpy.data.objects.get(owner)
    chain = armature.poise_chains.get(name) if armature is not None else None
    if chain is None:
        raise CoreError(f'The chain "{name}" was removed while learning. Nothing was changed')
    write_actuations(chain, learned.actuations)
    write_numbers(chain, _NUMBERS)
    tune(context, armature, chain)
    error, uniform = np.degrees([learned.error, learned.uniform_error]).tolist()
    return "INFO", (
        f"Learned a contribution list of {counted(len(learned.actuations), 'line')}. It differs from the motion by "
        f"{error:.1f} degrees per joint, a list with equal shares by {uniform:.1f} degrees"
    )
