"""The panel Chains: chains of joints, their contribution lists, and how much each joint turned."""

from math import degrees
from typing import Any

import bpy

from ..languages.interface import translated, without_prefixes
from .side import (
    PAIR,
    ArmaturePanel,
    Side,
    beside,
    chosen_in,
    draw_list,
    draw_sentence,
    draw_setting,
    draw_tools,
    is_narrow,
    labelled,
    refuses,
)  # fmt: skip


class POISE_UL_chains(bpy.types.UIList):
    """Chains of the armature, and whether drags use them"""

    def draw_item(
        self, context: Any, layout: Any, data: Any, item: Any, icon: int, active_data: Any, active: str, *_: Any
    ) -> None:
        row = layout.row(align=True)
        row.prop(item, "name", text="", emboss=False, icon="NONE" if is_narrow(PAIR) else "CON_KINEMATIC")
        row.prop(item, "use_drag", text="", icon="VIEW_PAN" if item.use_drag else "HIDE_ON", emboss=False)


class POISE_UL_actuations(bpy.types.UIList):
    """Contribution list: bone and axis, fraction, angle"""

    def draw_item(
        self, context: Any, layout: Any, data: Any, item: Any, icon: int, active_data: Any, active: str, *_: Any
    ) -> None:
        there = item.bone in context.active_object.pose.bones
        split = layout.split(factor=1.0 if is_narrow(PAIR) else 0.62 if is_narrow() else 0.5)
        name = split.row()
        name.alert = not there
        name.label(
            text=f"{item.axis}  {without_prefixes(item.bone)}" if there else translated(f"{item.bone} (no such bone)"),
            translate=False,
            icon="NONE" if there else "ERROR",
        )
        row = split.row(align=True)
        if not is_narrow(PAIR):  # both are below the list, too
            row.prop(item, "fraction", text="", slider=True)
        if not is_narrow():
            row.prop(item, "angle", text="")


class POISE_PT_chains(ArmaturePanel, bpy.types.Panel):
    """Chains of the active armature"""

    bl_label = "Chains"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        armature: Any = context.active_object
        if refuses(layout, context):
            return
        column = draw_list(layout, armature, "chains", rows=2)
        column.operator("poise.add_chain", text="", icon="ADD")
        column.operator("poise.remove_chain", text="", icon="REMOVE")
        chain = chosen_in(armature, "chains")
        if chain is None:
            draw_sentence(layout, context, "Select the base of a chain, then its effector, and press +", "INFO")
            return
        draw_sentence(layout, context, f"From {chain.base} to {chain.effector}", "BONE_DATA")
        draw_entries(layout, armature, chain)
        if chain.problem:
            draw_sentence(layout, context, chain.problem, "ERROR")


class POISE_PT_method(Side, bpy.types.Panel):
    """How the list is applied"""

    bl_label = "Method"
    bl_parent_id = "POISE_PT_chains"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        return _chain(context) is not None

    def draw(self, context: Any) -> None:
        column, chain = labelled(self.layout), _chain(context)
        for name in (
            "mode",
            "passes",
            *(("share",) if chain.mode == "MIXED" else ()),
            "sweeps",
            "finish",
            "successive",
        ):
            draw_setting(column, chain, name)


class POISE_PT_turns(Side, bpy.types.Panel):
    """How much each joint of the chain rotated in the last drag, with the current values"""

    bl_label = "Rotation per Joint"
    bl_parent_id = "POISE_PT_chains"

    @classmethod
    def poll(cls, context: Any) -> bool:
        return _chain(context) is not None

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        chain = _chain(context)
        if not len(chain.turns):
            first = f"Drag {chain.effector} once. After that, changed numbers take effect immediately"
            draw_sentence(layout, context, first, "INFO")
            return
        column = layout.column(align=True)
        for turn in chain.turns:
            split = column.split(factor=0.45)
            split.label(text=without_prefixes(turn.name), translate=False)
            split.progress(factor=turn.share, text=f"{degrees(turn.turned):.0f}°, {turn.share:.0%}")


def draw_entries(layout: Any, armature: Any, chain: Any) -> None:
    """Draw the list of a chain, the joint chosen in it, and the buttons that change the list."""
    layout.template_list("POISE_UL_actuations", "", chain, "entries", chain, "active_entry", rows=6)
    row = layout.row(align=True)
    row.operator("poise.add_joint", text="", icon="ADD")
    row.operator("poise.remove_joint", text="", icon="REMOVE")
    for direction in ("UP", "DOWN"):
        row.operator("poise.move_joint", text="", icon=f"TRIA_{direction}").direction = direction
    row.operator_menu_enum("poise.reset_list", "preset", text="Preset")
    if 0 <= chain.active_entry < len(chain.entries):
        entry = chain.entries[chain.active_entry]
        column = layout.column(align=True)
        column.prop_search(entry, "bone", armature.pose, "bones", text="")
        column.row(align=True).prop(entry, "axis", expand=True)
        row = beside(column)
        draw_setting(row, entry, "fraction", slider=True)
        draw_setting(row, entry, "angle")
    column = layout.column(align=True)
    column.operator("poise.bake_chain", text="Bake...")
    column.operator("poise.learn_list", text="Learn from Action...")
    row = beside(column, PAIR)
    row.operator("poise.import_list", text="Load...")
    row.operator("poise.export_list", text="Save...")


def _chain(context: Any) -> Any:
    """Return the chain chosen in the list, or None."""
    return chosen_in(context.active_object, "chains") if ArmaturePanel.poll(context) else None


class POISE_MT_chains(bpy.types.Menu):
    """Chains of the armature, and their contribution lists"""

    bl_label = "Chains"

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        draw_tools(layout, ("add_chain", "remove_chain"))
        layout.separator()
        draw_tools(layout, ("add_joint", "remove_joint"))
        layout.operator_menu_enum("poise.move_joint", "direction")
        layout.operator_menu_enum("poise.reset_list", "preset")
        layout.separator()
        draw_tools(layout, ("bake_chain", "learn_list", "import_list", "export_list"))


CLASSES = (POISE_UL_chains, POISE_UL_actuations, POISE_PT_chains, POISE_PT_method, POISE_PT_turns, POISE_MT_chains)
