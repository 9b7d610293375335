"""Rotations of the canonical body on any humanoid rig, by its roles.

A bone in the canonical T-pose is its rest pose without what the anatomy calls its stray; from there it turns as its
part does. Bones of the trunk share the turn from hips to chest, necks that from chest to head, twist bones of the
forearm that of the hand. What keypoints do not show keeps the pose that the rig has: clavicles, fingers, toes.

Places are scaled by the length of the legs. Where the root is to travel though the points do not (trackers that put the
hips at zero), it goes against the foot that bears.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .. import rotation
from ..body import SIDES, Roles
from ..body.anatomy import Anatomy, Tuning, anatomy, carrier_of
from ..body.axes import axis_vector
from ..editing.contacts import BodyPoint, foot_points
from ..errors import CoreError
from ..generate.poses import leg_length
from ..goals import Goal
from ..limits import clamp_rotations
from ..pose import Pose, forward_matrices, frame_rotations
from ..rotation import Array
from ..skeleton import Skeleton
from ..solvers import PinAndDrag, solve
from .body import LANDMARK, PART
from .estimate import CapturedMotion

_ONE_BONE: Final = ("upper_arm", "forearm", "hand", "thigh", "shin", "foot")
_LEG: Final = ("hip", "knee", "ankle")
_STANDARD_LEG: Final = 0.83  # metres
_TRAVELS: Final = 0.1  # metres by which hips move that are not put at zero
_LOSES: Final = 0.004  # of the size by which another point is lower before it bears in place of the one that did
_LOWEST: Final = 2.0  # percentile of heights that is the ground
_MEMORY: Final = 600  # frames that tell, live, where the ground is and how long the legs are
_ENDS: Final = {"hand": "wrist", "foot": "ankle"}


@dataclass(frozen=True)
class _Share:
    """A bone that turns between two parts: `share` of the way from one to the other."""

    bone: int
    start: int
    end: int
    share: float


@dataclass(frozen=True, eq=False)
class _Hanging:
    """What n bones hang on: parents (n,); the rest frames (n, 4) of those that do not go with them, if there are some.

    All that a frame needs is made once: it has to cost little.
    """

    parents: NDArray[np.int64]
    kept: tuple[NDArray[np.bool_], Array] | None
    rest: Array

    def base(self, stand: Array) -> Array:
        """Frames (..., n, 4) of the bones without their own rotations, from those that all bones stand in."""
        above = stand.take(self.parents, axis=-2)
        if self.kept is not None:
            above = np.where(self.kept[0], above, self.kept[1])
        return rotation.mul(above, self.rest)


class Character:
    """A humanoid skeleton that takes readings, exact ends as its `tuning` has it; raises CoreError without a body."""

    def __init__(self, skeleton: Skeleton, roles: Roles, limits: bool = True, tuning: Tuning | None = None) -> None:
        if not roles.humanoid or "hips" not in roles.bones:
            raise CoreError("Keypoints of a human body need a humanoid; no body is found in this skeleton.")
        self.skeleton, self.roles = skeleton, roles
        self.anatomy: Anatomy = anatomy(skeleton, roles, tuning)
        self.limits = (*skeleton.limits, *self.anatomy.limits) if limits else ()
        rest = skeleton.rest_matrices
        self._heads: Array = rest[:, :, 3]
        self._rest = frame_rotations(rest[:, :, :3])
        self.up, forward_way = axis_vector(roles.up), axis_vector(roles.facing)
        self._axes = np.stack([np.cross(self.up, forward_way), self.up, forward_way], axis=-1)
        self._heading = rotation.from_matrix(self._axes)
        self.hips = self.roles.bone("hips")
        shares = list(self._find_shares())
        self.parts: tuple[int, ...] = tuple(share.bone for share in shares)  # also those that cannot be turned
        self._shares = [share for share in shares if skeleton.movable[share.bone]]
        self._places = [share.bone for share in self._shares]
        self._after = rotation.inv(self.anatomy.axes)[self._places]
        self._starts = np.array([share.start for share in self._shares])
        self._stops = np.array([share.end for share in self._shares])
        self._amounts = np.array([share.share for share in self._shares])
        self._between = np.flatnonzero((self._amounts > 0.0) & (self._amounts < 1.0))
        self.bones: list[int] = sorted(self._places)
        self._still = [(bone, self._hanging(bone)) for bone in self._carriers()]
        self._hung = self._hanging(self._places)
        carrier = carrier_of(skeleton, roles)
        self.root = -1 if carrier is None else carrier
        self.points: tuple[BodyPoint, ...] = foot_points(skeleton, roles)
        thighs = [self.roles.bone(f"thigh.{side}") for side in SIDES]
        middle = thighs if min(thighs) >= 0 else [self.hips]
        # what is measured of a pose hangs on few bones
        soles = [point.bone for point in self.points]
        self._legs = sorted({above for bone in (*soles, *middle, self.root) for above in skeleton.ancestors(bone)})
        self._legs_alone = skeleton.taken(self._legs)
        self._soles, self._middle = ([self._legs.index(bone) for bone in bones] for bones in (soles, middle))
        self._in_soles = np.array([point.position for point in self.points])
        self.leg = leg_length(skeleton, roles)
        self.ground: float = min((float(self._point_at_rest(point) @ self.up) for point in self.points), default=0.0)

    # -- what is turned ---------------------------------------------------------------------------------------------

    def _find_shares(self) -> Iterable[_Share]:
        hips, chest, head = PART["hips"], PART["chest"], PART["head"]
        yield _Share(self.hips, hips, hips, 1.0)
        for role, start, end, whole in (("spine", hips, chest, 0), ("neck", chest, head, 1)):
            chain = [bone for bone in self.roles.chain(role) if bone != self.hips]
            for place, bone in enumerate(chain, start=1):
                yield _Share(bone, start, end, place / (len(chain) + whole))
        if self.roles.bone("head") >= 0:
            yield _Share(self.roles.bone("head"), head, head, 1.0)
        for side in SIDES:
            for part in _ONE_BONE:
                bone = self.roles.bone(f"{part}.{side}")
                if bone >= 0:
                    yield _Share(bone, PART[f"{part}.{side}"], PART[f"{part}.{side}"], 1.0)

    def _carriers(self) -> list[int]:
        """Bones that those of the body hang on and that are not turned themselves, parents first."""
        above = {above for bone in self.bones for above in self.skeleton.ancestors(bone)}
        return sorted(above - set(self.bones))

    def _point_at_rest(self, point: BodyPoint) -> Array:
        return self._heads[point.bone] + rotation.rotate(self._rest[point.bone], np.array(point.position))

    # -- readings to poses ------------------------------------------------------------------------------------------

    def turn(self, rotations: Array, present: Pose) -> Pose:
        """The pose (...) in which the bones stand as the parts (..., P, 4) do; all others stay as in `present`."""
        wanted = rotations[..., self._stops, :]
        if len(self._between):
            starts, stops = self._starts[self._between], self._stops[self._between]
            wanted[..., self._between, :] = rotation.slerp(
                rotations[..., starts, :], rotations[..., stops, :], self._amounts[self._between]
            )
        positions = self._places
        frames = rotation.mul(rotation.mul(self._heading, wanted), self._after)
        shape = np.broadcast_shapes(rotations.shape[:-2], present.batch_shape)
        own = np.broadcast_to(present.rotations, (*shape, len(self.skeleton), 4)).copy()
        stand = np.empty((*shape, len(self.skeleton) + 1, 4))  # of the bones, and last of what a root hangs on
        stand[..., -1, :] = rotation.IDENTITY
        stand[..., positions, :] = frames
        driven = present.driven_matrices
        for bone, hanging in self._still:
            if self.skeleton.driven[bone] and driven is not None:
                stand[..., bone, :] = frame_rotations(driven[..., bone, :, :3])
            else:
                stand[..., bone, :] = rotation.mul(hanging.base(stand), own[..., bone, :])
        own[..., positions, :] = rotation.mul(rotation.inv(self._hung.base(stand)), frames)
        if self.limits:
            own = clamp_rotations(self.limits, own)[0]
        others = (
            None if part is None else np.broadcast_to(part, (*shape, *part.shape[len(present.batch_shape) :])).copy()
            for part in (present.translations, present.scales, driven)
        )
        return Pose.trusted(rotation.normalize(own), *others)  # pyright: ignore[reportArgumentType]

    def _hanging(self, bones: int | list[int]) -> "_Hanging":
        skeleton, parents = self.skeleton, self.skeleton.parents[bones]
        inherits = (skeleton.inherit_rotation[bones] | (parents < 0))[..., None]
        kept = None if inherits.all() else (inherits, self._rest[parents])
        return _Hanging(parents, kept, skeleton.rest_rotations[bones])

    def scale_of(self, captured: CapturedMotion) -> float:
        """Armature units for a metre of the figure: by the length of the legs."""
        return self.scale(legs_of(captured))

    def scale(self, legs: Array) -> float:
        """Armature units for a metre of a figure whose legs were measured (n,)."""
        return self.leg / (float(np.median(legs)) if len(legs) else _STANDARD_LEG)

    def place(self, pose: Pose, hips: Array, scale: float) -> Pose:
        """The pose moved so that the middle of its hips is at `hips` (..., 3), metres, times `scale`; see `turn`."""
        matrices = self._leg_matrices(pose)
        return self.shift(pose, scale * hips @ self._axes.T - self._middle_of(matrices), matrices)

    def shift(self, pose: Pose, way: Array, matrices: Array | None = None) -> Pose:
        """The pose with its root moved by `way` (..., 3), in armature space; `matrices` if those of legs are known."""
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
        translations[..., root, :] += rotation.rotate(rotation.inv(base), way)
        return Pose.trusted(pose.rotations, translations, pose.scales, pose.driven_matrices)

    def walked(self, pose: Pose, walk: "RootFromFeet") -> Pose:
        """One pose, not a batch, moved on by its feet."""
        if not self.points:
            return pose
        matrices = self._leg_matrices(pose)
        return self.shift(pose, walk(self._feet(matrices)), matrices)

    def feet(self, pose: Pose) -> Array:
        """Points of the feet (..., p, 3) in armature space."""
        return self._feet(self._leg_matrices(pose))

    def _leg_matrices(self, pose: Pose) -> Array:
        """Frames (..., n, 3, 4) of the bones that legs and root hang on."""
        kept = self._legs
        scales, driven = (None if part is None else part.take(kept, axis) for part, axis in (
            (pose.scales, -2), (pose.driven_matrices, -3)))  # fmt: skip
        legs = Pose.trusted(pose.rotations.take(kept, -2), pose.translations.take(kept, -2), scales, driven)
        return forward_matrices(self._legs_alone, legs)

    def _middle_of(self, matrices: Array) -> Array:
        """The middle (..., 3) of the thighs' heads, or the hips'."""
        return matrices[..., 3][..., self._middle, :].mean(axis=-2)

    def _feet(self, matrices: Array) -> Array:
        frames = matrices[..., self._soles, :, :]
        return (frames[..., :3] @ self._in_soles[..., None] + frames[..., 3:])[..., 0]

    def motion(self, captured: CapturedMotion, present: Pose, travel: bool | None = None) -> Pose:
        """Poses of a whole clip. `travel`: the hips' places count, or (False) the feet's, or (None) as they look."""
        scale = self.scale_of(captured)
        pose = self.turn(captured.rotations, present)
        travels = bool(np.ptp(captured.hips, axis=0).max() > _TRAVELS) if travel is None else travel
        if not self.points:
            return self.place(pose, captured.hips, scale) if travels else pose
        if not travels:
            walk = RootFromFeet(self)
            return self.shift(pose, np.stack([walk(positions) for positions in self.feet(pose)]))
        pose = self.place(pose, captured.hips - captured.hips[:1] * [1.0, 0.0, 1.0], scale)
        lowest = np.percentile((self.feet(pose) @ self.up).min(axis=-1), _LOWEST)
        return self.shift(pose, (self.ground - lowest) * np.broadcast_to(self.up, (len(captured.hips), 3)))

    def ends(self, captured: CapturedMotion, pose: Pose) -> list[Goal]:
        """Wrists and ankles where the scaled points are, seen from the hips of the poses."""
        scale = self.scale_of(captured)
        middle = self._middle_of(self._leg_matrices(pose))
        goals: list[Goal] = []
        for part, landmark in _ENDS.items():
            for side in SIDES:
                bone, row = self.roles.bone(f"{part}.{side}"), LANDMARK[f"{landmark}.{side}"]
                if bone >= 0:
                    way = scale * (captured.landmarks[:, row] - captured.hips) @ self._axes.T
                    goals.append(Goal(bone, position=middle + way, position_weight=captured.weights[:, row]))
        return goals

    def exact(self, goals: list[Goal], pose: Pose) -> Pose:
        """The poses with wrists and ankles at their `ends`, joints near what they were: pins (S5)."""
        method = PinAndDrag(
            reference=pose, deviations=self.anatomy.deviations, axes=self.anatomy.axes, root="pull",
            root_bone=self.root if self.root >= 0 else None, limits=bool(self.limits), coherent=True, settle=False,
        )  # fmt: skip
        return solve(replace(self.skeleton, limits=self.limits), pose, goals, method).pose


def legs_of(captured: CapturedMotion) -> Array:
    """Lengths (n,) of the legs that are seen as a whole, in metres."""
    rows = [[LANDMARK[f"{landmark}.{side}"] for landmark in _LEG] for side in SIDES]
    vectors = np.linalg.norm(np.diff(captured.landmarks[:, rows], axis=2), axis=-1).sum(axis=-1)  # (F, 2)
    return vectors[captured.weights[:, rows].min(axis=-1) > 0.0]


class RootFromHips:
    """Poses one after the other where their hips are seen: from above the root on, and as high as feet ask for.

    What `Character.motion` does with a whole clip.
    """

    def __init__(self, character: Character) -> None:
        self._character = character
        self._legs: deque[float] = deque(maxlen=_MEMORY)
        self._heights: deque[float] = deque(maxlen=_MEMORY)
        self._start: Array | None = None

    def __call__(self, pose: Pose, captured: CapturedMotion) -> Pose:
        """One pose, not a batch, for a reading of one frame."""
        character = self._character
        self._legs.extend(legs_of(captured).tolist())
        if self._start is None:
            self._start = captured.hips[0] * [1.0, 0.0, 1.0]
        pose = character.place(pose, captured.hips[0] - self._start, character.scale(np.array(self._legs)))
        if not character.points:
            return pose
        self._heights.append(float((character.feet(pose) @ character.up).min()))
        return character.shift(pose, (character.ground - float(np.percentile(self._heights, _LOWEST))) * character.up)


class RootFromFeet:
    """Where the root goes that the points do not place: the lowest point of the feet stays on the ground."""

    def __init__(self, character: Character) -> None:
        self._up, self._ground = character.up, character.ground
        self._slack = _LOSES * character.skeleton.size
        self._before: Array | None = None
        self._bears = 0
        self._way = np.zeros(3)

    def lose(self) -> None:
        """Too much was missed to tell which way it went: stay here."""
        self._before = None

    def __call__(self, positions: Array) -> Array:
        """The shift (3,) of the root for points of the feet (p, 3) as they are without it."""
        heights = positions @ self._up
        if self._before is not None:
            step = positions[self._bears] - self._before[self._bears]
            self._way = self._way - (step - (step @ self._up) * self._up)
        lowest = int(np.argmin(heights))
        if heights[lowest] < heights[self._bears] - self._slack or self._before is None:
            self._bears = lowest
        self._before = positions
        return self._way + (self._ground - heights[lowest]) * self._up


def bones_of(character: Character) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The bones that a reading turns, and those that it moves."""
    return np.array(character.bones), np.array([character.root] if character.root >= 0 else [], int)
