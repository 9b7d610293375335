"""Findings about an armature that the panel Rig shows."""

from typing import Any, Final

import bpy
from bpy.props import CollectionProperty, EnumProperty, IntProperty, PointerProperty, StringProperty


class POISE_PG_finding(bpy.types.PropertyGroup):
    """One thing found out about an armature"""

    kind: EnumProperty(
        name="Kind",
        description="What it is about",
        items=(
            ("BODY", "Body", "What is understood of the armature"),
            ("ASK", "Ask", "What is worth a look"),
            ("HINDRANCE", "Hindrance", "What is in the way of posing"),
            ("DRIVEN", "Driven", "What drives bones in place of their own channels"),
            ("ROLE", "Role", "The part of the body that bones play"),
        ),
    )
    name: StringProperty(name="Name", description="The part of the body, or the driven bones")
    text: StringProperty(name="Text", description="What was found out")
    state: EnumProperty(
        name="State",
        description="How it is known which bone a part is",
        items=(
            ("FOUND", "Found", "Found, and sure"),
            ("GUESSED", "Guessed", "Found, and worth a look"),
            ("MISSING", "Missing", "Not found, or not there"),
            ("SAID", "Corrected", "As you said"),
        ),
    )


class POISE_PG_survey(bpy.types.PropertyGroup):
    """What was found out about an armature, for the panel"""

    owner: IntProperty(name="Armature", description="The number that the armature has in this session")
    entered: IntProperty(name="Entered", description="The armature that was last seen in Pose Mode")
    said: StringProperty(name="Corrections", description="The corrections of parts that were used")
    part: StringProperty(name="Part", description="The part of the body that is looked at", default="hips")
    findings: CollectionProperty(type=POISE_PG_finding, name="Findings", description="What was found out")


# On the window manager, which is neither saved with the file nor undone.
SHOWN: Final[dict[str, Any]] = {
    "survey": PointerProperty(type=POISE_PG_survey, name="Survey", description="What the panel says about the armature")
}

CLASSES: Final = (POISE_PG_finding, POISE_PG_survey)
