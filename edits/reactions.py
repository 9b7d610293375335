"""What follows when a setting changes; registration connects these functions to properties/."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .. import bridge
from ..bridge.turns import update
from ..core import CoreError
from ..core.body.ranges import joint_range
from .chains import tune
from .generated_motion import show_generated_frame


@contextmanager
def reacting(context: Any) -> Iterator[None]:
    """Evaluate the scene before and after, and print a refusal, as when Python calls an operator."""
    update(context)
    try:
        yield
    except CoreError as error:
        print(f"Warning: {error}")
        return
    update(context)


def tune_chain(context: Any, armature: Any, chain: Any) -> None:
    """Solve a chain again by the numbers that it has now."""
    with reacting(context):
        problem = tune(context, armature, chain)
        if problem:
            raise CoreError(problem)


def preview_generated(context: Any, armature: Any) -> None:
    """Show the present frame of the generated motion as its tracks are now, without keys."""
    with reacting(context):
        show_generated_frame(context, armature)


def begin_range(context: Any, bone: Any) -> None:
    """Give a pose bone the anatomical range of its joint."""
    with reacting(context):
        skeleton = bridge.read_rig(bone.id_data).skeleton
        roles = bridge.read_roles(bone.id_data, skeleton)
        bridge.write_range(bone, joint_range(skeleton, roles, skeleton.index(bone.name)))
