"""Poses, and forward kinematics: heads and frames of the bones of poses.

Inheritance imitates Blender's BKE_bone_parent_transform_calc_from_matrices and orthogonalize_m4_stable
(source/blender/blenkernel/intern/armature.cc, source/blender/blenlib/intern/math_matrix_c.cc).
"""

from dataclasses import dataclass, replace
from typing import Any, Final, Self

import numpy as np

from . import rotation
from .defaults import UNIT_LENGTH
from .errors import CoreError
from .rotation import Array
from .skeleton import Indices, Skeleton, frozen

_NEXT, _LAST = np.array([1, 2, 0]), np.array([2, 0, 1])  # of the axes of a cross product
_SHEAR_COSINE: Final = 1e-4  # Blender's threshold for shear between X and Z
_TAILS: Final = {"rotations": (4,), "translations": (3,), "scales": (3,), "driven_matrices": (3, 4)}  # shapes by bone
_FLOAT32_EPSILON: Final = float(np.finfo(np.float32).eps)


@dataclass(frozen=True, eq=False)
class Pose:
    """One pose or many: rotations (..., J, 4) and translations (..., J, 3) of the bones' own channels.

    A rotation is the unit quaternion of the bone's own rotation in any rotation mode; a translation is its location.
    `scales` (..., J, 3) are 1 if None. `driven_matrices` (..., J, 3, 4), in armature space, are used for driven bones
    only. Raises CoreError for wrong shapes, values that are not finite, and quaternions without unit length.
    """

    rotations: Array
    translations: Array
    scales: Array | None = None
    driven_matrices: Array | None = None

    def __post_init__(self) -> None:
        rotations = _numbers("rotations", self.rotations)
        if rotations.ndim < 2 or rotations.shape[-1] != 4:
            raise CoreError(f"rotations must have the shape (..., J, 4), not {rotations.shape}.")
        shape = rotations.shape[:-1]
        length = np.linalg.norm(rotations, axis=-1)
        if not np.all(np.abs(length - 1.0) < UNIT_LENGTH):  # false for NaN, too
            raise CoreError("A rotation of the pose is not a unit quaternion.")
        object.__setattr__(self, "rotations", frozen(rotations / length[..., None]))
        for name, tail in (("translations", (3,)), ("scales", (3,)), ("driven_matrices", (3, 4))):
            value = getattr(self, name)
            if value is None and name != "translations":
                continue
            array = _numbers(name, value)
            if array.shape != shape + tail:
                raise CoreError(f"{name} must have the shape {shape + tail}, not {array.shape}.")
            if not np.isfinite(array).all():
                raise CoreError(f"{name} of the pose are not finite numbers.")
            object.__setattr__(self, name, frozen(array))

    @classmethod
    def trusted(
        cls, rotations: Array, translations: Array, scales: Array | None, driven_matrices: Array | None
    ) -> Self:
        """Return a pose of arrays without checking or copying them, and make them read-only."""
        pose = object.__new__(cls)
        values = rotations, translations, scales, driven_matrices
        for name, value in zip(cls.__dataclass_fields__, values, strict=True):
            if value is not None:
                value.setflags(write=False)
            object.__setattr__(pose, name, value)
        return pose

    @classmethod
    def rest(cls, skeleton: Skeleton, batch_shape: tuple[int, ...] = ()) -> Self:
        """Return the rest pose, with driven bones at rest."""
        shape = (*batch_shape, len(skeleton))
        driven = np.broadcast_to(skeleton.rest_matrices, (*shape, 3, 4)) if np.any(skeleton.driven) else None
        return cls(np.broadcast_to(rotation.IDENTITY, (*shape, 4)), np.zeros((*shape, 3)), None, driven)

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The leading axes."""
        return self.rotations.shape[:-2]

    @property
    def _parts(self) -> tuple[Array | None, ...]:
        return self.rotations, self.translations, self.scales, self.driven_matrices

    def reshape(self, batch_shape: tuple[int, ...]) -> Self:
        """Return the same poses with other leading axes."""
        drop = len(self.batch_shape)
        parts = (None if part is None else part.reshape(batch_shape + part.shape[drop:]) for part in self._parts)
        return self.trusted(*parts)  # pyright: ignore

    def __getitem__(self, index: Any) -> "Pose":
        """Return a part of the batch; `index` is for the leading axes."""
        return self.trusted(*(None if part is None else part[index] for part in self._parts))  # pyright: ignore


class PoseBuffer:
    """F poses of J bones that are put in some at a time: a motion is read and solved so, to limit memory."""

    def __init__(self, frames: int, bones: int) -> None:
        self._shape = frames, bones
        self._parts: dict[str, Array] = {}

    def put(self, part: slice, pose: Pose) -> None:
        """Take over poses for a part of the frames; scales that others do not have are 1."""
        for name, tail in _TAILS.items():
            values: Array | None = getattr(pose, name)
            if values is not None and name not in self._parts:
                self._parts[name] = np.ones((*self._shape, *tail))
            if name in self._parts:
                self._parts[name][part] = 1.0 if values is None else values

    def pose(self) -> Pose:
        """Return all of them; call this once, when all frames are put in."""
        return Pose.trusted(*(self._parts.get(name) for name in _TAILS))  # pyright: ignore


def _numbers(name: str, values: Any) -> Array:
    try:
        return np.asarray(values, float)
    except (TypeError, ValueError):
        raise CoreError(f"{name} of the pose must be numbers.") from None


def stack(poses: list[Pose]) -> Pose:
    """Return poses of one skeleton as one batch (P, ...); if only some have scales, the others get scales of 1."""
    scaled = any(pose.scales is not None for pose in poses)
    scales = [np.ones_like(pose.translations) if pose.scales is None else pose.scales for pose in poses]
    driven = [pose.driven_matrices for pose in poses]
    return Pose(
        np.stack([pose.rotations for pose in poses]),
        np.stack([pose.translations for pose in poses]),
        np.stack(scales) if scaled else None,
        None if driven[0] is None else np.stack([d for d in driven if d is not None]),
    )


def forward(skeleton: Skeleton, pose: Pose) -> tuple[Array, Array]:
    """Return heads (..., J, 3) in armature space and orthonormalized frames as unit quaternions (..., J, 4).

    Raises CoreError as `forward_matrices`.
    """
    matrices = forward_matrices(skeleton, pose)
    return matrices[..., 3], frame_rotations(matrices[..., :3])


def frame_rotations(matrices: Array) -> Array:
    """Return unit quaternions (..., 4) of bone frames (..., 3, 3) without scale and shear.

    The direction of Y is kept, then that of X in its plane; mirrored frames are negated as in Blender.
    """
    return rotation.from_matrix(frame_bases(matrices))


def frame_bases(matrices: Array) -> Array:
    """Return `frame_rotations` as rotation matrices (..., 3, 3)."""
    y = _normalized(matrices[..., :, 1])
    x = matrices[..., :, 0]
    x = _normalized(x - np.sum(x * y, axis=-1, keepdims=True) * y)
    z = x[..., _NEXT] * y[..., _LAST] - x[..., _LAST] * y[..., _NEXT]  # the same for one frame and for many
    hand = np.where(np.sum(z * matrices[..., :, 2], axis=-1, keepdims=True) < 0.0, -1.0, 1.0)  # -1 of a mirrored frame
    return np.stack([hand * x, hand * y, z], axis=-1)


def forward_matrices(skeleton: Skeleton, pose: Pose) -> Array:
    """Return bone frames (..., J, 3, 4) in armature space with scale and shear, as Blender's `PoseBone.matrix`.

    Raises CoreError if the pose has another number of bones, or no matrices for driven bones.
    """
    own = rotation.to_matrix(pose.rotations)
    if own.shape[-3] != len(skeleton):
        raise CoreError(f"The pose has {own.shape[-3]} bones, the skeleton {len(skeleton)}.")
    scaled = pose.scales is not None
    if pose.scales is not None:
        own = own * pose.scales[..., None, :]
    location = np.where(skeleton.connected[:, None], 0.0, pose.translations)
    rest = skeleton.rest_bases
    driven = skeleton.driven
    if driven.any() and pose.driven_matrices is None:
        raise CoreError("The skeleton has driven bones, but the pose has no matrices for them.")

    # the rest frame is applied after the bone's own channels
    turned = rest @ own
    moved = skeleton.offsets + np.where(
        skeleton.local_location[:, None], (rest @ location[..., None])[..., 0], location
    )
    local = np.concatenate([turned, moved[..., None]], axis=-1)
    result = np.empty_like(local)
    for depth, (simple, above, others, given) in enumerate(skeleton.descents[scaled]):
        if depth == 0:
            roots = skeleton.levels[0]
            result[..., roots, :, :] = local[..., roots, :, :]
        else:
            base = result.take(above, axis=-3)
            frames = base[..., :3] @ local.take(simple, axis=-3)
            frames[..., 3] += base[..., 3]
            result[..., simple, :, :] = frames
            for bone in others:
                base = result[..., skeleton.parents[bone], :, :]
                parent = base[..., :3]
                result[..., bone, :, :3] = inherited_basis(skeleton, int(bone), parent, own[..., bone, :, :])
                result[..., bone, :, 3:] = parent @ moved[..., bone, :, None] + base[..., 3:]
        if len(given) and pose.driven_matrices is not None:
            result[..., given, :, :] = pose.driven_matrices[..., given, :, :]
    return result


def own_channels(skeleton: Skeleton, matrices: Array, bones: Indices) -> tuple[Array, Array, Array]:
    """Return rotations (..., k, 4), translations and scales (..., k, 3) of bones with frames (..., J, 3, 4).

    The inverse of `forward_matrices`, but that shear is lost, and that bones count as if they were not connected.
    """
    rest, parents = skeleton.rest_bases[bones], skeleton.parents[bones]
    root = (parents < 0)[:, None, None]
    base = np.where(root, np.eye(3, 4), matrices[..., parents, :, :])
    frames = base[..., :3] @ rest
    whole = np.array([mode == "FULL" for mode in skeleton.inherit_scale]) & skeleton.inherit_rotation
    for place in np.flatnonzero(~whole[bones] & (parents >= 0)):
        parent = base[..., place, :, :3]
        frames[..., place, :, :] = inherited_basis(skeleton, int(bones[place]), parent, np.eye(3))
    own = np.linalg.pinv(frames) @ matrices[..., bones, :, :3]
    away = np.linalg.pinv(base[..., :3]) @ (matrices[..., bones, :, 3:] - base[..., 3:])
    moved = away[..., 0] - skeleton.offsets[bones]
    moved = np.where(skeleton.local_location[bones, None], (np.linalg.inv(rest) @ moved[..., None])[..., 0], moved)
    scales = np.linalg.norm(own, axis=-2) * np.where(np.linalg.det(own) < 0.0, -1.0, 1.0)[..., None]
    return frame_rotations(own), moved, scales


def with_new_rest(skeleton: Skeleton, rest: Pose, pose: Pose) -> Pose:
    """Return poses (...) with the frames of `pose` after the pose `rest` (J), without scale, became the rest pose."""
    back = rotation.inv(rest.rotations)
    moved = pose.translations - rest.translations
    moved = np.where(skeleton.local_location[:, None], rotation.rotate(back, moved), moved)
    return replace(pose, rotations=rotation.mul(back, pose.rotations), translations=moved)


def inherited_basis(skeleton: Skeleton, bone: int, parent: Array, own: Array) -> Array:
    """Return the 3x3 part (..., 3, 3) of a bone's frame, of its parent's and of the bone's own rotation and scale."""
    rest = skeleton.rest_bases[bone]
    if skeleton.parents[bone] < 0:
        return rest @ own
    mode = skeleton.inherit_scale[bone]
    post_scale = None
    if skeleton.inherit_rotation[bone]:
        if mode in ("FULL", "FIX_SHEAR"):
            base = parent
        elif mode in ("NONE", "AVERAGE"):
            base = _orthogonalized(parent, normalize=True)
        elif mode == "ALIGNED":
            base = _orthogonalized(parent, normalize=False)
            post_scale = np.linalg.norm(base, axis=-2)
            base = base / np.where(post_scale > 0.0, post_scale, 1.0)[..., None, :]
        else:  # NONE_LEGACY: scale is removed, shear is kept
            base = parent / np.linalg.norm(parent, axis=-2, keepdims=True)
    else:
        base = np.broadcast_to(skeleton.rest_matrices[skeleton.parents[bone], :, :3], parent.shape)
        if mode == "FULL":
            base = base * np.linalg.norm(parent, axis=-2)[..., None, :]
        elif mode == "FIX_SHEAR":
            base = base * _size_without_shear(parent)[..., None, :]
        elif mode == "ALIGNED":
            post_scale = _size_without_shear(parent)
    if mode == "AVERAGE":
        base = base * np.cbrt(np.abs(np.linalg.det(parent)))[..., None, None]
    base = base @ rest
    if mode == "FIX_SHEAR":
        base = _orthogonalized(base, normalize=False)
    result = base @ own
    return result if post_scale is None else result * post_scale[..., None, :]


def _size_without_shear(matrices: Array) -> Array:
    """Return column lengths (..., 3), corrected so that their product is the volume (mat4_to_size_fix_shear)."""
    size = np.linalg.norm(matrices, axis=-2)
    volume = np.prod(size, axis=-1)
    ratio = np.abs(np.linalg.det(matrices)) / np.where(volume > 0.0, volume, 1.0)
    return size * np.where(volume > 0.0, np.cbrt(ratio), 1.0)[..., None]


def _normalized(vectors: Array) -> Array:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(length > 0.0, length, 1.0)


def _orthogonalized(matrices: Array, normalize: bool) -> Array:
    """Return matrices (..., 3, 3) without shear, by Blender's orthogonalize_m4_stable about Y."""
    y, x, z = matrices[..., :, 1], matrices[..., :, 0], matrices[..., :, 2]
    square = np.sum(y * y, axis=-1, keepdims=True)
    safe = np.where(square > 0.0, square, 1.0)
    x = x - np.sum(x * y, axis=-1, keepdims=True) / safe * y
    z = z - np.sum(z * y, axis=-1, keepdims=True) / safe * y
    length_x = np.linalg.norm(x, axis=-1, keepdims=True)
    length_z = np.linalg.norm(z, axis=-1, keepdims=True)
    unit_x, unit_z = _normalized(x), _normalized(z)
    cosine = np.sum(unit_x * unit_z, axis=-1, keepdims=True)
    sheared = (np.abs(cosine) > _SHEAR_COSINE) & (np.abs(cosine) < 1.0 - _FLOAT32_EPSILON)
    angle = np.arccos(np.clip(cosine, -1.0, 1.0))
    target = 0.5 * (angle + 0.5 * np.pi)
    new_x = np.sin(target) * _normalized(unit_x - cosine * unit_z) + np.cos(target) * unit_z
    new_z = _normalized(np.cross(np.cross(new_x, unit_z), new_x))
    if normalize:
        y = y / np.sqrt(safe)
        return np.stack([np.where(sheared, new_x, unit_x), y, np.where(sheared, new_z, unit_z)], axis=-1)
    keep = np.sqrt(np.sin(angle))
    kept = (np.where(sheared, new_x * length_x * keep, x), y, np.where(sheared, new_z * length_z * keep, z))
    return np.stack(kept, axis=-1)
