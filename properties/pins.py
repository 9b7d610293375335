"""Pins and the settings of the solver."""

from typing import Any, Final

import bpy
from bpy import props

from .marks import mark, marking
from .overrides import saved

# What a pin is fixed to, as items of an enumeration.
PIN_SPACES: Final = (
    ("WORLD", "World", "Stay in place in the world while the armature object moves"),
    ("ARMATURE", "Armature", "Follow the armature object"),
    ("OBJECT", "Object", "Follow another object"),
    ("ANIMATION", "Animation", "Follow the animated position of the bone at each frame"),
)
AUTOMATIC: Final = (
    "AUTO",
    "Automatic",
    "Animation for bones that are animated, Armature for an armature that moves, else World",
)


class POISE_PG_pin(bpy.types.PropertyGroup):
    """A bone that is held in place"""

    name: saved(props.StringProperty, "Bone", "Pinned bone", update=marking("name"))
    name_mark: mark()
    use_position: saved(props.BoolProperty, "Position", "Hold the position of the bone", default=True)
    use_rotation: saved(props.BoolProperty, "Rotation", "Hold the rotation of the bone", default=True)
    point: saved(
        props.FloatVectorProperty,
        "Point",
        "Point of the bone that is held, in bone space: the head is at the origin, the tail at the length along Y",
        subtype="XYZ",
        precision=4,
    )
    position: saved(
        props.FloatVectorProperty,
        "Position",
        "Position at which the point of the bone is held",
        subtype="XYZ",
        precision=4,
    )
    rotation: saved(
        props.FloatVectorProperty,
        "Rotation",
        "Rotation at which the bone is held, as a quaternion",
        size=4,
        subtype="QUATERNION",
        default=(1.0, 0.0, 0.0, 0.0),
    )
    space: saved(props.EnumProperty, "Pin To", "What the pin follows", items=PIN_SPACES)
    target: saved(props.PointerProperty, "Object", "Object that the pin follows", type=bpy.types.Object)
    priority: saved(props.IntProperty, "Priority", "Pins with a smaller number take precedence", min=0, max=9)
    weight: saved(
        props.FloatProperty,
        "Weight",
        "Influence when pins conflict. Below the first priority, also how hard the pin pulls: 4 pulls twice as "
        "hard as 1",
        default=1.0,
        min=0.0,
        soft_max=10.0,
    )
    mute: saved(props.BoolProperty, "Mute", "Disable the pin without removing it")


# On every object.
SETTINGS: Final[dict[str, Any]] = {
    "pins": saved(props.CollectionProperty, "Pins", "Bones of the armature that are held in place", type=POISE_PG_pin),
    "active_pin": saved(props.IntProperty, "Active Pin", "Pin selected in the list", options=set()),
    "pin_space": saved(
        props.EnumProperty,
        "Pin To",
        "What new pins follow",
        items=(AUTOMATIC, *(space for space in PIN_SPACES if space[0] != "OBJECT")),
    ),
    "method": saved(
        props.EnumProperty,
        "Method",
        "How the body follows the drag",
        items=(
            ("PINS", "Pins", "Distribute the movement over all bones. Any bone can be dragged and pinned"),
            (
                "HUMANOID",
                "Humanoid",
                "Bend each limb in a plane that never flips, and pull the spine and the body along. For human "
                "bodies, whose hips, chest, head, hands, feet, elbows and knees can be dragged",
            ),
        ),
    ),
    "wins": saved(
        props.EnumProperty,
        "Precedence",
        "What takes precedence when pins and the dragged part conflict",
        items=(
            ("PINS", "Pins", "Pins hold, and the dragged part follows as far as they allow"),
            ("DRAG", "Drag", "The dragged part follows the mouse, and pins give way"),
        ),
    ),
    "limits": saved(
        props.EnumProperty,
        "Limits",
        "How joint limits are kept: IK limits, Limit Rotation constraints, ranges and learned limits",
        items=(
            ("HARD", "Hard", "Keep bones within their limits"),
            ("SOFT", "Soft", "Exceed limits where a pin or the dragged part needs it"),
            ("OFF", "Off", "Ignore limits"),
        ),
    ),
    "use_anatomy_limits": saved(
        props.BoolProperty,
        "Anatomical Limits",
        "Limit joints of a human body to the human range, unless a joint has its own limits or is already beyond "
        "that range. Elbows and knees always bend the right way",
        default=True,
    ),
    "balance": saved(
        props.EnumProperty,
        "Balance",
        "What the center of mass is kept above, as far as pins and the drag allow",
        items=(
            (
                "FEET",
                "Feet",
                "Keep the center of mass above the feet of a human body, if both are pinned. A pose that is already "
                "out of balance is left as it is, and baked motions keep their own balance",
            ),
            ("PINS", "Pins", "Keep the center of mass above the bones whose position is pinned"),
            ("OFF", "Off", "Do not keep the body in balance"),
        ),
    ),
    "use_stretch": saved(props.BoolProperty, "Stretch", "Allow bones to get longer, each by its IK Stretch"),
    "use_fk_switch": saved(
        props.BoolProperty,
        "Switch Limbs to FK",
        "If the IK of the dragged limb, or of a pinned one in Solve Here, cannot show the solved pose, switch "
        "that limb to FK at the current frame only. If disabled, the report says by how much the limb is off",
    ),
    "use_reduce": saved(
        props.BoolProperty,
        "Reduce Recording",
        "After a drag that was recorded during playback, remove the keys that are not needed for the motion to "
        "stay within 5 mm, for a human of 1.7 m",
    ),
    "joint_targets": saved(
        props.EnumProperty,
        "Joint Targets",
        "Pose that joints stay near, as far as the pins allow, in Solve Here and Bake",
        items=(
            ("PRESENT", "Current", "Current pose or motion of the armature"),
            ("REST", "Rest", "Rest pose of the armature"),
            ("RELAXED", "Relaxed", "Relaxed pose of a body, or the usual pose of the motion that it learned from"),
            (
                "ACTION",
                "Action",
                "Pose of an action, such as a pose asset, at the same frame. Target of each bone sets how far it "
                "goes there",
            ),
        ),
    ),
    "target_action": saved(
        props.PointerProperty,
        "Action",
        "Action or pose asset with the pose that joints stay near",
        type=bpy.types.Action,
    ),
    "use_strength": saved(
        props.BoolProperty,
        "Use Strength",
        "Limit how hard the drag pulls. When the body resists more, the dragged part lags behind the mouse, "
        "and the body does not topple. If disabled, the dragged part gets as near to the mouse as possible",
        default=True,
    ),
    "strength": saved(
        props.FloatProperty,
        "Strength",
        "How hard the dragged part pulls, and pins with a priority above 0. Each further priority pulls a tenth as "
        "hard",
        default=1.0,
        min=0.01,
        soft_max=10.0,
    ),
    "root": saved(
        props.EnumProperty,
        "Root",
        "How root bones move when the body is solved",
        items=(
            ("HOLD", "Hold", "Let root bones follow half as readily as with Pull"),
            ("PULL", "Pull", "Let root bones follow, but bend joints first"),
            ("FREE", "Free", "Let root bones move and rotate freely"),
            ("TRANSLATE", "Move", "Let root bones move but not rotate"),
            ("FIXED", "Fixed", "Do not change root bones"),
        ),
        default="PULL",
    ),
}

SOLVER: Final = tuple(
    name for name in SETTINGS if name not in ("pins", "active_pin", "pin_space", "target_action")
)  # the settings in presets

CLASSES: Final = (POISE_PG_pin,)
