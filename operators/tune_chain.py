"""Solve a chain again when one of its numbers has changed."""

from typing import Any

import bpy
from bpy.props import IntProperty, StringProperty

from .. import bridge
from ..bridge import autokey
from ..core import CoreError
from ..edits.chains import solve_again


class POISE_OT_tune_chain(bpy.types.Operator):
    """Solve a chain again, from the pose before its effector was dragged, by the numbers that it has now"""

    bl_idname = "poise.tune_chain"
    bl_label = "Tune Chain"
    bl_options = {"INTERNAL"}  # part of what changed the number, and of its undo step

    object: StringProperty(name="Armature", description="The armature that has it", options={"SKIP_SAVE"})
    chain: IntProperty(name="Chain", description="Its number in the list of chains", options={"SKIP_SAVE"})

    def execute(self, context: Any) -> set[str]:
        armature: Any = bpy.data.objects.get(self.object)
        if armature is None or not 0 <= self.chain < len(armature.poise_chains):
            self.report({"WARNING"}, f'There is no chain {self.chain} of an armature "{self.object}"')
            return {"CANCELLED"}
        problem = tune(context, armature, armature.poise_chains[self.chain])
        if problem:
            self.report({"WARNING"}, problem)
            return {"CANCELLED"}
        return {"FINISHED"}


def tune(context: Any, armature: Any, chain: Any) -> str:
    """Do it if the pose is what the chain's last solve made; what was in the way, for the panel, too."""
    chain.problem = ""
    if not len(chain.turns):
        return ""
    try:
        bridge.check(armature)
        refusal = autokey.check(context, armature)
        if refusal is not None:
            raise CoreError(refusal)
        rig = bridge.read_rig(armature)
        before = bridge.read_pose(armature, rig)
        pose, bones = solve_again(armature, chain, rig, before)
    except CoreError as error:
        chain.problem = str(error)
        return chain.problem
    bridge.write_pose(armature, rig, pose, bones)
    turned, moved, grown = bridge.changed_bones(before, pose)
    names = rig.skeleton.names
    autokey.key(context, armature, *(tuple(names[bone] for bone in some) for some in (turned, moved, grown)))
    return ""


CLASSES = (POISE_OT_tune_chain,)
