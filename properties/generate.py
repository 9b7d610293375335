"""Motions from two key poses: the poses, and tracks of offsets between them over time."""

from collections.abc import Callable
from typing import Any, Final

import bpy
from bpy import props

from .marks import mark, marking
from .overrides import key, keying, saved, stored

# Called with context and armature when a track, or the path, of a generated motion changes; registration fills it.
CHANGED: Final[list[Callable[..., None]]] = []


def _preview(track: Any, context: Any) -> None:
    """Have the present frame shown so, before Blender makes the undo step of the change."""
    if track.id_data.poise_generated is not None:
        for call in CHANGED:
            call(context, track.id_data)


AXES: Final = (
    ("ALL", "All", "The whole turn from the min to the max pose"),
    ("X", "X", "Its part about X: of a part of the body to its left, of bones their own"),
    ("Y", "Y", "Its part about Y: of a part of the body upward, of bones their own"),
    ("Z", "Z", "Its part about Z: of a part of the body forward, of bones their own"),
)


def label_of(track: Any) -> str:
    """Return the label of a track: its roles or bones, and its axis."""
    parts = ", ".join(part.part for part in track.parts) or "all"
    return parts if track.axis == "ALL" else f"{parts} {track.axis}"


class POISE_PG_part(bpy.types.PropertyGroup):
    """A part of the body, or a bone, that a track is of"""

    name: key()
    part: saved(
        props.StringProperty, "Part", "The part of the body, or the bone", update=marking("part", then=keying("part"))
    )
    part_mark: mark()


class POISE_PG_track(bpy.types.PropertyGroup):
    """How far a part of the body is from the min to the max pose; its keys are the samples"""

    name: key()
    parts: saved(
        props.CollectionProperty, "Parts", "What it is of; all that no other track has where there are none",
        type=POISE_PG_part,
    )  # fmt: skip
    offset: saved(
        props.FloatProperty, "Offset", "0 is the min pose, 1 the max pose; its keys are the samples", soft_min=0.0,
        soft_max=1.0, update=_preview,
    )  # fmt: skip
    fit: saved(props.FloatProperty, "Fit", "The smooth curve through the samples; made again with the motion")
    weight: saved(
        props.FloatProperty, "Weight", "How much a sample counts beside the others; its keys are the samples' weights",
        default=0.1, min=1e-6, soft_max=1.0, precision=3, update=_preview,
    )  # fmt: skip
    axis: saved(
        props.EnumProperty, "Axis", "Which part of the turns between the key poses goes by it", items=AXES,
        update=_preview,
    )  # fmt: skip
    straight: saved(props.BoolProperty, "Straight", "Go straight from sample to sample, without a fit", update=_preview)
    width: saved(
        props.FloatProperty, "Kernel Width",
        "Seconds over which a sample has influence: wider is smoother; 0: from the distance of the samples", min=0.0,
        soft_max=1.0,
        update=_preview,
    )  # fmt: skip
    gamma: saved(
        props.FloatProperty, "Regularization",
        "Gamma of the least-squares support vector machine: larger values take the curve nearer to its samples",
        default=1e4, min=1e-3, soft_max=1e6, update=_preview,
    )  # fmt: skip


class POISE_PG_phase(bpy.types.PropertyGroup):
    """Some frames of a generated motion in which a part of the body supports it, or nothing does"""

    name: key()
    part: saved(
        props.StringProperty, "Part", "What supports the body: a part of it, or a bone",
        update=marking("part", then=keying("part")),
    )  # fmt: skip
    part_mark: mark()
    kind: saved(
        props.EnumProperty,
        "Kind",
        "What supports the body",
        items=(
            ("SUPPORT", "Support", "The part stands, and the rest of the body yields"),
            ("FLIGHT", "Flight", "Nothing does: the root follows the arc of a throw"),
        ),
        update=_preview,
    )
    start: saved(props.IntProperty, "Start", "The first frame", default=1, update=_preview)
    end: saved(props.IntProperty, "End", "The last frame", default=10, update=_preview)
    frame: saved(
        props.IntProperty, "Stands as In", "The frame that has the part where it stands", default=1, update=_preview
    )


# On every object.
GENERATED: Final[dict[str, Any]] = {
    "tracks": saved(props.CollectionProperty, "Tracks", "Parts of the body with their offsets", type=POISE_PG_track),
    "active_track": saved(props.IntProperty, "Active Track", "The track selected in the list", options=set()),
    "phases": saved(props.CollectionProperty, "Supports and Flights", "What supports the body", type=POISE_PG_phase),
    "active_phase": saved(
        props.IntProperty, "Active Phase", "The support or flight selected in the list", options=set()
    ),
    "path_weight": saved(
        props.FloatProperty,
        "Path Weight",
        "How much a sample of the path counts beside the others; its keys are the samples' weights",
        default=0.1,
        min=1e-6,
        soft_max=1.0,
        precision=3,
        update=_preview,
    ),
    "path": saved(
        props.FloatVectorProperty,
        "Path",
        "Of the root to the left, forward and up from its place, in lengths of a leg; keys are the samples",
        size=3,
        subtype="XYZ",
        update=_preview,
    ),
    "stay": saved(
        props.BoolProperty,
        "Stay between Key Poses",
        "Go through all samples and stay between each two of them: no pose goes beyond the key poses, and nothing "
        "moves between equal samples. Off: curves are smoother, and swing over",
        default=True,
        update=_preview,
    ),
    "key_poses": saved(
        props.PointerProperty,
        "Key Poses",
        "The action that has the min pose at frame 0 and the max pose at frame 1",
        type=bpy.types.Action,
    ),
    "generated": saved(
        props.PointerProperty,
        "Generated Motion",
        "The action that is made of the key poses and the tracks",
        type=bpy.types.Action,
    ),
    "recipe": stored("Recipe", "What the generated motion was made by"),
    "generated_start": saved(props.IntProperty, "Start", "The first frame of the generated motion", default=1),
}

CLASSES: Final = (POISE_PG_part, POISE_PG_track, POISE_PG_phase)
