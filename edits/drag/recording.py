"""A drag while the motion plays: each frame keeps the pose in which the drag left it (CN1420453, figure 2)."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import pairwise
from typing import Any

import bpy
import numpy as np

from ... import bridge
from ...core import CoreError, rotation
from ...core.rotation import Array
from ..reduce import Reduced
from .session import DragSession

Aim = tuple[Array, Array]  # how far (3,) and how (4,) the effectors are to move and turn in the world


class Recording:
    """Follows the frames of the scene with drags until it is closed.

    A frame is solved from its own pose, with the pins where they are there. What goes wrong in a frame is kept, for
    `check` to raise: Blender prints errors of handlers and goes on.

    aim: where the drag goes now.
    """

    def __init__(self, scene: Any, sessions: Sequence[DragSession]) -> None:
        self._scene, self._sessions = scene.name, sessions
        self._frame: int = scene.frame_current
        self.aim: Aim = np.zeros(3), rotation.IDENTITY
        self._path: list[tuple[int, Aim]] = []  # the frames, and in which aim they were left, one after the other
        self._kept: list[dict[int, dict[str, Array]]] = [{} for _ in sessions]  # channels (J, n) of each frame
        self._changes: list[list[set[str]]] = [[set(), set(), set()] for _ in sessions]  # bones turned, moved, grown
        self._error: Exception | None = None
        self._handlers = ExitStack()
        for handlers, act in ((_handlers("pre"), self._leave), (_handlers("post"), self._enter)):
            follow = self._following(act)
            handlers.append(follow)
            self._handlers.callback(handlers.remove, follow)

    def close(self) -> None:
        """Follow no more frames; a second call does nothing."""
        self._handlers.close()

    def drag(self, shift: Array, turn: Array) -> None:
        """Move the effectors in the present frame until nothing moves: it may be left before the mouse moves on."""
        self.aim = shift, turn
        for session in self._sessions:
            session.drag(shift, turn)
            session.settle()

    def check(self) -> None:
        """Raise what went wrong in a frame."""
        if self._error is not None:
            raise self._error

    def finish(self) -> bool:
        """Keep the present frame, solve those that the player left out; return whether there are several frames.

        The scene is at the frame again at which it was. Raises what went wrong in a frame.
        """
        scene, here = bpy.data.scenes[self._scene], self._frame
        for session in self._sessions:
            session.settle()
        self._keep()
        for frame, aim in self._skipped(scene).items():
            self.aim = aim
            scene.frame_set(frame)
            self.check()
        self._keep()
        self.close()
        self.check()
        if scene.frame_current != here:
            scene.frame_set(here)
        return self.span[0] < self.span[1]

    def changes(self, session: DragSession) -> tuple[tuple[str, ...], ...]:
        """Return the names of the bones that were rotated, moved and stretched in any frame."""
        return tuple(tuple(sorted(names)) for names in self._changes[self._sessions.index(session)])

    def frames(self, session: DragSession) -> Iterator[None]:
        """Yield once the scene shows each recorded frame with its pose; in the end it is at the present frame."""
        number, scene = self._sessions.index(session), bpy.data.scenes[self._scene]
        armature, here = session.body.find(), scene.frame_current
        bones = [armature.pose.bones.find(name) for name in set[str]().union(*self._changes[number])]
        for frame, kept in sorted(self._kept[number].items()):
            scene.frame_set(frame)
            channels = bridge.read_channels(armature, kept)
            for name, values in kept.items():
                channels[name][bones] = values[bones]
            bridge.write_channels(armature, channels)
            yield
        scene.frame_set(here)

    @property
    def span(self) -> tuple[int, int]:
        """The first and the last recorded frame."""
        frames = [frame for frame, _ in self._path]
        return min(frames), max(frames)

    def _following(self, act: Callable[[Any], None]) -> Callable[..., None]:
        def follow(scene: Any, *_: Any) -> None:
            if scene.name != self._scene or self._error is not None:
                return
            try:
                act(scene)
            except Exception as error:
                self._error = error

        return follow

    def _keep(self) -> None:
        """Keep the pose of all armatures for the frame that is left."""
        self._path.append((self._frame, self.aim))
        for session, frames, changes in zip(self._sessions, self._kept, self._changes, strict=True):
            armature, body = session.body.find(), session.body
            frames[self._frame] = bridge.read_channels(armature, body.rig.channels)
            for names, new in zip(changes, session.writer.changes(bridge.read_pose(armature, body.rig)), strict=True):
                names.update(new)

    def _leave(self, scene: Any) -> None:
        """Keep the pose of a frame, and give the channels back that it had without the drag."""
        self._keep()
        for session in self._sessions:
            session.restore()

    def _enter(self, scene: Any) -> None:
        """Solve from the pose of the new frame."""
        self._frame = scene.frame_current
        for session in self._sessions:
            session.enter()
        self.drag(*self.aim)

    def _skipped(self, scene: Any) -> dict[int, Aim]:
        """Return the frames that the player left out between others, and the aims on the way there."""
        found: dict[int, Aim] = {}
        for (before, (shift, turn)), (after, aim) in pairwise(self._path):
            if 2 * abs(after - before) > _playback(scene):  # a new round
                continue
            for frame in range(before, after, 1 if before < after else -1):
                share = (frame - before) / (after - before)
                found[frame] = shift + share * (aim[0] - shift), rotation.slerp(turn, aim[1], np.array(share))
        kept = {frame for frame, _ in self._path}
        return {frame: aim for frame, aim in sorted(found.items()) if frame not in kept}


def reduce_recorded(context: Any, armature: Any, span: tuple[int, int], changes: Sequence[Sequence[str]]) -> str:
    """Leave out keys of the recorded frames that are not needed; return how many stay, or why all do."""
    try:
        edit = Reduced(context, armature, span, [*dict.fromkeys(name for names in changes for name in names)])
        edit.measured = False  # its own keys were written before
        edit.solve()
        edit.write(armature, new=False)
    except CoreError as error:
        return str(error)
    return edit.summary()


def _handlers(when: str) -> list[Any]:
    return getattr(bpy.app.handlers, f"frame_change_{when}")


def _playback(scene: Any) -> int:
    """Return the number of frames that are played in a round."""
    if scene.use_preview_range:
        return scene.frame_preview_end - scene.frame_preview_start + 1
    return scene.frame_end - scene.frame_start + 1
