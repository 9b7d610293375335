"""Retarget the motion of the other selected armature, or of a file."""

from functools import partial
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, StringProperty

from .. import bridge
from ..bridge.turns import in_main_thread
from ..core import CoreError
from ..core.formats.mapping import read_mapping
from ..edits.clips import MOTIONS, ClipOptions, assumed
from ..edits.motion_edit import MotionEdit, unused_name
from ..edits.motion_files import option_words
from ..edits.parts import check_sure, take_mapping
from ..edits.retarget import FADE, LONGEST, Retargeted, imported
from ..edits.words import counted
from ..properties.keypoints import SAID, UNITS, UPS
from .lasting import Background
from .tool import browse, chosen_path, fill_in, frame_property, name_property, other_armatures

_PARTS = [
    ("upper", "Upper Body", "Spine, head and arms"),
    ("lower", "Lower Body", "Hips and legs. The body goes where the source goes"),
    ("spine", "Spine", "Spine up to the head, without the arms"),
    ("head", "Head", "Head only"),
    ("arm.L", "Left Arm", "From the shoulder to the fingers"),
    ("arm.R", "Right Arm", "From the shoulder to the fingers"),
    ("leg.L", "Left Leg", "From the thigh to the toes"),
    ("leg.R", "Right Leg", "From the thigh to the toes"),
]

_UPS = ((SAID[0], SAID[1], "Detect the up axis from the upright body"), *UPS[1:])


def _takes(tool: Any, context: Any, text: str) -> list[str]:
    """Return the takes of the file that was read."""
    return tool.takes.splitlines()


class RetargetOptions:
    """The options of tools that retarget files."""

    properties: Any

    mapping: StringProperty(
        name="Mapping", description="JSON file that assigns the bones of both bodies to body parts",
        subtype="FILE_PATH",
    )  # fmt: skip
    up: EnumProperty(name="Up", description="Axis that points up in an SMPL file", items=_UPS)
    unit: EnumProperty(name="Unit", description="Unit of the location of the body in an SMPL file", items=UNITS[1:])
    body_model: StringProperty(
        name="Body Model", description="SMPL body model (.npz) with the proportions for an SMPL file",
        subtype="FILE_PATH",
    )  # fmt: skip
    plant: BoolProperty(
        name="Plant Feet", description="Hold the feet while those of the source touch the ground", default=True
    )
    sparse: BoolProperty(
        name="Source Keys", description="Key only the frames at which the source has keys. Feet are not planted",
        options={"SKIP_SAVE"},
    )  # fmt: skip
    hands: BoolProperty(
        name="Hold Hands",
        description="Hold hands that rest on meshes of the ground, such as rails, or slide along them",
        options={"SKIP_SAVE"},
    )
    scale: BoolProperty(
        name="Scale", description="Copy the scale of bones, and of the source object to the hips",
        options={"SKIP_SAVE"},
    )  # fmt: skip
    parts: EnumProperty(
        name="Parts",
        description="Body parts to retarget over the current motion. If none is chosen, retarget all parts as a new "
            "motion",
        items=_PARTS, options={"ENUM_FLAG", "SKIP_SAVE"},
    )  # fmt: skip
    fade: FloatProperty(
        name="Fade", description="Time in seconds over which the parts blend into the current motion at both ends",
        default=FADE, min=0.0, max=LONGEST, soft_max=2.0, subtype="TIME_ABSOLUTE", unit="TIME_ABSOLUTE",
    )  # fmt: skip
    start: frame_property("Start", "Frame at which the motion starts. By default as in the source")

    layout: Any

    def draw(self, context: Any) -> None:
        layout = self.layout
        layout.use_property_split, layout.use_property_decorate = True, False
        layout.prop(self, "mapping")
        for name in ("plant", "sparse", "hands", "scale"):
            layout.prop(self, name)
        column = layout.column()
        column.label(text="SMPL Files")
        for name in ("up", "unit", "body_model"):
            column.prop(self, name)
        layout.column().prop(self, "parts")
        column = layout.column()
        column.active = bool(self.parts)
        column.prop(self, "fade")
        layout.prop(self, "start")

    @property
    def clip_options(self) -> ClipOptions:
        """What files of SMPL do not say."""
        model = chosen_path(self.body_model) if self.body_model else None
        up, unit = None if self.up == SAID[0] else self.up, None if self.unit == UNITS[1][0] else self.unit
        return ClipOptions(up, model, unit)

    @property
    def words(self) -> list[str]:
        """The same for the verb `retarget`."""
        mapping, known = self.mapping and chosen_path(self.mapping), self.clip_options
        return option_words({
            "no-feet": not self.plant, "hands": self.hands, "source-keys": self.sparse, "scale": self.scale,
            "mapping": mapping, "up": known.up, "unit": known.unit, "body-model": known.body_model,
            "parts": sorted(self.parts), "fade": round(self.fade, 4) if self.parts else None,
            "start": self.start if self.properties.is_property_set("start") else None,
        })  # fmt: skip


class POISE_OT_retarget(Background, RetargetOptions, bpy.types.Operator):
    """Retarget the motion of the other selected armature, or of a file, to the active armature"""

    bl_idname = "poise.retarget"
    bl_label = "Retarget Motion"

    filepath: StringProperty(
        name="File", description="File with the motion. If empty, an armature of the scene is the source",
        subtype="FILE_PATH", options={"SKIP_SAVE"},
    )  # fmt: skip
    filter_glob: StringProperty(default=";".join(f"*{kind}" for kind in MOTIONS), options={"HIDDEN"})
    source: name_property("Source", "Armature of the scene with the motion. If empty, the other selected one")
    browse: BoolProperty(name="Browse", description="Choose a file", options={"SKIP_SAVE", "HIDDEN"})
    take: StringProperty(
        name="Take", description="Motion to use if the file has several. By default the active one",
        options={"SKIP_SAVE"}, search=_takes, search_options={"SUGGESTION"},
    )  # fmt: skip
    takes: StringProperty(options={"HIDDEN", "SKIP_SAVE"})  # one a line

    def draw(self, context: Any) -> None:
        super().draw(context)
        chosen_there = context.space_data.type == "FILE_BROWSER"
        for name in ("take",) if chosen_there else ("filepath", "source", "take"):
            self.layout.prop(self, name)

    def invoke(self, context: Any, event: bpy.types.Event) -> set[str]:
        if self.filepath or self.source or (other_armatures(context) and not self.browse):
            return super().invoke(context, event)
        return browse(self, context)

    def begin(self, context: Any, armature: Any) -> MotionEdit:
        if self.filepath:
            path = chosen_path(self.filepath)
            self._from = path.stem
            with imported(context, path, self.take, self.clip_options) as (source, takes):
                self.takes = "\n".join(takes)
                self._from = takes[0] if len(takes) > 1 else path.stem
                if self.mapping:
                    take_mapping([armature, source], read_mapping(chosen_path(self.mapping)))
                check_sure(source, by_motion=True)
                return self._retargeted(context, armature, source)
        source = in_main_thread(partial(self._source, context))
        self._from = source.name
        return self._retargeted(context, armature, source)

    def _source(self, context: Any) -> Any:
        """Return the armature of the scene that has the motion."""
        if self.source:
            source = context.scene.objects.get(self.source)
            if source is None or source.type != "ARMATURE":
                raise CoreError(f'No armature "{self.source}" in the scene "{context.scene.name}".')
            return source
        others = other_armatures(context)
        if len(others) != 1:
            raise CoreError("Select one other armature that has the motion, or choose a file.")
        return others[0]

    def _retargeted(self, context: Any, armature: Any, source: Any) -> Retargeted:
        fill_in(self, start=bridge.keyed_range(source)[0])
        parts = sorted(self.parts)
        return Retargeted(
            context, armature, source, None, self.plant, parts, self.fade, self.start, self.sparse, self.scale,
            self.hands,
        )  # fmt: skip

    def end(self, context: Any, armature: Any, edit: Retargeted) -> tuple[str, str]:
        report = edit.write(armature, unused_name(f"{armature.name} {self._from}"))
        frames, contacts = counted(len(report.frames), "frame"), counted(len(edit.pins) - edit.rests, "foot contact")
        said = [f'Retargeted {frames} from "{self._from}" with {contacts}']
        if self.filepath:
            said += assumed(chosen_path(self.filepath))
        said += edit.jumps()
        if self.hands:
            said.append(counted(edit.rests, "hand contact"))
        if "\n" in self.takes:
            said.append(
                f"the file has {len(self.takes.splitlines())} takes, choose another Take in Adjust Last Operation"
            )
        return "WARNING" if report.explanations else "INFO", "; ".join([*said, *report.explanations[:1]])
