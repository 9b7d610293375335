"""Texts in the language of Blender's interface."""

import re
from typing import Any, Final

import bpy

from .book import LANGUAGES, entries, parts, translate, translate_parts

# Of labels that Blender looks up; its own has other words, of Feet as a unit of length.
CONTEXT: Final = "Poise"
_CONTEXTS: Final = ("*", CONTEXT)  # tooltips, and labels without any other
# A name with a prefix; one that is to be typed stays whole.
_PREFIXED: Final = re.compile(r'(?<!did you mean ")(?<![\w.:-])(?:[\w.-]+:)+([\w.-]*\w)')


def messages() -> dict[str, dict[tuple[str, str], str]]:
    """Return the translations as `bpy.app.translations.register` takes them."""
    return {
        language: {(context, text): said for text, said in entries(language).items() for context in _CONTEXTS}
        | {(CONTEXT, part): said for part, said in parts(language).items()}  # of menus of parts
        for language in LANGUAGES
    }


def put_in_context(cls: Any) -> None:
    """Let Blender look up the labels of a class that is to be registered, and of its properties, in CONTEXT."""
    cls.bl_translation_context = CONTEXT
    for base in cls.__mro__:
        for definition in getattr(base, "__annotations__", {}).values():
            put_property_in_context(definition)


def put_property_in_context(definition: Any) -> None:
    """Let Blender look up the labels of a property that is to be registered in CONTEXT."""
    if hasattr(definition, "keywords"):  # what a function of bpy.props returns
        definition.keywords.setdefault("translation_context", CONTEXT)


def translated(text: str, where: str = "interface") -> str:
    """Return a text that Blender does not look up itself, in the language in which the user wants it.

    where: "interface", "tooltips" or "reports", as the preferences say of which texts are translated.
    Names of bones in it lose their prefix.
    """
    text = without_prefixes(text)
    return translate(text, bpy.app.translations.locale) if _is_wanted(where) else text


def part_name(name: str, bone: str = "") -> str:
    """Return the name of a part of the body, such as "hand.L", or several, as the interface shows it.

    A label that is the name of its `bone` is not translated; names of bones lose their prefix.
    """
    name = without_prefixes(name)
    if name == without_prefixes(bone):
        return name
    return translate_parts(name, bpy.app.translations.locale) if _is_wanted("interface") else name


def _is_wanted(where: str) -> bool:
    context: Any = bpy.context
    return getattr(context.preferences.view, f"use_translate_{where}")


def without_prefixes(text: str) -> str:
    """Return a text in which names of bones have lost the prefix that programs such as Mixamo give to all bones."""

    def plain(found: re.Match[str]) -> str:
        armatures: Any = bpy.data.armatures
        return found[1] if any(found[0] in armature.bones for armature in armatures) else found[0]

    return _PREFIXED.sub(plain, text)
