"""The one list of what Poise adds to Blender, each line beside its undo.

An exception on the way undoes what was done so far: Blender never keeps half an add-on.
"""

from contextlib import ExitStack
from typing import Any

import bpy

from . import commands, keymaps, operators, panels, preferences, properties
from .edits import reactions, survey
from .languages.interface import messages, put_in_context, put_property_in_context
from .operators import live_pins
from .operators.handlers import remove_handler
from .properties import ccd, generate, marks, motion, roles

_registered = ExitStack()


def register() -> None:
    """Add Poise to Blender: all of it, or nothing and the exception."""
    with ExitStack() as undo:
        translations: Any = bpy.app.translations
        translations.register(__package__, messages())
        undo.callback(translations.unregister, __package__)

        undo.callback(panels.remove_icons, panels.add_icons())

        classes: tuple[Any, ...] = (
            *properties.CLASSES,
            *operators.CLASSES,
            *panels.CLASSES,
            *preferences.CLASSES,
        )
        for cls in classes:
            put_in_context(cls)
            bpy.utils.register_class(cls)
            undo.callback(bpy.utils.unregister_class, cls)

        for _, definitions in properties.OWNERS:
            for definition in definitions.values():
                put_property_in_context(definition)
        properties.attach()
        undo.callback(properties.detach)

        bpy.utils.register_preset_path(panels.FOLDER)
        undo.callback(bpy.utils.unregister_preset_path, panels.FOLDER)

        for tool in panels.TOOLS:
            bpy.utils.register_tool(tool, after={"builtin.cursor"}, separator=True)
            undo.callback(bpy.utils.unregister_tool, tool)

        context: Any = bpy.context
        configs = context.window_manager.keyconfigs
        for shortcut in keymaps.SHORTCUTS if configs.addon else ():  # Blender may have none without a window
            keymap, item = keymaps.add(configs, *shortcut)
            undo.callback(keymap.keymap_items.remove, item)

        panels.rename_tab(preferences.preferences_of(context).tab)

        for show in operators.DRAWINGS:
            undo.callback(show().close)

        handlers: Any = bpy.app.handlers
        connections: tuple[tuple[Any, Any], ...] = (
            (handlers.depsgraph_update_post, marks.follow_names),
            (handlers.load_post, marks.follow_names_in_libraries),
            (handlers.depsgraph_update_post, preferences.set_up_new),
            (handlers.depsgraph_update_post, survey.look_on_entry),
            (handlers.undo_post, survey.look_after_undo),
            (handlers.redo_post, survey.look_after_undo),
            (handlers.undo_post, live_pins.go_on_undoing),
            (handlers.redo_post, live_pins.go_on_redoing),
            (ccd.CHANGED, reactions.tune_chain),
            (motion.CHANGED, live_pins.follow),
            (generate.CHANGED, reactions.preview_generated),
            (roles.RANGED, reactions.begin_range),
            (preferences.RENAMED, panels.rename_tab),
        )
        for calls, call in connections:
            calls.append(call)
            undo.callback(remove_handler, calls, call)

        for name, draw in panels.MENUS:
            menu = getattr(bpy.types, name)
            menu.append(draw)
            undo.callback(menu.remove, draw)

        verbs = bpy.utils.register_cli_command("poise", commands.run)
        undo.callback(bpy.utils.unregister_cli_command, verbs)

        _registered.push(undo.pop_all())


def unregister() -> None:
    """Take out of Blender what `register` put in, last first."""
    _registered.close()
