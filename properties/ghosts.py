"""Settings of ghosts: poses at other frames that the viewport shows."""

from typing import Any, Final

from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from .overrides import saved


def tell_change(group: Any, context: Any) -> None:
    """Let those know who show other frames."""
    group.update_tag()


_COUNT: Final = {"update": tell_change, "min": 0, "soft_max": 10, "max": 50}

# On every object.
SETTINGS: Final[dict[str, Any]] = {
    "use_ghosts": saved(
        BoolProperty, "Ghosts", "Show the pose at other frames while the armature is active", update=tell_change
    ),
    "ghost_frames": saved(
        EnumProperty,
        "Frames",
        "Frames that have ghosts",
        update=tell_change,
        items=(
            ("KEYS", "Key Poses", "Frames at which the bones shown as ghosts have keys"),
            ("ALL", "Frames", "All frames of the scene's range"),
        ),
    ),
    "ghosts_before": saved(IntProperty, "Before", "Number of ghosts before the current frame", default=3, **_COUNT),
    "ghosts_after": saved(IntProperty, "After", "Number of ghosts after the current frame", default=3, **_COUNT),
    "ghost_step": saved(
        IntProperty, "Step", "Number of key poses or frames from one ghost to the next",
        update=tell_change, default=1, min=1,
        soft_max=50, max=1000,
    ),
    "ghost_shape": saved(
        EnumProperty,
        "Display As",
        "How ghosts are drawn",
        update=tell_change,
        items=(
            ("BONES", "Bones", "Lines from the head to the tail of each bone"),
            ("MESH", "Mesh", "Meshes that the armature deforms, without subdivision"),
        ),
    ),
    "ghost_bones": saved(
        EnumProperty,
        "Bones",
        "Bones that are drawn, and whose keys define the key poses",
        update=tell_change,
        items=(
            ("ALL", "All", "Draw all deforming bones, and use the keys of all bones"),
            ("SELECTED", "Selected", "Draw and use the selected bones only"),
        ),
    ),
    "ghost_opacity": saved(
        FloatProperty, "Opacity", "Opacity of the ghost next to the current frame. The others fade with their distance",
        subtype="FACTOR", default=0.5, min=0.05, max=1.0,
    ),
}  # fmt: skip
