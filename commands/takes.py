"""What Blender itself evaluates at the frames of a job."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import bridge
from ..bridge.channels import CHANNELS, read_channels, write_channels
from ..core.rotation import Array
from .targets import Take


def record(context: Any, object: Any, frames: Array | None, follow: Sequence[str]) -> Take:
    """Bones, armature object and followed objects as Blender evaluates them; `frames` None: as they stand now."""
    take: list[tuple[Array, ...]] = []
    others = [context.scene.objects[name] for name in follow]

    def note() -> None:
        worlds = [bridge.world_matrix(other) for other in (object, *others)]
        take.append((bridge.read_matrices(object), *worlds))

    if frames is None:
        context.view_layer.update()
        note()
        numbers = np.array([context.scene.frame_current_final])
    else:
        step(context, frames, note)
        numbers = frames
    matrices, worlds, *objects = (np.stack(column) for column in zip(*take, strict=True))
    return Take(numbers, worlds, matrices, dict(zip(follow, objects, strict=True)))


def step(context: Any, frames: Array, note: Callable[[], None]) -> None:
    """Go to each frame and call `note` there; afterwards the scene is at its present frame again."""
    scene = context.scene
    frame, subframe = scene.frame_current, scene.frame_subframe
    try:
        for number in frames.tolist():
            whole = int(np.floor(number))
            scene.frame_set(whole, subframe=number - whole)
            note()
    finally:
        scene.frame_set(frame, subframe=subframe)


@contextmanager
def unkeyed_kept(context: Any, object: Any, but: Sequence[int] = ()) -> Iterator[None]:
    """Channels of the armature, keyed or not, survive frame changes inside; those of the bones `but` do not."""
    before = read_channels(object, CHANNELS)
    try:
        yield
    finally:
        if len(but):
            now = read_channels(object, CHANNELS)
            for name, values in before.items():
                values[list(but)] = now[name][list(but)]
        write_channels(object, before)
        context.view_layer.update()
