"""The one list of what Poise adds to Blender, each line beside its undo.

An exception on the way undoes what was done so far: Blender never keeps half an add-on.
"""

from contextlib import ExitStack

import bpy

from . import commands, operators, panels, properties

_registered = ExitStack()


def register() -> None:
    """Add Poise to Blender: all of it, or nothing and the exception."""
    with ExitStack() as undo:
        for cls in (*properties.CLASSES, *operators.CLASSES, *panels.CLASSES):
            bpy.utils.register_class(cls)
            undo.callback(bpy.utils.unregister_class, cls)

        properties.attach()
        undo.callback(properties.detach)

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
