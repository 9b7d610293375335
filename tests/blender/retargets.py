"""What `retarget` makes of one frame, as ground truth."""

from functools import cache
from pathlib import Path
from typing import Any

import bpy

from edits.retarget import Retargeted, imported
from tests.blender.rigs import context, load, put_on_fk
from tests.paths import DATA, SHARED


def show_retargeted(rig: Any, source: Any, frame: int) -> None:
    """Give an armature the pose that `retarget` makes of a frame of another one, which becomes the present frame."""
    edit = Retargeted(context, rig, source, (frame, frame), plant=False)
    edit.solve()
    edit.write(rig)
    context.scene.frame_set(frame)


def rigify_walk(share: float = 1.0) -> Any:
    """Open Rigify's generated human with a captured walk on its controls, FK to a share from 0, IK, to 1."""
    return next(one for one in load(_rigify_walk(share)) if one.name == "rig")


@cache
def _rigify_walk(share: float) -> Path:
    """Return the file, which takes seconds to make."""
    rig = next(one for one in load(SHARED / "rigs" / "scripted" / "rigify_generated_human.blend") if one.name == "rig")
    put_on_fk(rig, share)
    with imported(context, DATA / "motion" / "cmu_07_12.bvh") as (source, _):
        edit = Retargeted(context, rig, source, (2, 66))
    edit.solve()
    edit.write(rig)
    path = Path(bpy.app.tempdir, f"rigify_walk_{share:g}.blend")
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path
