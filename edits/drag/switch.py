"""The dragged limbs of a drag, which may be switched to FK where IK cannot show their pose."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from ...bridge import ControlledBody
from ...core import Pose
from ...core.rotation import Array
from .body import DragBody
from .writer import DragWriter


class _Drag(Protocol):
    """A drag session."""

    body: DragBody
    pose: Pose
    start: Pose
    writer: DragWriter

    def pose_by(self, writer: DragWriter) -> None:
        """Pose by other controls."""
        ...

    def renew(self) -> None:
        """Prepare the problem for the present settings."""
        ...


class DraggedLimbs:
    """The pose of a drag as a `Posed`."""

    def __init__(self, drag: _Drag) -> None:
        self._drag, body = drag, drag.body
        self.held, self.roles = body.held, body.roles_of_rig
        self.besides: Sequence[int] = body.besides
        self.channels: Mapping[str, Array] = body.channels
        self.limbs: Sequence[int] = (
            () if body.controlled is None else body.controlled.limbs_of(one.bone for one in body.effectors)
        )

    def now(self) -> tuple[ControlledBody, Pose]:
        """Return the controls and the pose."""
        assert self._drag.writer.controlled is not None
        return self._drag.writer.controlled, self._drag.pose

    def show(self, armature: Any) -> None:
        """Have the controls show the pose."""
        self._drag.writer.write(armature, self._drag.pose)

    def pose_by(self, armature: Any, controlled: ControlledBody) -> None:
        """Solve once more for other controls."""
        self._drag.pose_by(DragWriter(self._drag.body, self.held.hold(controlled)))

    def keep(self) -> Callable[[], None]:
        """Return a function that goes back to the present controls and pose."""
        before = self._drag.writer, self._drag.pose, self._drag.start

        def go_back() -> None:
            self._drag.writer, self._drag.pose, self._drag.start = before
            self._drag.renew()

        return go_back
