"""Timed pins: which bone of a motion is held in which frames."""

from collections.abc import Callable
from typing import Any, Final

import bpy
from bpy import props
from mathutils import Euler, Quaternion

from .marks import mark, marking
from .overrides import key, keying, saved, stored

# Where a timed pin holds, as items of an enumeration.
HELD: Final = (
    ("MOTION", "Motion", "Where the bone is at each frame of the original motion"),
    ("FRAME", "Frame", "Where the bone is at one frame of the original motion"),
    ("PLACE", "Position", "At a fixed position and rotation in armature space"),
    ("OBJECT", "Object", "Follow an object, starting from where the bone is at the first frame"),
    ("GROUND", "Ground", "Along the original motion, on the nearest side of the meshes that are the Ground"),
)

_SAME: Final = 2e-3  # radians: what is left of angles in single precision

# Called with context and armature when a timed pin changes while Live is on; registration fills it.
CHANGED: Final[list[Callable[..., None]]] = []


def _follow(pin: Any, context: Any) -> None:
    """Have the frame that is seen solved, before Blender makes the undo step of the change."""
    if pin.id_data.poise_live_pins:
        for call in CHANGED:
            call(context, pin.id_data)


def _angles(pin: Any) -> Any:
    """Return the rotation as Euler angles: those that were entered last, unless it was set otherwise since."""
    rotation, entered = Quaternion(pin.rotation), Euler(pin.entered)
    changed = any(pin.rotation) and entered.to_quaternion().rotation_difference(rotation).angle > _SAME
    return rotation.to_euler() if changed else entered


def _enter(pin: Any, angles: Any) -> None:
    pin.entered = angles
    pin.rotation = Euler(angles).to_quaternion()


class POISE_PG_timed_pin(bpy.types.PropertyGroup):
    """A bone that is held over a frame range"""

    name: key()
    bone: saved(props.StringProperty, "Bone", "Bone that is held", update=marking("bone", then=keying("bone")))
    bone_mark: mark()
    label: saved(props.StringProperty, "Point", "Body part of the pin, such as a heel")
    point: saved(
        props.FloatVectorProperty, "Point", "Point of the bone that is held, in bone space", size=3,
        subtype="XYZ", precision=4,
    )  # fmt: skip
    start: saved(props.IntProperty, "Start", "First frame at which the bone is held", default=1, update=_follow)
    end: saved(props.IntProperty, "End", "Last frame at which the bone is held", default=10, update=_follow)
    ease_in: saved(
        props.IntProperty,
        "Ease In",
        "Number of frames before the start over which the pin takes effect",
        default=6,
        min=0,
        update=_follow,
    )
    ease_out: saved(
        props.IntProperty,
        "Ease Out",
        "Number of frames after the end over which the pin loses effect",
        default=6,
        min=0,
        update=_follow,
    )
    use_position: saved(props.BoolProperty, "Position", "Hold the position of the point", default=True, update=_follow)
    use_rotation: saved(props.BoolProperty, "Rotation", "Hold the rotation of the bone", update=_follow)
    held: saved(props.EnumProperty, "Hold At", "Where the bone is held", items=HELD, default="FRAME", update=_follow)
    frame: saved(props.IntProperty, "Frame", "Frame whose position the bone keeps", default=1, update=_follow)
    position: saved(
        props.FloatVectorProperty, "Position",
        "Position of the point, in armature space", size=3, subtype="XYZ",
        precision=4, update=_follow,
    )  # fmt: skip
    rotation: saved(
        props.FloatVectorProperty,
        "Rotation",
        "Rotation of the bone in armature space, as a quaternion. All zero uses the rotation at the first frame",
        size=4,
        subtype="QUATERNION",
        default=(0.0, 0.0, 0.0, 0.0),
        update=_follow,
    )
    entered: saved(props.FloatVectorProperty, "Angles", "Euler angles as entered", size=3, options={"HIDDEN"})
    angles: saved(
        props.FloatVectorProperty, "Rotation",
        "Rotation of the bone in armature space. Until it is set, the rotation at the first frame is used",
        size=3, subtype="EULER", get=_angles, set=_enter,
    )  # fmt: skip
    target: saved(props.PointerProperty, "Object", "Object that the pin follows", type=bpy.types.Object, update=_follow)
    priority: saved(
        props.IntProperty, "Priority",
        "Pins with a smaller number take precedence. Detected contacts have 0, other pins 1", default=1, min=0,
        max=9, update=_follow,
    )  # fmt: skip
    weight: saved(
        props.FloatProperty, "Weight", "Influence when pins of the same priority conflict", default=1.0,
        min=0.001, soft_max=10.0, update=_follow,
    )  # fmt: skip
    mute: saved(props.BoolProperty, "Mute", "Disable the pin without removing it", update=_follow)


# On every object.
TIMED: Final[dict[str, Any]] = {
    "use_layers": saved(
        props.BoolProperty,
        "Layer",
        "When a tool creates an action, keep the previous one on an NLA track below it, so that the two can be mixed",
    ),
    "timed_pins": saved(
        props.CollectionProperty,
        "Timed Pins",
        "Bones that are held over frame ranges of the motion",
        type=POISE_PG_timed_pin,
    ),
    "active_timed_pin": saved(props.IntProperty, "Active Timed Pin", "Timed pin selected in the list", options=set()),
    "live_pins": saved(
        props.BoolProperty,
        "Live",
        "Solve the motion again when a timed pin changes: the current frame at once, then the others",
    ),
    "ground": saved(
        props.PointerProperty,
        "Ground",
        "Collection of meshes that feet stand on, such as stairs and slopes. Elsewhere, the ground is a level plane",
        type=bpy.types.Collection,
    ),
    "pin_change": saved(
        props.IntProperty,
        "Change",
        "Last change of a timed pin that the motion was not solved for, or 0",
        options={"HIDDEN"},
    ),
    "source": saved(
        props.PointerProperty,
        "Original Motion",
        "Action that the timed pins change. It is kept unchanged",
        type=bpy.types.Action,
    ),
    "result": saved(
        props.PointerProperty,
        "Pinned Motion",
        "Action computed from the original motion and the timed pins",
        type=bpy.types.Action,
    ),
    "result_print": stored("Keys", "Digest of the pinned motion, to detect changes made by hand"),
    "bones": stored("Bones", "Names of the bones when the original motion or the key poses were read"),
    "still": stored(
        "Unkeyed Bones", "Pose, before timed pins moved them, of bones without keys in the original motion"
    ),
    "result_pins": stored("Solved Pins", "Pins of the pinned motion, to find the frames that a change reaches"),
}

# On actions that were retargeted from files.
MADE: Final[dict[str, Any]] = {
    "made_of": props.StringProperty(
        name="Made Of",
        description="Digest of the file and the options that the action was made from",
        options={"HIDDEN"},
    ),
}

# On the window manager, which is neither saved with the file nor undone.
SHOWN: Final[dict[str, Any]] = {
    "pin_changes": props.IntProperty(name="Changes", description="Number of changes of timed pins with Live enabled"),
    "pins_solved": props.IntProperty(name="Solved", description="Number of these changes for which motions are solved"),
}

CLASSES: Final = (POISE_PG_timed_pin,)
