"""What `retarget` makes of one frame, as ground truth."""

from typing import Any

from edits.retarget import Retargeted
from tests.blender.rigs import context


def show_retargeted(rig: Any, source: Any, frame: int) -> None:
    """Give an armature the pose that `retarget` makes of a frame of another one, which becomes the present frame."""
    edit = Retargeted(context, rig, source, (frame, frame), plant=False)
    edit.solve()
    edit.write(rig)
    context.scene.frame_set(frame)
