"""`retarget`: the motion of one body, also of a BVH, FBX or glTF file, on another."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy

from .. import bridge
from ..core import CoreError
from ..core.editing.retarget import planted, retarget
from .edit import keyed_range
from .feet import add_motion
from .fields import check_range
from .files import MOTIONS, import_motion
from .hold import HeldMotion
from .verbs import armature_of, outputs, tell, tell_report


class Retargeted(HeldMotion):
    """The motion of the armature `source` on `object`; `plant`: feet stand where those of the source bear."""

    method = "retarget"

    def __init__(
        self, context: Any, object: Any, source: Any, frames: tuple[int, int] | None = None, plant: bool = True
    ) -> None:
        if source is object:
            raise CoreError("A motion is brought from one armature to another; these are the same.")
        whole = frames or keyed_range(source)
        super().__init__(context, object, whole)
        own = bridge.read_rig(source)
        motion, worlds = bridge.read_motion(source, own, self.before.frames)
        roles = bridge.read_roles(source, own.skeleton)
        skeleton = self.rig.skeleton
        self.after = retarget(own.skeleton, motion, roles, skeleton, self.roles)
        body = [bone for role in self.roles.bones for bone in self.roles.chain(role)]
        driven = next((skeleton.names[bone] for bone in body if skeleton.driven[bone]), None)
        if driven is not None:
            raise CoreError(f'"{driven}" is decided by {self.rig.driven[driven]}; no motion can be put on it.')
        self.always[:] = True
        if plant:
            up = bridge.world_up(worlds[0])
            self.after, self.pins = planted(own.skeleton, motion, roles, skeleton, self.after, self.roles, up)


@contextmanager
def imported(context: Any, path: Path) -> Iterator[Any]:
    """The armature with a motion in a file, which is in the scene inside; afterwards nothing of it is left."""
    before, active, frame = set(bpy.data.user_map()), context.view_layer.objects.active, context.scene.frame_current
    selected = [object for object in context.view_layer.objects if object.select_get()]
    mode = active.mode if active is not None else "OBJECT"
    try:
        if mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        import_motion(path)
        new = [block for block in bpy.data.user_map() if block not in before]
        found = [block for block in new if isinstance(block, bpy.types.Object) and block.type == "ARMATURE"]
        moving = [one for one in found if one.animation_data is not None and one.animation_data.action is not None]
        if not moving:
            raise CoreError(f'There is no armature with a motion in "{path.name}".')
        yield moving[0]
    finally:
        bpy.data.batch_remove([block for block in bpy.data.user_map() if block not in before])
        context.view_layer.update()  # else its objects are still those that are gone
        for object in context.view_layer.objects:
            object.select_set(object in selected)
        context.view_layer.objects.active = active
        if mode != "OBJECT":
            bpy.ops.object.mode_set(mode=mode)
        context.scene.frame_set(frame)


def add_retarget(verbs: Any) -> None:
    parser = verbs.add_parser("retarget", help="bring a motion from another body", allow_abbrev=False)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--motion", metavar="FILE", type=Path, help=f"a file with it: {', '.join(MOTIONS)}")
    source.add_argument("--source", metavar="A", help="the armature of the file that has it")
    parser.add_argument("--no-feet", action="store_true", help="do not plant the feet")
    add_motion(parser)
    parser.set_defaults(verb=bring)


def bring(arguments: argparse.Namespace) -> int:
    """Bring a motion; returns 1 if a foot is off its place."""
    texts = outputs(arguments)
    object, context = armature_of(arguments.armature), bpy.context
    frames = check_range(tuple(arguments.frames), "--frames") if arguments.frames else None
    if arguments.source is not None:
        edit = Retargeted(context, object, armature_of(arguments.source), frames, not arguments.no_feet)
        name = arguments.source
    else:
        name = arguments.motion.stem
        with imported(context, arguments.motion) as source:
            edit = Retargeted(context, object, source, frames, not arguments.no_feet)
    edit.solve()
    report = edit.write(object, arguments.action or f"{object.name} {name}")
    tell(f'The motion of "{name}", {len(edit.pins)} touches of the ground.')
    return tell_report(arguments, report, texts)
