"""Settings of the humanoid method: pull, reach, resist and swivel."""

from typing import Any, Final

import numpy as np
from bpy.props import BoolProperty, FloatProperty

from .overrides import OPEN

# Property -> the name that the method knows, and what people call it.
ENDS: Final = {
    "pull_chest": ("chest", "Chest"),
    "pull_head": ("head", "Head"),
    "pull_hand_l": ("hand.L", "Left Hand"),
    "pull_hand_r": ("hand.R", "Right Hand"),
    "pull_foot_l": ("foot.L", "Left Foot"),
    "pull_foot_r": ("foot.R", "Right Foot"),
}
TRUNK: Final = {
    "resist_hips": ("hips", "Hips"),
    "resist_spine": ("spine", "Spine"),
    "resist_neck": ("neck", "Neck"),
    "resist_shoulder": ("shoulder", "Shoulders"),
}
LIMBS: Final = {
    "swivel_arm_l": ("arm.L", "Left Arm"),
    "swivel_arm_r": ("arm.R", "Right Arm"),
    "swivel_leg_l": ("leg.L", "Left Leg"),
    "swivel_leg_r": ("leg.R", "Right Leg"),
}

# On every object.
SETTINGS: Final[dict[str, Any]] = {
    **{
        name: FloatProperty(
            name=label, description="How hard it pulls the body along where it is out of reach; 0: it only stretches",
            subtype="FACTOR", default=1.0, min=0.0, max=1.0, override=OPEN,
        )
        for name, (_, label) in ENDS.items()
    },
    **{
        name: FloatProperty(
            name=label, description="How much it withstands being pulled along; 1: it stays", subtype="FACTOR",
            default=0.0, min=0.0, max=1.0, override=OPEN,
        )
        for name, (_, label) in TRUNK.items()
    },
    "reach": FloatProperty(
        name="Reach", description="The share of its length to which a limb is stretched before it pulls",
        subtype="FACTOR", default=0.95, min=0.0, max=1.0, override=OPEN,
    ),
    **{
        f"use_{name}": BoolProperty(
            name=label, description="The limb has this swivel; without, it keeps the one that it has", override=OPEN
        )
        for name, (_, label) in LIMBS.items()
    },
    **{
        name: FloatProperty(
            name=label, description="How far elbow or knee is turned about the way from the limb's root to its end",
            subtype="ANGLE", min=-np.pi, max=np.pi, override=OPEN,
        )
        for name, (_, label) in LIMBS.items()
    },
}  # fmt: skip
