"""How far the joints of a body go: elbows and knees bend one way, the others have a range for each order-free angle.

About the canonical T-pose and its axes, left side, degrees; see `anatomy`. The ranges are those of textbooks (AAOS,
Joint Motion), made wide enough for recorded motion: `python -m benchmarks.naturalness.limits` prints what they admit of
that. They keep a joint from what no body does, and are no model of comfort: that is what deviations are for.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Final

import numpy as np

from .. import rotation
from ..limits import EulerBox, Framed, OrderFreeBox
from ..rotation import Array
from .axes import mirror_rotation

# Order, lower and upper degrees by axis. The hinge is the outermost angle, so that it is read up to half a turn; the
# other ranges only keep a joint from going round sideways.
ASIDE: Final = 45.0
HINGES: Final = {
    "forearm": ("XZY", (-np.inf, -160.0, -ASIDE), (np.inf, 0.0, ASIDE)),
    "shin": ("YZX", (0.0, -ASIDE, -ASIDE), (155.0, ASIDE, ASIDE)),
}

# The turn where the angles are zero, their lower and upper degrees. In the middle of a wide range angles without an
# order say most; half a turn from there they say nothing.
_HERE: Final = (0.0, 0.0, 0.0)
RANGES: Final = {
    "spine": (_HERE, (-30.0, -35.0, -30.0), (55.0, 35.0, 30.0)),  # each of three
    "neck": (_HERE, (-55.0, -50.0, -40.0), (50.0, 50.0, 40.0)),  # each, of one or more
    "head": (_HERE, (-75.0, -75.0, -60.0), (60.0, 75.0, 60.0)),
    "shoulder": (_HERE, (-25.0, -30.0, -20.0), (25.0, 30.0, 45.0)),
    "upper_arm": ((0.0, -30.0, -20.0), (-130.0, -110.0, -110.0), (130.0, 110.0, 125.0)),
    "hand": (_HERE, (-140.0, -60.0, -90.0), (140.0, 60.0, 90.0)),
    "thigh": ((-40.0, 0.0, 0.0), (-100.0, -65.0, -60.0), (80.0, 95.0, 95.0)),
    "foot": (_HERE, (-85.0, -45.0, -45.0), (90.0, 60.0, 45.0)),
    "toe": (_HERE, (-50.0, -20.0, -20.0), (75.0, 20.0, 20.0)),
}
_SPINE_JOINTS: Final = 3

Parts = Mapping[int, tuple[str, str]]


def hinge_limits(parts: Parts, axes: Array, canonical: Array) -> tuple[Framed, ...]:
    """Of the elbows and knees among bones -> (part, side); `axes`, `canonical` (J, 4) as in `Anatomy`."""
    bones = [bone for bone, (part, _) in parts.items() if part in HINGES]
    if not bones:
        return ()
    orders, lower, upper = zip(*(HINGES[parts[bone][0]] for bone in bones), strict=True)
    box = EulerBox(bones, orders, *_sided(np.array(lower), np.array(upper), [parts[bone][1] for bone in bones]))
    return (framed(box, axes[bones], canonical[bones]),)


def range_limits(parts: Parts, axes: Array, canonical: Array) -> tuple[Framed, ...]:
    """Of the other joints; the shorter a spine, the further each of its bones goes."""
    bones = [bone for bone, (part, _) in parts.items() if part in RANGES]
    if not bones:
        return ()
    middles, lower, upper = (np.array(column) for column in zip(*(RANGES[parts[b][0]] for b in bones), strict=True))
    spine = Counter(part for part, _ in parts.values())["spine"]
    wider = np.array([np.sqrt(_SPINE_JOINTS / spine) if parts[bone][0] == "spine" else 1.0 for bone in bones])
    sides = [parts[bone][1] for bone in bones]
    box = OrderFreeBox(bones, *_sided(lower * wider[:, None], upper * wider[:, None], sides))
    turns = [mirror_rotation(middle, side) for middle, side in zip(middles, sides, strict=True)]
    middle = rotation.exp(rotation.rotate(axes[bones], np.radians(turns)))
    return (framed(box, axes[bones], rotation.mul(canonical[bones], middle)),)


def _sided(lower: Array, upper: Array, sides: list[str]) -> tuple[Array, Array]:
    """Radians (k, 3) of degrees of the left."""
    ends = np.radians([[mirror_rotation(end, side) for end, side in zip(bounds, sides, strict=True)]
                       for bounds in (lower, upper)])  # fmt: skip
    return ends.min(axis=0), ends.max(axis=0)


def framed(box: EulerBox | OrderFreeBox, axes: Array, zero: Array) -> Framed:
    """Limits of how far a bone is turned, about these axes, from where its own rotation is `zero`."""
    return Framed(box, rotation.mul(rotation.inv(axes), rotation.inv(zero)), axes)
