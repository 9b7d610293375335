"""Solve the present pose so that the pins hold; pinned limbs may be switched to FK where IK cannot show theirs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .. import bridge
from ..bridge import ControlledBody
from ..core import CoreError, Pose
from ..core.causes import Explanation
from ..core.formats.report import Report
from ..core.rotation import Array
from .fk_limbs import FKLimbs
from .job import JobEdit, perform_job
from .pins import job_from_pins


def solve_here(context: Any, armature: Any) -> tuple[Report, FKLimbs, list[str]]:
    """Change the present pose so that all pins hold; return the report, and the limbs that were switched to FK.

    Last come sentences about bones that stay, since they have no keys and may not get any; none where nothing is to
    change. Nothing is keyed. Raises CoreError, with nothing changed, as `perform_job`.
    """
    fk, stays, limbs = FKLimbs(), list[str](), list[str]()

    def switch(edit: JobEdit) -> None:
        stays.extend(edit.held.explain_above((one.bone for one in edit.goals), edit.roles))
        if armature.poise_use_fk_switch and edit.controlled is not None:
            posed = _PinnedLimbs(armature, edit, edit.controlled.now)
            fk.show(context, armature, posed)
            limbs.extend(f'"{edit.body.names[end]}"' for end in fk.said)
            bridge.write_channels(armature, posed.channels)

    try:
        report = perform_job(context, armature, job_from_pins(armature), posed=switch, hold=True)
    except CoreError:
        for one in fk.switches:
            one.use_fk(armature, False)
        raise
    said = tuple(fk.said.values())
    others = [one for one in report.explanations if not _is_told(one, limbs)]
    told = not report.met or any((report.rotated, report.moved, report.grown))
    return replace(report, explanations=(*said, *others)), fk, stays if told else []


def _is_told(explanation: str, limbs: Sequence[str]) -> bool:
    """Return whether it is about one of the limbs, whose names are quoted."""
    return isinstance(explanation, Explanation) and any(name in explanation.missed for name in limbs)


class _PinnedLimbs:
    """The pose of a job without frames as a `Posed`."""

    def __init__(self, armature: Any, edit: JobEdit, controlled: ControlledBody) -> None:
        self._edit, self.held, self.roles = edit, edit.held, edit.roles_of_rig
        self.besides: Sequence[int] = [edit.rig.skeleton.index(goal.bone) for goal in edit.job.goals]
        self.limbs: Sequence[int] = controlled.limbs_of(goal.bone for goal in edit.goals)
        self.channels: Mapping[str, Array] = bridge.read_channels(armature)

    def now(self) -> tuple[ControlledBody, Pose]:
        """Return the controls and the pose."""
        assert self._edit.controlled is not None
        return self._edit.controlled.now, self._edit.solution.pose[0]

    def show(self, armature: Any) -> None:
        """Have the controls show the pose."""
        bridge.pose_controls(armature, self._edit.rig, *self.now())

    def pose_by(self, armature: Any, controlled: ControlledBody) -> None:
        """Solve once more for other controls."""
        self._edit.pose_by(armature, controlled)

    def keep(self) -> Callable[[], None]:
        """Return a function that goes back to the present controls and pose."""
        before = dict(vars(self._edit))
        return lambda: vars(self._edit).update(before)
