"""Settings of the humanoid method: pull, reach, resist and swivel."""

from typing import Any, Final

import numpy as np
from bpy.props import BoolProperty, FloatProperty

from .overrides import saved

# Property -> the name that the method knows, and what people call it.
PULLS: Final = {
    "pull_chest": ("chest", "Chest"),
    "pull_head": ("head", "Head"),
    "pull_hand_l": ("hand.L", "Left Hand"),
    "pull_hand_r": ("hand.R", "Right Hand"),
    "pull_foot_l": ("foot.L", "Left Foot"),
    "pull_foot_r": ("foot.R", "Right Foot"),
}
RESISTS: Final = {
    "resist_hips": ("hips", "Hips"),
    "resist_spine": ("spine", "Spine"),
    "resist_neck": ("neck", "Neck"),
    "resist_shoulder": ("shoulder", "Shoulders"),
}
SWIVELS: Final = {
    "swivel_arm_l": ("arm.L", "Left Arm"),
    "swivel_arm_r": ("arm.R", "Right Arm"),
    "swivel_leg_l": ("leg.L", "Left Leg"),
    "swivel_leg_r": ("leg.R", "Right Leg"),
}

_SHARE: Final = {"subtype": "FACTOR", "min": 0.0, "max": 1.0}

# On every object.
SETTINGS: Final[dict[str, Any]] = {
    **{
        name: saved(
            FloatProperty,
            label,
            "How much the part pulls the body along when its target is out of reach. At 0, the limb only stretches out",
            default=1.0,
            **_SHARE,
        )
        for name, (_, label) in PULLS.items()
    },
    **{
        name: saved(
            FloatProperty,
            label,
            "How much the part resists being pulled along. At 1, it stays in place",
            default=0.0,
            **_SHARE,
        )
        for name, (_, label) in RESISTS.items()
    },
    "reach": saved(
        FloatProperty,
        "Reach",
        "How far a limb stretches, as a share of its length, before it pulls the body along",
        default=0.95,
        **_SHARE,
    ),
    **{
        f"use_{name}": saved(
            BoolProperty, label, "Set the swivel of the limb. If disabled, the limb keeps its current swivel"
        )
        for name, (_, label) in SWIVELS.items()
    },
    **{
        name: saved(
            FloatProperty,
            label,
            "Rotation of the elbow or knee about the line from the root of the limb to its end",
            subtype="ANGLE",
            min=-np.pi,
            max=np.pi,
        )
        for name, (_, label) in SWIVELS.items()
    },
}
