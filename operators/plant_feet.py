"""Put the feet on the ground."""

from typing import Any

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, FloatProperty

from .. import bridge
from ..core import Goal, Pose, forward
from ..core.body import SIDES
from ..core.body.corrections import require
from ..core.body.ground import plant_feet
from .body import SIDE_ITEMS, OnSurface, SolvedTool, chosen_sides, surface_planes


class POISE_OT_plant_feet(OnSurface, SolvedTool, bpy.types.Operator):
    """Put the feet on the ground, flat or rolled over heel, ball and toes; the legs bend, the hips help"""

    bl_idname = "poise.plant_feet"
    bl_label = "Feet on the Ground"

    side: EnumProperty(name="Feet", description="Which feet", items=SIDE_ITEMS)
    roll: FloatProperty(
        name="Roll", description="Below zero the foot stands on its heel, above on the ball, then on its tip",
        subtype="ANGLE", soft_min=-np.pi / 4.0, soft_max=np.pi / 2.0, min=-np.pi / 2.0, max=np.pi / 2.0,
    )  # fmt: skip
    bend: FloatProperty(
        name="Toes Bend", description="How far the foot rolls on the ball until it goes on to the tip of its toes",
        subtype="ANGLE", default=np.radians(40.0), min=0.0, max=np.pi / 2.0,
    )  # fmt: skip
    use_hips: BoolProperty(
        name="Hips Help", description="The hips come along where the legs are too short", default=True
    )

    def wish(self, context: Any, armature: Any, body: bridge.Body) -> tuple[Pose, list[Goal]]:
        skeleton, roles = body.skeleton, body.roles
        heads, turns = forward(skeleton, body.pose)
        sides = chosen_sides(self.side, body, "foot")
        feet = dict(zip(sides, require(skeleton, roles, *(f"foot.{side}" for side in sides)), strict=True))
        planes = surface_planes(self, context, armature, {side: heads[foot] for side, foot in feet.items()})
        pose, goals = plant_feet(skeleton, roles, body.pose, planes, self.roll, self.bend)
        still = [f"foot.{side}" for side in SIDES if side not in feet and f"foot.{side}" in roles.bones]
        still += [] if self.use_hips else ["hips"]
        goals += [Goal(bone, heads[bone], turns[bone]) for bone in require(skeleton, roles, *still)]
        return pose, goals


CLASSES = (POISE_OT_plant_feet,)
