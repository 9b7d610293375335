"""Settings of trails: paths of points of the body over frames that the viewport shows."""

from typing import Any, Final

from bpy.props import BoolProperty, EnumProperty, IntProperty

from .ghosts import tell_change
from .overrides import saved

# On every object.
SETTINGS: Final[dict[str, Any]] = {
    "use_trails": saved(
        BoolProperty, "Trails", "Show the paths of parts of the body over time while the armature is active",
        update=tell_change,
    ),
    "trail_bones": saved(
        EnumProperty,
        "Trails Of",
        "What has a trail",
        update=tell_change,
        items=(
            ("PARTS", "Body", "Parts of the body"),
            ("SELECTED", "Selected", "The heads of the selected bones"),
        ),
    ),
    "trail_parts": saved(
        EnumProperty,
        "Parts",
        "Which parts of the body have a trail",
        update=tell_change,
        options={"ENUM_FLAG"},
        default={"HIPS", "HANDS", "FEET"},
        items=(
            ("HIPS", "Hips", "The hips, or the first bone of an animal's spine"),
            ("HANDS", "Hands", "The wrists"),
            ("FEET", "Feet", "The ankles, or the tips of an animal's legs"),
            ("HEAD", "Head", "The joint of the head"),
        ),
    ),
    "trail_range": saved(
        EnumProperty,
        "Frames",
        "Which frames of the motion have a dot",
        update=tell_change,
        items=(
            ("SCENE", "Scene", "Those of the scene's range, or its preview range"),
            ("AROUND", "Around", "Those around the present frame"),
        ),
    ),
    "trail_around": saved(
        IntProperty, "Around", "How many frames before and after the present one have a dot", update=tell_change,
        default=20, min=1, soft_max=100, max=1000,
    ),
    "trail_steps": saved(
        BoolProperty, "Steps Go Along",
        "Where a dot of the hips is dragged, plant feet along their path, instead of where they are",
    ),
    "trail_falloff": saved(
        IntProperty, "Falloff", "How many frames before and after a dragged dot follow it", default=10, min=0,
        soft_max=100, max=1000,
    ),
}  # fmt: skip
