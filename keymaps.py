"""Shortcuts of Poise in Pose Mode, which work with any active tool. Users change them in Blender's keymap editor."""

from typing import Any, Final

MAP: Final = "Pose"

# Operator, key and modifiers: free in the keymaps of Blender 4.5 and 5.2, which a test looks through.
SHORTCUTS: Final[tuple[tuple[str, str, dict[str, bool]], ...]] = (("poise.drag", "G", {"ctrl": True}),)


def add(configs: Any, operator: str, key: str, modifiers: dict[str, bool]) -> tuple[Any, Any]:
    """Add a shortcut to Blender's add-on keymap; return the keymap and the item."""
    keymap = configs.addon.keymaps.new(name=MAP)
    return keymap, keymap.keymap_items.new(operator, key, "PRESS", **modifiers)


def user_items(configs: Any) -> list[tuple[Any, Any]]:
    """Yield keymap and item of each shortcut as the user has configured it."""
    keymap = configs.user.keymaps.get(MAP)
    operators = {operator for operator, *_ in SHORTCUTS}
    return [(keymap, item) for item in (keymap.keymap_items if keymap else ()) if item.idname in operators]
