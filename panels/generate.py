"""The panel Generate: two key poses and the samples of the offsets between them."""

from typing import Any

import bpy
from bpy_extras.anim_utils import action_get_channelbag_for_slot

from ..languages.interface import part_name
from ..properties.generate import label_of
from .side import PAIR, ArmaturePanel, Side, beside, chosen_in, draw_list, draw_setting, draw_tools, is_narrow, labelled

_TOOLS = (
    "store_pose", "regenerate", "add_track", "remove_track", "add_sample", "remove_sample", "equal_samples",
    "weigh_samples", "add_phase", "remove_phase", "load_recipe", "save_recipe",
)  # fmt: skip


class POISE_UL_tracks(bpy.types.UIList):
    """Tracks: body part, and its offset at the current frame"""

    def draw_item(
        self, context: Any, layout: Any, data: Any, item: Any, icon: int, active_data: Any, active: str, *_: Any
    ) -> None:
        row = layout.row(align=True)
        row.label(text=part_name(label_of(item)), icon="NONE" if is_narrow(PAIR) else "FCURVE", translate=False)
        row.prop(item, "offset", text="")


class POISE_UL_phases(bpy.types.UIList):
    """Supports and flights: what supports the body, over which frames"""

    def draw_item(
        self, context: Any, layout: Any, data: Any, item: Any, icon: int, active_data: Any, active: str, *_: Any
    ) -> None:
        row = layout.split(factor=0.6, align=True)
        flies = item.kind == "FLIGHT"
        row.label(
            text="Flight" if flies else part_name(item.part), icon="FORCE_WIND" if flies else "PINNED", translate=flies
        )
        row = row.row(align=True)
        row.label(text=f"{item.start}-{item.end}", translate=False)


class POISE_PT_generate(ArmaturePanel, bpy.types.Panel):
    """Generate motions from two key poses"""

    bl_label = "Generate"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        armature: Any = context.active_object
        row = beside(layout, PAIR)
        for pose, text in (("MIN", "Store Min"), ("MAX", "Store Max")):
            row.operator("poise.store_pose", text=text).pose = pose
        layout.operator_menu_enum("poise.generate", "recipe")
        row = beside(layout)
        row.operator("poise.load_recipe", text="Load Recipe...")
        row.operator("poise.save_recipe", text="Save Recipe...")
        if not len(armature.poise_tracks):
            return
        side = draw_list(layout, armature, "tracks", rows=3)
        side.operator_menu_enum("poise.add_track", "part", text="", icon="ADD")
        side.operator("poise.remove_track", text="", icon="REMOVE")
        layout.prop(armature, "poise_stay")
        draw_phases(layout, armature)
        layout.operator("poise.regenerate", icon="FILE_REFRESH")


class POISE_PT_generate_advanced(Side, bpy.types.Panel):
    """Samples of the active track and of the path, and how curves are fitted through them"""

    bl_label = "Advanced"
    bl_parent_id = "POISE_PT_generate"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        return len(context.active_object.poise_tracks) > 0

    def draw(self, context: Any) -> None:
        layout, armature = self.layout, context.active_object
        if chosen_in(armature, "tracks") is not None:
            draw_track(layout, armature, armature.poise_active_track)
        draw_path(layout, context, armature)


def draw_track(layout: Any, armature: Any, number: int) -> None:
    """Draw the samples of a track as a table of frames and offsets, and the settings of the fit."""
    path = f"poise_tracks[{number}]"
    draw_samples(layout, ("Offset",), [_curve(armature, f"{path}.offset", 0)], _curve(armature, f"{path}.weight", 0))
    track = armature.poise_tracks[number]
    column = labelled(layout.column())
    column.row().prop(track, "axis", expand=True)
    column.prop(track, "straight")
    settings = column.column()
    settings.active = not (armature.poise_stay or track.straight)  # which go through all samples
    draw_setting(settings, track, "width")
    draw_setting(settings, track, "gamma")


def draw_path(layout: Any, context: Any, armature: Any) -> None:
    """Draw the path of the root and its samples as a table."""
    column = layout.column(align=True)
    column.use_property_split = not is_narrow()
    for index, name in enumerate(("Path Left", "Forward", "Up")):
        column.prop(armature, "poise_path", index=index, text=name)
    survey = context.window_manager.poise_survey
    if survey.owner == armature.session_uid:
        unit = column.row()
        unit.enabled = False  # that of the path: it is only shown
        unit.prop(survey, "leg")
    curves = [_curve(armature, "poise_path", index) for index in range(3)]
    draw_samples(layout, ("Left", "Forward", "Up"), curves, _curve(armature, "poise_path_weight", 0), path=True)


def draw_samples(layout: Any, names: tuple[str, ...], curves: list[Any], weights: Any, path: bool = False) -> None:
    """Draw a table of the keys of curves: frames, values, and weights if there are as many."""
    column = layout.column(align=True)
    rows = [*zip(*(curve.keyframe_points if curve else () for curve in curves), strict=False)]
    weighed = weights.keyframe_points if weights is not None else ()
    if rows:
        row = column.row(align=True)
        for name in ("Frame", *names, *(("Weight",) if len(weighed) == len(rows) else ())):
            row.label(text=name)
        row.label(text="", icon="BLANK1")  # above the remove buttons
    for number, keys in enumerate(rows):
        row = column.row(align=True)
        frame = keys[0].co[0]
        move = row.operator("poise.move_sample", text=f"{frame:g}", translate=False)
        move.path, move.row, move.frame = path, number, round(frame)
        for key in keys:
            row.prop(key, "co", index=1, text="")
        if len(weighed) == len(rows):
            row.prop(weighed[number], "co", index=1, text="")
        cross = row.operator("poise.remove_sample", text="", icon="X")
        cross.path, cross.row = path, number
    column.operator("poise.add_sample", icon="ADD").path = path
    if rows:
        column.operator("poise.equal_samples", text="Distribute").path = path
        column.operator("poise.weigh_samples", text="Toggle Weights").path = path


def draw_phases(layout: Any, armature: Any) -> None:
    """Draw the supports and flights of the motion."""
    side = draw_list(layout, armature, "phases", rows=2)
    side.operator_menu_enum("poise.add_phase", "part", text="", icon="ADD")
    side.operator("poise.remove_phase", text="", icon="REMOVE")
    phase = chosen_in(armature, "phases")
    if phase is not None:
        column = labelled(layout.column(align=True))
        for name in ("start", "end", *(["frame"] if phase.kind == "SUPPORT" else [])):
            draw_setting(column, phase, name)


def _curve(armature: Any, path: str, index: int) -> Any:
    """Return a curve of the object's action, or None."""
    data = armature.animation_data
    bag: Any = action_get_channelbag_for_slot(data.action, data.action_slot) if data and data.action else None
    return bag.fcurves.find(path, index=index) if bag else None


class POISE_MT_generate(bpy.types.Menu):
    """Generate motions from two key poses"""

    bl_label = "Generate"

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        layout.operator_enum("poise.generate", "recipe")
        layout.separator()
        draw_tools(layout, _TOOLS)


CLASSES = (POISE_UL_tracks, POISE_UL_phases, POISE_PT_generate, POISE_PT_generate_advanced, POISE_MT_generate)
