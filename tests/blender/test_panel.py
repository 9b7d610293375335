"""What the panel draws, recorded instead of shown."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import bpy
import pytest

from panels.pins import POISE_PT_pins, POISE_UL_pins
from tests.blender.builders import contents, make_armature, make_empty, select

pytestmark = pytest.mark.usefixtures("empty_file")


class Layout:
    """Stands for bpy.types.UILayout: notes what is drawn and refuses what Blender would draw in red."""

    def __init__(self, seen: list[tuple[str, ...]]) -> None:
        self.seen = seen

    def row(self, **_: Any) -> "Layout":
        return Layout(self.seen)

    column = row

    def label(self, *, text: str, icon: str = "NONE") -> None:
        self.icon(icon)
        self.seen.append(("label", text))

    def prop(self, data: Any, name: str, *, icon: str = "NONE", **_: Any) -> None:
        self.icon(icon)
        assert name in data.bl_rna.properties, name
        self.seen.append(("prop", name))

    def operator(self, name: str, *, icon: str = "NONE", **_: Any) -> Any:
        self.icon(icon)
        group, _, tool = name.partition(".")
        known = getattr(getattr(bpy.ops, group), tool).get_rna_type().properties
        seen = self.seen

        class Properties:
            def __setattr__(self, key: str, value: object) -> None:
                assert key in known, key
                seen.append(("set", f"{key}={value}"))

        seen.append(("operator", name))
        return Properties()

    def template_list(self, kind: str, _: str, data: Any, name: str, active_data: Any, active: str, **__: Any) -> None:
        assert hasattr(bpy.types, kind)
        self.seen.append(("list", name))
        for item in getattr(data, name):
            POISE_UL_pins.draw_item(SimpleNamespace(), bpy.context, self, data, item, 0, active_data, active)

    @staticmethod
    def icon(name: str) -> None:
        icons = bpy.types.UILayout.bl_rna.functions["label"].parameters["icon"].enum_items
        assert name in icons, name


def drawn() -> list[tuple[str, ...]]:
    seen: list[tuple[str, ...]] = []
    POISE_PT_pins.draw(SimpleNamespace(layout=Layout(seen)), bpy.context)
    return seen


def labels() -> Iterator[str]:
    return (text for kind, text in drawn() if kind == "label")


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
        (lambda: setattr(bpy.context.view_layer.objects, "active", make_empty("Cup")), '"Cup" is no armature'),
        (lambda: make_armature() and bpy.ops.object.mode_set(mode="EDIT"), "is in edit mode"),
    ],
)
def test_the_panel_says_why_it_offers_nothing(make: Any, sentence: str) -> None:
    make()
    seen = drawn()
    assert [kind for kind, _ in seen] == ["label"]
    assert sentence in seen[0][1]


def test_the_panel_shows_pins_buttons_and_settings() -> None:
    rig = make_armature()
    select(rig, ["foot.L", "foot.R"])
    bpy.ops.poise.pin()
    before = contents()
    seen = drawn()
    assert contents() == before
    assert ("list", "poise_pins") in seen
    assert [text for kind, text in seen if kind == "label"] == ["foot.L", "foot.R"]
    tools = {name for kind, name in seen if kind == "operator"}
    assert tools == {f"poise.{tool}" for tool in ("pin", "unpin", "clear_pins", "solve", "bake")}
    assert {"poise_root", "poise_use_limits", "use_position", "use_rotation", "mute"} <= {
        name for kind, name in seen if kind == "prop"
    }
    assert {("set", f"kind={kind}") for kind in ("POSITION", "ROTATION", "BOTH")} <= set(seen)


def test_a_pin_whose_bone_is_gone_is_shown_as_such() -> None:
    rig = make_armature()
    select(rig, ["foot.L"])
    bpy.ops.poise.pin()
    rig.data.bones["foot.L"].name = "paw.L"
    assert list(labels()) == ["foot.L (no such bone)"]
