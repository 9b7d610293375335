"""Armature objects as core's skeletons and poses, and back.

Shown in rest position, an armature is read as what is seen, the rest pose; `check` refuses to change it, because what
is written would not be seen.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import bpy
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import EllipticSwing, EulerBox, Pose, Skeleton, rotation
from ..core.channels import rotations_to_channel
from ..core.pose import forward_matrices
from ..core.rotation import Array
from .channels import (
    ArmatureObject,
    ModeGroups,
    channels_to_rotations,
    read_channels,
    rotation_channel,
    write_channels,
)
from .driven import find_driven
from .errors import BridgeError
from .learned import learned_limits

_TURN: Final = 2.0 * np.pi
_LOCKED: Final = 1e-6  # radians, or parts of a unit quaternion, that a locked value may be off by
_UNSCALED: Final = 1e-5  # what a scale is off 1 by that no one sees: imports leave it, and rigid bodies are fast
_AXES: Final = ("x", "y", "z")
_ACROSS: Final = np.array([-1.0, 1.0, 1.0])
_TURNED_ACROSS: Final = np.array([1.0, 1.0, -1.0, -1.0])
LENGTH: Final = 1  # the scale channel that a bone grows by: along its Y


@dataclass(frozen=True, eq=False)
class RotationClamp:
    """What Limit Rotation constraints in local space do to the bones' own rotations, of k bones with one Euler order.

    used, lower, upper (k, 3) by axis x, y, z; legacy (k,): clamp without going the shorter way round the circle.
    """

    bones: NDArray[np.int64]
    order: str
    used: NDArray[np.bool_]
    lower: Array
    upper: Array
    legacy: NDArray[np.bool_]

    def __call__(self, matrices: Array) -> Array:
        """Own rotations (..., k, 3, 3), mirrored ones included, to unit quaternions (..., k, 4) inside the limits.

        Blender's rotlimit_evaluate and clamp_angle (source/blender/blenkernel/intern/constraint.cc).
        """
        angles = rotation.matrix_to_euler(matrices, self.order)
        below, above = rotation.wrap(self.lower - angles), rotation.wrap(self.upper - angles)
        nearer = np.where(np.abs(above) < np.abs(below), above, below)
        # the range crosses the half turn if its ends have changed places
        step = np.where(below < above, np.clip(0.0, below, above), np.where((above < 0.0) & (below > 0.0), nearer, 0.0))
        step = np.where(self.lower >= self.upper, self.lower - angles, step)
        step = np.where(self.upper - self.lower >= _TURN, 0.0, step)
        plain = np.clip(angles, self.lower, np.maximum(self.lower, self.upper)) - angles
        step = np.where(self.legacy[:, None], plain, step)
        return rotation.from_euler(angles + np.where(self.used, step, 0.0), self.order)


@dataclass(frozen=True, eq=False)
class Rig:
    """What does not change while an armature is posed; read again after any change to bones, constraints or modes.

    driven: why each driven bone is driven, e.g. 'constraint "IK" on "shin.L" (Inverse Kinematics)'.
    scaled: further bones, parents first, whose scale alone is decided by something else.
    scalable: (J, 3) the scales that are neither locked nor decided by something else.
    """

    object_name: str
    skeleton: Skeleton
    driven: dict[str, str]
    scalable: NDArray[np.bool_]
    clamps: tuple[RotationClamp, ...] = ()
    scaled: tuple[int, ...] = ()

    @property
    def evaluated(self) -> bool:
        """Whether its channels do not say all of its pose."""
        return bool(self.driven or self.scaled)

    @cached_property
    def modes(self) -> ModeGroups:
        """Bones by rotation mode."""
        modes = np.array(self.skeleton.rotation_modes)
        return {str(mode): np.flatnonzero(modes == mode) for mode in np.unique(modes)}

    def driven_above(self, bone: int) -> str | None:
        """A sentence about the nearest driven bone from `bone` up to its root; None: nothing is driven there."""
        names = self.skeleton.names
        name = next((names[above] for above in self.skeleton.ancestors(bone) if names[above] in self.driven), None)
        return None if name is None else f"{name} is decided by {self.driven[name]}"

    def is_stuck(self, bone: int) -> bool:
        """Whether nothing that is free to turn comes between the bone and the driven one that it hangs on, or is."""
        for above in self.skeleton.ancestors(bone):
            if self.skeleton.driven[above]:
                return True
            if above != bone and self.skeleton.movable[above]:
                return False
        return False

    @cached_property
    def channels(self) -> tuple[str, ...]:
        """The properties that the pose is made of."""
        return ("location", "scale", *dict.fromkeys(rotation_channel(mode) for mode in self.modes))


def check(armature: ArmatureObject) -> None:
    """Raises BridgeError if the pose of this object cannot be read or must not be changed."""
    _check_readable(armature)
    override = armature.override_library
    if armature.library is not None:
        raise BridgeError(
            f'The armature "{armature.name}" is linked from another file; make a library override of it first.'
        )
    if override is not None and override.is_system_override:
        raise BridgeError(f'The library override "{armature.name}" is not editable; make it editable first.')
    if armature.data.pose_position == "REST":
        raise BridgeError(
            f'The armature "{armature.name}" is shown in rest position; switch it to pose position first.'
        )


def find_again(name: str, uid: int, bones: tuple[str, ...]) -> ArmatureObject:
    """The armature object that had this name and this `session_uid`, whatever its name is now, with the same bones.

    For what goes on while the user works: no Blender object outlives an undo. Raises BridgeError where it is gone.
    """
    found: Any = bpy.data.objects.get(name)
    if found is None or found.session_uid != uid:
        found = next((other for other in bpy.data.objects if other.session_uid == uid), None)
    if found is None or found.type != "ARMATURE":
        raise BridgeError(f'The armature "{name}" is gone.')
    if tuple(found.pose.bones.keys()) != bones:
        raise BridgeError(f'The armature "{found.name}" is not as it was: it has other bones.')
    return found


def _check_readable(armature: ArmatureObject) -> None:
    if armature is None:
        raise BridgeError("There is no active object; select an armature.")
    if armature.type != "ARMATURE":
        raise BridgeError(
            f'"{armature.name}" is no armature, but of the type {armature.type.lower().replace("_", " ")}.'
        )
    if armature.mode == "EDIT" or armature.data.is_editmode:
        raise BridgeError(f'The armature "{armature.name}" is in edit mode; leave it first.')
    if not len(armature.data.bones):
        raise BridgeError(f'The armature "{armature.name}" has no bones.')


def read_rig(armature: ArmatureObject) -> Rig:
    """The skeleton of an armature object, what limits it and what drives it.

    Armatures that `check` refuses because they must not be changed are read, too; what has no pose is refused.
    """
    _check_readable(armature)
    # Blender evaluates only what the view layer shows; matrices of anything else are old
    context: Any = bpy.context
    if not armature.evaluated_get(context.evaluated_depsgraph_get()).is_evaluated:
        raise BridgeError(
            f'The armature "{armature.name}" is disabled in the viewport or not in the view layer; show it first.'
        )
    bones = armature.data.bones
    channels = armature.pose.bones
    names = tuple(bones.keys())
    if names != tuple(channels.keys()):
        raise BridgeError(
            f'Bones and pose of the armature "{armature.name}" differ; open and leave its edit mode once.'
        )
    index = {name: i for i, name in enumerate(names)}
    parents = np.array([-1 if bone.parent is None else index[bone.parent.name] for bone in bones])

    # these are what Blender itself computes with: the rest matrices in armature space are their products
    lengths = gather(bones, "length", 1)[:, 0]
    offsets = gather(bones, "head", 3)
    offsets[:, 1] += np.where(parents >= 0, lengths[parents], 0.0)
    rest = gather(bones, "matrix", 9).reshape(-1, 3, 3).swapaxes(1, 2)

    modes = tuple(channel.rotation_mode for channel in channels)
    reasons, limiting, rescaled = find_driven(armature)
    driven, scaled = (np.array([name in some for name in names]) for some in (reasons, rescaled))
    connected = _flags(bones, "use_connect", 1)[:, 0]
    locks, frozen = _rotation_locks(armature, modes)
    clamps, boxes = _rotation_limits(armature, index, limiting)
    own_limits = (*_ik_limits(channels), *boxes)
    learned = learned_limits(channels, {bone for group in own_limits for bone in group.bones.tolist()})
    skeleton = Skeleton(
        names,
        parents,
        offsets,
        rotation.from_matrix(rotation.nearest_rotation(rest)),
        lengths,
        limits=(*own_limits, *learned),
        stiffness=_by_axis(channels, "ik_stiffness_{}", np.float32),
        stretch=_stretch(channels, driven | scaled),
        movable=~(driven | locks.all(axis=1) | frozen),
        translatable=~(connected | driven)[:, None] & ~_flags(channels, "lock_location", 3),
        rotation_locks=locks,
        rotation_modes=modes,
        connected=connected,
        local_location=_flags(bones, "use_local_location", 1)[:, 0],
        inherit_rotation=_flags(bones, "use_inherit_rotation", 1)[:, 0],
        inherit_scale=tuple(bone.inherit_scale for bone in bones),
        driven=driven,
        rest_bases=rest,
    )
    scalable = ~(driven | scaled)[:, None] & ~_flags(channels, "lock_scale", 3)
    return Rig(armature.name, skeleton, reasons, scalable, clamps, tuple(np.flatnonzero(scaled).tolist()))


def read_pose(armature: ArmatureObject, rig: Rig) -> Pose:
    """The pose at the present frame as Blender evaluates it: Limit Rotation applied, driven bones by their matrices."""
    if armature.data.pose_position == "REST":
        return Pose.rest(rig.skeleton)
    return channels_to_pose(rig, read_channels(armature, rig.channels), read_evaluated(armature, rig))


def read_evaluated(armature: ArmatureObject, rig: Rig) -> Array | None:
    """Matrices (J, 3, 4) in armature space where the rig has driven or scaled bones."""
    return read_matrices(armature) if rig.evaluated else None


def read_matrices(armature: ArmatureObject) -> Array:
    """Blender's own evaluated `PoseBone.matrix`, (J, 3, 4) float64, as of the last update of the view layer."""
    bones = armature.pose.bones
    return gather(bones, "matrix", 16).reshape(-1, 4, 4).swapaxes(1, 2)[:, :3]


def channels_to_pose(rig: Rig, channels: dict[str, Array], evaluated: Array | None) -> Pose:
    """Channel arrays (..., J, n), and evaluated matrices (..., J, 3, 4), as a pose, without scales that are noise."""
    rotations = channels_to_rotations(channels, rig.modes)
    scaled = np.abs(channels["scale"] - 1.0) > _UNSCALED
    scales: Array | None = np.where(scaled, channels["scale"], 1.0) if scaled.any() else None
    for clamp in rig.clamps:
        own = rotation.to_matrix(rotations[..., clamp.bones, :])
        if scales is not None:
            # the constraint takes the matrix apart into a rotation and a positive scale
            own = own * np.where(scales[..., clamp.bones, None, :] < 0.0, -1.0, 1.0)
            scales[..., clamp.bones, :] = np.abs(scales[..., clamp.bones, :])
        rotations[..., clamp.bones, :] = clamp(own)
    pose = Pose(rotations, channels["location"], scales, evaluated if rig.driven else None)
    return _rescaled(rig, pose, evaluated) if rig.scaled and evaluated is not None else pose


def _rescaled(rig: Rig, pose: Pose, evaluated: Array) -> Pose:
    """The pose with the scales that its scaled bones have: those with which their axes are as long as evaluated."""
    above = sorted({bone for scaled in rig.scaled for bone in rig.skeleton.ancestors(scaled)})
    lengths = np.linalg.norm(evaluated[..., above, :, :3], axis=-2)
    if pose.scales is None and np.all(np.abs(lengths - 1.0) <= _UNSCALED):
        return pose
    scales = np.ones_like(pose.translations) if pose.scales is None else pose.scales.copy()
    within = {bone: len({*rig.scaled} & {*rig.skeleton.ancestors(bone)}) for bone in rig.scaled}
    for depth in sorted(set(within.values())):  # each is seen on the scale of those before it
        bones = [bone for bone, found in within.items() if found == depth]
        made = forward_matrices(rig.skeleton, replace(pose, scales=scales))
        long, short = (np.linalg.norm(matrices[..., bones, :, :3], axis=-2) for matrices in (evaluated, made))
        scales[..., bones, :] *= np.where(short > 0.0, long / np.where(short > 0.0, short, 1.0), 1.0)
    scaled = np.abs(scales - 1.0) > _UNSCALED
    return replace(pose, scales=np.where(scaled, scales, 1.0) if scaled.any() else None)


class PoseWriter:
    """Sets rotation and location of the same bones (indices) again and again, and the lengths of `scaled`.

    Each rotation in its bone's own mode, and of all ways to say it the one nearest to the present values. Locked
    channels, driven bones, locations of connected bones and lengths of bones without stretch stay as they are. With
    `sizes` all scales of `scaled` are set. Blender evaluates the pose at the next update of the view layer.
    """

    def __init__(self, rig: Rig, bones: Iterable[int], scaled: Iterable[int] = (), sizes: bool = False) -> None:
        skeleton = rig.skeleton
        chosen = np.zeros(len(skeleton), bool)
        chosen[list(bones)] = True
        self._placed = np.flatnonzero(chosen[:, None] & skeleton.translatable)  # of the (J, 3) locations
        self._scaled = scale_channels(rig, scaled, sizes) @ (len(_AXES), 1)  # of the (J, 3) scales
        turning = {mode: group[(chosen & skeleton.movable)[group]] for mode, group in rig.modes.items()}
        locks = skeleton.rotation_locks
        self._turned = [
            (mode, rotation_channel(mode), group, locks[group] if locks[group].any() else None)
            for mode, group in turning.items()
            if len(group)
        ]
        self._channels = {name for _, name, _, _ in self._turned}
        self._channels |= {name for name, some in (("location", self._placed), ("scale", self._scaled)) if len(some)}

    def write(self, armature: ArmatureObject, pose: Pose) -> None:
        """Bring the bones to one pose."""
        channels = read_channels(armature, self._channels, np.float32)
        if len(self._placed):
            channels["location"].put(self._placed, pose.translations.take(self._placed))
        if len(self._scaled) and pose.scales is not None:
            channels["scale"].put(self._scaled, pose.scales.take(self._scaled))
        for mode, name, group, locks in self._turned:
            values, rotations = channels[name], pose.rotations.take(group, axis=0)
            present = values.take(group, axis=0).astype(float)
            if locks is None:
                values[group] = rotations_to_channel(rotations, mode, present)
            else:
                values[group] = _unlocked(present, rotations, mode, locks)
        write_channels(armature, channels)


def write_pose(
    armature: ArmatureObject,
    rig: Rig,
    pose: Pose,
    bones: Iterable[int],
    scaled: Iterable[int] = (),
    sizes: bool = False,
) -> None:
    """A `PoseWriter` for once."""
    PoseWriter(rig, bones, scaled, sizes).write(armature, pose)


def scale_channels(rig: Rig, bones: Iterable[int], sizes: bool = False) -> NDArray[np.int64]:
    """(n, 2) bones and axes of the lengths that may be changed, those of bones with stretch; with `sizes` all."""
    free = rig.scalable if sizes else (rig.skeleton.stretch > 0.0)[:, None] & (np.arange(len(_AXES)) == LENGTH)
    chosen = np.isin(np.arange(len(free)), list(bones))
    return np.argwhere(chosen[:, None] & free)


def _unlocked(present: Array, rotations: Array, mode: str, locks: NDArray[np.bool_]) -> Array:
    """New channel values (k, n) for rotations (k, 4); locked angles (k, 3) as in the present values (k, n)."""
    if mode in rotation.EULER_ORDERS:
        return np.where(locks, present, rotations_to_channel(rotations, mode, present))
    every = {mode: np.arange(len(present))}
    old = rotation.to_euler(channels_to_rotations({"location": present, rotation_channel(mode): present}, every))
    new = rotation.near_euler(rotation.to_euler(rotations), old)
    strayed = np.any(locks & (np.abs(new - old) > _LOCKED), axis=-1, keepdims=True)
    rotations = np.where(strayed, rotation.from_euler(np.where(locks, old, new)), rotations)
    return rotations_to_channel(rotations, mode, present)


def world_matrix(armature: ArmatureObject) -> Array:
    """The object's matrix (4, 4) from armature space to world space, as of the last update of the view layer."""
    return np.array(armature.matrix_world, float)


def length_scale(world: Array) -> Array:
    """How long an armature unit is in the world (...) by world matrices (..., 4, 4) that scale evenly; else about."""
    return np.cbrt(np.abs(np.linalg.det(world[..., :3, :3])))


def say_length(scene: Any, length: float) -> str:
    """A length of the world in three digits, with the unit in which the scene shows lengths."""
    units, digits = scene.unit_settings, 3
    return bpy.utils.units.to_string(units.system, "LENGTH", units.scale_length * length, precision=digits).strip()


def world_up(world: Array) -> Array:
    """Where the world's Z points (3,) in the space of an object with this world matrix (4, 4); not of unit length."""
    return np.linalg.solve(world[:3, :3], [0.0, 0.0, 1.0])


def armature_to_world(
    matrix: ArrayLike, positions: ArrayLike | None = None, rotations: ArrayLike | None = None
) -> tuple[Array | None, Array | None]:
    """Positions (..., 3) and rotations (..., 4) into the space that `matrix` (..., 4, 4) leads to.

    Positions go by the full matrix, rotations by its nearest rotation: scale, shear and mirroring do not turn a frame.
    """
    m = np.asarray(matrix, float)
    moved = turned = None
    if positions is not None:
        moved = (m[..., :3, :3] @ np.asarray(positions, float)[..., None])[..., 0] + m[..., :3, 3]
    if rotations is not None:
        turned = rotation.mul(rotation.from_matrix(rotation.nearest_rotation(m[..., :3, :3])), rotations)
    return moved, turned


def world_to_armature(
    matrix: ArrayLike, positions: ArrayLike | None = None, rotations: ArrayLike | None = None
) -> tuple[Array | None, Array | None]:
    """The inverse of `armature_to_world`; raises BridgeError where a scale of zero has none."""
    m = np.asarray(matrix, float)
    if not np.all(np.abs(np.linalg.det(m[..., :3, :3])) > 0.0):
        raise BridgeError("The armature object has a scale of zero.")
    moved = armature_to_world(np.linalg.inv(m), positions)[0]
    turned = None
    if rotations is not None:
        turned = rotation.mul(rotation.inv(rotation.from_matrix(rotation.nearest_rotation(m[..., :3, :3]))), rotations)
    return moved, turned


def mirrored(position: Array, turn: Array) -> tuple[Array, Array]:
    """A position or way (..., 3) and a rotation (..., 4) of armature space on the other side of X."""
    return position * _ACROSS, turn * _TURNED_ACROSS


def gather(collection: Any, name: str, size: int) -> Array:
    values = np.empty(len(collection) * size, np.float32)
    collection.foreach_get(name, values)
    return values.reshape(-1, size).astype(float)


def _flags(collection: Any, name: str, size: int) -> NDArray[np.bool_]:
    values = np.empty(len(collection) * size, bool)
    collection.foreach_get(name, values)
    return values.reshape(-1, size)


def _by_axis(collection: Any, name: str, dtype: type) -> Array:
    """One property for each of x, y, z, (J, 3)."""
    result = np.empty((3, len(collection)), dtype)
    for axis, values in zip(_AXES, result, strict=True):
        collection.foreach_get(name.format(axis), values)
    return result.T.astype(float)


def _stretch(channels: Any, driven: NDArray[np.bool_]) -> Array:
    """(J,) 0 where the length is locked or decided by something else."""
    locked = _flags(channels, "lock_scale", 3)[:, LENGTH]
    return np.where(driven | locked, 0.0, gather(channels, "ik_stretch", 1)[:, 0])


def _rotation_locks(armature: ArmatureObject, modes: tuple[str, ...]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Locked Euler angles (J, 3), IK locks among them, and bones (J,) whose locks leave nothing to solve for.

    Blender makes every bone with `lock_rotations_4d`: quaternions and axis-angles are locked by their components. A
    bone with Y and Z locked at zero is a hinge about X, which is how riggers use it; components locked in any other way
    freeze the bone.
    """
    channels = armature.pose.bones
    locks = _flags(channels, "lock_rotation", 3)
    by_component = _flags(channels, "lock_rotations_4d", 1)[:, 0] & np.isin(modes, ("QUATERNION", "AXIS_ANGLE"))
    values = np.where(
        np.equal(modes, "QUATERNION")[:, None],
        gather(channels, "rotation_quaternion", 4)[:, 1:],
        gather(channels, "rotation_axis_angle", 4)[:, 1:],
    )
    locked_w = _flags(channels, "lock_rotation_w", 1)[:, 0]
    hinge = ~locked_w & (locks.sum(axis=1) == 2) & np.all(~locks | (np.abs(values) < _LOCKED), axis=1)
    frozen = by_component & (locks.any(axis=1) | locked_w) & ~hinge
    kept = locks & ~frozen[:, None]
    return kept | _by_axis(channels, "lock_ik_{}", bool).astype(bool), frozen


def _ik_limits(channels: Any) -> list[EllipticSwing]:
    used = _by_axis(channels, "use_ik_limit_{}", bool).astype(bool)
    bones = np.flatnonzero(used.any(axis=1))
    if not len(bones):
        return []
    lower = np.where(used, _by_axis(channels, "ik_min_{}", np.float32), -np.inf)
    upper = np.where(used, _by_axis(channels, "ik_max_{}", np.float32), np.inf)
    return [EllipticSwing(bones, lower[bones], upper[bones])]


def _rotation_limits(
    armature: ArmatureObject, index: dict[str, int], limiting: dict[str, Any]
) -> tuple[tuple[RotationClamp, ...], list[EulerBox]]:
    """The Limit Rotation constraints as Blender evaluates them and as limits for solvers."""
    by_order: dict[str, list[str]] = {}
    for name, constraint in limiting.items():
        mode = armature.pose.bones[name].rotation_mode
        automatic = mode if mode in rotation.EULER_ORDERS else "XYZ"
        order = automatic if constraint.euler_order == "AUTO" else constraint.euler_order
        if any(getattr(constraint, f"use_limit_{axis}") for axis in _AXES):
            by_order.setdefault(order, []).append(name)
    clamps, bones, orders, bounds = [], [], [], []
    for order, names in by_order.items():
        rows = [limiting[name] for name in names]

        def values(name: str, dtype: type = float, rows: list[Any] = rows) -> NDArray[Any]:
            return np.array([[getattr(row, name.format(axis)) for axis in _AXES] for row in rows], dtype)

        used, low, high = values("use_limit_{}", bool), values("min_{}"), values("max_{}")
        legacy = np.array([row.use_legacy_behavior for row in rows])
        clamps.append(RotationClamp(np.array([index[name] for name in names]), order, used, low, high, legacy))
        bones += [index[name] for name in names]
        orders += [order] * len(names)
        bounds += [_bounds(*row) for row in zip(used, low, high, legacy, strict=True)]
    boxes = [EulerBox(bones, orders, [b[0] for b in bounds], [b[1] for b in bounds])] if bones else []
    return tuple(clamps), boxes


def _bounds(used: NDArray[np.bool_], low: Array, high: Array, legacy: bool) -> tuple[Array, Array]:
    """Lower and upper bounds (3,) for a solver: whole turns taken off, infinite where a bone is free."""
    high = np.maximum(low, high)  # Blender takes an empty range for its lower end
    if not legacy:
        turns = _TURN * np.round(0.5 * (low + high) / _TURN)
        used = used & (high - low < _TURN)
        low, high = low - turns, high - turns
    return np.where(used, low, -np.inf), np.where(used, high, np.inf)
