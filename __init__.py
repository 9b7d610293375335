"""Poise: pose and animate a whole character by dragging and pinning parts of it.

Nothing is imported before Blender enables the extension, so that pytest and other tools can import from this folder
without Blender.
"""


def register() -> None:
    """Called by Blender when the extension is enabled"""
    from . import registration

    registration.register()


def unregister() -> None:
    """Called by Blender when the extension is disabled"""
    from . import registration

    registration.unregister()
