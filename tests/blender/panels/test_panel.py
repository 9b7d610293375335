"""What the panel draws, recorded instead of shown."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import bpy
import pytest

from panels import pins
from panels.bone import POISE_PT_bone
from panels.humanoid import POISE_PT_humanoid
from panels.pins import POISE_MT_pose, POISE_PT_pins, POISE_UL_pins
from panels.solver import POISE_PT_solver, POISE_PT_solver_advanced
from panels.toolbar import POISE_TOOL_drag
from properties.humanoid import SETTINGS as HUMANOID
from properties.pins import SETTINGS, SOLVER
from tests.blender.rigs import (
    Layout,
    choose,
    contents,
    drawn_by,
    labels,
    make_armature,
    make_chain,
    make_empty,
    remove_bone,
    select,
)

PIN_TOOLS = (
    "pin", "unpin", "clear_pins", "goto_pin", "mirror_pins", "pin_here", "pin_space", "drag", "solve", "bake"
)  # fmt: skip
pytestmark = pytest.mark.usefixtures("empty_file")


def test_the_panel_is_in_a_tab_of_its_own() -> None:
    assert (POISE_PT_pins.bl_category, POISE_PT_pins.bl_space_type, POISE_PT_pins.bl_region_type) == (
        "Poise",
        "VIEW_3D",
        "UI",
    )


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: None, "no active object"),
        (lambda: setattr(bpy.context.view_layer.objects, "active", make_empty("Cup")), '"Cup" is not an armature'),
        (lambda: make_armature() and bpy.ops.object.mode_set(mode="EDIT"), "is in Edit Mode"),
    ],
)
def test_the_panel_says_why_it_offers_nothing(make: Any, sentence: str) -> None:
    make()
    seen = drawn_by(POISE_PT_pins)
    assert {kind for kind, _ in seen} == {"label"}
    assert sentence in " ".join(text for _, text in seen)


@pytest.mark.parametrize(
    ("width", "beside"), [(150, []), (200, [("prop", "mute")]), (400, [("label", ""), ("prop", "mute")])]
)
def test_the_name_of_a_pin_has_the_row_alone_where_the_sidebar_is_narrowest(
    width: int, beside: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pins, "is_narrow", lambda room=250: width < room)
    rig = make_armature()
    select(rig, ["foot.L"])
    bpy.ops.poise.pin()
    seen: list[tuple[str, ...]] = []
    POISE_UL_pins.draw_item(SimpleNamespace(), bpy.context, Layout(seen), None, rig.poise_pins[0], 0, None, "")  # pyright: ignore[reportArgumentType]
    assert seen == [("label", "foot.L"), *beside]
    assert ("prop", "mute") in seen + drawn_by(POISE_PT_pins)  # else below the list


def test_the_panel_shows_pins_buttons_and_settings() -> None:
    rig = make_armature()
    select(rig, ["foot.L", "foot.R"])
    bpy.ops.poise.pin()
    before = contents()
    seen = drawn_by(POISE_PT_pins)
    assert contents() == before
    assert ("list", "poise_pins") in seen
    assert [text for kind, text in seen if kind == "label" and text] == ["foot.L", "foot.R"]  # an icon has none
    tools = {name for kind, name in seen if kind == "operator"}
    assert tools == {f"poise.{tool}" for tool in PIN_TOOLS}
    assert {"weight", "priority", "use_position", "use_rotation", "mute"} <= {
        name for kind, name in seen if kind == "prop"
    }
    assert {("set", f"kind={kind}") for kind in ("POSITION", "ROTATION", "BOTH")} <= set(seen)


def test_buttons_drag_the_active_bone_and_not_what_they_cover() -> None:
    select(make_armature(), [])
    for drawn in (drawn_by(POISE_PT_pins), drawn_by(POISE_MT_pose)):
        assert drawn[drawn.index(("operator", "poise.drag")) + 1] == ("set", "use_active=True")


@pytest.mark.parametrize(
    ("make", "first"), [(make_armature, "P over each foot"), (lambda: make_chain(3), "P over a bone")]
)
def test_the_first_step_that_is_shown_fits_the_body(make: Callable[[], Any], first: str) -> None:
    select(make(), [])
    assert first in " ".join(text for kind, text in drawn_by(POISE_PT_pins) if kind == "label")


@pytest.mark.parametrize("pinned", [True, False])
def test_the_bones_own_panel_shows_its_pin_and_what_blender_has_of_it(pinned: bool) -> None:
    rig = make_armature()
    select(rig, ["foot.L"])
    rig.data.bones.active = rig.data.bones["foot.L"]
    if pinned:
        bpy.ops.poise.pin()
    seen = drawn_by(POISE_PT_bone)
    props = {name for kind, name in seen if kind == "prop"}
    assert {"ik_stiffness_x", "ik_stretch", "ik_min_z", "use_ik_limit_y"} <= props
    assert ("weight" in props) == pinned
    assert (("operator", "poise.unpin") in seen) == pinned
    assert (("operator", "poise.cycle_pin") in seen) == (not pinned)


def test_what_a_pin_is_fixed_to_is_asked_of_the_bone_that_is_shown_whatever_the_list_has_chosen() -> None:
    rig = make_armature()
    for foot in ("foot.L", "foot.R"):
        choose(rig, foot)
        bpy.ops.poise.pin()
    choose(rig, "foot.L")
    seen = drawn_by(POISE_PT_bone)
    assert seen[seen.index(("operator", "poise.pin_space")) + 1] == ("set", "bone=foot.L")
    bpy.ops.poise.pin_space(bone="foot.L", space="ARMATURE")
    assert [(pin.name, pin.space) for pin in rig.poise_pins] == [("foot.L", "ARMATURE"), ("foot.R", "WORLD")]
    assert rig.poise_active_pin == 1


def test_the_solver_panel_shows_every_setting_that_is_saved() -> None:
    make_armature()
    seen = [*drawn_by(POISE_PT_solver), *drawn_by(POISE_PT_solver_advanced)]
    assert {name for kind, name in seen if kind == "prop"} == {f"poise_{name}" for name in SOLVER}
    assert {*SETTINGS} - {*SOLVER} == {"pins", "active_pin", "pin_space", "target_action"}
    make_chain(3)  # without a human body there are no feet for a balance
    seen = drawn_by(POISE_PT_solver)
    assert [text for kind, text in seen if kind == "set"] == ["poise_balance=PINS", "poise_balance=OFF"]


def test_with_the_humanoid_method_only_what_it_heeds_is_offered() -> None:
    make_armature().poise_method = "HUMANOID"
    limits = "limits", "use_anatomy_limits", "balance", "use_strength", "strength"
    heeded = {f"poise_{name}" for name in ("method", *limits, "use_fk_switch", "use_reduce")}
    seen = [*drawn_by(POISE_PT_solver), *drawn_by(POISE_PT_solver_advanced)]
    assert {name for kind, name in seen if kind == "prop"} == heeded
    assert POISE_PT_humanoid.poll(bpy.context)
    assert {name for kind, name in drawn_by(POISE_PT_humanoid) if kind == "prop"} == {
        f"poise_{name}" for name in HUMANOID
    }
    header: list[tuple[str, ...]] = []
    POISE_TOOL_drag.draw_settings(bpy.context, Layout(header), None)
    shown = ("method", "limits", "balance", "pin_space")
    assert [name for kind, name in header if kind == "prop"] == [f"poise_{name}" for name in shown]
    bpy.context.object.poise_method = "PINS"
    assert not POISE_PT_humanoid.poll(bpy.context)


def test_what_a_namespace_puts_before_bones_leaves_room_for_their_names() -> None:
    rig = make_armature()
    rig.data.bones["foot.L"].name = "mixamorig:LeftFoot"
    select(rig, ["mixamorig:LeftFoot"])
    bpy.ops.poise.pin()
    assert list(labels()) == ["LeftFoot"]


def test_bones_are_unpinned_only_where_a_pinned_one_is_selected() -> None:
    rig = make_armature()
    select(rig, ["foot.L"])
    bpy.ops.poise.pin()
    assert ("enabled", "True") in drawn_by(POISE_PT_pins)
    select(rig, ["foot.R"])
    assert ("enabled", "False") in drawn_by(POISE_PT_pins)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert ("set", "kind=BOTH") not in drawn_by(POISE_PT_pins)


def test_without_pins_the_panel_says_what_to_do_first() -> None:
    rig = make_armature()
    tools: list[list[str]] = []
    for bones in ([], ["foot.L"]):
        select(rig, bones)
        drawn = drawn_by(POISE_PT_pins)
        tools.append([name for kind, name in drawn if kind == "operator"])
        assert drawn[2] == ("set", "name=poise.drag")  # after its text: it is on top
        assert "Press P" in next(text for kind, text in drawn if kind == "label")
    assert tools == [["wm.tool_set_by_id", "poise.drag"], ["wm.tool_set_by_id", *["poise.pin"] * 3, "poise.drag"]]
    bpy.ops.object.mode_set(mode="OBJECT")
    drawn = drawn_by(POISE_PT_pins)
    assert drawn[2] == ("set", "mode=POSE")
    assert [name for kind, name in drawn if kind == "operator"] == ["object.mode_set"]


@pytest.mark.parametrize(
    ("recipe", "keys", "shown"),
    [("jump", "EVERY", []), ("own", "EVERY", ["seconds"]), ("jump", "REDUCED", ["tolerance"])],
)
def test_generate_shows_the_settings_that_apply(recipe: str, keys: str, shown: list[str]) -> None:
    seen: list[tuple[str, ...]] = []
    kind: Any = bpy.types.Operator.bl_rna_get_subclass_py("POISE_OT_generate")
    rna = SimpleNamespace(properties=bpy.ops.poise.generate.get_rna_type().properties)
    tool: Any = SimpleNamespace(layout=Layout(seen), recipe=recipe, keys=keys, bl_rna=rna)
    tool.chosen = lambda: kind.chosen(tool)
    kind.draw(tool, bpy.context)
    assert {name for _, name in seen} == {"recipe", "start", "keys", *shown}


def test_a_pin_whose_bone_is_gone_is_shown_as_such() -> None:
    rig = make_armature()
    select(rig, ["foot.L"])
    bpy.ops.poise.pin()
    remove_bone(rig, "foot.L")
    bpy.ops.object.mode_set(mode="POSE")
    assert list(labels()) == ["foot.L (no such bone)"]
