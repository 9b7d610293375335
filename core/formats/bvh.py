"""Motions as the text of a BVH file, which Blender imports: what motions of other formats become."""

import io
from collections.abc import Mapping
from typing import Final

import numpy as np

from .. import rotation
from ..motion import Motion
from ..rotation import Array
from ..skeleton import Skeleton
from ..sources import check_size

_PLACES: Final = "Xposition Yposition Zposition"
_TURNS: Final = "Zrotation Yrotation Xrotation"
_NUMBER: Final = "%.6f"  # metres and degrees
_WIDTH: Final = 10  # bytes of one, about


def bvh_text(skeleton: Skeleton, motion: Motion, tips: Mapping[str, Array]) -> str:
    """Return a motion of joints without rotation at rest, and of one root that moves.

    `tips`: how far beyond a joint without children its bone goes. Raises CoreError if the text is too long.
    """
    check_size(len(motion) * (3 + 3 * len(skeleton)) * _WIDTH, what="it has a motion")
    lines, order = ["HIERARCHY"], list[int]()
    _add_joint(skeleton, 0, tips, lines, order)
    lines += ["MOTION", f"Frames: {len(motion)}", f"Frame Time: {1.0 / motion.fps:.9f}", ""]
    places = motion.pose.translations[:, :1] + skeleton.offsets[0]
    turns = np.degrees(rotation.to_euler(motion.pose.rotations[:, order]))[..., ::-1]
    table = io.StringIO()
    np.savetxt(table, np.concatenate([places, turns], axis=1).reshape(len(motion), -1), _NUMBER)
    return "\n".join(lines) + table.getvalue()


def _add_joint(skeleton: Skeleton, joint: int, tips: Mapping[str, Array], lines: list[str], order: list[int]) -> None:
    """Add the lines of a joint and of those below it; `order`: the joints in the order of the file."""
    order.append(joint)
    name, children = skeleton.names[joint], np.flatnonzero(skeleton.parents == joint).tolist()
    channels = f"CHANNELS 3 {_TURNS}" if joint else f"CHANNELS 6 {_PLACES} {_TURNS}"
    lines += [f"{'JOINT' if joint else 'ROOT'} {name}", "{", _offset(skeleton.offsets[joint]), channels]
    for child in children:
        _add_joint(skeleton, child, tips, lines, order)
    if not children:
        lines += ["End Site", "{", _offset(tips[name]), "}"]
    lines.append("}")


def _offset(vector: Array) -> str:
    return "OFFSET " + " ".join(_NUMBER % number for number in vector)
