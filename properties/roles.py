"""What the user said of a body: the roles of bones and the axis that it looks along; learnt limits and stiffness."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from bpy.props import BoolProperty, FloatProperty, FloatVectorProperty, StringProperty

from .overrides import saved, stored

# Called with context and pose bone when it gets a range that nobody has set yet; registration fills it.
RANGED: Final[list[Callable[..., None]]] = []


def _begin(bone: Any, context: Any) -> None:
    """Have the range begin with the anatomical one."""
    given = any(bone.is_property_set(f"poise_range_{name}") for name in ("min", "max", "frame"))
    for call in RANGED if bone.poise_use_range and not given else ():
        call(context, bone)


def _raise(bone: Any, context: Any) -> None:
    """Take the largest angles along with the least ones, where these pass them."""
    if any(low > high for low, high in zip(bone.poise_range_min, bone.poise_range_max, strict=True)):
        bone.poise_range_max = np.maximum(bone.poise_range_min, bone.poise_range_max)


def _lower(bone: Any, context: Any) -> None:
    """Take the least angles along with the largest ones, where these pass them."""
    if any(low > high for low, high in zip(bone.poise_range_min, bone.poise_range_max, strict=True)):
        bone.poise_range_min = np.minimum(bone.poise_range_min, bone.poise_range_max)


# On every object.
BODY: Final[dict[str, Any]] = {
    "facing": saved(StringProperty, "Facing", "The axis that the body looks along, where that is not the one detected"),
}
# On every pose bone, where a renamed bone takes it along and a library override keeps it.
SETTINGS: Final[dict[str, Any]] = {
    "role": saved(StringProperty, "Part", "The part of the body that the bone is, where that is not the one detected"),
    "share": saved(
        FloatProperty,
        "Share",
        "With the method Humanoid, how much a bone of spine or neck turns beside the others: 1 is as by its place, "
        "at 0 it does not",
        default=1.0,
        min=0.0,
        max=100.0,
        soft_max=3.0,
    ),
    "target": saved(
        FloatProperty,
        "Target",
        "How far from the present pose, 0, to that of the action of Joint Targets, 1, the joint's target is",
        default=1.0,
        min=0.0,
        max=1.0,
    ),
    "use_range": saved(
        BoolProperty,
        "Range",
        "The joint keeps a range of its own of each order-free angle, which begins with people's",
        update=_begin,
    ),
    "range_min": saved(
        FloatVectorProperty,
        "Least",
        "The least order-free angle about each axis",
        size=3,
        subtype="EULER",
        default=[-np.pi] * 3,
        min=-np.pi,
        max=np.pi,
        update=_raise,
    ),
    "range_max": saved(
        FloatVectorProperty,
        "Most",
        "The largest order-free angle about each axis",
        size=3,
        subtype="EULER",
        default=[np.pi] * 3,
        min=-np.pi,
        max=np.pi,
        update=_lower,
    ),
    "range_frame": saved(
        FloatVectorProperty,
        "Frame",
        "The frames of the range's angles, two quaternions",
        size=8,
        default=[1.0, 0.0, 0.0, 0.0] * 2,
        options={"HIDDEN"},
    ),
    "learned": stored("Learnt Limits", "How far the bone turns and twists in the action that it learnt from"),
    "tuning": stored(
        "Learnt Stiffness", "How the bone usually is turned, and how easily it turns, in the action that it learnt from"
    ),
}
