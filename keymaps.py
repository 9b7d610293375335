"""Shortcuts of Poise in Pose Mode, which work with any active tool. Users change them in Blender's keymap editor."""

from typing import Any, Final

MAP: Final = "Pose"

# Operator, its settings, key and modifiers: free in the keymaps of Blender 4.5 and 5.2, which a test looks through.
SHORTCUTS: Final[tuple[tuple[str, dict[str, str], str, dict[str, bool]], ...]] = (
    ("poise.drag", {}, "G", {"ctrl": True}),
    ("wm.call_menu_pie", {"name": "POISE_MT_pie"}, "Q", {"shift": True}),
)


def add(configs: Any, operator: str, settings: dict[str, str], key: str, modifiers: dict[str, bool]) -> tuple[Any, Any]:
    """Add a shortcut to Blender's add-on keymap; return the keymap and the item."""
    keymap = configs.addon.keymaps.new(name=MAP)
    item = keymap.keymap_items.new(operator, key, "PRESS", **modifiers)
    for name, value in settings.items():
        setattr(item.properties, name, value)
    return keymap, item


def user_items(configs: Any) -> list[tuple[Any, Any]]:
    """Yield keymap and item of each shortcut as the user has configured it."""
    keymap = configs.user.keymaps.get(MAP)
    items = [(_names(item), item) for item in (keymap.keymap_items if keymap else ())]
    return [(keymap, item) for ours, settings, *_ in SHORTCUTS for names, item in items if names == (ours, settings)]


def _names(item: Any) -> tuple[str, dict[str, str]]:
    """Return the operator that a shortcut calls, and the menu that this one shows."""
    name = getattr(item.properties, "name", "")
    return item.idname, {"name": name} if name else {}
