"""Lay the hands on a surface."""

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty

from .. import bridge
from ..core import Goal, Pose, forward
from ..core.body import SIDES
from ..core.body.corrections import require
from ..core.body.grip import has_fingers, pose_fingers
from ..core.body.ground import lay_hands
from .body import SIDE_ITEMS, OnSurface, SolvedTool, chosen_sides, surface_planes


class POISE_OT_lay_hands(OnSurface, SolvedTool, bpy.types.Operator):
    """Lay the hands flat on a surface, below where they are; the body leans as far as the arms are too short"""

    bl_idname = "poise.lay_hands"
    bl_label = "Hands on a Surface"

    side: EnumProperty(name="Hands", description="Which hands", items=SIDE_ITEMS)
    use_fingers: BoolProperty(name="Straight Fingers", description="The fingers are straightened, too", default=True)

    def wish(self, context: Any, armature: Any, body: bridge.Body) -> tuple[Pose, list[Goal]]:
        skeleton, roles, pose = body.skeleton, body.roles, body.pose
        heads, turns = forward(skeleton, pose)
        sides = chosen_sides(self.side, body, "hand")
        hands = dict(zip(sides, require(skeleton, roles, *(f"hand.{side}" for side in sides)), strict=True))
        planes = surface_planes(self, context, armature, {side: heads[hand] for side, hand in hands.items()})
        for side in sides:
            if self.use_fingers and has_fingers(roles, side):
                pose = pose_fingers(skeleton, roles, pose, side, 0.0, 0.0)
        goals = lay_hands(skeleton, roles, pose, planes)
        feet = [f"foot.{side}" for side in SIDES if f"foot.{side}" in roles.bones]
        goals += [Goal(foot, heads[foot], turns[foot]) for foot in require(skeleton, roles, *feet)]
        return pose, goals


CLASSES = (POISE_OT_lay_hands,)
