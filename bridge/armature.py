"""Read armature objects as skeletons and poses of core, and write poses back.

An armature in rest position is read as the rest pose that it shows. `check` refuses to change it, because the change
would not be visible.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core import EllipticSwing, EulerBox, Pose, Skeleton, rotation
from ..core.causes import Cause, Kind
from ..core.channels import rotations_to_channel, to_rotations
from ..core.pose import forward_matrices, own_channels
from ..core.rotation import Array
from .bones import read_bones
from .channels import (
    AXES,
    ArmatureObject,
    ModeGroups,
    by_axis,
    channels_to_rotations,
    check_channels,
    flags,
    gather,
    read_channels,
    rotation_channel,
    write_channels,
)
from .driven import find_driven
from .errors import BridgeError
from .ranges import kept_limits
from .turns import evaluated_graph

_TURN: Final = 2.0 * np.pi
_LOCKED: Final = 1e-6  # radians, or components of a unit quaternion: tolerance of a locked value
_UNSCALED: Final = 1e-5  # a scale nearer to 1 counts as 1: imports leave such noise, and rigid bodies are solved faster
_ACROSS: Final = np.array([-1.0, 1.0, 1.0])
_TURNED_ACROSS: Final = np.array([1.0, 1.0, -1.0, -1.0])
LENGTH: Final = 1  # index of the scale channel along the bone, Y


@dataclass(frozen=True, eq=False)
class RotationClamp:
    """The effect of local Limit Rotation constraints on the own rotations of k bones with one Euler order.

    used, lower, upper (k, 3) by axis x, y, z, radians; legacy (k,): clamp without taking the shorter arc.
    """

    bones: NDArray[np.int64]
    order: str
    used: NDArray[np.bool_]
    lower: Array
    upper: Array
    legacy: NDArray[np.bool_]

    def __call__(self, matrices: Array) -> Array:
        """Return own rotations (..., k, 3, 3), which may mirror, as unit quaternions (..., k, 4) inside the limits.

        Source: Blender's rotlimit_evaluate and clamp_angle (source/blender/blenkernel/intern/constraint.cc).
        """
        angles = rotation.matrix_to_euler(matrices, self.order)
        below, above = rotation.wrap(self.lower - angles), rotation.wrap(self.upper - angles)
        nearer = np.where(np.abs(above) < np.abs(below), above, below)
        # the range crosses 180 degrees if its ends have changed places
        step = np.where(below < above, np.clip(0.0, below, above), np.where((above < 0.0) & (below > 0.0), nearer, 0.0))
        step = np.where(self.lower >= self.upper, self.lower - angles, step)
        step = np.where(self.upper - self.lower >= _TURN, 0.0, step)
        plain = np.clip(angles, self.lower, np.maximum(self.lower, self.upper)) - angles
        step = np.where(self.legacy[:, None], plain, step)
        return rotation.from_euler(angles + np.where(self.used, step, 0.0), self.order)


@dataclass(frozen=True, eq=False)
class Rig:
    """All of an armature that posing does not change. Read it again after a change to bones, constraints or modes.

    driven: bone -> the reason why it is driven, e.g. 'constraint "IK" on "shin.L" (Inverse Kinematics)'.
    carried: indices of driven bones that go where their parents go. A pose has the channels that would show them as
        Blender does; the other driven bones are `skeleton.driven`.
    scaled: indices of further bones, parents first, of which only the scale is driven.
    scalable: (J, 3) the scales that are neither locked nor driven.
    bounded: indices of bones that their own channels move, as far as constraints allow. A pose has them where these do.
    """

    object_name: str
    skeleton: Skeleton
    driven: dict[str, str]
    scalable: NDArray[np.bool_]
    clamps: tuple[RotationClamp, ...] = ()
    scaled: tuple[int, ...] = ()
    carried: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, int))
    bounded: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, int))

    @cached_property
    def decided(self) -> NDArray[np.bool_]:
        """Which bones (J,) are driven, carried ones included."""
        return np.isin(self.skeleton.names, [*self.driven])

    @property
    def evaluated(self) -> bool:
        """Whether the pose has to be read from evaluated matrices, because channels do not determine it."""
        return bool(self.driven or self.scaled or len(self.bounded))

    @cached_property
    def modes(self) -> ModeGroups:
        """Indices of the bones by rotation mode."""
        modes = np.array(self.skeleton.rotation_modes)
        return {str(mode): np.flatnonzero(modes == mode) for mode in np.unique(modes)}

    def driven_above(self, bone: int) -> Cause | None:
        """Return the nearest held bone from `bone` up to its root as a cause, or None."""
        names, held = self.skeleton.names, self.skeleton.driven
        name = next((names[above] for above in self.skeleton.ancestors(bone) if held[above]), None)
        return None if name is None else Cause(Kind.DRIVEN, name, self.driven[name])

    def is_stuck(self, bone: int) -> bool:
        """Return whether no bone that is free to turn lies between the bone and a held ancestor, itself included."""
        for above in self.skeleton.ancestors(bone):
            if self.skeleton.driven[above]:
                return True
            if above != bone and self.skeleton.movable[above]:
                return False
        return False

    @cached_property
    def channels(self) -> tuple[str, ...]:
        """The names of the properties that define the pose."""
        return ("location", "scale", *dict.fromkeys(rotation_channel(mode) for mode in self.modes))


def check(armature: ArmatureObject) -> None:
    """Raise BridgeError if the pose of this object cannot be read or must not be changed."""
    _check_readable(armature)
    override = armature.override_library
    if armature.library is not None:
        raise BridgeError(
            f'The armature "{armature.name}" is linked from another file. Make a library override of it first.'
        )
    if override is not None and override.is_system_override:
        raise BridgeError(f'The library override "{armature.name}" is not editable. Make it editable first.')
    if armature.data.pose_position == "REST":
        raise BridgeError(
            f'The armature "{armature.name}" is shown in rest position. Switch it to pose position first.'
        )


def find_again(name: str, uid: int, bones: tuple[str, ...]) -> ArmatureObject:
    """Return the armature object with this `session_uid`, which had this name and has these bones.

    For tools that run while the user works, because references to Blender's objects do not survive an undo. Raises
    BridgeError if the object is gone or has other bones.
    """
    found: Any = bpy.data.objects.get(name)
    if found is None or found.session_uid != uid:
        found = next((other for other in bpy.data.objects if other.session_uid == uid), None)
    if found is None or found.type != "ARMATURE":
        raise BridgeError(f'The armature "{name}" no longer exists.')
    if tuple(found.pose.bones.keys()) != bones:
        raise BridgeError(f'The bones of the armature "{found.name}" have changed.')
    return found


def _check_readable(armature: ArmatureObject) -> None:
    if armature is None:
        raise BridgeError("There is no active object. Select an armature first.")
    if armature.type != "ARMATURE":
        raise BridgeError(
            f'"{armature.name}" is not an armature: its type is {armature.type.lower().replace("_", " ")}. '
            "Select an armature."
        )
    if armature.mode == "EDIT" or armature.data.is_editmode:
        raise BridgeError(f'The armature "{armature.name}" is in Edit Mode. Exit Edit Mode first.')
    if not len(armature.data.bones):
        raise BridgeError(f'The armature "{armature.name}" has no bones.')


def read_rig(armature: ArmatureObject) -> Rig:
    """Return the skeleton of an armature object with its limits and driven bones.

    Armatures that must not be changed can be read, too. Raises BridgeError if the object has no pose to be read.
    """
    _check_readable(armature)
    # Blender evaluates only objects that the view layer shows; the matrices of others are out of date
    if not armature.evaluated_get(evaluated_graph(bpy.context)).is_evaluated:
        raise BridgeError(
            f'The armature "{armature.name}" is disabled in the viewport or not in the view layer. Show it first.'
        )
    bones = armature.data.bones
    channels = armature.pose.bones
    names = tuple(bones.keys())
    if names != tuple(channels.keys()):
        raise BridgeError(
            f'The pose of the armature "{armature.name}" is out of date. Enter and exit Edit Mode to update it.'
        )
    at_rest = read_bones(armature)

    modes = tuple(channel.rotation_mode for channel in channels)
    reasons, limiting, *found = find_driven(armature)
    driven, scaled, fixed, bounded = (np.array([name in some for name in names]) for some in (reasons, *found))
    connected = flags(bones, "use_connect", 1)[:, 0] & ~(driven & ~fixed)  # a constraint may move a connected bone
    locks, frozen = _rotation_locks(armature, modes)
    clamps, boxes = _rotation_limits(armature, limiting)
    own_limits = (*_ik_limits(channels), *boxes)
    kept = kept_limits(channels, {bone for group in own_limits for bone in group.bones.tolist()})
    skeleton = Skeleton(
        **at_rest,
        limits=(*own_limits, *kept),
        stiffness=by_axis(channels, "ik_stiffness_{}", np.float32),
        stretch=_stretch(channels, driven | scaled),
        movable=~(driven | locks.all(axis=1) | frozen),
        translatable=~(connected | driven)[:, None] & ~flags(channels, "lock_location", 3),
        rotation_locks=locks,
        rotation_modes=modes,
        connected=connected,
        local_location=flags(bones, "use_local_location", 1)[:, 0],
        inherit_rotation=flags(bones, "use_inherit_rotation", 1)[:, 0],
        inherit_scale=tuple(bone.inherit_scale for bone in bones),
        driven=fixed,
    )
    scalable = ~(driven | scaled)[:, None] & ~flags(channels, "lock_scale", 3)
    scaled, carried = tuple(np.flatnonzero(scaled).tolist()), np.flatnonzero(driven & ~fixed)
    return Rig(armature.name, skeleton, reasons, scalable, clamps, scaled, carried, np.flatnonzero(bounded))


def read_pose(armature: ArmatureObject, rig: Rig) -> Pose:
    """Return the pose at the current frame as Blender evaluates it, Limit Rotation constraints and drivers included."""
    if armature.data.pose_position == "REST":
        return Pose.rest(rig.skeleton)
    evaluated = read_matrices(armature) if rig.evaluated else None
    return channels_to_pose(rig, read_channels(armature, rig.channels), evaluated)


def read_matrices(armature: ArmatureObject) -> Array:
    """Return Blender's evaluated `PoseBone.matrix`, (J, 3, 4) float64, as of the last update of the view layer."""
    bones = armature.pose.bones
    return gather(bones, "matrix", 16).reshape(-1, 4, 4).swapaxes(1, 2)[:, :3]


def deforming(armature: ArmatureObject) -> NDArray[np.bool_]:
    """Return which bones (J,) deform meshes."""
    return flags(armature.data.bones, "use_deform", 1)[:, 0]


def channels_to_pose(
    rig: Rig, channels: dict[str, Array], evaluated: Array | None, modes: ModeGroups | None = None
) -> Pose:
    """Return the pose of channels (..., J, n) and evaluated matrices (..., J, 3, 4); scales next to 1 are dropped.

    `modes`: of the bones whose rotations are read, by default all.
    """
    check_channels(rig.skeleton.names, rig.skeleton.size, channels)
    rotations = channels_to_rotations(channels, modes or rig.modes)
    scaled = np.abs(channels["scale"] - 1.0) > _UNSCALED
    scales: Array | None = np.where(scaled, channels["scale"], 1.0) if scaled.any() else None
    for clamp in rig.clamps:
        own = rotation.to_matrix(rotations[..., clamp.bones, :])
        if scales is not None:
            # the constraint takes the matrix apart into a rotation and a positive scale
            own = own * np.where(scales[..., clamp.bones, None, :] < 0.0, -1.0, 1.0)
            scales[..., clamp.bones, :] = np.abs(scales[..., clamp.bones, :])
        rotations[..., clamp.bones, :] = clamp(own)
    pose = Pose(rotations, channels["location"], scales, evaluated if rig.skeleton.driven.any() else None)
    if len(rig.carried) and evaluated is not None:
        pose = with_carried(rig, pose, evaluated)
    pose = pose if evaluated is None else within_limits(rig, pose, evaluated)
    return _rescaled(rig, pose, evaluated) if rig.scaled and evaluated is not None else pose


def with_carried(rig: Rig, pose: Pose, evaluated: Array) -> Pose:
    """Return poses (...) with the channels that carried bones would need to be where they are evaluated."""
    bones, scales = rig.carried, np.ones_like(pose.translations) if pose.scales is None else np.array(pose.scales)
    rotations, translations = np.array(pose.rotations), np.array(pose.translations)
    turned, moved, sizes = own_channels(rig.skeleton, evaluated, bones)
    rotations[..., bones, :], translations[..., bones, :] = turned, moved
    scales[..., bones, :] = np.where(np.abs(sizes - 1.0) > _UNSCALED, sizes, 1.0)
    return replace(pose, rotations=rotations, translations=translations, scales=scales if (scales != 1).any() else None)


def within_limits(rig: Rig, pose: Pose, evaluated: Array) -> Pose:
    """Return poses (...) with bones that constraints keep in a region where these have them."""
    if not len(rig.bounded):
        return pose
    translations = np.array(pose.translations)
    translations[..., rig.bounded, :] = own_channels(rig.skeleton, evaluated, rig.bounded)[1]
    return replace(pose, translations=translations)


def _rescaled(rig: Rig, pose: Pose, evaluated: Array) -> Pose:
    """Return the pose with scales of the scaled bones such that their axes are as long as evaluated."""
    above = sorted({bone for scaled in rig.scaled for bone in rig.skeleton.ancestors(scaled)})
    lengths = np.linalg.norm(evaluated[..., above, :, :3], axis=-2)
    if pose.scales is None and np.all(np.abs(lengths - 1.0) <= _UNSCALED):
        return pose
    scales = np.ones_like(pose.translations) if pose.scales is None else pose.scales.copy()
    within = {bone: len({*rig.scaled} & {*rig.skeleton.ancestors(bone)}) for bone in rig.scaled}
    for depth in sorted(set(within.values())):  # a bone inherits the scale of those above it
        bones = [bone for bone, found in within.items() if found == depth]
        made = forward_matrices(rig.skeleton, replace(pose, scales=scales))
        long, short = (np.linalg.norm(matrices[..., bones, :, :3], axis=-2) for matrices in (evaluated, made))
        scales[..., bones, :] *= np.where(short > 0.0, long / np.where(short > 0.0, short, 1.0), 1.0)
    scaled = np.abs(scales - 1.0) > _UNSCALED
    return replace(pose, scales=np.where(scaled, scales, 1.0) if scaled.any() else None)


class PoseWriter:
    """Write poses to the same bones (indices) repeatedly: rotations, locations, and the lengths of `scaled`.

    Rotations are written in each bone's own mode, as the values nearest to the current ones. Locked channels, driven
    bones, locations of connected bones and lengths of bones without stretch are not written. With `sizes` all scales of
    `scaled` are written. Blender evaluates the pose at the next update of the view layer.
    """

    def __init__(self, rig: Rig, bones: Iterable[int], scaled: Iterable[int] = (), sizes: bool = False) -> None:
        skeleton = rig.skeleton
        chosen = np.zeros(len(skeleton), bool)
        chosen[list(bones)] = True
        self._placed = np.flatnonzero(chosen[:, None] & skeleton.translatable)  # of the (J, 3) locations
        some = chosen & skeleton.translatable.any(axis=1)
        self._kept = np.nonzero(some[:, None] & ~skeleton.translatable)  # locked ones beside these
        self._scaled = scale_channels(rig, scaled, sizes) @ (len(AXES), 1)  # of the (J, 3) scales
        turning = {mode: group[(chosen & skeleton.movable)[group]] for mode, group in rig.modes.items()}
        locks = skeleton.rotation_locks
        self._turned = [
            (mode, rotation_channel(mode), group, locks[group] if locks[group].any() else None)
            for mode, group in turning.items()
            if len(group)
        ]
        self._channels = {name for _, name, _, _ in self._turned}
        self._channels |= {name for name, some in (("location", self._placed), ("scale", self._scaled)) if len(some)}

    def write(self, armature: ArmatureObject, pose: Pose, now: dict[str, Array] | None = None) -> Pose:
        """Write one pose to the bones and return it with what locks leave of their rotations and locations.

        `now`: the channels of the bones as float32, if these have been read.
        """
        now = read_channels(armature, self._channels, np.float32) if now is None else now
        channels, allowed = {name: now[name] for name in self._channels}, np.array(pose.rotations)
        translations = pose.translations
        if len(self._placed):
            channels["location"].put(self._placed, pose.translations.take(self._placed))
            translations = np.array(translations)
            translations[self._kept] = channels["location"][self._kept]
        if len(self._scaled) and pose.scales is not None:
            channels["scale"].put(self._scaled, pose.scales.take(self._scaled))
        for mode, name, group, locks in self._turned:
            values, rotations = channels[name], pose.rotations.take(group, axis=0)
            present = values.take(group, axis=0).astype(float)
            if locks is None:
                values[group] = rotations_to_channel(rotations, mode, present)
            else:
                values[group] = left = _unlocked(present, rotations, mode, locks)
                allowed[group] = to_rotations(left, mode)
        write_channels(armature, channels)
        return Pose.trusted(allowed, translations, pose.scales, pose.driven_matrices)


def write_pose(
    armature: ArmatureObject,
    rig: Rig,
    pose: Pose,
    bones: Iterable[int],
    scaled: Iterable[int] = (),
    sizes: bool = False,
) -> None:
    """Write one pose with a `PoseWriter`."""
    PoseWriter(rig, bones, scaled, sizes).write(armature, pose)


def scale_channels(rig: Rig, bones: Iterable[int], sizes: bool = False) -> NDArray[np.int64]:
    """Return (n, 2) bones and axes of scales that may be written: lengths of bones with stretch, or all (`sizes`)."""
    free = rig.scalable if sizes else (rig.skeleton.stretch > 0.0)[:, None] & (np.arange(len(AXES)) == LENGTH)
    chosen = np.isin(np.arange(len(free)), list(bones))
    return np.argwhere(chosen[:, None] & free)


def _unlocked(present: Array, rotations: Array, mode: str, locks: NDArray[np.bool_]) -> Array:
    """Return channel values (k, n) of rotations (k, 4) with locked angles (k, 3) as in the current values (k, n)."""
    if mode in rotation.EULER_ORDERS:
        return rotations_to_channel(rotations, mode, present, locks)
    every = {mode: np.arange(len(present))}
    old = rotation.to_euler(channels_to_rotations({"location": present, rotation_channel(mode): present}, every))
    new = rotation.near_euler(rotation.to_euler(rotations), old)
    strayed = np.any(locks & (np.abs(new - old) > _LOCKED), axis=-1, keepdims=True)
    rotations = np.where(strayed, rotation.from_euler(np.where(locks, old, new)), rotations)
    return rotations_to_channel(rotations, mode, present)


def mirrored(position: Array, turn: Array) -> tuple[Array, Array]:
    """Return a position or vector (..., 3) and a rotation (..., 4) mirrored across X in armature space."""
    return position * _ACROSS, turn * _TURNED_ACROSS


def _stretch(channels: Any, driven: NDArray[np.bool_]) -> Array:
    """Return the IK stretch (J,), 0 where the length is locked or driven."""
    locked = flags(channels, "lock_scale", 3)[:, LENGTH]
    return np.where(driven | locked, 0.0, gather(channels, "ik_stretch", 1)[:, 0])


def _rotation_locks(armature: ArmatureObject, modes: tuple[str, ...]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return locked Euler angles (J, 3), IK locks included, and bones (J,) that their locks freeze.

    Blender creates every bone with `lock_rotations_4d`: quaternions and axis-angles are locked by component. A bone
    with Y and Z locked at zero is a hinge about X, which is how riggers use it; any other component lock freezes it.
    """
    channels = armature.pose.bones
    locks = flags(channels, "lock_rotation", 3)
    by_component = flags(channels, "lock_rotations_4d", 1)[:, 0] & np.isin(modes, ("QUATERNION", "AXIS_ANGLE"))
    values = np.where(
        np.equal(modes, "QUATERNION")[:, None],
        gather(channels, "rotation_quaternion", 4)[:, 1:],
        gather(channels, "rotation_axis_angle", 4)[:, 1:],
    )
    locked_w = flags(channels, "lock_rotation_w", 1)[:, 0]
    hinge = ~locked_w & (locks.sum(axis=1) == 2) & np.all(~locks | (np.abs(values) < _LOCKED), axis=1)
    frozen = by_component & (locks.any(axis=1) | locked_w) & ~hinge
    kept = locks & ~frozen[:, None]
    return kept | by_axis(channels, "lock_ik_{}", bool).astype(bool), frozen


def _ik_limits(channels: Any) -> list[EllipticSwing]:
    used = by_axis(channels, "use_ik_limit_{}", bool).astype(bool)
    bones = np.flatnonzero(used.any(axis=1))
    if not len(bones):
        return []
    lower = np.where(used, by_axis(channels, "ik_min_{}", np.float32), -np.inf)
    upper = np.where(used, by_axis(channels, "ik_max_{}", np.float32), np.inf)
    return [EllipticSwing(bones, lower[bones], upper[bones])]


def _rotation_limits(
    armature: ArmatureObject, limiting: dict[str, Any]
) -> tuple[tuple[RotationClamp, ...], list[EulerBox]]:
    """Return the Limit Rotation constraints as Blender evaluates them and as limits for solvers."""
    by_order: dict[str, list[str]] = {}
    place_of = {name: place for place, name in enumerate(armature.pose.bones.keys())}
    for name, constraint in limiting.items():
        mode = armature.pose.bones[name].rotation_mode
        automatic = mode if mode in rotation.EULER_ORDERS else "XYZ"
        order = automatic if constraint.euler_order == "AUTO" else constraint.euler_order
        if any(getattr(constraint, f"use_limit_{axis}") for axis in AXES):
            by_order.setdefault(order, []).append(name)
    clamps: list[RotationClamp] = []
    for order, names in by_order.items():
        rows = [limiting[name] for name in names]

        def values(name: str, dtype: type = float, rows: list[Any] = rows) -> NDArray[Any]:
            return np.array([[getattr(row, name.format(axis)) for axis in AXES] for row in rows], dtype)

        used, low, high = values("use_limit_{}", bool), values("min_{}"), values("max_{}")
        legacy = np.array([row.use_legacy_behavior for row in rows])
        bones = np.array([place_of[name] for name in names])
        clamps.append(RotationClamp(bones, order, used, low, high, legacy))
    if not clamps:
        return (), []
    each = [(one.order, row) for one in clamps
            for row in zip(one.bones.tolist(), one.used, one.lower, one.upper, one.legacy, strict=True)]  # fmt: skip
    rows = [(bone, order, *_bounds(*bounds)) for order, (bone, *bounds) in each]
    return tuple(clamps), [EulerBox(*(list(column) for column in zip(*rows, strict=True)))]


def _bounds(used: NDArray[np.bool_], low: Array, high: Array, legacy: bool) -> tuple[Array, Array]:
    """Return lower and upper bounds (3,) without whole turns, infinite on axes without limits."""
    high = np.maximum(low, high)  # Blender uses the lower end of an empty range
    if not legacy:
        turns = _TURN * np.round(0.5 * (low + high) / _TURN)
        used = used & (high - low < _TURN)
        low, high = low - turns, high - turns
    return np.where(used, low, -np.inf), np.where(used, high, np.inf)
