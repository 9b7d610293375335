"""Pins and the settings of the solver."""

from typing import Any, Final

import bpy
from bpy import props

from .marks import mark, marking
from .overrides import saved

# What a pin is fixed to, as items of an enumeration.
PIN_SPACES: Final = (
    ("WORLD", "World", "It stays in the world while the armature object moves"),
    ("ARMATURE", "Armature", "It goes with the armature object"),
    ("OBJECT", "Object", "It goes with another object"),
    ("ANIMATION", "Animation", "It is where the animation has the bone, in each frame"),
)
AUTOMATIC: Final = ("AUTO", "Automatic", "The animation of an animated bone, a moving armature, else the world")


class POISE_PG_pin(bpy.types.PropertyGroup):
    """One bone held where it was pinned"""

    name: saved(props.StringProperty, "Bone", "The pinned bone", update=marking("name"))
    name_mark: mark()
    use_position: saved(props.BoolProperty, "Position", "The bone's point stays at its place", default=True)
    use_rotation: saved(props.BoolProperty, "Rotation", "The bone keeps its orientation", default=True)
    point: saved(
        props.FloatVectorProperty,
        "Point",
        "The point of the bone that is held, in its frame: its head is 0, 0, 0, its tip the length along Y",
        subtype="XYZ",
        precision=4,
    )
    position: saved(props.FloatVectorProperty, "Position", "Where the bone's point is held", subtype="XYZ", precision=4)
    rotation: saved(
        props.FloatVectorProperty,
        "Rotation",
        "The orientation in which the bone is held: a quaternion w, x, y, z",
        size=4,
        subtype="QUATERNION",
        default=(1.0, 0.0, 0.0, 0.0),
    )
    space: saved(props.EnumProperty, "Space", "What the pin is fixed to", items=PIN_SPACES)
    target: saved(props.PointerProperty, "Object", "The object that the pin goes with", type=bpy.types.Object)
    priority: saved(props.IntProperty, "Priority", "Pins of a smaller number are served first", min=0, max=9)
    weight: saved(
        props.FloatProperty,
        "Weight",
        "Influence when pins conflict. After the first priority it also says how hard the pin pulls: "
        "4 pulls twice as hard",
        default=1.0,
        min=0.0,
        soft_max=10.0,
    )
    mute: saved(props.BoolProperty, "Mute", "Let the bone go for now")


# On every object.
SETTINGS: Final[dict[str, Any]] = {
    "pins": saved(props.CollectionProperty, "Pins", "Bones of the armature that are held", type=POISE_PG_pin),
    "active_pin": saved(props.IntProperty, "Active Pin", "The pin selected in the list", options=set()),
    "pin_space": saved(
        props.EnumProperty,
        "Pin To",
        "What new pins are fixed to",
        items=(AUTOMATIC, *(space for space in PIN_SPACES if space[0] != "OBJECT")),
    ),
    "method": saved(
        props.EnumProperty,
        "Method",
        "How the body follows",
        items=(
            ("PINS", "Pins", "All bones share what is asked, any bone may be dragged and pinned"),
            (
                "HUMANOID",
                "Humanoid",
                "Limbs bend in one plane that never jumps, the spine bends as one, and the body is pulled along; of "
                "humans, by hips, chest, head, hands, feet, elbows and knees",
            ),
        ),
    ),
    "wins": saved(
        props.EnumProperty,
        "Wins",
        "What is served first where pins and the dragged part contradict each other",
        items=(
            ("PINS", "Pins", "Pins hold; the dragged part follows as far as they let it"),
            ("DRAG", "Drag", "The dragged part follows; pins give way"),
        ),
    ),
    "limits": saved(
        props.EnumProperty,
        "Limits",
        "Limits of the bones: inverse-kinematics limits and Limit Rotation constraints",
        items=(
            ("HARD", "Hard", "Bones stay inside their limits"),
            ("SOFT", "Soft", "Limits give way where a pin or the dragged part needs it"),
            ("OFF", "Off", "Limits are left out"),
        ),
    ),
    "use_anatomy_limits": saved(
        props.BoolProperty,
        "Anatomical Limits",
        "Joints of a human body go no further than those of people, where they have no limits of their own "
        "and are not further already; elbows and knees always bend their way",
        default=True,
    ),
    "balance": saved(
        props.EnumProperty,
        "Balance",
        "What the centre of mass is kept over, as far as pins and drag allow",
        items=(
            (
                "FEET",
                "Feet",
                "The feet of a human body, if both are pinned. A pose that is out of balance stays so, and baked "
                "motions keep their own balance",
            ),
            ("PINS", "Pins", "The bones whose position is pinned"),
            ("OFF", "Off", "The body may fall over"),
        ),
    ),
    "use_stretch": saved(props.BoolProperty, "Stretch", "Let bones grow, each by its own IK Stretch"),
    "use_fk_switch": saved(
        props.BoolProperty,
        "Switch Limbs to FK",
        "Where the IK of the dragged limb, or in Solve Here of a pinned one, cannot show the pose, by 1 mm of a human "
        "or 0.5 degrees, switch that limb to FK at the present frame alone. Off: the report says by how much",
    ),
    "use_reduce": saved(
        props.BoolProperty,
        "Reduce Recording",
        "After a drag that was recorded while the motion played, leave out the keys without which it stays within "
        "5 mm, of the bones that were changed and those that they hang on",
    ),
    "joint_targets": saved(
        props.EnumProperty,
        "Joint Targets",
        "What joints stay near, or go to, as far as the pins let them, in Solve Here and Bake",
        items=(
            ("PRESENT", "Present", "The pose, or the motion, that the armature has"),
            ("REST", "Rest", "Their rest pose"),
            ("RELAXED", "Relaxed", "How a body stands at ease, or usually stands in what it learnt from"),
            (
                "ACTION",
                "Action",
                "The pose of an action, such as a pose asset, at the same frame; Target of the "
                "active bone says how far",
            ),
        ),
    ),
    "target_action": saved(
        props.PointerProperty,
        "Action",
        "The action, or the pose asset, whose pose joints stay near",
        type=bpy.types.Action,
    ),
    "use_strength": saved(
        props.BoolProperty,
        "Limit Strength",
        "Let the body resist: where it resists more than the drag pulls, the dragged part stays behind the mouse "
        "and the body does not topple. Off: the dragged part comes as near as can be, whatever it takes",
        default=True,
    ),
    "strength": saved(
        props.FloatProperty,
        "Strength",
        "How hard the dragged part, and pins below the first priority, pull; 1 is the pull of a hand. "
        "What comes after another of these pulls with a tenth",
        default=1.0,
        min=0.01,
        soft_max=10.0,
    ),
    "root": saved(
        props.EnumProperty,
        "Root",
        "What the root bones may do to help",
        items=(
            ("HOLD", "Hold", "Root bones stay nearly as they are; they come along with what the body cannot reach"),
            ("PULL", "Pull", "Root bones come along, less willingly than joints bend"),
            ("FREE", "Free", "Root bones move and turn"),
            ("TRANSLATE", "Move", "Root bones move but do not turn"),
            ("FIXED", "Fixed", "Root bones stay as they are"),
        ),
        default="PULL",
    ),
}

SOLVER: Final = tuple(
    name for name in SETTINGS if name not in ("pins", "active_pin", "pin_space", "target_action")
)  # the settings in presets

CLASSES: Final = (POISE_PG_pin,)
