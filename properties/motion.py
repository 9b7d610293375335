"""Timed pins: which bone of a motion is held in which frames."""

from collections.abc import Callable
from typing import Any, Final

import bpy
from bpy import props

from .marks import mark, marking
from .overrides import key, keying, saved, stored

# Where a timed pin holds, as items of an enumeration.
HELD: Final = (
    ("MOTION", "As in the Motion", "Where the motion has the bone in each frame, whatever other pins do"),
    ("FRAME", "At a Frame", "Where the motion has the bone in one frame"),
    ("PLACE", "At a Place", "At a place of the armature's space, and turned as it was there"),
    ("OBJECT", "With an Object", "It goes with an object, from where the motion has the bone in the first frame"),
)


# Called with context and armature when a timed pin changes while Live is on; registration fills it.
CHANGED: Final[list[Callable[..., None]]] = []


def _follow(pin: Any, context: Any) -> None:
    """Have the frame that is seen solved, before Blender makes the undo step of the change."""
    if pin.id_data.poise_live_pins:
        for call in CHANGED:
            call(context, pin.id_data)


class POISE_PG_timed_pin(bpy.types.PropertyGroup):
    """One bone held for some frames of a motion"""

    name: key()
    bone: saved(props.StringProperty, "Bone", "The bone that is held", update=marking("bone", then=keying("bone")))
    bone_mark: mark()
    label: saved(props.StringProperty, "Point", "What part of the body it is, such as a heel")
    point: saved(
        props.FloatVectorProperty, "Point", "The point of the bone that is held, in the bone's frame", size=3,
        subtype="XYZ", precision=4,
    )  # fmt: skip
    start: saved(props.IntProperty, "Start", "The first frame in which it is held", default=1, update=_follow)
    end: saved(props.IntProperty, "End", "The last frame in which it is held", default=10, update=_follow)
    ease_in: saved(
        props.IntProperty, "Ease In", "Frames before the start over which the motion changes", default=6, min=0,
        update=_follow,
    )  # fmt: skip
    ease_out: saved(
        props.IntProperty, "Ease Out", "Frames after the end over which the motion changes back", default=6, min=0,
        update=_follow,
    )  # fmt: skip
    use_position: saved(props.BoolProperty, "Position", "The point stays there", default=True, update=_follow)
    use_rotation: saved(props.BoolProperty, "Rotation", "The bone keeps its orientation", update=_follow)
    held: saved(props.EnumProperty, "Held", "Where it is held", items=HELD, default="FRAME", update=_follow)
    frame: saved(props.IntProperty, "Frame", "The frame that it is held at", default=1, update=_follow)
    position: saved(
        props.FloatVectorProperty, "Place",
        "Where the point is held, in the armature's space: in its units, before its scale", size=3, subtype="XYZ",
        precision=4, update=_follow,
    )  # fmt: skip
    rotation: saved(
        props.FloatVectorProperty, "Orientation",
        "How the bone is held at its place, in the armature's space: a quaternion w, x, y, z; all zero: as "
        "the motion has it in the first frame", size=4, subtype="QUATERNION", default=(0.0, 0.0, 0.0, 0.0),
        update=_follow,
    )  # fmt: skip
    target: saved(
        props.PointerProperty, "Object", "The object that it goes with", type=bpy.types.Object, update=_follow
    )
    priority: saved(
        props.IntProperty, "Priority",
        "Pins of a smaller number are served first: contacts that are found have 0, other pins 1", default=1, min=0,
        max=9, update=_follow,
    )  # fmt: skip
    weight: saved(
        props.FloatProperty, "Weight", "Influence when pins of one priority conflict", default=1.0,
        min=0.001, soft_max=10.0, update=_follow,
    )  # fmt: skip
    mute: saved(props.BoolProperty, "Mute", "Let the bone go for now", update=_follow)


# On every object.
TIMED: Final[dict[str, Any]] = {
    "use_layers": saved(
        props.BoolProperty,
        "Layer",
        "When a tool makes a new action, put the one before on an NLA track below it, to be mixed by influence",
    ),
    "timed_pins": saved(props.CollectionProperty, "Timed Pins", "What is held of the motion", type=POISE_PG_timed_pin),
    "active_timed_pin": saved(
        props.IntProperty, "Active Timed Pin", "The timed pin selected in the list", options=set()
    ),
    "live_pins": saved(
        props.BoolProperty,
        "Live",
        "Solve again when a timed pin is changed: the present frame at once, then the others",
    ),
    "ground": saved(
        props.PointerProperty,
        "Ground",
        "Meshes that feet stand on, as stairs and slopes; a level plane where none is chosen, and beside them",
        type=bpy.types.Collection,
    ),
    "pin_change": saved(
        props.IntProperty,
        "Change",
        "The last change of a timed pin with Live on that the motion was not solved for, or 0",
        options={"HIDDEN"},
    ),
    "source": saved(
        props.PointerProperty,
        "Original Motion",
        "The action that the timed pins change; it is kept as it is",
        type=bpy.types.Action,
    ),
    "result": saved(
        props.PointerProperty,
        "Pinned Motion",
        "The action that is made of the original motion and the timed pins",
        type=bpy.types.Action,
    ),
    "result_print": stored("Keys", "Of the pinned motion as it was made, to tell changes by hand"),
    "bones": stored(
        "Bones", "What the bones were called, in order, when the original motion or the key poses were looked at"
    ),
    "still": stored(
        "Unkeyed Bones", "The pose, before timed pins moved them, of bones that the original motion has no keys of"
    ),
    "result_pins": stored(
        "Solved Pins", "What the pinned motion was made of, to tell which frames a change of its pins reaches"
    ),
}

# On actions that were retargeted from files.
MADE: Final[dict[str, Any]] = {
    "made_of": props.StringProperty(
        name="Made Of", description="What tells the file and the options that it was made of", options={"HIDDEN"}
    ),
}

# On the window manager, which is neither saved with the file nor undone.
SHOWN: Final[dict[str, Any]] = {
    "pin_changes": props.IntProperty(name="Changes", description="How often timed pins were changed with Live on"),
    "pins_solved": props.IntProperty(name="Solved", description="Up to which of these changes motions are solved"),
}

CLASSES: Final = (POISE_PG_timed_pin,)
