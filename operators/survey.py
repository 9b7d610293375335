"""Find out what Poise understands of an armature."""

from typing import Any

import bpy

from ..edits.survey import look
from ..languages.interface import translated
from .tool import OfArmature


class POISE_OT_survey(OfArmature, bpy.types.Operator):
    """Detect the body parts of the armature, and what prevents posing"""

    bl_idname = "poise.survey"
    bl_label = "Detect Body Parts"
    bl_options = {"REGISTER"}  # nothing in the file changes

    def execute(self, context: Any) -> set[str]:
        look(context, context.active_object)
        findings = context.window_manager.poise_survey.findings
        hindrances = [finding.text for finding in findings if finding.kind == "HINDRANCE"]
        self.report(
            {"WARNING" if hindrances else "INFO"}, translated(" ".join(hindrances) or findings[0].text, "reports")
        )
        return {"FINISHED"}
