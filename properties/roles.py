"""What the user said of a body: the roles of bones and the axis that it looks along; learned limits and stiffness."""

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
    "facing": saved(StringProperty, "Facing", "Axis that the body looks along, if it differs from the detected one"),
}
# On every pose bone, where a renamed bone takes it along and a library override keeps it.
SETTINGS: Final[dict[str, Any]] = {
    "role": saved(
        StringProperty, "Part", "Body part that the bone is assigned to, if it differs from the detected one"
    ),
    "share": saved(
        FloatProperty,
        "Share",
        "With the method Humanoid, how much this bone of the spine or neck rotates relative to the others. 1 is the "
        "default, at 0 it does not rotate",
        default=1.0,
        min=0.0,
        max=100.0,
        soft_max=3.0,
    ),
    "target": saved(
        FloatProperty,
        "Target",
        "Target of the joint, from the current pose (0) to the pose of the action of Joint Targets (1)",
        default=1.0,
        min=0.0,
        max=1.0,
    ),
    "use_range": saved(
        BoolProperty,
        "Range",
        "Limit the joint to a custom range, which starts as the range of a human joint. The order of the angles "
        "does not matter",
        update=_begin,
    ),
    "range_min": saved(
        FloatVectorProperty,
        "Minimum",
        "Smallest angle about each axis",
        size=3,
        subtype="EULER",
        default=[-np.pi] * 3,
        min=-np.pi,
        max=np.pi,
        update=_raise,
    ),
    "range_max": saved(
        FloatVectorProperty,
        "Maximum",
        "Largest angle about each axis",
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
        "Axes of the range, as two quaternions",
        size=8,
        default=[1.0, 0.0, 0.0, 0.0] * 2,
        options={"HIDDEN"},
    ),
    "learned": stored("Learned Limits", "How far the bone swings and twists in the action that it learned from"),
    "tuning": stored(
        "Learned Stiffness", "Usual rotation of the bone, and how easily it rotates, in the action that it learned from"
    ),
}
