"""Switch dragged limbs to FK where IK cannot show the pose of a drag, and the setting allows it."""

from dataclasses import replace
from typing import Any, Final, Protocol

import numpy as np

from ... import bridge
from ...bridge import ControlledBody, Misfit, Switch, autokey
from ...core import CoreError, Pose
from .body import DragBody
from .writer import DragWriter

_NEAR: Final = 1e-3  # of the skeleton's size: a limb that is shown no further beside its pose stays on IK
_TURNED: Final = float(np.radians(0.5))  # likewise


class _Drag(Protocol):
    """A drag session."""

    body: DragBody
    pose: Pose
    start: Pose
    writer: DragWriter

    def pose_by(self, writer: DragWriter) -> None:
        """Pose by other controls."""
        ...

    def renew(self) -> None:
        """Prepare the problem for the present settings."""
        ...


class FKLimbs:
    """The dragged limbs of a drag that were switched to FK, and a sentence about each limb that should be.

    said: by the part at the limb's end
    """

    def __init__(self) -> None:
        self.switches: list[Switch] = []
        self.said: dict[int, str] = {}

    def show(self, context: Any, armature: Any, drag: _Drag) -> None:
        """Switch dragged limbs to FK whose IK does not show the pose; the drag goes on by their FK controls.

        The controls of their IK get their channels from before the drag.
        """
        for end in drag.body.dragged_limbs():
            drag.writer.write(armature, drag.pose)
            controlled = drag.writer.controlled
            assert controlled is not None
            misfit = _misfit(context, armature, controlled, controlled, drag.pose, end)
            if not misfit.beyond(_NEAR * drag.body.skeleton.size, _TURNED):
                continue
            body, beside = drag.body, misfit.sentence(armature, drag.body.skeleton)
            switch = bridge.find_switch(armature, body.rig, body.roles_of_rig, controlled, end, body.besides)
            if switch is None:
                self.said[end] = f"{beside}; it stays on IK: no property switches it alone to FK"
                continue
            why = autokey.why_no_step(context, armature, switch.path) or _use(context, armature, drag, switch, end)
            if why is not None:
                self.said[end] = f"{beside}; it stays on IK: {why}"
                continue
            self.switches.append(switch)
            keyed = context.scene.tool_settings.use_keyframe_insert_auto
            here = f" at frame {context.scene.frame_current_final:g}" if keyed else ""
            self.said[end] = f'Switched "{switch.bone}" to FK{here}: {beside}'


def _use(context: Any, armature: Any, drag: _Drag, switch: Switch, end: int) -> str | None:
    """Switch a limb to FK and go on with a drag; if FK does not show it either, undo that and return a reason."""
    body, before = drag.body, (drag.writer, drag.pose, drag.start)
    limbs = drag.writer.controlled
    assert limbs is not None
    channels = bridge.read_channels(armature)
    bridge.write_channels(armature, body.channels)
    switch.use_fk(armature, True)
    try:
        drag.pose_by(DragWriter(body, switch.body))
        drag.writer.write(armature, drag.pose)
        misfit = _misfit(context, armature, switch.body, limbs, drag.pose, end)
        beyond = misfit.beyond(_NEAR * body.skeleton.size, _TURNED)
        reason = "FK does not show it either" if beyond else None
    except CoreError as error:
        reason = str(error).removesuffix(".")
    if reason is not None:
        drag.writer, drag.pose, drag.start = before
        drag.renew()
        bridge.write_channels(armature, channels)
        switch.use_fk(armature, False)
    return reason


def _misfit(
    context: Any, armature: Any, controlled: ControlledBody, limbs: ControlledBody, pose: Pose, end: int
) -> Misfit:
    """Return how one body's controls show a limb; `limbs`: the body that has it on IK."""
    context.view_layer.update()
    body = bridge.repeated(replace(controlled, ends=limbs.ends), 1)
    found = bridge.find_misfits(body, pose[None], bridge.read_matrices(armature)[None])
    return next(one for one in found if one.end == end)
