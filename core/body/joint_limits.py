"""Limits of the joints of a body: elbows and knees bend in one direction, others have ranges of order-free angles.

The tables are in degrees about the canonical T-pose and its axes, left side; see `anatomy`. The ranges are from
textbooks (AAOS, Joint Motion), widened to admit recorded motion: `python -m benchmarks.naturalness.limits` prints the
share of it that they admit. They exclude impossible poses; comfort is modelled by standard deviations.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Final

import numpy as np

from .. import rotation
from ..limits import EulerBox, Framed, OrderFreeBox
from ..rotation import Array
from .axes import mirror_rotation

SPINE_JOINTS: Final = 3

# Order, lower and upper degrees by axis. The hinge is the outermost angle, which is unique up to half a turn; the other
# two ranges only exclude turns to the side.
ASIDE: Final = 45.0
HINGES: Final = {
    "forearm": ("XZY", (-np.inf, -160.0, -ASIDE), (np.inf, 0.0, ASIDE)),
    "shin": ("YZX", (0.0, -ASIDE, -ASIDE), (155.0, ASIDE, ASIDE)),
}

# The rotation vector of the centre, where the angles are zero, and their lower and upper degrees. Order-free angles are
# most distinct near the centre of a wide range and ambiguous half a turn from it.
_T: Final = (0.0, 0.0, 0.0)
RANGES: Final = {
    "spine": (_T, (-30.0, -35.0, -30.0), (55.0, 35.0, 30.0)),  # each of SPINE_JOINTS
    "neck": (_T, (-55.0, -50.0, -40.0), (50.0, 50.0, 40.0)),  # each, of one or more
    "head": (_T, (-75.0, -75.0, -60.0), (60.0, 75.0, 60.0)),
    "shoulder": (_T, (-25.0, -30.0, -20.0), (25.0, 30.0, 45.0)),
    "upper_arm": ((0.0, -30.0, -20.0), (-130.0, -110.0, -110.0), (130.0, 110.0, 125.0)),
    "hand": (_T, (-140.0, -60.0, -90.0), (140.0, 60.0, 90.0)),
    "thigh": ((-40.0, 0.0, 0.0), (-100.0, -65.0, -60.0), (80.0, 95.0, 95.0)),
    "foot": (_T, (-40.0, -45.0, -45.0), (75.0, 60.0, 45.0)),
    "toe": (_T, (-50.0, -20.0, -20.0), (75.0, 20.0, 20.0)),
}

Parts = Mapping[int, tuple[str, str]]  # bone -> (part, side)


def hinge_limits(parts: Parts, axes: Array, canonical: Array) -> tuple[Framed, ...]:
    """Return the limits of the elbows and knees among `parts`; `axes`, `canonical` (J, 4) as in `Anatomy`."""
    bones = [bone for bone, (part, _) in parts.items() if part in HINGES]
    if not bones:
        return ()
    orders, lower, upper = zip(*(HINGES[parts[bone][0]] for bone in bones), strict=True)
    box = EulerBox(bones, orders, *_sided(np.array(lower), np.array(upper), [parts[bone][1] for bone in bones]))
    return (framed(box, axes[bones], canonical[bones]),)


def range_limits(parts: Parts, axes: Array, canonical: Array) -> tuple[Framed, ...]:
    """Return the limits of the other joints; each bone of a spine with fewer bones has a larger range."""
    bones = [bone for bone, (part, _) in parts.items() if part in RANGES]
    if not bones:
        return ()
    middles, lower, upper = (np.array(column) for column in zip(*(RANGES[parts[b][0]] for b in bones), strict=True))
    spine = Counter(part for part, _ in parts.values())["spine"]
    wider = np.array([np.sqrt(SPINE_JOINTS / spine) if parts[bone][0] == "spine" else 1.0 for bone in bones])
    sides = [parts[bone][1] for bone in bones]
    box = OrderFreeBox(bones, *_sided(lower * wider[:, None], upper * wider[:, None], sides))
    turns = [mirror_rotation(middle, side) for middle, side in zip(middles, sides, strict=True)]
    middle = rotation.exp(rotation.rotate(axes[bones], np.radians(turns)))
    return (framed(box, axes[bones], rotation.mul(canonical[bones], middle)),)


def _sided(lower: Array, upper: Array, sides: list[str]) -> tuple[Array, Array]:
    """Return lower and upper bounds (k, 3) in radians of degrees of the left side."""
    ends = np.radians([[mirror_rotation(end, side) for end, side in zip(bounds, sides, strict=True)]
                       for bounds in (lower, upper)])  # fmt: skip
    return ends.min(axis=0), ends.max(axis=0)


def framed(box: EulerBox | OrderFreeBox, axes: Array, zero: Array) -> Framed:
    """Return limits of rotations about `axes` (k, 4) in the bones' own frames, from the own rotations `zero` (k, 4)."""
    return Framed(box, rotation.mul(rotation.inv(axes), rotation.inv(zero)), axes)
