"""Texts in the language of Blender's interface."""

from typing import Any, Final

import bpy

from .book import LANGUAGES, entries, translate

# Blender looks labels up in the context of what they are on: operators have one of their own.
_CONTEXTS: Final = ("*", "Operator")


def messages() -> dict[str, dict[tuple[str, str], str]]:
    """Return the translations as `bpy.app.translations.register` takes them."""
    return {
        language: {(context, text): said for text, said in entries(language).items() for context in _CONTEXTS}
        for language in LANGUAGES
    }


def translated(text: str, where: str = "interface") -> str:
    """Return a text that Blender does not look up itself, in the language in which the user wants it.

    where: "interface", "tooltips" or "reports", as the preferences say of which texts are translated.
    """
    context: Any = bpy.context
    wanted = getattr(context.preferences.view, f"use_translate_{where}")
    return translate(text, bpy.app.translations.locale) if wanted else text
