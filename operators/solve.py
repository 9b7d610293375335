"""Solve the present pose so that the pins hold."""

from typing import Any

import bpy

from ..bridge import autokey
from ..edits.job import perform_job
from ..edits.pins import job_from_pins
from ..edits.words import counted
from .pins import PinsTool


class POISE_OT_solve(PinsTool, bpy.types.Operator):
    """Change the present pose so that all pins hold; keyed if auto-keying is on"""

    bl_idname = "poise.solve"
    bl_label = "Solve Here"

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        autokey.check(context, armature)
        report = perform_job(context, armature, job_from_pins(armature))
        keyed = autokey.key(context, armature, report.rotated, report.moved, report.grown)
        if report.explanations:
            return "WARNING", "; ".join(report.explanations)
        changed = counted(len({*report.rotated, *report.moved, *report.grown}), "bone")
        return "INFO", f"Pins hold; {changed} changed" + ("" if keyed is None else f", {len(keyed)} keyed")
