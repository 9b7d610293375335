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
        "Which frames have ghosts",
        update=tell_change,
        items=(
            ("KEYS", "Key Poses", "Frames in which the bones of the ghosts have keys"),
            ("ALL", "Frames", "All frames of the scene's range"),
        ),
    ),
    "ghosts_before": saved(IntProperty, "Before", "Ghosts before the present frame", default=3, **_COUNT),
    "ghosts_after": saved(IntProperty, "After", "Ghosts after the present frame", default=3, **_COUNT),
    "ghost_step": saved(
        IntProperty, "Step", "Show every so-many-th key pose or frame", update=tell_change, default=1, min=1,
        soft_max=50, max=1000,
    ),
    "ghost_shape": saved(
        EnumProperty,
        "Display As",
        "What ghosts are drawn as",
        update=tell_change,
        items=(
            ("BONES", "Bones", "Lines from the heads of bones to their tails"),
            ("MESH", "Mesh", "The meshes that the armature deforms, without subdivision"),
        ),
    ),
    "ghost_bones": saved(
        EnumProperty,
        "Bones",
        "Which bones are drawn, and whose keys count",
        update=tell_change,
        items=(
            ("ALL", "All", "Lines of all bones that deform; keys of all bones"),
            ("SELECTED", "Selected", "The selected bones alone"),
        ),
    ),
    "ghost_opacity": saved(
        FloatProperty, "Opacity", "Opacity of the ghost next to the present frame; others fade with their distance",
        subtype="FACTOR", default=0.5, min=0.05, max=1.0,
    ),
}  # fmt: skip
