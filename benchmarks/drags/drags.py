"""The drags that are played, and the rigs that they are played on.

Ways are in centimetres of a 1.7 m human, to the body's left, up and forward; a rig of another size is dragged as much
further or less.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np

from tests.blender.rigs import load
from tests.paths import DATA, SHARED

from ..blender_rig import build
from ..work import POSITION_TOLERANCE, Array, load_rig

Way = tuple[tuple[float, float, float], ...]

FEET: Final = ("foot.L", "foot.R")
_ROUND: Final = np.linspace(0.0, 2.0 * np.pi, 49)


@dataclass(frozen=True)
class Drag:
    """A part of the body that is led through the points of `way` and, unless the way is closed, back along it.

    role     of the bone whose head is grabbed
    way      places from where the head is at the press, or from that of the part `about`
    pinned   in position and rotation; a quadruped stands on four
    placed   pinned in position alone
    round    the way is bent: it stays as far from this part as the head is at the press
    closed   the way ends where it began
    balance  played without a balance goal, too, to see that it changes nothing
    four     a quadruped is dragged so, too
    """

    role: str
    way: Way
    pinned: tuple[str, ...] = FEET
    placed: tuple[str, ...] = ()
    about: str | None = None
    round: str | None = None
    closed: bool = False
    balance: bool = False
    four: bool = False


def _circle(point: Callable[[float, float], tuple[float, float, float]]) -> Way:
    """The points of a circle of radius 1, by sine and cosine."""
    return tuple(point(float(np.sin(angle)), float(np.cos(angle))) for angle in _ROUND)


DRAGS: Final[dict[str, Drag]] = {
    "hips up": Drag("hips", ((0, 8, 0),), four=True),
    "hips up and back": Drag("hips", ((0, 20, -20),)),
    "hips up, one foot": Drag("hips", ((0, 8, 0),), pinned=("foot.L",)),
    "hips aside": Drag("hips", ((40, 0, 0),), four=True),
    "hips forward": Drag("hips", ((0, 0, 40),), four=True),
    "hips back": Drag("hips", ((0, 0, -40),), four=True),
    "hips down, head pinned": Drag("hips", ((0, -20, 0),), placed=("head",)),
    "head forward": Drag("head", ((0, 0, 70),), four=True),
    "head aside": Drag("head", ((70, 0, 0),), four=True),
    "head down": Drag("head", ((0, -30, 0),), four=True),
    "hand out, hand pinned": Drag("hand.L", ((30, 40, 100),), placed=("hand.R",)),
    "knee forward": Drag("shin.L", ((0, 0, 20),)),
    "knee aside": Drag("shin.L", ((20, 0, 0),)),
    "knee forward in reach": Drag("shin.L", ((0, 0, 20),), round="foot.L"),
    "knee aside in reach": Drag("shin.L", ((20, 0, 0),), round="foot.L"),
    "hand aside": Drag("hand.L", ((40, 0, 0),)),
    "hand out and back": Drag("hand.L", ((120, 40, 0),), four=True),
    "hand round the neck": Drag("hand.L", _circle(lambda sine, cosine: (30 * cosine, 0, 30 * sine)), about="neck"),
    "hand, balanced": Drag("hand.L", ((0, 15, 20),), balance=True),
    "hand circle": Drag("hand.L", _circle(lambda sine, cosine: (0, 15 - 15 * cosine, 15 * sine)), closed=True),
    "squat": Drag("hips", ((0, -20, 0),), four=True),
    "foot lift": Drag("foot.L", ((0, 20, 15),), pinned=("foot.R",), four=True),
}

RIGS: Final[dict[str, Path | None]] = {  # None: in benchmarks/data; the last three do not come with a clone
    "rigify": None,
    "mixamo": DATA / "rigs" / "named_mixamo_cm.blend",
    "xsens": DATA / "rigs" / "xsens_motive_tpose.bvh",
    "vrm": SHARED / "rigs" / "real" / "vrm_example.vrm",
    "mesh2motion": SHARED / "rigs" / "real" / "mesh2motion_human.glb",
    "quadruped": SHARED / "rigs" / "real" / "mesh2motion_quadruped.glb",
}


def present() -> list[str]:
    """The rigs whose files are here."""
    return [name for name, path in RIGS.items() if path is None or path.is_file()]


def open_rig(name: str) -> Any:
    """The armature object, the only one that matters in a new file, in Pose Mode."""
    import bpy

    path = RIGS[name]
    if path is None:
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        rig = load_rig("full")
        rest = np.concatenate([rig.frames, rig.heads[..., None]], axis=-1)
        return build(rig.names, rig.parents, rig.lengths, rest, POSITION_TOLERANCE)
    armature = load(path)[0]
    if armature.animation_data is not None:
        armature.animation_data.action = None
    context: Any = bpy.context
    context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="POSE")
    return armature


def points_on(way: Array, step: float) -> Array:
    """Points (n, 3) along a way (k, 3) from its first point, `step` apart or a little less."""
    pieces: list[Array] = []
    for begin, end in pairwise(way):
        count = max(1, int(np.ceil(np.linalg.norm(end - begin) / step)))
        pieces.append(begin + (end - begin) * np.linspace(0.0, 1.0, count + 1)[1:, None])
    return np.concatenate(pieces)
