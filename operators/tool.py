"""What Poise's operators share: polls that give the reason, errors as reports, selected bones."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import bpy
from bpy.props import IntProperty, StringProperty
from bpy_extras.io_utils import ImportHelper

from .. import bridge
from ..bridge.turns import in_main_thread
from ..core import CoreError
from ..core.causes import Explanation
from ..core.formats.table import FRAME_LIMIT
from ..languages.interface import translated


class Tool:
    """An operator on the active armature: `act` does the work."""

    bl_label: str
    report: Any
    properties: Any
    poll_message_set: Any
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        try:
            bridge.check(context.active_object)
            cls.need(context, context.active_object)
        except CoreError as error:
            cls.poll_message_set(translated(str(error).removesuffix("."), "tooltips"))
            return False
        return True

    @classmethod
    def need(cls, context: Any, armature: Any) -> None:
        """Raise CoreError with the reason if the operator cannot be used now."""

    def execute(self, context: Any) -> set[str]:
        try:
            level, sentence = self.act(context, context.active_object)
        except CoreError as error:
            return self.refuse(error)
        return self.tell(level, sentence)

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        """Do the work; return the level of the report ("INFO", "WARNING") and its sentence, or raise CoreError."""
        raise NotImplementedError

    def tell(self, level: str, sentence: str) -> set[str]:
        """Report what was done; return the operator's result."""
        self.report({level}, translated(sentence, "reports"))
        return {"FINISHED"}

    def refuse(self, reason: object, level: str = "ERROR") -> set[str]:
        """Report why nothing was done; return the operator's result."""
        self.report({level}, translated(str(reason), "reports"))
        return {"CANCELLED"}


def headline(tool: Any, level: str, done: str, reasons: Sequence[str]) -> str:
    """Return a short report of what was done, after reporting the reasons, the one that matters most first, in full.

    The status bar shows the last report alone, and cuts it where it is long: of the first reason it has one cause. A
    reason that this report has in full is not reported twice.
    """
    first = [reason.short if isinstance(reason, Explanation) else reason for reason in reasons[:1]]
    for reason in reasons:
        if reason not in first:
            tool.report({level}, translated(reason, "reports"))
    more = ["more in the Info editor"] if [*reasons] != first else []
    return "; ".join([*first, done, *more])


def attempt(tool: Any, context: Any, event: Any, handle: Callable[[Any, Any], set[str]]) -> set[str]:
    """Return what `handle` makes of an event of a modal tool, which is cancelled if that fails."""
    try:
        return handle(context, event)
    except CoreError as error:
        tool.cancel(context)
        return tool.refuse(error)
    except BaseException:
        tool.cancel(context)
        raise


class TellsChoice:
    """An operator whose tooltip is the text of what a button chooses for its property `told`."""

    told: str

    @classmethod
    def description(cls, context: Any, properties: Any) -> str:
        items = properties.bl_rna.properties[cls.told].enum_items
        return translated(items[getattr(properties, cls.told)].description, "tooltips")


class ReadsFile(ImportHelper):
    """An operator that reads a file which a person chooses."""

    def invoke(self, context: Any, event: bpy.types.Event) -> set[str]:
        return browse(self, context)


def browse(tool: Any, context: Any) -> set[str]:
    """Let a person choose a file, from the folder of the .blend file; Blender would propose that file itself."""
    if bpy.data.filepath:
        tool.filepath = bpy.path.abspath("//")
    context.window_manager.fileselect_add(tool)
    return {"RUNNING_MODAL"}


class OfArmature:
    """An operator on any active armature, also one that must not be posed."""

    poll_message_set: Any

    @classmethod
    def poll(cls, context: Any) -> bool:
        armature = context.active_object
        if armature is None or armature.type != "ARMATURE":
            cls.poll_message_set(translated("Select an armature first", "tooltips"))
            return False
        return True


def frame_property(name: str, description: str, default: int = 0) -> Any:
    """Return a property of an operator that is a frame, which it does not keep for its next use."""
    return IntProperty(
        name=name, description=description, default=default, min=-FRAME_LIMIT, max=FRAME_LIMIT, options={"SKIP_SAVE"}
    )


def name_property(name: str, description: str) -> Any:
    """Return a property of an operator that is a name, which it does not keep for its next use."""
    return StringProperty(name=name, description=description, options={"SKIP_SAVE"})


def chosen_path(name: str) -> Path:
    """Return the file that a person chose; // is the folder of the .blend file."""
    return Path(bpy.path.abspath(name))


def selected_bones(context: Any) -> list[str]:
    """Return the names of the selected bones of the active armature; raises CoreError if there are none."""
    mode, bones = in_main_thread(lambda: (context.mode, context.selected_pose_bones_from_active_object))
    if mode != "POSE":
        raise CoreError("Switch to Pose Mode to select bones.")
    names = [bone.name for bone in bones or ()]
    if not names:
        raise CoreError("No bones are selected. Select bones in Pose Mode.")
    return names


def other_armatures(context: Any) -> list[Any]:
    """Return the selected armatures but the active one."""
    chosen = context.view_layer.objects
    return [one for one in chosen if one.select_get() and one.type == "ARMATURE" and one != context.active_object]


def select(bone: Any, on: bool) -> None:
    """Select or deselect a pose bone."""
    owner = bone if hasattr(bone, "select") else bone.bone  # Blender 5 has moved it there from its data
    owner.select = on


def select_only(context: Any, armature: Any, bone: Any, extend: bool = False) -> None:
    """Select a visible pose bone of the active armature and make it active; deselect others unless `extend`."""
    for other in () if extend else context.selected_pose_bones or ():
        select(other, False)
    select(bone, True)
    armature.data.bones.active = bone.bone


def fill_in(operator: Any, **values: float) -> None:
    """Set the properties that were not given."""
    for name, value in values.items():
        if not operator.properties.is_property_set(name):
            setattr(operator, name, value)


def fill_scene_range(context: Any, operator: Any) -> None:
    """Set `frame_start` and `frame_end` to the scene's range where they were not given."""
    fill_in(operator, frame_start=context.scene.frame_start, frame_end=context.scene.frame_end)
