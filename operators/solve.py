"""Solve the present pose so that the pins hold."""

from typing import Any

import bpy

from .. import bridge
from ..bridge import autokey
from ..edits.solve_here import solve_here
from ..edits.words import counted
from .pins import PinsTool
from .tool import headline


class POISE_OT_solve(PinsTool, bpy.types.Operator):
    """Change the current pose so that all pins hold. It is keyed if auto-keying is enabled"""

    bl_idname = "poise.solve"
    bl_label = "Solve Here"

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        autokey.check(context, armature)
        before = bridge.read_channels(armature)
        report, fk, stays = solve_here(context, armature)
        changes = report.rotated, report.moved, report.grown
        keyed = autokey.key(context, armature, *changes, before=before)
        fk.key(context, armature)
        stays += autokey.explain_lost(context, armature, *changes)
        changed = counted(len({bone for bones in changes for bone in bones}), "bone") + " changed"
        done = changed + ("" if keyed is None else f", {len(keyed)} keyed")
        if report.explanations:
            return "WARNING", headline(self, "WARNING", done, [*report.explanations, *stays])
        return "INFO", headline(self, "INFO", "; ".join(["Pins hold", done]), stays)
