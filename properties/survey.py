"""Findings about an armature that the panel Rig shows."""

from typing import Any, Final

import bpy
from bpy.props import CollectionProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty


class POISE_PG_finding(bpy.types.PropertyGroup):
    """One finding about an armature"""

    kind: EnumProperty(
        name="Kind",
        description="Subject of the finding",
        items=(
            ("BODY", "Body", "What Poise detected in the armature"),
            ("ASK", "Ask", "What may need attention"),
            ("HINDRANCE", "Problem", "What prevents posing"),
            ("DRIVEN", "Driven", "What drives bones instead of their own channels"),
            ("ROLE", "Role", "Body part that bones are assigned to"),
        ),
    )
    name: StringProperty(name="Name", description="Body part, or the driven bones")
    text: StringProperty(name="Text", description="Finding")
    state: EnumProperty(
        name="State",
        description="How the bones of the part were found",
        items=(
            ("FOUND", "Found", "Detected with certainty"),
            ("GUESSED", "Guessed", "Detected, but not certain"),
            ("MISSING", "Missing", "Not detected"),
            ("SAID", "Corrected", "Assigned by you"),
        ),
    )


class POISE_PG_survey(bpy.types.PropertyGroup):
    """Findings about an armature, for the panel"""

    owner: IntProperty(name="Armature", description="Session identifier of the armature")
    entered: IntProperty(name="Entered", description="Armature that was last in Pose Mode")
    said: StringProperty(name="Corrections", description="Corrections of parts that were in use")
    part: StringProperty(name="Part", description="Selected body part", default="hips")
    leg: FloatProperty(name="Leg Length", description="Length of a leg in the scene, the unit of paths", unit="LENGTH")
    findings: CollectionProperty(type=POISE_PG_finding, name="Findings", description="Finding")


# On the window manager, which is neither saved with the file nor undone.
SHOWN: Final[dict[str, Any]] = {
    "survey": PointerProperty(
        type=POISE_PG_survey, name="Survey", description="What the panel shows about the armature"
    )
}

CLASSES: Final = (POISE_PG_finding, POISE_PG_survey)
