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
    ("ALL", "All", "Entire rotation from the min to the max pose"),
    ("X", "X", "Rotation about X: of body parts the axis to the left, of bones their own"),
    ("Y", "Y", "Rotation about Y: of body parts the axis upward, of bones their own"),
    ("Z", "Z", "Rotation about Z: of body parts the axis forward, of bones their own"),
)


def label_of(track: Any) -> str:
    """Return the label of a track: its roles or bones, and its axis."""
    parts = ", ".join(part.part for part in track.parts) or "all"
    return parts if track.axis == "ALL" else f"{parts} {track.axis}"


class POISE_PG_part(bpy.types.PropertyGroup):
    """A body part or bone that the track moves"""

    name: key()
    part: saved(
        props.StringProperty, "Part", "Name of the body part or bone", update=marking("part", then=keying("part"))
    )
    part_mark: mark()


class POISE_PG_track(bpy.types.PropertyGroup):
    """Blend between the min and the max pose over time, for some parts of the body"""

    name: key()
    parts: saved(
        props.CollectionProperty,
        "Parts",
        "Body parts and bones that the track moves. If empty, all that no other track moves",
        type=POISE_PG_part,
    )
    offset: saved(
        props.FloatProperty,
        "Offset",
        "Blend between the min pose (0) and the max pose (1). Its keyframes are the samples",
        soft_min=0.0,
        soft_max=1.0,
        update=_preview,
    )
    fit: saved(props.FloatProperty, "Fit", "Smooth curve through the samples, computed with the motion")
    weight: saved(
        props.FloatProperty,
        "Weight",
        "Influence of a sample on the fitted curve. Its keyframes are the weights of the samples",
        default=0.1,
        min=1e-6,
        soft_max=1.0,
        precision=3,
        update=_preview,
    )
    axis: saved(
        props.EnumProperty, "Axis", "Axis of the rotation between the key poses that the track controls", items=AXES,
        update=_preview,
    )  # fmt: skip
    straight: saved(
        props.BoolProperty,
        "Straight",
        "Interpolate linearly between samples instead of fitting a curve",
        update=_preview,
    )
    width: saved(
        props.FloatProperty,
        "Kernel Width",
        "Time in seconds over which a sample has influence: wider is smoother. 0 uses the spacing of the samples",
        min=0.0,
        soft_max=1.0,
        update=_preview,
    )
    gamma: saved(
        props.FloatProperty, "Closeness",
        "How closely the curve follows its samples (gamma of the least-squares support vector machine)",
        default=1e4, min=1e-3, soft_max=1e6, update=_preview,
    )  # fmt: skip


class POISE_PG_phase(bpy.types.PropertyGroup):
    """A frame range in which a body part supports the body, or nothing does"""

    name: key()
    part: saved(
        props.StringProperty, "Part", "Body part or bone that supports the body",
        update=marking("part", then=keying("part")),
    )  # fmt: skip
    part_mark: mark()
    kind: saved(
        props.EnumProperty,
        "Kind",
        "What supports the body",
        items=(
            ("SUPPORT", "Support", "The part stays in place, and the rest of the body adapts"),
            ("FLIGHT", "Flight", "Nothing supports the body, and the root follows a ballistic arc"),
        ),
        update=_preview,
    )
    start: saved(props.IntProperty, "Start", "First frame", default=1, update=_preview)
    end: saved(props.IntProperty, "End", "Last frame", default=10, update=_preview)
    frame: saved(
        props.IntProperty,
        "Reference",
        "Frame from which the position of the part is taken",
        default=1,
        update=_preview,
    )


# On every object.
GENERATED: Final[dict[str, Any]] = {
    "tracks": saved(props.CollectionProperty, "Tracks", "Offsets over time of parts of the body", type=POISE_PG_track),
    "active_track": saved(props.IntProperty, "Active Track", "Track selected in the list", options=set()),
    "phases": saved(props.CollectionProperty, "Supports and Flights", "What supports the body", type=POISE_PG_phase),
    "active_phase": saved(props.IntProperty, "Active Phase", "Support or flight selected in the list", options=set()),
    "path_weight": saved(
        props.FloatProperty,
        "Path Weight",
        "Influence of a sample on the fitted path. Its keyframes are the weights of the samples",
        default=0.1,
        min=1e-6,
        soft_max=1.0,
        precision=3,
        update=_preview,
    ),
    "path": saved(
        props.FloatVectorProperty,
        "Path",
        "Offset of the root to the left, forward and up, in leg lengths. Its keyframes are the samples",
        size=3,
        subtype="XYZ",
        update=_preview,
    ),
    "stay": saved(
        props.BoolProperty,
        "Prevent Overshoot",
        "Pass through all samples without overshooting: no pose goes beyond the key poses, and nothing moves "
        "between equal samples. If disabled, curves are smoother and may overshoot",
        default=True,
        update=_preview,
    ),
    "key_poses": saved(
        props.PointerProperty,
        "Key Poses",
        "Action with the min pose at frame 0 and the max pose at frame 1",
        type=bpy.types.Action,
    ),
    "generated": saved(
        props.PointerProperty,
        "Generated Motion",
        "Action generated from the key poses and the tracks",
        type=bpy.types.Action,
    ),
    "recipe": stored("Recipe", "Recipe of the generated motion"),
    "generated_start": saved(props.IntProperty, "Start", "First frame of the generated motion", default=1),
}

CLASSES: Final = (POISE_PG_part, POISE_PG_track, POISE_PG_phase)
