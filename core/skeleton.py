"""The skeleton: everything about the bones that posing does not change."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import rotation
from .errors import CoreError
from .limits import LimitGroup
from .rotation import Array

INHERIT_SCALE_MODES: Final = ("FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY")
ROTATION_MODES: Final = ("QUATERNION", "AXIS_ANGLE", *rotation.EULER_ORDERS)

Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]

_DEFAULT: Any = None  # replaced by an array in __post_init__

HUMAN_DIAGONAL: Final = 2.4  # metres: diagonal of the bounding box of a 1.7 m human at rest, tails included


def is_whole(value: object) -> bool:
    """Return whether a value is a whole number, not True or False."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def frozen(values: ArrayLike, dtype: type[Any] | None = None) -> NDArray[Any]:
    """Return a read-only copy, or the array itself where it is one."""
    own: Any = values
    owned = isinstance(values, np.ndarray) and own.base is None and dtype in (None, own.dtype)
    if owned and not own.flags.writeable:
        return own
    array = np.array(values, dtype)
    array.setflags(write=False)
    return array


def no_bone(name: str, names: Sequence[str]) -> CoreError:
    """Return the error for a bone that is not there, with the nearest name."""
    near = difflib.get_close_matches(name, names, 1, 0.6)
    return CoreError(f'No bone "{name}"' + (f'; did you mean "{near[0]}"?' if near else "."))


def chain_to_root(parents: Sequence[int] | Mapping[int, int] | Indices, bone: int) -> list[int]:
    """Return a bone and its ancestors, from the bone to its root, by the parent (J,) of each bone."""
    chain: list[int] = []
    while bone >= 0:
        chain.append(bone)
        bone = int(parents[bone])
    return chain


@dataclass(frozen=True, eq=False, repr=False)
class Skeleton:
    """J bones, parents before children. Arrays may be array-likes; they are checked, copied and made read-only.

    A frame's origin is its bone's head; +Y points along the bone. Lengths are in armature units. Optional fields have
    the meaning of Blender's properties of the same names.

    names           (J,) unique
    parents         (J,) -1 for a root
    offsets         (J, 3) the head in the parent's rest frame; of a root in armature space
    rest_rotations  (J, 4) the rest frame relative to the parent's, quaternions of any length
    lengths         (J,) of the bones
    limits          groups of limits of own rotations (see `limits`)
    stiffness       (J, 3) 0 free to 1 stiff, about the bone's own axes
    stretch         (J,) 0 to 1: ease of growing, if the method allows it
    movable         (J,) the rotation may be changed
    translatable    (J, 3) the location channels that may be changed
    rotation_locks  (J, 3) Euler angles that are kept, in the order of `rotation_modes`, XYZ if that is no order
    rotation_modes  (J,) of ROTATION_MODES
    connected       (J,) the head is on the parent's tail and the location is ignored
    local_location  (J,) the location is in the bone's own rest frame, else in the parent's frame
    inherit_rotation, inherit_scale     (J,) from the parent
    driven          (J,) constraints or drivers pose the bone: `Pose.driven_matrices` is used, also for its children
    rest_bases      (J, 3, 3) the rest frames as Blender's float32 matrices, up to 5e-5 off orthonormal, for
                    `forward_matrices`; those of `rest_rotations` by default

    Raises CoreError for wrong shapes, values that are not finite or outside their range, equal names, and parents after
    their children.
    """

    names: tuple[str, ...]
    parents: Indices
    offsets: Array
    rest_rotations: Array
    lengths: Array
    limits: tuple[LimitGroup, ...] = ()
    stiffness: Array = _DEFAULT
    stretch: Array = _DEFAULT
    movable: Flags = _DEFAULT
    translatable: Flags = _DEFAULT
    rotation_locks: Flags = _DEFAULT
    rotation_modes: tuple[str, ...] = _DEFAULT
    connected: Flags = _DEFAULT
    local_location: Flags = _DEFAULT
    inherit_rotation: Flags = _DEFAULT
    inherit_scale: tuple[str, ...] = _DEFAULT
    driven: Flags = _DEFAULT
    rest_bases: Array = _DEFAULT
    _indices: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        names = tuple(self.names)
        count = len(names)
        if not count:
            raise CoreError("The skeleton has no bones.")
        if len(set(names)) != count:
            twice = next(name for i, name in enumerate(names) if name in names[:i])
            raise CoreError(f'Two bones have the name "{twice}".')
        self._set("names", names)
        self._set("_indices", {name: i for i, name in enumerate(names)})
        parents = frozen(self.parents, int)
        self._set("parents", self._shaped("parents", parents, (count,)))
        late = np.flatnonzero((parents >= np.arange(count)) | (parents < -1))
        if len(late):
            raise CoreError(f'Parents must precede their children: "{names[late[0]]}" is too early.')
        self._fill("offsets", (count, 3), float)
        self._fill("lengths", (count,), float)
        rest = self._shaped("rest_rotations", np.asarray(self.rest_rotations, float), (count, 4))
        if not np.all(np.sum(np.square(rest), axis=-1) > 0.0):
            raise CoreError("A rest rotation is the quaternion 0, 0, 0, 0.")
        self._set("rest_rotations", frozen(rotation.normalize(rest)))
        self._fill("rest_bases", (count, 3, 3), float, rotation.to_matrix(self.rest_rotations))
        self._fill("stiffness", (count, 3), float, 0.0)
        self._fill("stretch", (count,), float, 0.0)
        for name in ("movable", "connected", "driven", "local_location", "inherit_rotation"):
            self._fill(name, (count,), bool, name not in ("connected", "driven"))
        self._fill("translatable", (count, 3), bool, np.repeat(parents[:, None] < 0, 3, axis=1))
        self._fill("rotation_locks", (count, 3), bool, False)
        for name, known, default in (
            ("inherit_scale", INHERIT_SCALE_MODES, "FULL"),
            ("rotation_modes", ROTATION_MODES, "QUATERNION"),
        ):
            given = getattr(self, name)
            values = (default,) * count if given is None else tuple(str(v) for v in given)
            wrong = sorted(set(values) - set(known))
            if len(values) != count or wrong:
                raise CoreError(f"{name} needs {count} of {', '.join(known)}.")
            self._set(name, values)
        for name, most in (("lengths", np.inf), ("stiffness", 1.0), ("stretch", 1.0)):
            values = getattr(self, name)
            if np.any(values < 0.0) or np.any(values > most):
                raise CoreError(f"{name} must be at least 0" + (f" and at most {most:g}." if most < np.inf else "."))
        limits: object = self.limits
        if not isinstance(limits, (tuple, list)):  # pyright: ignore
            raise CoreError("limits must be a tuple of groups of limits.")
        self._set("limits", tuple(self.limits))
        for group in self.limits:
            if len(group.bones) and (group.bones.min() < 0 or group.bones.max() >= count):
                raise CoreError("limits has a group for a bone that the skeleton does not have.")

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _fill(self, name: str, shape: tuple[int, ...], dtype: type[Any], default: ArrayLike = 0) -> None:
        value = getattr(self, name)
        array = np.broadcast_to(default, shape) if value is None else np.asarray(value, dtype)
        self._set(name, frozen(self._shaped(name, array, shape), dtype))

    def _shaped(self, name: str, array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
        if array.shape != shape:
            raise CoreError(f"{name} must have the shape {shape}, not {array.shape}.")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            bone = tuple(self.names)[int(np.argwhere(~np.isfinite(array))[0][0])]
            raise CoreError(f'{name} of the bone "{bone}" is not a finite number.')
        return array

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"<Skeleton of {len(self)} bones>"

    def index(self, bone: str | int) -> int:
        """Return the index of a bone by its name or index. Raises CoreError with the nearest name if there is none."""
        if not isinstance(bone, str):
            if not is_whole(bone):
                raise CoreError(f"A bone is given by its name or its number, not by {bone!r}.")
            if not 0 <= int(bone) < len(self):
                raise CoreError(f"No bone number {bone}: the skeleton has {len(self)} bones.")
            return int(bone)
        if bone in self._indices:
            return self._indices[bone]
        raise no_bone(bone, self.names)

    def ancestors(self, bone: int) -> list[int]:
        """Return a bone and its ancestors, from the bone to its root."""
        return chain_to_root(self._parents, bone)

    @cached_property
    def _parents(self) -> list[int]:
        return self.parents.tolist()  # a list is read twice as fast

    def taken(self, bones: Sequence[int]) -> "Skeleton":
        """Return the skeleton of some bones without limits; `bones` increase and contain their ancestors."""
        place = {bone: number for number, bone in enumerate(bones)}
        kept: dict[str, Any] = {}
        for one in fields(self):
            if one.init and one.name not in ("limits", "parents"):
                value = getattr(self, one.name)
                taken = [value[bone] for bone in bones]
                kept[one.name] = np.array(taken) if isinstance(value, np.ndarray) else tuple(taken)
        parents = [place[int(self.parents[bone])] if self.parents[bone] >= 0 else -1 for bone in bones]
        return Skeleton(**kept, parents=np.array(parents))

    @cached_property
    def levels(self) -> tuple[Indices, ...]:
        """Bones by depth: the parents of the bones of each array are in the array before."""
        depth: list[int] = []
        for parent in self._parents:
            depth.append(depth[parent] + 1 if parent >= 0 else 0)
        return tuple(np.split(np.argsort(depth, kind="stable"), np.cumsum(np.bincount(depth))[:-1]))

    @cached_property
    def descents(self) -> tuple[tuple[tuple[Indices, Indices, Indices, Indices], ...], ...]:
        """Bones by `levels`, first for poses without scales, then for poses with scales.

        Each level has the bones that inherit their parent's whole frame, the parents of these, the bones that inherit a
        part of it, and driven bones.
        """
        whole = np.array([mode == "FULL" for mode in self.inherit_scale])
        # without scale all modes to inherit it are equal; a driven bone may have scale
        kinds = (whole if self.driven.any() else np.ones(len(self), bool), whole)
        plain = [self.inherit_rotation & kind & ~self.driven for kind in kinds]
        return tuple(
            tuple(
                (level[simple[level]], self.parents[level[simple[level]]],
                 level[~simple[level] & ~self.driven[level]], level[self.driven[level]])
                for level in self.levels
            )
            for simple in plain
        )  # fmt: skip

    @cached_property
    def rest_matrices(self) -> Array:
        """Rest frames (J, 3, 4) in armature space."""
        result = np.concatenate([self.rest_bases, self.offsets[..., None]], axis=-1)
        for level in self.levels[1:]:
            above = result[self.parents[level]]
            result[level] = above[..., :3] @ result[level]
            result[level, :, 3] += above[..., 3]
        return frozen(result)

    @cached_property
    def size(self) -> float:
        """The skeleton's unit of length: 1 for a 1.7 m human in metres. Solvers divide lengths by it."""
        heads = self.rest_matrices[:, :, 3]
        tails = heads + self.rest_matrices[:, :, 1] * self.lengths[:, None]
        points = np.concatenate([heads, tails])
        diagonal = float(np.linalg.norm(points.max(axis=0) - points.min(axis=0)))
        return diagonal / HUMAN_DIAGONAL if diagonal > 0.0 else 1.0
