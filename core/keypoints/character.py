"""Body motions on any humanoid skeleton, through the roles of its bones.

A bone in the canonical T-pose has its rest pose, corrected by the anatomy; from there it rotates as its part does.
Spine bones interpolate between hips and chest, neck bones between chest and head. Fingers go with the hand as they are
seen (`hands`). Bones that keypoints do not show, such as toes, keep the present pose.

Positions are scaled by the length of the legs. If the keypoints do not travel (trackers that keep the hips at zero),
the root moves so that the foot in contact with the ground stays.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .. import rotation
from ..body import SIDES, Roles
from ..body.anatomy import Anatomy, Tuning, anatomy, carrier_of
from ..body.axes import axis_vector, left_vector
from ..body.posture import leg_length
from ..editing.contacts import BodyPoint, foot_points
from ..errors import CoreError
from ..goals import Goal
from ..limits import clamp_rotations
from ..pose import Pose, forward_matrices, frame_rotations
from ..rotation import Array
from ..skeleton import Skeleton
from ..solvers import PinAndDrag, solve
from .body import LANDMARK, PART
from .estimate import CapturedMotion
from .hands import RigFingers

_ONE_BONE: Final = ("upper_arm", "forearm", "hand", "thigh", "shin", "foot")
_LEG: Final = ("hip", "knee", "ankle")
_STANDARD_LEG: Final = 0.83  # metres
_TRAVELS: Final = 0.1  # metres: hips that move further are not kept at zero by the tracker
_LOSES: Final = 0.004  # of the size: how much lower another point has to be to take over the contact
_LOWEST: Final = 2.0  # percentile of heights that is the ground
_MEMORY: Final = 600  # frames from which ground and leg length are found live
_ENDS: Final = {"hand": "wrist", "foot": "ankle"}


class Character:
    """A humanoid skeleton that body motions are applied to.

    limits, tuning  whether joints keep their limits, and the tuning of the anatomy

    Raises CoreError for a skeleton without a human body.
    """

    def __init__(self, skeleton: Skeleton, roles: Roles, limits: bool = True, tuning: Tuning | None = None) -> None:
        if not roles.humanoid or "hips" not in roles.bones:
            raise CoreError("Keypoints need a human body, but none was detected. Assign its parts in Rig > Parts.")
        self.skeleton, self.roles = skeleton, roles
        self.anatomy: Anatomy = anatomy(skeleton, roles, tuning)
        self.limits = (*skeleton.limits, *self.anatomy.limits) if limits else ()
        rest = skeleton.rest_matrices
        self._rest = frame_rotations(rest[:, :, :3])
        self.up = axis_vector(roles.up)
        self._axes = np.stack([left_vector(roles.up, roles.facing), self.up, axis_vector(roles.facing)], axis=-1)
        self._heading = rotation.from_matrix(self._axes)
        self.hips = self.roles.bone("hips")
        bones, starts, stops, amounts = (np.array(column) for column in zip(*self._find_shares(), strict=True))
        self.parts: tuple[int, ...] = tuple(bones.tolist())  # including locked bones
        movable = skeleton.movable[bones]
        self._turned: list[int] = bones[movable].tolist()
        self._after = rotation.inv(self.anatomy.axes)[self._turned]
        self._starts, self._stops, self._amounts = starts[movable], stops[movable], amounts[movable]
        self._between = np.flatnonzero((self._amounts > 0.0) & (self._amounts < 1.0))
        self.bones: list[int] = sorted(self._turned)
        ancestors = {above for bone in self.bones for above in skeleton.ancestors(bone)}
        self._still = [(bone, self._base_of(bone)) for bone in sorted(ancestors - {*self.bones})]  # parents first
        self._turned_base = self._base_of(self._turned)
        self.fingers = RigFingers(skeleton, roles)
        done = {*self.bones, *ancestors, *(fingers := self.fingers.bones.tolist())}
        palms = {above for bone in fingers for above in skeleton.ancestors(bone)} - done
        self._palms = [(bone, self._base_of(bone)) for bone in sorted(palms)]
        self._finger_base = self._base_of(fingers)
        carrier = carrier_of(skeleton, roles)
        self.root = -1 if carrier is None else carrier
        self.points: tuple[BodyPoint, ...] = foot_points(skeleton, roles)
        thighs = [roles.bone(f"thigh.{side}") for side in SIDES]
        middle = thighs if min(thighs) >= 0 else [self.hips]
        # bones from which positions of hips and feet are evaluated
        soles = [point.bone for point in self.points]
        self._legs = sorted({above for bone in (*soles, *middle, self.root) for above in skeleton.ancestors(bone)})
        self._legs_alone = skeleton.taken(self._legs)
        self._soles, self._middle = ([self._legs.index(bone) for bone in bones] for bones in (soles, middle))
        self._in_soles = np.array([point.position for point in self.points])
        self.leg = leg_length(skeleton, roles)
        at_rest = [rest[p.bone, :, 3] + rotation.rotate(self._rest[p.bone], np.array(p.position)) for p in self.points]
        self.ground = min((float(sole @ self.up) for sole in at_rest), default=0.0)

    def _find_shares(self) -> Iterator[tuple[int, int, int, float]]:
        """Yield each bone with the two parts between whose rotations its own is, and its share of the second."""
        hips, chest, head = PART["hips"], PART["chest"], PART["head"]
        yield self.hips, hips, hips, 1.0
        for role, start, end, whole in (("spine", hips, chest, 0), ("neck", chest, head, 1)):
            chain = [bone for bone in self.roles.chain(role) if bone != self.hips]
            for place, bone in enumerate(chain, start=1):
                yield bone, start, end, place / (len(chain) + whole)
        for part in ("head", *(f"{part}.{side}" for side in SIDES for part in _ONE_BONE)):
            if self.roles.bone(part) >= 0:
                yield self.roles.bone(part), PART[part], PART[part], 1.0

    def rotate(self, rotations: Array, present: Pose, fingers: Array | None = None) -> Pose:
        """Return the pose (...) with the rotations (..., P, 4) of the parts; other bones are as in `present`.

        fingers (..., 2, 15, 4) as in `CapturedMotion`.
        """
        wanted = rotations[..., self._stops, :]
        if len(self._between):
            starts, stops = self._starts[self._between], self._stops[self._between]
            wanted[..., self._between, :] = rotation.slerp(
                rotations[..., starts, :], rotations[..., stops, :], self._amounts[self._between]
            )
        turned = self._turned
        turned_frames = rotation.mul(rotation.mul(self._heading, wanted), self._after)
        shape = np.broadcast_shapes(rotations.shape[:-2], present.batch_shape)
        own = np.broadcast_to(present.rotations, (*shape, len(self.skeleton), 4)).copy()
        frames = np.empty((*shape, len(self.skeleton) + 1, 4))  # of the bones, the last for parents of roots (-1)
        frames[..., -1, :] = rotation.IDENTITY
        frames[..., turned, :] = turned_frames
        driven = present.driven_matrices

        def keep(bones: list[tuple[int, Callable[[Array], Array]]]) -> None:
            for bone, base in bones:
                if self.skeleton.driven[bone] and driven is not None:
                    frames[..., bone, :] = frame_rotations(driven[..., bone, :, :3])
                else:
                    frames[..., bone, :] = rotation.mul(base(frames), own[..., bone, :])

        keep(self._still)
        own[..., turned, :] = rotation.mul(rotation.inv(self._turned_base(frames)), turned_frames)
        if fingers is not None:
            bones = self.fingers.bones
            frames[..., bones, :] = self.fingers.frames(frames, fingers)
            keep(self._palms)
            found = rotation.mul(rotation.inv(self._finger_base(frames)), frames[..., bones, :])
            own[..., bones, :] = np.where(np.isfinite(found), found, own[..., bones, :])
        if self.limits:
            own = clamp_rotations(self.limits, own)[0]
        others = (
            None if part is None else np.broadcast_to(part, (*shape, *part.shape[len(present.batch_shape) :])).copy()
            for part in (present.translations, present.scales, driven)
        )
        return Pose.trusted(rotation.normalize(own), *others)  # pyright: ignore[reportArgumentType]

    def _base_of(self, bones: int | list[int]) -> Callable[[Array], Array]:
        """Return a function from the frames of all bones to those (..., n, 4) of some without their own rotations."""
        parents, rest = self.skeleton.parents[bones], self.skeleton.rest_rotations[bones]
        inherits = (self.skeleton.inherit_rotation[bones] | (parents < 0))[..., None]
        every, others = bool(inherits.all()), self._rest[parents]

        def base(frames: Array) -> Array:
            above = frames.take(parents, axis=-2)
            return rotation.mul(above if every else np.where(inherits, above, others), rest)

        return base

    def scale(self, legs: Array) -> float:
        """Return armature units per metre of a subject whose leg lengths (n,) were measured, in metres."""
        return self.leg / (float(np.median(legs)) if len(legs) else _STANDARD_LEG)

    def place_hips(self, pose: Pose, hips: Array, scale: float) -> Pose:
        """Return the pose with the midpoint of its hips at `hips` (..., 3), metres, times `scale`."""
        matrices = self._leg_matrices(pose)
        return self.shift(pose, scale * hips @ self._axes.T - self._middle_of(matrices), matrices)

    def shift(self, pose: Pose, offset: Array, matrices: Array | None = None) -> Pose:
        """Return the pose with its root moved by `offset` (..., 3) in armature space; `matrices`: of the legs."""
        if self.root < 0:
            return pose
        skeleton, root = self.skeleton, self.root
        parent, base = int(skeleton.parents[root]), rotation.IDENTITY
        if parent >= 0:
            matrices = self._leg_matrices(pose) if matrices is None else matrices
            base = frame_rotations(matrices[..., self._legs.index(parent), :, :3])
        if skeleton.local_location[root]:
            base = rotation.mul(base, skeleton.rest_rotations[root])
        translations = np.array(pose.translations)
        translations[..., root, :] += rotation.rotate(rotation.inv(base), offset)
        return Pose.trusted(pose.rotations, translations, pose.scales, pose.driven_matrices)

    def place_by_feet(self, pose: Pose, root: "RootFromFeet") -> Pose:
        """Return one pose, not a batch, with its root moved by its feet."""
        if not self.points:
            return pose
        matrices = self._leg_matrices(pose)
        return self.shift(pose, root(self._feet(matrices)), matrices)

    def feet(self, pose: Pose) -> Array:
        """Return the contact points of the feet (..., p, 3) in armature space."""
        return self._feet(self._leg_matrices(pose))

    def posed_bones(self, fingers: Array | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the bones that body motions rotate, with these fingers (..., 2, 15, 4), and those that they move."""
        return np.union1d(self.bones, self.fingers.told(fingers)), np.array([self.root] if self.root >= 0 else [], int)

    def _leg_matrices(self, pose: Pose) -> Array:
        """Return the frames (..., n, 3, 4) of the legs, the root and their ancestors."""
        kept = self._legs
        scales, driven = (None if part is None else part.take(kept, axis) for part, axis in (
            (pose.scales, -2), (pose.driven_matrices, -3)))  # fmt: skip
        legs = Pose.trusted(pose.rotations.take(kept, -2), pose.translations.take(kept, -2), scales, driven)
        return forward_matrices(self._legs_alone, legs)

    def _middle_of(self, matrices: Array) -> Array:
        """Return the midpoint (..., 3) of the thighs' heads, or the head of the hips."""
        return matrices[..., 3][..., self._middle, :].mean(axis=-2)

    def _feet(self, matrices: Array) -> Array:
        frames = matrices[..., self._soles, :, :]
        return (frames[..., :3] @ self._in_soles[..., None] + frames[..., 3:])[..., 0]

    def motion(self, captured: CapturedMotion, present: Pose, travel: bool | None = None) -> Pose:
        """Return the poses of a whole clip; bones that are not captured are as in `present`.

        `travel`: whether the root follows the hips, or else the feet; None: the hips if they move.
        """
        scale = self.scale(leg_lengths(captured))
        pose = self.rotate(captured.rotations, present, captured.fingers)
        travels = bool(np.ptp(captured.hips, axis=0).max() > _TRAVELS) if travel is None else travel
        if not self.points:
            return self.place_hips(pose, captured.hips, scale) if travels else pose
        if not travels:
            root = RootFromFeet(self)
            return self.shift(pose, np.stack([root(positions) for positions in self.feet(pose)]))
        pose = self.place_hips(pose, captured.hips - captured.hips[:1] * [1.0, 0.0, 1.0], scale)
        lowest = np.percentile((self.feet(pose) @ self.up).min(axis=-1), _LOWEST)
        return self.shift(pose, (self.ground - lowest) * np.broadcast_to(self.up, (len(captured.hips), 3)))

    def end_goals(self, captured: CapturedMotion, pose: Pose) -> list[Goal]:
        """Return goals for wrists and ankles at the scaled landmarks, relative to the hips of the poses."""
        scale = self.scale(leg_lengths(captured))
        middle = self._middle_of(self._leg_matrices(pose))
        goals: list[Goal] = []
        for part, landmark in _ENDS.items():
            for side in SIDES:
                bone, row = self.roles.bone(f"{part}.{side}"), LANDMARK[f"{landmark}.{side}"]
                if bone >= 0:
                    offset = scale * (captured.landmarks[:, row] - captured.hips) @ self._axes.T
                    goals.append(Goal(bone, position=middle + offset, position_weight=captured.weights[:, row]))
        return goals

    def solve_goals(self, goals: list[Goal], pose: Pose) -> Pose:
        """Return the pose, or the poses (F,) of a clip, with goals met by pins and drag, near what they were."""
        method = PinAndDrag(
            reference=pose, deviations=self.anatomy.deviations, axes=self.anatomy.axes, root="pull",
            root_bone=self.root if self.root >= 0 else None, limits=bool(self.limits),
            coherent=len(pose.batch_shape) > 0, settle=False,
        )  # fmt: skip
        return solve(replace(self.skeleton, limits=self.limits), pose, goals, method).pose


def leg_lengths(captured: CapturedMotion) -> Array:
    """Return the lengths (n,) in metres of the legs that are seen as a whole, in all frames."""
    rows = [[LANDMARK[f"{landmark}.{side}"] for landmark in _LEG] for side in SIDES]
    vectors = np.linalg.norm(np.diff(captured.landmarks[:, rows], axis=2), axis=-1).sum(axis=-1)  # (F, 2)
    return vectors[captured.weights[:, rows].min(axis=-1) > 0.0]


class RootFromHips:
    """Moves the root with the hips, live: as `Character.motion` does for a whole clip.

    The first frame is above the armature's origin; the height is such that the feet are on the ground.
    """

    def __init__(self, character: Character) -> None:
        self._character = character
        self._legs: deque[float] = deque(maxlen=_MEMORY)
        self._heights: deque[float] = deque(maxlen=_MEMORY)
        self._start: Array | None = None

    def __call__(self, pose: Pose, captured: CapturedMotion) -> Pose:
        """Return one pose, not a batch, placed by a motion of one frame."""
        character = self._character
        self._legs.extend(leg_lengths(captured).tolist())
        if self._start is None:
            self._start = captured.hips[0] * [1.0, 0.0, 1.0]
        pose = character.place_hips(pose, captured.hips[0] - self._start, character.scale(np.array(self._legs)))
        if not character.points:
            return pose
        self._heights.append(float((character.feet(pose) @ character.up).min()))
        return character.shift(pose, (character.ground - float(np.percentile(self._heights, _LOWEST))) * character.up)


class RootFromFeet:
    """Moves the root so that the lowest point of the feet stays where it is on the ground."""

    def __init__(self, character: Character) -> None:
        self._up, self._ground = character.up, character.ground
        self._slack = _LOSES * character.skeleton.size
        self._before: Array | None = None
        self._contact = 0  # number of the point
        self._offset = np.zeros(3)

    def reset(self) -> None:
        """Forget the frame before: after a gap the root stays where it is."""
        self._before = None

    def __call__(self, positions: Array) -> Array:
        """Return the offset (3,) of the root for positions (p, 3) of the feet without it."""
        heights = positions @ self._up
        if self._before is not None:
            step = positions[self._contact] - self._before[self._contact]
            self._offset = self._offset - (step - (step @ self._up) * self._up)
        lowest = int(np.argmin(heights))
        if heights[lowest] < heights[self._contact] - self._slack or self._before is None:
            self._contact = lowest
        self._before = positions
        return self._offset + (self._ground - heights[lowest]) * self._up
