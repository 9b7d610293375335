"""`in-betweens`: fill in the motion between key poses, with feet that stand and step."""

from dataclasses import replace
from typing import Any, Final

import numpy as np

from .. import bridge
from ..core import CoreError, Motion, Pose, rotation
from ..core.editing.bone_keys import BoneChannels
from ..core.editing.breakdowns import find_breakdowns
from ..core.editing.in_between import fill_between
from ..core.rotation import Array
from .held_motion import HeldMotion
from .motion_edit import ChangedBones, Frames, Progress
from .reduce import TOLERANCE, check_tolerance, size_in_world
from .words import counted

SHARE: Final = 10.0  # percent of the frames between key poses


class InBetweenEdit(HeldMotion):
    """The motion between key poses as a body would take it: see `fill_between`.

    Key poses are frames in which bones have keys that are no breakdowns, or those given as `keys`. One frame beside
    the range is read, too, and stays: from it the motion has its velocity there.

    keys       (K,) the frames of the key poses
    plant      whether feet stand and step, and whether the body is thrown where it falls
    share      percent of the frames between key poses that get keys, at most, but one in any case
    tolerance  metres; there are fewer keys where the body stays so near. By default that of Reduce Keys; 0: all
    breakdowns (N,) the frames between them that have keys, once these are written
    error      metres by which the body is then off between them, as far as channels pose it
    """

    method = "in-betweens"

    def __init__(
        self,
        context: Any,
        armature: Any,
        frames: tuple[int, int],
        plant: bool = True,
        keys: Array | None = None,
        share: float = SHARE,
        tolerance: float | None = None,
    ) -> None:
        self.share, self.error = share, 0.0
        self.keys = key_poses(armature, frames) if keys is None else keys
        whole = bridge.keyed_range(armature)
        first, last = int(self.keys[0]), int(self.keys[-1])
        super().__init__(context, armature, (max(first - 1, whole[0]), min(last + 1, whole[1])))
        size = size_in_world(self.rig.skeleton, self.worlds)
        self.tolerance = TOLERANCE * size if tolerance is None else tolerance
        if tolerance:
            check_tolerance(tolerance, size)
        read = self.before.frames
        self._range = np.flatnonzero((read >= first) & (read <= last))
        stays = np.flatnonzero(np.isin(read, self.keys) | (read < first) | (read > last))
        up = bridge.world_up(self.worlds[0])
        filled = fill_between(self.skeleton, self.before, stays, self.roles, up, plant)
        self.after, self.floor, self.only = filled.motion, filled.floor, filled.between
        self._between = filled.between
        self._feet = filled.pins  # nobody asked for these: what they miss is not told

    def compute(self, progress: Progress) -> None:
        self.after = self.hold(self.with_below(self.after), self._feet, progress)

    def control_frames(self) -> Frames:
        return self._range

    def rig_motion(self, armature: Any, changed: ChangedBones, new: bool) -> tuple[Motion, ChangedBones]:
        motion, changed = super().rig_motion(armature, changed, new)
        if self.controlled is None:
            return motion[self._range], changed
        keys = ~self._between[self._range]
        rotations, translations = np.array(motion.pose.rotations), np.array(motion.pose.translations)
        kept = self.channels.pose[self._range]  # controls have other poses that show the same body
        rotations[keys], translations[keys] = kept.rotations[keys], kept.translations[keys]
        pose = replace(motion.pose, rotations=rotations, translations=translations)
        return replace(motion, pose=pose), changed

    def write_keys(self, armature: Any, changed: ChangedBones, action: str | None, new: bool) -> Any:
        motion, (turned, moved, _) = self.rig_motion(armature, changed, new)
        self._written = bones = sorted({*turned.tolist(), *moved.tolist()})
        modes, places = self.rig.skeleton.rotation_modes, motion.pose.translations
        channels = [
            BoneChannels(bone, modes[bone], turns, places[:, bone] if bone in moved else None)
            for bone, turns in bridge.rotation_curves(armature, self.rig, motion, bones).items()
        ]
        scale = float(bridge.length_scale(self.worlds).max())
        at = np.flatnonzero(np.isin(motion.frames, self.keys))
        most = max(1, int(0.01 * self.share * (len(motion) - len(at))))
        found = find_breakdowns(self.rig.skeleton, motion, channels, at, most, self.tolerance / scale)
        self.breakdowns, self.error = np.setdiff1d(found.frames, self.keys), scale * found.error
        span = float(motion.frames[0]), float(motion.frames[-1])
        written = bridge.write_reduced(armature, self.rig, found.bones, (), span, action, new)
        bridge.mark_breakdowns(armature, {self.rig.skeleton.names[bone] for bone in bones}, self.breakdowns)
        return written

    def shown_frames(self) -> Frames:
        return np.flatnonzero(np.isin(self.before.frames, [*self.keys, *self.breakdowns]))

    def summary(self) -> str:
        """Return what was keyed, as 'Added 6 breakdowns between 5 key poses, with the body ...'."""
        return (
            f"Added {counted(len(self.breakdowns), 'breakdown')} between {counted(len(self.keys), 'key pose')}, "
            f"with the body at most {1e3 * self.error:.1f} mm off the motion between keys"
        )

    def pose_at(self, frame: float) -> Pose:
        """Return the pose of the motion that was found at a frame, which may be between two whole ones."""
        here = int(np.clip(np.searchsorted(self.after.frames, frame, side="right") - 1, 0, len(self.after) - 2))
        share = float(frame - self.after.frames[here])
        one, other = self.after.pose[here], self.after.pose[here + 1]
        places: Array = (1.0 - share) * one.translations + share * other.translations
        return Pose(rotation.slerp(one.rotations, other.rotations, share), places, one.scales, one.driven_matrices)


def keyed_frames(armature: Any, frames: tuple[int, int]) -> Array:
    """Return the frames (K,) of the range in which bones have keys, in order."""
    return np.unique(np.concatenate([np.zeros(0), *bridge.key_frames(armature, *frames).values()]))


def key_poses(armature: Any, frames: tuple[int, int]) -> Array:
    """Return the frames (K,) of the range in which bones have keys that are no breakdowns.

    Raises CoreError if there is nothing to fill.
    """
    found = bridge.key_pose_frames(armature, *frames)
    between = found[found != np.round(found)]
    if len(between):
        raise CoreError(f"There are keys between frames, at {between[0]:g}. Snap them to whole frames first.")
    if len(found) < 2:
        raise CoreError(
            f"In-betweens need at least two key poses; frames {frames[0]} to {frames[1]} have {len(found)}."
        )
    if np.all(np.diff(found) == 1.0):
        raise CoreError("There is nothing to fill in: every frame has keys.")
    return found
