"""Timed pins: which bone of a motion is held in which frames."""

from collections.abc import Callable
from typing import Any, Final

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from .marks import mark, marking
from .overrides import OPEN, OPEN_LIST, key, keying

# Where a timed pin holds, as items of an enumeration.
HELD: Final = (
    ("MOTION", "As in the Motion", "Where the motion has the bone in each frame, whatever other pins do"),
    ("FRAME", "At a Frame", "Where the motion has the bone in one frame"),
    ("PLACE", "At a Place", "At a place of the armature's space, and as it stood there"),
    ("OBJECT", "With an Object", "It goes with an object, from where the motion has the bone in the first frame"),
)


# Called with context and armature when a timed pin changes while Live is on; registration fills it.
CHANGED: Final[list[Callable[..., None]]] = []


def _follow(pin: Any, context: Any) -> None:
    """Have the frame that is seen solved, before Blender makes the undo step of the change."""
    if pin.id_data.poise_live_pins:
        for call in CHANGED:
            call(context, pin.id_data)


class PoiseTimedPin(bpy.types.PropertyGroup):
    """One bone held for some frames of a motion"""

    name: key()
    bone: StringProperty(
        name="Bone", description="The bone that is held", override=OPEN, update=marking("bone", then=keying("bone"))
    )
    bone_mark: mark()
    label: StringProperty(name="Point", description="What part of the body it is, such as a heel", override=OPEN)
    point: FloatVectorProperty(
        name="Point", description="The point of the bone that is held, in the bone's frame", size=3, subtype="XYZ",
        precision=4, override=OPEN,
    )  # fmt: skip
    start: IntProperty(
        name="Start", description="The first frame in which it is held", default=1, override=OPEN, update=_follow
    )
    end: IntProperty(
        name="End", description="The last frame in which it is held", default=10, override=OPEN, update=_follow
    )
    ease_in: IntProperty(
        name="Ease In", description="Frames before the start over which the motion changes", default=6, min=0,
        override=OPEN, update=_follow,
    )  # fmt: skip
    ease_out: IntProperty(
        name="Ease Out", description="Frames after the end over which the motion changes back", default=6, min=0,
        override=OPEN, update=_follow,
    )  # fmt: skip
    use_position: BoolProperty(
        name="Position", description="The point stays there", default=True, override=OPEN, update=_follow
    )
    use_rotation: BoolProperty(
        name="Rotation", description="The bone keeps its orientation", override=OPEN, update=_follow
    )
    held: EnumProperty(
        name="Held", description="Where it is held", items=HELD, default="FRAME", override=OPEN, update=_follow
    )
    frame: IntProperty(
        name="Frame", description="The frame that it is held at", default=1, override=OPEN, update=_follow
    )
    position: FloatVectorProperty(
        name="Place", description="Where the point is held, in the armature's space: in its units, before its scale",
        size=3, subtype="XYZ", precision=4, override=OPEN, update=_follow,
    )  # fmt: skip
    rotation: FloatVectorProperty(
        name="Orientation",
        description="How the bone is held at its place, in the armature's space: a quaternion w, x, y, z; all zero: as "
        "the motion has it in the first frame",
        size=4, subtype="QUATERNION", default=(0.0, 0.0, 0.0, 0.0), override=OPEN, update=_follow,
    )  # fmt: skip
    target: PointerProperty(
        name="Object",
        description="The object that it goes with",
        type=bpy.types.Object,
        override=OPEN,
        update=_follow,
    )
    mute: BoolProperty(name="Mute", description="Let the bone go for now", override=OPEN, update=_follow)


# On every object.
TIMED: Final[dict[str, Any]] = {
    "timed_pins": CollectionProperty(
        type=PoiseTimedPin, name="Timed Pins", description="What is held of the motion", override=OPEN_LIST
    ),
    "active_timed_pin": IntProperty(
        name="Active Timed Pin", description="The timed pin selected in the list", options=set(), override=OPEN
    ),
    "live_pins": BoolProperty(
        name="Live",
        description="Solve again when a timed pin is changed: the present frame at once, then the others",
        override=OPEN,
    ),
    "pin_change": IntProperty(
        name="Change",
        description="The last change of a timed pin with Live on that the motion was not solved for, or 0",
        options={"HIDDEN"},
        override=OPEN,
    ),
    "source": PointerProperty(
        name="Original Motion",
        description="The action that the timed pins change; it is kept as it is",
        type=bpy.types.Action,
        override=OPEN,
    ),
    "result": PointerProperty(
        name="Pinned Motion",
        description="The action that is made of the original motion and the timed pins, each time anew",
        type=bpy.types.Action,
        override=OPEN,
    ),
    "result_print": StringProperty(
        name="Keys",
        description="Of the pinned motion as it was made, to tell changes by hand",
        options={"HIDDEN"},
        override=OPEN,
    ),
    "bones": StringProperty(
        name="Bones",
        description="What the bones were called, in order, when the original motion or the key poses were looked at",
        options={"HIDDEN"},
        override=OPEN,
    ),
    "still": StringProperty(
        name="Unkeyed Bones",
        description="How bones that the original motion has no keys of stood before timed pins moved them",
        options={"HIDDEN"},
        override=OPEN,
    ),
    "result_pins": StringProperty(
        name="Solved Pins",
        description="What the pinned motion was made of, to tell which frames a change of its pins reaches",
        options={"HIDDEN"},
        override=OPEN,
    ),
}

# On the window manager, which is neither saved with the file nor undone.
SHOWN: Final[dict[str, Any]] = {
    "pin_changes": IntProperty(name="Changes", description="How often timed pins were changed with Live on"),
    "pins_solved": IntProperty(name="Solved", description="Up to which of these changes motions are solved"),
}

CLASSES: Final = (PoiseTimedPin,)
