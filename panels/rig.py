"""The panel "Rig": what Poise understands of the armature and what is in its way, as `poise.survey` noted it."""

from typing import Any, Final

import bpy

from .side import Side, draw_sentence

_ICONS: Final = {"BODY": "ARMATURE_DATA", "ASK": "QUESTION", "HINDRANCE": "ERROR"}


class POISE_PT_rig(Side, bpy.types.Panel):
    """What Poise understands of the armature"""

    bl_label = "Rig"

    @classmethod
    def poll(cls, context: Any) -> bool:
        return context.active_object is not None and context.active_object.type == "ARMATURE"

    def draw_header_preset(self, context: Any) -> None:
        layout: Any = self.layout
        layout.operator("poise.survey", text="", icon="FILE_REFRESH", emboss=False)

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        survey = context.window_manager.poise_survey
        if survey.owner != context.active_object.session_uid:
            layout.operator("poise.survey", icon="VIEWZOOM")
            return
        for finding in survey.findings:
            if finding.kind != "ROLE":
                draw_sentence(layout, context, finding.text, _ICONS[finding.kind])


class POISE_PT_parts(Side, bpy.types.Panel):
    """Which bones play which part of the body"""

    bl_label = "Parts"
    bl_parent_id = "POISE_PT_rig"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        survey = context.window_manager.poise_survey
        return survey.owner == context.active_object.session_uid and any(
            finding.kind == "ROLE" for finding in survey.findings
        )

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        column = layout.column(align=True)
        for finding in context.window_manager.poise_survey.findings:
            if finding.kind == "ROLE":
                split = column.split(factor=0.4)
                split.label(text=finding.name)
                split.label(text=finding.text)


CLASSES = (POISE_PT_rig, POISE_PT_parts)
