"""Key a file of keypoints on the active armature."""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ..core.keypoints.recordings import DEFAULT_RATE, RATES
from ..edits.keypoints import READABLE, KeypointsJob, load_recording, perform_keypoints
from ..edits.words import counted
from ..properties.keypoints import LAYOUTS, MARKERS, SAID, TRAVELS, UNITS, UPS
from .lasting import Lasting
from .tool import ReadsFile, chosen_path

_SIDES = {"ASK": None, "KEEP": False, "EXCHANGE": True}
_TRAVEL = {"AUTO": None, "HIPS": True, "FEET": False}


class POISE_OT_import_keypoints(ReadsFile, Lasting, bpy.types.Operator):
    """Key a motion of the armature from 3D keypoints (JSON, CSV, NPY, NPZ, TRC, C3D) or from a motion file"""

    bl_idname = "poise.import_keypoints"
    bl_label = "Import Keypoints"

    filename_ext = ".json"
    filter_glob: StringProperty(
        name="Filter",
        description="Types of files that are shown",
        default=";".join(f"*{suffix}" for suffix in READABLE),
        options={"HIDDEN"},
    )
    layout: EnumProperty(
        name="Layout", description="Which points the file has, and in which order", items=(SAID, *LAYOUTS, MARKERS)
    )
    mapping: StringProperty(
        name="Mapping",
        description="JSON file that assigns markers to body points, or bones of the motion file to body parts, "
        "instead of a layout",
        subtype="FILE_PATH",
    )
    unit: EnumProperty(name="Unit", description="Unit of the points", items=UNITS)
    up: EnumProperty(name="Up", description="Axis of the points that points up", items=UPS)
    fps: FloatProperty(
        name="Frame Rate",
        description="Frames per second. Unless it is changed, use the rate of the file, if it has one",
        default=DEFAULT_RATE,
        min=0.0,
        max=RATES[1],
        options={"SKIP_SAVE"},
    )
    frame_start: IntProperty(name="Start", description="Frame of the first key", default=1)
    sides: EnumProperty(
        name="Sides",
        description="Whether left and right are swapped in the file",
        items=(
            ("ASK", "Detect", "Stop with an error if feet and face point backward"),
            ("KEEP", "Keep", "Do not swap left and right"),
            ("EXCHANGE", "Swap", "Swap left and right"),
        ),
    )
    travel: EnumProperty(
        name="Travel",
        description="How the location of the body is found",
        items=(("AUTO", "Detect", "Use the hips if they move, else the feet"), *TRAVELS[:2]),
    )
    smooth: BoolProperty(
        name="Filter Noise", description="Smooth the points in proportion to their noise", default=True
    )
    lock_feet: BoolProperty(name="Plant Feet", description="Hold the feet while they touch the ground", default=True)
    limits: BoolProperty(name="Joint Limits", description="Keep joints within their limits", default=True)
    exact: BoolProperty(
        name="Exact Ends", description="Place wrists and ankles exactly on their points, using pins", default=False
    )

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        file: Any = self
        layout = None if self.layout == SAID[0] else self.layout
        job = KeypointsJob(
            layout=layout,
            unit=self.unit,
            up=self.up,
            fps=(self.properties.is_property_set("fps") and self.fps) or None,
            start=self.frame_start,
            exchange=_SIDES[self.sides],
            travel=_TRAVEL[self.travel],
            smooth=self.smooth,
            lock_feet=self.lock_feet,
            limits=self.limits,
            exact=self.exact,
        )
        mapping = chosen_path(self.mapping) if self.mapping else None
        report, found = perform_keypoints(
            context, armature, load_recording(context, Path(file.filepath), layout, mapping), job
        )
        off = [f"{sentence}." for sentence in report.explanations]
        said = [f'Keyed {counted(len(report.frames), "frame")} in "{report.action}".', *off, *found.notes]
        return "WARNING" if off else "INFO", " ".join(said).removesuffix(".")
