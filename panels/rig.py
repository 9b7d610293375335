"""The panel "Rig": what Poise understands of the armature and what is in its way, as `poise.survey` noted it."""

from collections.abc import Iterator
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
            if finding.kind in _ICONS:
                draw_sentence(layout, context, finding.text, _ICONS[finding.kind])


class _Part(Side):
    """A part of that panel, for findings of one kind."""

    bl_parent_id = "POISE_PT_rig"
    bl_options = {"DEFAULT_CLOSED"}
    kind = ""

    @classmethod
    def poll(cls, context: Any) -> bool:
        return any(cls.findings(context))

    @classmethod
    def findings(cls, context: Any) -> Iterator[Any]:
        survey = context.window_manager.poise_survey
        if survey.owner == context.active_object.session_uid:
            yield from (finding for finding in survey.findings if finding.kind == cls.kind)


class POISE_PT_parts(_Part, bpy.types.Panel):
    """Which bones play which part of the body"""

    bl_label = "Parts"
    kind = "ROLE"

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        column = layout.column(align=True)
        for finding in POISE_PT_parts.findings(context):
            split = column.split(factor=0.4)
            split.label(text=finding.name)
            split.label(text=finding.text)


class POISE_PT_driven(_Part, bpy.types.Panel):
    """What decides bones in place of their own channels; muted, it lets them be posed"""

    bl_label = "Driven Bones"
    kind = "DRIVEN"

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        for finding in POISE_PT_driven.findings(context):
            draw_sentence(layout, context, finding.text, "CONSTRAINT_BONE")
            if finding.name:
                draw_sentence(layout, context, finding.name, "BLANK1")


CLASSES = (POISE_PT_rig, POISE_PT_parts, POISE_PT_driven)
