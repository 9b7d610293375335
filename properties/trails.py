"""Settings of trails: paths of points of the body over frames that the viewport shows."""

from typing import Any, Final

from bpy.props import BoolProperty, EnumProperty, IntProperty

from .ghosts import tell_change
from .overrides import saved

# On every object.
SETTINGS: Final[dict[str, Any]] = {
    "use_trails": saved(
        BoolProperty, "Trails", "Show the paths of body parts over time while the armature is active",
        update=tell_change,
    ),
    "trail_bones": saved(
        EnumProperty,
        "Trails Of",
        "What has a trail",
        update=tell_change,
        items=(
            ("PARTS", "Body", "Parts of the body"),
            ("SELECTED", "Selected", "Heads of the selected bones"),
        ),
    ),
    "trail_parts": saved(
        EnumProperty,
        "Parts",
        "Body parts that have a trail",
        update=tell_change,
        options={"ENUM_FLAG"},
        default={"HIPS", "HANDS", "FEET"},
        items=(
            ("HIPS", "Hips", "Hips, or the first bone of an animal's spine"),
            ("HANDS", "Hands", "Wrists"),
            ("FEET", "Feet", "Ankles, or the tips of an animal's legs"),
            ("HEAD", "Head", "Joint of the head"),
        ),
    ),
    "trail_range": saved(
        EnumProperty,
        "Frames",
        "Frames of the motion that have a dot",
        update=tell_change,
        items=(
            ("SCENE", "Scene", "Frame range of the scene, or its preview range"),
            ("AROUND", "Around", "Frames around the current frame"),
        ),
    ),
    "trail_around": saved(
        IntProperty, "Around", "Number of frames before and after the current one that have a dot", update=tell_change,
        default=20, min=1, soft_max=100, max=1000,
    ),
    "trail_steps": saved(
        BoolProperty, "Move Footsteps",
        "When a dot of the hips is dragged, move the footsteps along with their path, instead of keeping them "
            "in place",
    ),
    "trail_falloff": saved(
        IntProperty, "Falloff", "Number of frames before and after a dragged dot that follow it", default=10, min=0,
        soft_max=100, max=1000,
    ),
}  # fmt: skip
