"""Pin bones, change their pins, and let them go."""

from collections.abc import Sequence
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatVectorProperty

from .. import bridge
from ..core import CoreError
from ..edits.pin_list import (
    find_pin,
    fix_pin,
    keep_pin,
    mirror_pins,
    next_kind,
    pin_here,
    pin_kind,
    release,
    set_pins,
    with_other_side,
)
from ..edits.pins import ANIMATION, ARMATURE, OBJECT, WORLD
from ..edits.words import counted
from ..overlay.draw import ui_scale
from ..properties.pins import AUTOMATIC, PIN_SPACES
from .tool import Tool, name_property, select_only, selected_bones


class PinsTool(Tool):
    """A tool for an armature that has pins."""

    @classmethod
    def need(cls, context: Any, armature: Any) -> None:
        if not len(armature.poise_pins):
            raise CoreError(f'"{armature.name}" has no pins.')


class POISE_OT_pin(Tool, bpy.types.Operator):
    """Pin the selected bones where they are. Bones that are pinned already move their pins"""

    bl_idname = "poise.pin"
    bl_label = "Pin"

    kind: EnumProperty(
        name="Kind",
        description="What the pin holds",
        items=(
            ("BOTH", "Position and Rotation", "Hold the position of the bone's head, and its rotation"),
            ("POSITION", "Position", "Hold the position of the bone's head"),
            ("ROTATION", "Rotation", "Hold the rotation of the bone"),
        ),
    )
    point: EnumProperty(
        name="Point",
        description="Point of the bone that is held",
        items=(
            ("HEAD", "Bone Head", "Joint of the bone"),
            ("TAIL", "Bone Tail", "Other end of the bone, such as a fingertip"),
        ),
    )
    space: EnumProperty(name="Pin To", description="What the pins follow", items=(AUTOMATIC, *PIN_SPACES))
    target: name_property("Object", "Object that the pins follow")

    @classmethod
    def need(cls, context: Any, armature: Any) -> None:
        selected_bones(context)

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        names, notes = _acting(armature, selected_bones(context))
        last, every = names[-1], with_other_side(armature, names)
        target = bpy.data.objects.get(self.target)
        if self.space == OBJECT and target is None:
            raise CoreError(f'No object "{self.target}".' if self.target else "Choose the object that the pins follow.")
        space = None if self.space == "AUTO" else self.space
        set_pins(context, armature, every, self.kind, space, target, "tail" if self.point == "TAIL" else "head")
        armature.poise_active_pin = armature.poise_pins.find(last)
        return "INFO", "; ".join([f"Pinned {counted(len(every), 'bone')}", *notes])


def _acting(armature: Any, bones: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the bones, what is on in place of what is off, and sentences about that."""
    acting, notes = bridge.find_stand_ins(armature, bones)
    return list(dict.fromkeys(acting.values())), notes


class POISE_OT_unpin(PinsTool, bpy.types.Operator):
    """Unpin the selected bones"""

    bl_idname = "poise.unpin"
    bl_label = "Unpin"

    bone: name_property("Bone", "Bone to unpin. If empty, the selected bones")

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        names = [self.bone] if self.bone else selected_bones(context)
        if not self.bone:
            names = with_other_side(armature, [*names, *_acting(armature, names)[0]])
        places = [place for place, pin in enumerate(armature.poise_pins) if pin.name in names]
        if not places:
            raise CoreError(f'"{self.bone}" is not pinned.' if self.bone else "None of the selected bones is pinned.")
        return "INFO", _unpin(armature, places)


def _unpin(armature: Any, places: list[int]) -> str:
    """Release pins; return the report."""
    muted = release(armature, places)
    sentence = f"Unpinned {counted(len(places), 'bone')}"
    return sentence + (f"; muted {counted(muted, 'pin')} of the linked file" if muted else "")


class POISE_OT_clear_pins(PinsTool, bpy.types.Operator):
    """Remove all pins of the armature"""

    bl_idname = "poise.clear_pins"
    bl_label = "Clear Pins"

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        return "INFO", _unpin(armature, list(range(len(armature.poise_pins))))


class POISE_OT_cycle_pin(Tool, bpy.types.Operator):
    """Cycle the pin of the bone under the mouse or of selected bones: position and rotation, position only, unpinned"""

    bl_idname = "poise.cycle_pin"
    bl_label = "Cycle Pin"

    bone: name_property("Bone", "Bone to pin. If empty, the selected bones")
    object: name_property("Armature", "Armature of the bone. By default the active one")
    point: FloatVectorProperty(
        name="Point", description="Point of the bone, in bone space. By default its head", size=3,
        options={"SKIP_SAVE"},
    )  # fmt: skip

    def invoke(self, context: Any, event: Any) -> set[str]:
        if context.region_data is not None:
            view = bridge.read_view(context.region, context.region_data)
            mouse = (event.mouse_region_x, event.mouse_region_y)
            grab = bridge.pick(context, view, mouse, ui_scale(context))
            if grab is not None:
                self.object, self.bone = grab.object_name, grab.bone
                owner: Any = bpy.data.objects[grab.object_name]
                if bridge.is_tip(grab, owner.data.bones[grab.bone].length):
                    self.point = grab.point
            else:  # what is selected may be far from the mouse
                return self.refuse("No bone is under the mouse.", "WARNING")
        return self.execute(context)

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        if self.object:
            armature = bpy.data.objects.get(self.object)
            bridge.check(armature)
        names = [self.bone] if self.bone else selected_bones(context)
        for name in names:
            if name not in armature.pose.bones:
                raise CoreError(f'"{armature.name}" has no bone "{name}".')
        names, notes = _acting(armature, names)
        kind = next_kind(pin_kind(armature, names[0]))
        for name in with_other_side(armature, names):
            keep_pin(context, armature, name, kind, point=tuple(self.point))
        if kind != "NONE":
            armature.poise_active_pin = armature.poise_pins.find(names[-1])
        said = {
            "NONE": "Unpinned {}",
            "POSITION": "Pinned the position of {}",
            "BOTH": "Pinned the position and rotation of {}",
        }[kind]
        return "INFO", "; ".join([said.format(", ".join(names)), *notes])


class POISE_OT_pin_here(PinsTool, bpy.types.Operator):
    """Move all pins to where their bones are, except pins to the animation"""

    bl_idname = "poise.pin_here"
    bl_label = "Snap Pins to Bones"

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        animated = sum(pin.space == ANIMATION for pin in armature.poise_pins)
        stay = [f"{counted(animated, 'pin')} to the animation stay with it"] if animated else []
        moved = pin_here(context, armature)
        done = [f"Moved {counted(moved, 'pin')} to where the bones are"] if moved or not animated else []
        return "INFO", "; ".join([*done, *stay])


class POISE_OT_goto_pin(PinsTool, bpy.types.Operator):
    """Select the pinned bone, and bring it into view"""

    bl_idname = "poise.goto_pin"
    bl_label = "Go to Pin"

    bone: name_property("Bone", "Pinned bone. Without a name, that of the active pin")
    extend: BoolProperty(name="Extend", description="Keep the current selection", options={"SKIP_SAVE"})

    @classmethod
    def need(cls, context: Any, armature: Any) -> None:
        super().need(context, armature)
        if context.mode != "POSE":
            raise CoreError("Switch to Pose Mode to select bones.")

    def invoke(self, context: Any, event: Any) -> set[str]:
        done = self.execute(context)
        if done == {"FINISHED"} and context.region_data is not None:
            bpy.ops.view3d.view_selected()
        return done

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        name = self.bone or armature.poise_pins[armature.poise_active_pin].name
        bone = armature.pose.bones.get(name)
        if bone is None:
            raise CoreError(f'"{armature.name}" no longer has a bone "{name}". Remove its pin.')
        if find_pin(armature, name) is None:
            raise CoreError(f'"{name}" is not pinned.')
        if bone not in (context.visible_pose_bones or ()):
            raise CoreError(f'"{name}" is hidden. Show it or its bone collection first.')
        select_only(context, armature, bone, self.extend)
        armature.poise_active_pin = armature.poise_pins.find(name)
        return "INFO", f"Selected {name}"


class POISE_OT_mirror_pins(PinsTool, bpy.types.Operator):
    """Pin the bones of the other side, mirrored. If no selected bone is pinned, mirror all pins"""

    bl_idname = "poise.mirror_pins"
    bl_label = "Mirror Pins"

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        chosen = {bone.name for bone in context.selected_pose_bones_from_active_object or ()}
        pinned = [pin.name for pin in armature.poise_pins if pin.name in armature.pose.bones]
        pairs = list(bridge.other_sides(armature, pinned).items())
        pairs = [pair for pair in pairs if pair[0] in chosen] or pairs
        if not pairs:
            raise CoreError("None of the pinned bones has a counterpart on the other side.")
        taken = {name for name, _ in pairs}
        pairs = [pair for pair in pairs if pair[1] not in taken]
        if not pairs:
            raise CoreError("Both sides are pinned. Select the bones of the side to copy from.")
        mirror_pins(armature, pairs)
        return "INFO", f"Pinned {counted(len(pairs), 'bone')} on the other side"


class POISE_OT_pin_space(PinsTool, bpy.types.Operator):
    """Let the pin follow the world, the armature, an object or the animation"""

    bl_idname = "poise.pin_space"
    bl_label = "Pin To"

    bone: name_property("Bone", "Pinned bone. Without a name, that of the active pin")
    space: EnumProperty(name="Pin To", description="What the pins follow", items=PIN_SPACES)
    target: name_property("Object", "Object that the pin follows. By default the other selected one")

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        pin = find_pin(armature, self.bone) if self.bone else armature.poise_pins[armature.poise_active_pin]
        if pin is None:
            raise CoreError(f'"{self.bone}" is not pinned.')
        target = self._target(context, armature, pin) if self.space == OBJECT else None
        fix_pin(armature, pin, self.space, target)
        named = {WORLD: "the world", ARMATURE: "the armature", ANIMATION: "the animation"}
        where = named[self.space] if target is None else f'"{target.name}"'
        return "INFO", f"{pin.name} is pinned to {where}"

    def _target(self, context: Any, armature: Any, pin: Any) -> Any:
        if self.target:
            target = bpy.data.objects.get(self.target)
            if target is None:
                raise CoreError(f'No object "{self.target}".')
        else:
            others = [other for other in context.selected_objects if other != armature]
            target = others[0] if len(others) == 1 else pin.target
        if target is None:
            raise CoreError("Choose the object that the pin follows, or select it together with the armature.")
        if target == armature:
            raise CoreError("Choose Armature to let the pin follow its own armature.")
        return target
