"""Poses of a drag written to the armature."""

from collections.abc import Callable, Collection, Container
from typing import Any, Final

import bpy
import numpy as np

from ... import bridge
from ...bridge import ControlledBody
from ...bridge.control_task import GLANCE, SEEN
from ...bridge.turns import update
from ...core import Pose, rotation
from ...core.rotation import Array
from ...core.skeleton import Indices
from ..carried import take_over, undecided_of
from .body import DragBody
from .problem import Solved

_SAME: Final = 1e-5  # of the skeleton's size: a change of a length that does not count
_TURNED: Final = 1e-4  # radians: a change of a carried bone that does not count
_ROUNDING: Final = 2e-5  # radians, or of the size: that of controls, which follow matrices in single precision


class DragWriter:
    """Writes poses to the bones, or to the controls of a driven body, and restores the pose at the press.

    live: a tick leaves to the next one what controls do not show yet.
    controlled: the body with the controls that pose it.
    settled: whether nothing is left
    kept: the last pose of a driven body, as it is shown where controls do not decide it
    """

    def __init__(self, body: DragBody, controlled: ControlledBody | None, live: bool = False) -> None:
        self._body, self.controlled, self._live = body, controlled, live
        self._poser = None if controlled is None else bridge.ControlPoser(body.rig, controlled, looks=False)
        self._held: list[str] = []  # controls at a limit
        self._wanted: Array | None = None  # the rotations that the last tick wanted the parts of a driven body to have
        self._matrices: Array | None = None  # that Blender shows, until something is written
        self._loose = self._unsteered = np.zeros(0, int)  # parts that bend as Blender has it: at the end, and in a tick
        self.settled = True
        self.kept: Pose | None = None
        self.misfit: list[str] = []  # sentences about limbs that IK shows beside the pose that was kept

    def prepare(self, solved: Solved) -> None:
        """Say which bones the next poses change."""
        self._every = self._body.rig.carried if self.controlled is None else np.flatnonzero(self.controlled.carried)
        self._carried = np.intersect1d(self._every, list(solved.nodes))
        if self.controlled is not None:
            self._loose = self._body.held.unsteered(self.controlled, solved.asked)
            mixed = np.flatnonzero(self.controlled.bones_that("blends") >= 0)  # their FK bends them, too
            self._unsteered = np.setdiff1d(self._loose, mixed)
        else:
            self._writer = bridge.PoseWriter(self._body.rig, solved.bones, solved.stretched)

    def enter(self) -> None:
        """Forget the last tick: the rig shows the pose of another frame."""
        self._wanted = self._matrices = None
        if self._poser is not None:
            self._poser.steered_at = None

    @property
    def carries(self) -> bool:
        """Whether bones that something else drives are carried between the bones that count."""
        return bool(len(self._carried))

    def write(self, armature: Any, pose: Pose, frames: Callable[[], tuple[Array, Array]] | None = None) -> None:
        """Write a pose; `frames`, if other poses follow, returns heads (N, 3) and rotations (N, 4) of its bones.

        Controls are posed in full only for the last pose.
        """
        if self._poser is None:
            self._writer.write(armature, pose)
            self._matrices = None
            return
        seen = self._follows(self._poser, armature) if self._live else None
        if frames is None or seen is None:
            led = self._poser.pose(armature, pose, passing=frames is not None)
        else:
            led = self._poser.step(armature, pose, frames(), seen)
        self._matrices = None
        self._wanted, self.settled = led.wanted, led.shown
        self._held = [self._body.rig.skeleton.names[bone] for bone in led.held]

    def _follows(self, poser: bridge.ControlPoser, armature: Any) -> Array | None:
        """Return the matrices that Blender shows if the controls have done what the last tick wanted.

        Else return None: this tick looks for the reason.
        """
        if self._wanted is None:
            return None
        matrices = self._look(armature)
        return matrices if poser.shows(matrices, self._wanted) else None

    def shown(self, armature: Any, pose: Pose, still: bool) -> Callable[[Pose], Pose] | None:
        """Return a function that takes over into poses what Blender shows and controls do not decide; None if it is so.

        That is the lengths of limbs that IK stretches, how they bend where neither pole nor start may move, how carried
        bones are at their parents, and twists; and, with any of these, the places of all parts that no control moves,
        as of shoulders on a bone of the spine between two parts. If `still`, it is that in any case, carried bones that
        do not count in the solve, too, and what cannot be seen.
        """
        controlled, carried = self.controlled, self._every if still else self._carried
        decided = controlled is None or not (
            still or controlled.stretched.any() or controlled.untwisted or len(self._unsteered)
        )
        if not len(carried) and decided:
            return None
        take = self._take(self._look(armature), pose, still, self._unsteered)
        taken = take(pose)
        off = rotation.lengths(taken.translations - pose.translations)
        turned = rotation.angle_between(taken.rotations, pose.rotations).max()
        if controlled is not None:
            off[[*controlled.poles]] = 0.0  # they go where their limbs need them
        same, angle = _SAME if controlled is None else _ROUNDING, _TURNED
        if self._live and not still:
            same, angle = SEEN, GLANCE  # the next tick follows
        return take if off.max() >= same * self._body.skeleton.size or turned >= angle else None

    def _look(self, armature: Any) -> Array:
        """Return the matrices of what was written; Blender evaluates nothing where the view has been drawn since."""
        if self._matrices is None:
            update(bpy.context)
            self._matrices = bridge.read_matrices(armature)
        return self._matrices

    def _take(self, matrices: Array, pose: Pose, still: bool, unsteered: Indices) -> Callable[[Pose], Pose]:
        """Return the function of `shown`, whether or not evaluated matrices show anything else than the pose."""
        controlled, carried = self.controlled, self._every if still else self._carried
        if controlled is None:
            seen = bridge.with_carried(self._body.rig, pose, matrices)
            return lambda one: take_over(one, seen, carried, carried)
        shown, places = bridge.read_controlled(controlled, matrices), controlled.bones_that("moves") < 0
        places |= controlled.stretched
        return lambda one: undecided_of(controlled, one, pose, shown, carried, unsteered, places)

    def restore(self, armature: Any) -> None:
        """Give the armature the exact channels at the press."""
        self._matrices = None
        bridge.write_channels(armature, self._body.channels)

    def finish(self, armature: Any, pose: Pose, said: Collection[int] = ()) -> tuple[tuple[str, ...], ...]:
        """Write the last pose, bones that did not change exactly as they were; return the rotated, moved and grown.

        `said`: the parts at the ends of limbs about which nothing is said any more.
        """
        body = self._body
        if self.controlled is not None:
            self.write(armature, pose)
            shown, posed = self._look(armature), bridge.repeated(self.controlled, 1)
            bent = posed.bent(pose[None], posed.read(shown[None]))[0]  # how far a limb bends is for IK to say
            self.kept = self._take(shown, pose, True, self._loose)(bent)
            self.misfit = bridge.explain_misfit(
                armature, posed, self.kept[None], shown[None], but={*said, *self.stopped}
            )
            pose = bridge.read_pose(armature, body.rig)
        turned, moved, grown = self._changed(pose)
        bridge.write_channels(armature, body.channels)
        bridge.write_pose(armature, body.rig, pose, {*turned.tolist(), *moved.tolist()}, grown)
        return self.changes(pose)

    def changes(self, pose: Pose) -> tuple[tuple[str, ...], ...]:
        """Return the names of the bones that are rotated, moved and grown in a pose of the rig."""
        names = self._body.rig.skeleton.names
        return tuple(tuple(names[bone] for bone in bones) for bones in self._changed(pose))

    def _changed(self, pose: Pose) -> list[Indices]:
        body = self._body
        if self.controlled is None:
            changed = bridge.changed_bones(body.start_of_rig, pose, body.rig.skeleton.size)
        else:  # controls stretch nothing by themselves
            turned, moved, _ = bridge.changed_bones(body.start_of_rig, pose, body.rig.skeleton.size, _ROUNDING)
            changed = turned, moved, moved[:0]
        return [np.setdiff1d(bones, body.rig.carried) for bones in changed]

    @property
    def stopped(self) -> dict[int, str]:
        """The parts that are not where they are wanted because constraints limit the places of these controls."""
        if self.controlled is None:
            return {}
        rig, names = self._body.rig, self._body.rig.skeleton.names
        movers = enumerate(self.controlled.bones_that("moves").tolist())
        return {part: names[bone] for part, bone in movers if bone in rig.bounded and names[bone] in self._held}

    def at_limit(self, told: Container[str] = ()) -> list[str]:
        """Return sentences about the controls that are at a limit, but those of which that is `told`."""
        return bridge.explain_limited_controls([name for name in self._held if name not in told])
