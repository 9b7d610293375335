"""Motions from two key poses: the poses, and tracks of offsets between them over time."""

from collections.abc import Callable
from typing import Any, Final

import bpy
from bpy.props import (
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from .marks import mark, marking
from .overrides import OPEN, OPEN_LIST, key, keying

# Called with context and armature when a track, or the path, of a generated motion changes; registration fills it.
CHANGED: Final[list[Callable[..., None]]] = []


def _preview(track: Any, context: Any) -> None:
    """Have the present frame shown so, before Blender makes the undo step of the change."""
    if track.id_data.poise_generated is not None:
        for call in CHANGED:
            call(context, track.id_data)


def label_of(track: Any) -> str:
    """Return the label of a track: its roles or bones."""
    return ", ".join(part.part for part in track.parts) or "all"


class PoisePart(bpy.types.PropertyGroup):
    """A part of the body, or a bone, that a track is of"""

    name: key()
    part: StringProperty(
        name="Part", description="The part of the body, or the bone", override=OPEN,
        update=marking("part", then=keying("part")),
    )  # fmt: skip
    part_mark: mark()


class PoiseTrack(bpy.types.PropertyGroup):
    """How far a part of the body is from the min to the max pose; its keys are the samples"""

    name: key()
    parts: CollectionProperty(
        type=PoisePart, name="Parts", description="What it is of; all that no other track has where there are none",
        override=OPEN_LIST,
    )  # fmt: skip
    offset: FloatProperty(
        name="Offset", description="0 is the min pose, 1 the max pose; its keys are the samples", soft_min=0.0,
        soft_max=1.0, override=OPEN, update=_preview,
    )  # fmt: skip
    fit: FloatProperty(
        name="Fit", description="The smooth curve through the samples; made anew with the motion", override=OPEN
    )
    weight: FloatProperty(
        name="Weight", description="How much a sample counts beside the others; its keys are the samples' weights",
        default=0.1, min=1e-6, soft_max=1.0, precision=3, override=OPEN, update=_preview,
    )  # fmt: skip
    width: FloatProperty(
        name="Width", description="Of the kernel in seconds: wider is smoother; 0: from the distance of the samples",
        min=0.0, soft_max=1.0, override=OPEN, update=_preview,
    )  # fmt: skip
    gamma: FloatProperty(
        name="Gamma", description="How near the curve comes to its samples", default=1e4, min=1e-3, soft_max=1e6,
        override=OPEN, update=_preview,
    )  # fmt: skip


class PoisePhase(bpy.types.PropertyGroup):
    """Some frames of a generated motion in which a part of the body bears it, or nothing does"""

    name: key()
    part: StringProperty(
        name="Part", description="What bears: a part of the body, or a bone", override=OPEN,
        update=marking("part", then=keying("part")),
    )  # fmt: skip
    part_mark: mark()
    kind: EnumProperty(
        name="Kind",
        description="What bears the body",
        items=(
            ("SUPPORT", "Support", "The part stands, and the rest of the body yields"),
            ("FLIGHT", "Flight", "Nothing does: the root follows the arc of a throw"),
        ),
        override=OPEN,
        update=_preview,
    )
    start: IntProperty(name="Start", description="The first frame", default=1, override=OPEN, update=_preview)
    end: IntProperty(name="End", description="The last frame", default=10, override=OPEN, update=_preview)
    frame: IntProperty(
        name="Stands as In", description="The frame that has the part where it stands", default=1, override=OPEN,
        update=_preview,
    )  # fmt: skip


# On every object.
GENERATED: Final[dict[str, Any]] = {
    "tracks": CollectionProperty(
        type=PoiseTrack, name="Tracks", description="Parts of the body with their offsets", override=OPEN_LIST
    ),
    "active_track": IntProperty(
        name="Active Track", description="The track selected in the list", options=set(), override=OPEN
    ),
    "phases": CollectionProperty(
        type=PoisePhase, name="Supports and Flights", description="What bears the body, and when", override=OPEN_LIST
    ),
    "active_phase": IntProperty(
        name="Active Phase", description="The support or flight selected in the list", options=set(), override=OPEN
    ),
    "path_weight": FloatProperty(
        name="Path Weight",
        description="How much a sample of the path counts beside the others; its keys are the samples' weights",
        default=0.1,
        min=1e-6,
        soft_max=1.0,
        precision=3,
        override=OPEN,
        update=_preview,
    ),
    "path": FloatVectorProperty(
        name="Path",
        description="Of the root to the left, forward and up from its place, in lengths of a leg; keys are the samples",
        size=3,
        subtype="XYZ",
        override=OPEN,
        update=_preview,
    ),
    "key_poses": PointerProperty(
        name="Key Poses",
        description="The action that has the min pose at frame 0 and the max pose at frame 1",
        type=bpy.types.Action,
        override=OPEN,
    ),
    "generated": PointerProperty(
        name="Generated Motion",
        description="The action that is made of the key poses and the tracks",
        type=bpy.types.Action,
        override=OPEN,
    ),
    "recipe": StringProperty(
        name="Recipe", description="What the generated motion was made by", options={"HIDDEN"}, override=OPEN
    ),
    "generated_start": IntProperty(
        name="Start", description="The first frame of the generated motion", default=1, override=OPEN
    ),
}

CLASSES: Final = (PoisePart, PoiseTrack, PoisePhase)
