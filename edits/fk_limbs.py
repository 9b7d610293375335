"""Switch limbs to FK where IK cannot show the pose that was solved, and the setting allows it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Protocol

import numpy as np

from .. import bridge
from ..bridge import ControlledBody, Misfit, Switch, autokey
from ..core import CoreError, Pose
from ..core.body import Roles
from ..core.rotation import Array
from .held import HeldRig

_NEAR: Final = 1e-3  # of the skeleton's size: a limb that is shown no further beside its pose stays on IK
_TURNED: Final = float(np.radians(0.5))  # likewise


class Posed(Protocol):
    """A pose of a body that controls show; other controls can take over.

    held                  the rig, and what of it stays
    roles, besides        as `find_switch` wants them
    limbs                 the parts at the ends of the limbs that may be switched
    channels              those of the rig before
    """

    held: HeldRig
    roles: Roles
    besides: Sequence[int]
    limbs: Sequence[int]
    channels: Mapping[str, Array]

    def now(self) -> tuple[ControlledBody, Pose]:
        """Return the controls and the pose."""
        ...

    def show(self, armature: Any) -> None:
        """Have the controls show the pose."""
        ...

    def pose_by(self, armature: Any, controlled: ControlledBody) -> None:
        """Solve once more for other controls."""
        ...

    def keep(self) -> Callable[[], None]:
        """Return a function that goes back to the present controls and pose."""
        ...


class FKLimbs:
    """The limbs that were switched to FK, and a sentence about each limb that should be.

    said: by the part at the limb's end
    """

    def __init__(self) -> None:
        self.switches: list[Switch] = []
        self.said: dict[int, str] = {}

    def show(self, context: Any, armature: Any, posed: Posed) -> None:
        """Switch limbs to FK whose IK does not show the pose; the controls of their IK get their channels from before.

        What is not keyed yet has to be, by `autokey.key_step`.
        """
        for end in posed.limbs:
            posed.show(armature)
            controlled, _ = posed.now()
            misfit = _misfit(context, armature, posed, controlled, end)
            if not misfit.beyond(_NEAR * controlled.skeleton.size, _TURNED):
                continue
            beside = misfit.sentence(armature, controlled.skeleton)
            switch = bridge.find_switch(armature, posed.held.free, posed.roles, controlled, end, posed.besides)
            if switch is None:
                self.said[end] = (
                    f"{beside}; the limb stays in IK, because the rig has no IK/FK switch for this limb alone"
                )
                continue
            stays = posed.held.explain(np.flatnonzero(switch.limb), switch.body)
            why = autokey.why_no_step(context, armature, switch.path) or "; ".join(stays)
            why = why or _use(context, armature, posed, switch, end)
            if why:
                self.said[end] = f"{beside}; the limb stays in IK: {why}"
                continue
            self.switches.append(switch)
            keyed = context.scene.tool_settings.use_keyframe_insert_auto
            here = f" at frame {context.scene.frame_current_final:g}" if keyed else ""
            self.said[end] = f'Switched "{switch.bone}" to FK{here}: {beside}'

    def key(self, context: Any, armature: Any) -> None:
        """Key the switches where auto-keying is on: at the present frame, and beside it as they were."""
        for switch in self.switches:
            autokey.key_step(context, armature, switch.path, switch.ik)


def _use(context: Any, armature: Any, posed: Posed, switch: Switch, end: int) -> str | None:
    """Switch a limb to FK and pose by it; if FK does not show it either, undo that and return a reason."""
    limbs, go_back = posed.now()[0], posed.keep()
    channels = bridge.read_channels(armature)
    bridge.write_channels(armature, posed.channels)
    switch.use_fk(armature, True)
    try:
        posed.pose_by(armature, switch.body)
        posed.show(armature)
        misfit = _misfit(context, armature, posed, limbs, end)
        beyond = misfit.beyond(_NEAR * limbs.skeleton.size, _TURNED)
        reason = "FK cannot show the pose either" if beyond else None
    except CoreError as error:
        reason = str(error).removesuffix(".")
    if reason is not None:
        go_back()
        bridge.write_channels(armature, channels)
        switch.use_fk(armature, False)
    return reason


def _misfit(context: Any, armature: Any, posed: Posed, limbs: ControlledBody, end: int) -> Misfit:
    """Return how a limb is shown; `limbs`: the body that has it on IK."""
    context.view_layer.update()
    controlled, pose = posed.now()
    body = bridge.repeated(replace(controlled, ends=limbs.ends), 1)
    found = bridge.find_misfits(body, pose[None], bridge.read_matrices(armature)[None])
    return next(one for one in found if one.end == end)
