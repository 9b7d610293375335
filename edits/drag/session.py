"""One drag on one armature, without mouse and window."""

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, Final

import bpy
import numpy as np

from ... import bridge
from ...bridge import Grab
from ...bridge.turns import update
from ...core import Solution, forward, rotation
from ...core.rotation import Array
from ..fk_limbs import FKLimbs
from .body import DragBody
from .pins import DragPins
from .problem import DragProblem, Target, Wanted
from .switch import DraggedLimbs
from .writer import DragWriter

_AGREES: Final = 6  # largest number of solves with what the rig has shown
_RESTS: Final = 40  # largest number of ticks until rest: together they take as many steps as a solve may
_STILL: Final = np.radians(0.01)  # a body that turns by less in a tick is at rest


class DragSession:
    """Reads an armature once; `drag` solves and writes the pose, `restore` undoes it, `finish` keeps it.

    Raises CoreError if the grabbed bone cannot be dragged; Lost, from any method, once the armature is gone.
    live: a tick takes a few steps and turns no joint far; what is left is done in the next one.
    targets: place (3,) and turn (4,) of each effector, in armature space.
    fk: the limbs that were switched to FK when the pose was kept.
    """

    def __init__(
        self,
        context: Any,
        armature: Any,
        grabs: Sequence[Grab],
        settle: bool = False,
        turning: bool = False,
        live: bool = False,
        problem: DragProblem | None = None,
    ) -> None:
        self.problem = DragProblem(settle, live) if problem is None else problem
        self.body = DragBody(context, armature, grabs, turning, self.problem.whole)
        self.effectors = self.body.effectors
        self.start = self.pose = self.body.start
        self.pins = DragPins(armature, self.body)
        self.writer = DragWriter(self.body, self.body.controlled, live)
        self.wins: str = armature.poise_wins
        self.turning = turning
        self.restless = False  # whether the body would go on moving under a still mouse
        self.solution: Solution | None = None
        self.fk = FKLimbs()
        self.seconds = 0.0
        self._frames: tuple[Array, Array] | None = None  # of the present pose, computed on demand
        self._settle = settle
        self._live = live
        self.strayed = False  # whether the rig led away from the mouse what was dragged, so that nothing was kept
        self._beside = False  # whether a control is elsewhere beside its part than at the press
        self.problem.read(armature, self.body, self.pins, self.start)
        self.targets: list[Target] = [(effector.place, effector.turn) for effector in self.effectors]
        self.renew()

    def renew(self) -> None:
        """Prepare the problem for the present settings: who wins, what turns and what is pinned."""
        wanted = Wanted(self.effectors, self.targets, self.start, self.pose, self.wins, self.turning)
        self.writer.prepare(self.problem.prepare(wanted))

    def switch(self, wins: str | None = None, turning: bool | None = None, kind: str | None = None) -> None:
        """Change who wins ("PINS", "DRAG"), whether the effectors turn, too, or the kind of their pins (KINDS)."""
        if wins is not None and self.problem.ranked:
            self.wins = wins
        self.turning = self.turning if turning is None else turning
        if kind is not None:
            self.pins.hold_as(kind)
        self.renew()

    def drag(self, shift: Array, turn: Array) -> Solution:
        """Solve for the effectors moved by `shift` (3,) and `turn` (4,) of the world from the start; write the pose."""
        begin, armature = perf_counter(), self.body.find()
        if self._live:  # what the last tick has made of the rig is seen now
            self._takes_shown(armature)
        shifted, turned = self.body.to_armature(shift, turn)
        self.targets = []
        for number, effector in enumerate(self.effectors):
            way, spin = self.body.middle.moved(shifted, turned) if effector.mirrored else (shifted, turned)
            target = effector.place + way, rotation.mul(spin, effector.turn)
            self.targets.append(target)
            self.problem.aim(number, target[0], target[1] if self.turning else None)
        solution = self._write(armature, self.problem.solve(), begin)
        for _ in range(_AGREES if self._settle else 0):
            if not self._takes_shown(armature):
                break
            solution = self._write(armature, self.problem.solve(), begin)
        return solution

    def rest(self) -> Solution:
        """Let the body come nearer to rest, its targets as they are; write the pose."""
        begin, armature, before = perf_counter(), self.body.find(), self.pose
        self._takes_shown(armature, still=True)
        solution = self._write(armature, self.problem.relax(), begin)
        moved = float(np.max(rotation.angle_between(before.rotations, self.pose.rotations))) > _STILL
        self.restless = moved or not self.writer.settled
        return solution

    def _takes_shown(self, armature: Any, still: bool = False) -> bool:
        """Take over what the rig does by itself: lengths by IK, and carried bones; return whether that has changed."""
        take, went = self.writer.shown(armature, self.pose, still), self.body.held.follow(bpy.context, armature)
        # under a moving mouse controls stay beside their parts as they are, unless other bones carry these
        passing = self._live and not (still or self._beside or self.writer.carries or self.body.held.goals)
        moved = not passing and self.body.follow(bpy.context, armature, self.pins.targets)
        self._beside |= moved
        if take is None and not went and not moved:
            return False
        self.effectors = self.body.effectors
        if take is not None:
            self.pose, self.start = take(self.pose), take(self.start)
        if went or moved or not self.problem.carry(self.start, self.pose):
            self.renew()
        return True

    def _write(self, armature: Any, solution: Solution, begin: float) -> Solution:
        self.solution, self.pose, self.restless, self._frames = solution, solution.pose, True, None
        self.writer.write(armature, self.pose, self.frames)
        self.seconds = perf_counter() - begin
        return solution

    def enter(self) -> None:
        """Go on from the pose that the scene's present frame has, with what the drag has changed on top of it."""
        armature, before, kinds = self.body.find(), self.start, self.pins.kinds
        self.body.enter(armature)
        self._frames = None
        self.effectors, self.start = self.body.effectors, self.body.start
        turned = rotation.mul(rotation.inv(before.rotations), self.pose.rotations)
        self.pose = replace(
            self.start,
            rotations=rotation.mul(self.start.rotations, turned),
            translations=self.start.translations + self.pose.translations - before.translations,
        )
        self.pins = DragPins(armature, self.body)
        self.pins.kinds = kinds
        self.writer.enter()
        self.problem.read(armature, self.body, self.pins, self.start)
        self.renew()

    def pose_by(self, writer: DragWriter) -> None:
        """Pose by other controls from now on; solve and write until nothing moves."""
        assert writer.controlled is not None
        self.writer = writer
        self.renew()
        self._write(self.body.find(), self.problem.solve(), perf_counter())
        self.settle()

    def settle(self) -> None:
        """Write poses until nothing moves."""
        for _ in range(_RESTS):
            if not self.restless:
                break
            self.rest()

    def restore(self) -> None:
        """Give the armature the exact pose at the press."""
        self.writer.restore(self.body.find())

    def abandon(self) -> None:
        """Restore the pose after Lost, if the armature is there, in any mode, and has the same bones."""
        armature = self.body.find_in_any_mode()
        if armature is not None:
            self.writer.restore(armature)

    def finish(self) -> tuple[tuple[str, ...], ...]:
        """Keep the pose that the body comes to rest in; return the names of the rotated, moved and stretched bones."""
        if self.solution is None:  # nothing was dragged
            return (), (), ()
        self.settle()
        armature = self.body.find()
        if armature.poise_use_fk_switch:
            self.fk.show(bpy.context, armature, DraggedLimbs(self))
        changed = self.writer.finish(armature, self.pose, said=self.fk.said)
        if self.writer.kept is not None:
            self.pose, self._frames = self.writer.kept, None
        self.strayed = not (self.turning or self.fk.switches) and _strays(self, armature)
        if self.strayed:
            self.restore()
            return (), (), ()
        return changed

    @property
    def manner(self) -> str:
        """Return how it is solved, in words for the viewport, or "" for the usual way."""
        return self.problem.manner(self.wins)

    def frames(self) -> tuple[Array, Array]:
        """Return heads (J, 3) and rotations (J, 4) in the present pose."""
        if self._frames is None:
            self._frames = forward(self.body.skeleton, self.pose)
        return self._frames


def _strays(session: DragSession, armature: Any) -> bool:
    """Return whether Blender shows what is dragged further from its targets than it was, more than it is solved."""
    body, solution = session.body, session.solution
    if body.controlled is None or solution is None:
        return False
    update(bpy.context)
    matrices, (heads, turns) = bridge.read_matrices(armature), forward(body.skeleton, solution.pose)
    further = 0.0
    for one, (place, _) in zip(session.effectors, session.targets, strict=True):
        bone = body.rig.skeleton.index(one.shown)
        if bone in body.controlled.idle:  # it does not show where its part is
            return False
        shown = matrices[bone, :, :3] @ one.grabbed + matrices[bone, :, 3] - body.beyond(one.shown, one.bone, matrices)
        solved = heads[one.bone] + rotation.rotate(turns[one.bone], one.point)
        further += float(rotation.lengths(shown - place - one.beside))
        further -= float(rotation.lengths(one.place - place) + rotation.lengths(solved - place))
    return bool(bridge.say_beside(body.skeleton.size, further, 0.0, str))
