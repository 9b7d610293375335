"""The panel Rig: roles, driven bones and obstacles of the armature, as `poise.survey` found them."""

from collections.abc import Iterator
from typing import Any, Final

import bpy

from .. import bridge
from ..languages.interface import part_name, translated, without_prefixes
from .part_icons import NUMBERS
from .side import PAIR, ArmaturePanel, Side, beside, draw_sentence, draw_text, draw_tools, is_narrow

_ICONS: Final = {"BODY": "ARMATURE_DATA", "ASK": "QUESTION", "HINDRANCE": "ERROR"}
# A small figure that looks at the viewer: its right is on the left.
_ARMS: Final = ("hand", "forearm", "upper_arm", "shoulder")
_FIGURE: Final = (
    ("head",),
    ("neck",),
    (*(f"{part}.R" for part in _ARMS), "spine", *(f"{part}.L" for part in reversed(_ARMS))),
    ("hips",),
    *((f"{part}.R", "", f"{part}.L") for part in ("thigh", "shin", "foot", "toe")),
)
_HANDS: Final = ("thumb", "index", "middle", "ring", "pinky")
_FINGERS: Final = (*(f"{finger}.R" for finger in reversed(_HANDS)), "", *(f"{finger}.L" for finger in _HANDS))


class POISE_PT_rig(ArmaturePanel, bpy.types.Panel):
    """What Poise detected in the armature"""

    bl_label = "Rig"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_header(self, context: Any) -> None:
        layout: Any = self.layout
        kinds = [finding.kind for finding in _findings(context)]
        layout.label(
            text="", icon=next((_ICONS[kind] for kind in ("HINDRANCE", "ASK") if kind in kinds), "ARMATURE_DATA")
        )

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


def _findings(context: Any) -> Iterator[Any]:
    """Yield what was found out about the active armature."""
    survey = context.window_manager.poise_survey
    if survey.owner == context.active_object.session_uid:
        yield from survey.findings


def draw_hindrances(layout: Any, context: Any) -> None:
    """Draw what prevents the armature from being posed."""
    for finding in _findings(context):
        if finding.kind == "HINDRANCE":
            draw_sentence(layout, context, finding.text, _ICONS[finding.kind])


class _Part(Side):
    """A subpanel for findings of one kind."""

    bl_parent_id = "POISE_PT_rig"
    bl_options = {"DEFAULT_CLOSED"}
    kind = ""

    @classmethod
    def poll(cls, context: Any) -> bool:
        return any(cls.findings(context))

    @classmethod
    def findings(cls, context: Any) -> Iterator[Any]:
        yield from (finding for finding in _findings(context) if finding.kind == cls.kind)


class POISE_PT_parts(_Part, bpy.types.Panel):
    """Bones that are assigned to parts of the body"""

    bl_label = "Parts"
    kind = "ROLE"

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        rows = {finding.name: finding for finding in POISE_PT_parts.findings(context)}
        part = context.window_manager.poise_survey.part
        if any(role in rows for row in _FIGURE for role in row):
            figure = layout.column(align=True)
            for roles in (*_FIGURE, *([_FINGERS] if any(role in rows for role in _FINGERS) else [])):
                if roles is _FINGERS:
                    figure.separator()
                row = figure.row(align=True)
                row.alignment = "CENTER"
                for role in roles:
                    if role not in rows:
                        row.label(text="", icon="BLANK1")
                        continue
                    icon = NUMBERS[rows[role].state]
                    row.operator("poise.show_part", text="", icon_value=icon, depress=role == part).role = role
        if part in rows:
            _draw_part(layout, rows[part])
        said = context.active_object.poise_facing
        facing = translated(f"Facing: {said or translated('Detected')}")
        layout.operator_menu_enum("poise.set_facing", "facing", text=facing, translate=False)
        row = beside(layout, PAIR)
        row.operator("poise.import_roles", text="Load...")
        row.operator("poise.export_roles", text="Save...")
        row = beside(layout, PAIR)
        row.operator("poise.swap_sides")
        row.operator("poise.clear_roles", text="Reset All").role = ""
        column = layout.column(align=True)
        for role, finding in rows.items():
            split = column if is_narrow() else column.split(factor=0.5)
            name = split.row()
            name.alignment = "LEFT" if is_narrow() else "EXPAND"  # as the bones, below it or beside it
            shown, icon = part_name(role), NUMBERS[finding.state]
            part = name.operator("poise.show_part", text=shown, icon_value=icon, emboss=False, translate=False)
            part.role = role
            split.label(text=without_prefixes(finding.text) or "-", translate=False)


def _draw_part(layout: Any, finding: Any) -> None:
    """Draw the chosen role and the tools that correct it."""
    box = layout.box()
    text = f"{part_name(finding.name)}: {without_prefixes(finding.text) or translated('no bone')}"
    box.label(text=text, icon_value=NUMBERS[finding.state], translate=False)
    if bridge.can_correct(finding.name):
        row = box.row(align=True)
        row.operator("poise.set_role").role = finding.name
        row.operator("poise.clear_roles", text="", icon="LOOP_BACK").role = finding.name


class POISE_PT_driven(_Part, bpy.types.Panel):
    """Drivers and constraints that move bones instead of their own channels. Mute them to pose these bones"""

    bl_label = "Driven Bones"
    kind = "DRIVEN"

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        for finding in POISE_PT_driven.findings(context):
            draw_sentence(layout, context, finding.text, "CONSTRAINT_BONE")
            if finding.name:
                draw_text(layout, context, without_prefixes(finding.name), "BLANK1")


class POISE_MT_rig(bpy.types.Menu):
    """What Poise detected in the armature"""

    bl_label = "Rig"

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        layout.operator("poise.survey")
        layout.operator("poise.set_role", text="Assign Selected Bones...")
        layout.operator("poise.clear_roles", text="Reset All").role = ""
        layout.operator_menu_enum("poise.set_facing", "facing")
        draw_tools(layout, ("swap_sides", "import_roles", "export_roles"))


CLASSES = (POISE_PT_rig, POISE_PT_parts, POISE_PT_driven, POISE_MT_rig)
