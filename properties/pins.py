"""Pins and the settings of the solver."""

from typing import Any, Final

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from .marks import mark, marking
from .overrides import OPEN, OPEN_LIST

# What a pin is fixed to, as items of an enumeration.
PIN_SPACES: Final = (
    ("WORLD", "World", "It stays in the world while the armature object moves"),
    ("ARMATURE", "Armature", "It goes with the armature object"),
    ("OBJECT", "Object", "It goes with another object"),
)


class PoisePin(bpy.types.PropertyGroup):
    """One bone held where it was pinned"""

    name: StringProperty(name="Bone", description="The pinned bone", override=OPEN, update=marking("name"))
    name_mark: mark()
    use_position: BoolProperty(
        name="Position", description="The bone's head stays at its place", default=True, override=OPEN
    )
    use_rotation: BoolProperty(
        name="Rotation", description="The bone keeps its orientation", default=True, override=OPEN
    )
    position: FloatVectorProperty(
        name="Position", description="Where the bone's head is held", size=3, subtype="XYZ", precision=4, override=OPEN
    )
    rotation: FloatVectorProperty(
        name="Rotation",
        description="The orientation in which the bone is held: a quaternion w, x, y, z",
        size=4,
        subtype="QUATERNION",
        default=(1.0, 0.0, 0.0, 0.0),
        override=OPEN,
    )
    space: EnumProperty(
        name="Space",
        description="What the pin is fixed to",
        items=PIN_SPACES,
        override=OPEN,
    )
    target: PointerProperty(
        name="Object", description="The object that the pin goes with", type=bpy.types.Object, override=OPEN
    )
    priority: IntProperty(
        name="Priority", description="Pins of a smaller number are served first", min=0, max=9, override=OPEN
    )
    weight: FloatProperty(
        name="Weight", description="Its share where pins contradict each other", default=1.0, min=0.0, soft_max=10.0,
        override=OPEN,
    )  # fmt: skip
    mute: BoolProperty(name="Mute", description="Let the bone go for now", override=OPEN)


# On every object.
SETTINGS: Final[dict[str, Any]] = {
    "pins": CollectionProperty(
        type=PoisePin, name="Pins", description="Bones of the armature that are held", override=OPEN_LIST
    ),
    "active_pin": IntProperty(
        name="Active Pin", description="The pin selected in the list", options=set(), override=OPEN
    ),
    "method": EnumProperty(
        name="Method",
        description="How the body follows",
        items=(
            ("PINS", "Pins", "All bones share what is asked, any bone may be dragged and pinned"),
            (
                "HUMANOID",
                "Humanoid",
                "Limbs bend in one plane that never jumps, the spine bends as one, and the body is pulled along; of "
                "humans, by hips, chest, head, hands, feet, elbows and knees",
            ),
        ),
        override=OPEN,
    ),
    "wins": EnumProperty(
        name="Wins",
        description="What is served first where pins and the dragged part contradict each other",
        items=(
            ("PINS", "Pins", "Pins hold; the dragged part follows as far as they let it"),
            ("DRAG", "Drag", "The dragged part follows; pins give way"),
        ),
        override=OPEN,
    ),
    "limits": EnumProperty(
        name="Limits",
        description="Limits of the bones: inverse-kinematics limits and Limit Rotation constraints",
        items=(
            ("HARD", "Hard", "Bones stay inside their limits"),
            ("SOFT", "Soft", "Limits give way where a pin or the dragged part needs it"),
            ("OFF", "Off", "Limits are left out"),
        ),
        override=OPEN,
    ),
    "use_anatomy_limits": BoolProperty(
        name="Anatomical Limits",
        description="Joints of a human body go no further than those of people, where they have no limits of their own "
        "and are not further already; elbows and knees always bend their way",
        default=True,
        override=OPEN,
    ),
    "use_balance": BoolProperty(
        name="Balance",
        description="Keep the centre of mass over the bones whose position is pinned, as far as pins and drag let it",
        override=OPEN,
    ),
    "use_stretch": BoolProperty(
        name="Stretch", description="Let bones grow, each by its own IK Stretch", override=OPEN
    ),
    "root": EnumProperty(
        name="Root",
        description="What the root bones may do to help",
        items=(
            ("HOLD", "Hold", "Root bones stay if all pins can be reached without them; else they move and turn"),
            ("PULL", "Pull", "Root bones are carried along by what the body cannot reach otherwise"),
            ("FREE", "Free", "Root bones move and turn"),
            ("TRANSLATE", "Move", "Root bones move but do not turn"),
            ("FIXED", "Fixed", "Root bones stay as they are"),
        ),
        override=OPEN,
    ),
}

SOLVER: Final = tuple(name for name in SETTINGS if name not in ("pins", "active_pin"))  # the settings in presets

CLASSES: Final = (PoisePin,)
