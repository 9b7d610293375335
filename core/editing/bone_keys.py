"""Channels of bones, the keys that stand for them, and the result of a reduction."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

import numpy as np

from ..rotation import Array, Floats
from .bezier import Keys

QUARTERS: Final = 4  # samples per frame
_AHEAD: Final = np.array([-3.0, 4.0, -1.0])  # twice the slope at the first of three samples


@dataclass(frozen=True, eq=False)
class BoneChannels:
    """Keyed channels of a bone: rotation (F, 3 or 4) in the bone's own mode, and location (F, 3) or None.

    `times`: the frames of its keys. New keys may be at these too where they are between frames. Where the motion goes
    on before the first or after the last frame, `slopes` are those there, each a row by frame, else None.
    """

    bone: int
    mode: str
    rotation: Floats
    location: Floats | None
    times: Array | None = None
    slopes: tuple[Array | None, Array | None] = (None, None)

    @property
    def values(self) -> Floats:
        """All channels (F, C)."""
        return self.rotation if self.location is None else np.concatenate([self.rotation, self.location], axis=1)

    def within(self, some: "slice[int, int]", before: bool, after: bool) -> Self:
        """Return the channels at some samples at quarters of frames, and whether the motion goes on beside them."""
        values = self.values[some].astype(float)
        beside = [
            0.5 * QUARTERS * (_AHEAD @ side) if on else None
            for side, on in ((values[:3], before), (-values[:-4:-1], after))
        ]
        location = None if self.location is None else self.location[some]
        return replace(self, rotation=self.rotation[some], location=location, slopes=(beside[0], beside[1]))


@dataclass(frozen=True, eq=False)
class BoneKeys:
    """Keys of a bone; their columns are its rotation, then its location if that is keyed."""

    bone: int
    mode: str
    located: bool
    keys: Keys


@dataclass(frozen=True, eq=False)
class ReducedKeys:
    """The result of `reduce_keys`; a key is all channels of a bone at one frame.

    kept    keys that are left of the keys `before`
    error   largest distance of a watched point from its original position, at any quarter of a frame
    frame   where that is
    missed  indices of bones that cause errors above the tolerance, whatever keys they get
    """

    bones: tuple[BoneKeys, ...]
    kept: int
    before: int
    error: float
    frame: float
    missed: tuple[int, ...] = ()

    @classmethod
    def joined(cls, parts: "Sequence[ReducedKeys]") -> Self:
        """Return the keys of parts of a motion, one after the other."""
        worst = max(parts, key=lambda part: part.error)
        bones = tuple(
            replace(some[0], keys=Keys.joined([one.keys for one in some]))
            for some in zip(*(part.bones for part in parts), strict=True)
        )
        shared = (len(parts) - 1) * len(bones)
        kept, before = (sum(getattr(part, name) for part in parts) - shared for name in ("kept", "before"))
        missed = tuple(sorted({bone for part in parts for bone in part.missed}))
        return cls(bones, kept, before, worst.error, worst.frame, missed)

    @property
    def share(self) -> float:
        """The share of keys that are left."""
        return self.kept / max(self.before, 1)
