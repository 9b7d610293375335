"""One drag on one armature, without mouse and window."""

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, Final

import bpy
import numpy as np

from ... import bridge
from ...bridge import Grab
from ...core import CoreError, Goal, Humanoid, PinAndDrag, Skeleton, Solution, forward, rotation
from ...core.body.anatomy import with_anatomy, with_ranges
from ...core.body.limbs import within_reach
from ...core.causes import Cause, Explanation, Kind
from ...core.editing.footsteps import plant_others
from ...core.goals import AnyGoal
from ...core.pose import frame_rotations
from ...core.rotation import Array
from ..fk_limbs import FKLimbs
from ..humanoid import read_humanoid
from ..pins import LIMITS, next_priority
from .body import DragBody
from .pins import DragPins
from .switch import DraggedLimbs
from .writer import DragWriter

# of a tick under the mouse: what is left is done in the next one
_LIVE: Final[dict[str, Any]] = {"iterations": 8, "turn": float(np.radians(11.5))}
_AGREES: Final = 6  # largest number of solves with what the rig has shown
_RESTS: Final = 40  # largest number of ticks until rest: together they take as many steps as a solve may
_DRAGGED: Final = {
    Kind.PINNED: Kind.DRAGGED,
    Kind.STRETCHED_FROM_PINNED: Kind.STRETCHED_FROM_DRAGGED,
    Kind.TOO_FAR_FROM_PINNED: Kind.TOO_FAR_FROM_DRAGGED,
}
_STILL: Final = np.radians(0.01)  # a body that turns by less in a tick is at rest


class DragSession:
    """Reads an armature once; `drag` solves and writes the pose, `restore` undoes it, `finish` keeps it.

    Raises CoreError if the grabbed bone cannot be dragged; Lost, from any method, once the armature is gone.
    live: a tick takes a few steps and turns no joint far; what is left is done in the next one.
    targets: place (3,) and turn (4,) of each effector, in armature space.
    fk: the limbs that were switched to FK when the pose was kept.
    """

    can_turn = True  # the grabbed bone
    whole = True  # the body follows, by its controls and on both sides where the armature has these

    def __init__(
        self,
        context: Any,
        armature: Any,
        grabs: Sequence[Grab],
        settle: bool = False,
        turning: bool = False,
        live: bool = False,
    ) -> None:
        self.body = DragBody(context, armature, grabs, turning, self.whole)
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
        self._beside = False  # whether a control is elsewhere beside its part than at the press
        self._yielding: list[Goal] = []  # rotations of pins that parts without keys cannot have: the last goals
        self._refusals = [*self.pins.refusals]  # sentences about settings that have no effect
        self._problem: Any
        self._balance: str = armature.poise_balance
        self._skeleton, self._method = self._prepare(armature)
        self.targets = [(effector.place, effector.turn) for effector in self.effectors]
        self.renew()

    def _prepare(self, armature: Any) -> tuple[Skeleton, Any]:
        """Return the skeleton and the method to solve with."""
        body = self.body
        if armature.poise_method == "HUMANOID" and not body.alone:
            skeleton = body.skeleton
            if armature.poise_use_anatomy_limits:
                skeleton = with_ranges(skeleton, body.roles, self.start)
            return skeleton, read_humanoid(armature).method(
                body.roles,
                bool(LIMITS[armature.poise_limits]),
                strength=armature.poise_strength if armature.poise_use_strength else np.inf,
            )
        method = PinAndDrag(
            limits=LIMITS[armature.poise_limits],
            root="free" if body.alone else armature.poise_root.lower(),
            strength=armature.poise_strength if armature.poise_use_strength else np.inf,
            **(_LIVE if self._live else {}),
            stretch=armature.poise_use_stretch,
            reference=self.start,
            settle=self._settle,
        )
        return with_anatomy(
            body.skeleton, method, body.roles, ranges=armature.poise_use_anatomy_limits,
            tuning=bridge.read_tuning(armature, body.skeleton),
        )  # fmt: skip

    @property
    def manner(self) -> str:
        """How it is solved, in words for the viewport, or "" for the usual way."""
        if isinstance(self._method, Humanoid):
            return "as a humanoid"
        return "" if self.wins == "PINS" else "drag takes precedence"

    def renew(self) -> None:
        """Prepare the problem for the present settings: who wins, what turns and what is pinned."""
        drag_wins = self.wins == "DRAG"
        level = 0 if drag_wins else next_priority(self.pins.targets)
        goals: list[AnyGoal] = [
            Goal(effector.bone, place, turn if self.turning else None, effector.point, priority=level)
            for effector, (place, turn) in zip(self.effectors, self.targets, strict=True)
        ]
        holding = self.pins.goals(self.turning, int(drag_wins))
        last = max(goal.priority for goal in [*goals, *holding])
        pins = [self.body.held.yielding(pin) for pin in holding]
        self._yielding = [turn for _, turn in pins if turn is not None]
        goals += [*(pin for pin, _ in pins), *self.body.held.goals]
        try:
            goals += self.pins.balance(self._balance, self.turning, 1 + max(goal.priority for goal in goals))
        except CoreError as error:
            self._refusals.append(str(error))
            self._balance = "OFF"
        if isinstance(self._method, Humanoid):
            self._problem = self._method.prepare(self._skeleton, self.start, goals)
            self.writer.prepare(range(len(self._skeleton)), nodes=range(len(self._skeleton)))
            return
        goals += [*self._planted(goals), *self._yielding]
        limbs = () if self.body.controlled is None else self.body.controlled.hinged
        method = replace(self._method, strength_at=last)
        self._problem = method.prepare(*within_reach(self._skeleton, limbs, self.pose, self.body.start), goals)
        tree = self._problem.tree
        solved = {*tree.nodes[tree.joints].tolist(), *tree.nodes[tree.roots].tolist()}
        asked = [self._skeleton.index(goal.bone) for goal in goals]
        self.writer.prepare(solved, tree.nodes[tree.stretching].tolist(), tree.nodes, asked)

    def _planted(self, goals: Sequence[AnyGoal]) -> list[Goal]:
        body = self.body
        if body.controlled is None or body.alone:
            return []
        return plant_others(body.skeleton, body.roles, body.start, body.controlled.planted, goals)

    def switch(self, wins: str | None = None, turning: bool | None = None, kind: str | None = None) -> None:
        """Change who wins ("PINS", "DRAG"), whether the effectors turn, too, or the kind of their pins (KINDS)."""
        if wins is not None and not isinstance(self._method, Humanoid):  # which has no priorities
            self.wins = wins
        self.turning = self.turning if turning is None else turning
        self._pin(kind)
        self.renew()

    def _pin(self, kind: str | None) -> None:
        self.pins.kinds = self.pins.kinds if kind is None else dict.fromkeys(self.pins.kinds, kind)

    def drag(self, shift: Array, turn: Array) -> Solution:
        """Solve for the effectors moved by `shift` (3,) and `turn` (4,) of the world from the start; write the pose."""
        begin = perf_counter()
        # what other bones turn or carry is seen now, as it was in the last tick
        if self._live and (self.writer.carries or self.body.held.goals or self._beside):
            self._takes_shown()
        shifted, turned = self.body.to_armature(shift, turn)
        self.targets = []
        for number, effector in enumerate(self.effectors):
            way, spin = bridge.mirrored(shifted, turned) if effector.mirrored else (shifted, turned)
            target = effector.place + way, rotation.mul(spin, effector.turn)
            self.targets.append(target)
            self._aim(number, *target)
        solution = self._write(self._problem.solve(), begin)
        for _ in range(_AGREES if self._settle else 0):
            if not self._takes_shown():
                break
            solution = self._write(self._problem.solve(), begin)
        return solution

    def _aim(self, number: int, place: Array, turn: Array) -> None:
        self._problem.move(number, place, turn if self.turning else None)

    def rest(self) -> Solution:
        """Let the body come nearer to rest, its targets as they are; write the pose."""
        begin, before = perf_counter(), self.pose
        self._takes_shown()
        solution = self._write(self._problem.relax(), begin)
        moved = float(np.max(rotation.angle_between(before.rotations, self.pose.rotations))) > _STILL
        self.restless = moved or not self.writer.settled
        return solution

    def _takes_shown(self) -> bool:
        """Take over what the rig does by itself: lengths by IK, and carried bones; return whether that has changed."""
        armature = self.body.find()
        take, went = self.writer.shown(armature, self.pose), self.body.held.follow(bpy.context, armature)
        moved = self.body.follow(bpy.context, armature, self.pins.targets)
        self._beside |= moved
        if take is None and not went and not moved:
            return False
        self.effectors = self.body.effectors
        if take is not None:
            self.pose, self.start = take(self.pose), take(self.start)
            if isinstance(self._method, PinAndDrag):
                self._method = replace(self._method, reference=self.start)
        self.renew()
        return True

    def _write(self, solution: Solution, begin: float) -> Solution:
        self.solution, self.pose, self.restless, self._frames = solution, solution.pose, True, None
        self.writer.write(self.body.find(), self.pose, self.frames)
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
        self._skeleton, self._method = self._prepare(armature)
        self.renew()

    def pose_by(self, writer: DragWriter) -> None:
        """Pose by other controls from now on, which stretch no limbs on FK; solve and write until nothing moves."""
        assert writer.controlled is not None
        self.writer = writer
        self.pose, self.start = (writer.controlled.unstretched(pose) for pose in (self.pose, self.start))
        self.renew()
        self._write(self._problem.solve(), perf_counter())
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
        self.settle()
        armature = self.body.find()
        if armature.poise_use_fk_switch:
            self.fk.show(bpy.context, armature, DraggedLimbs(self))
        return self.writer.finish(armature, self.pose, said=self.fk.said)

    def reasons(self) -> list[str]:
        """Return sentences: driven bones above missed effectors, what stays for want of keys, the solver's reasons."""
        if self.solution is None:
            return []
        asked = len(self.effectors) + len(self.pins.holding(self.turning)) + len(self.body.held.goals)
        asked += self._balance not in ("OFF", "FEET")
        tacit = range(asked, len(self.solution.goals))
        pinned = [self.body.part_of(target.bone)[0] for target in self.pins.targets]
        seen = {one.bone: one.name for one in self.effectors}
        seen |= {part: target.bone for part, target in zip(pinned, self.pins.targets, strict=True)}
        names = {self.body.skeleton.names[part]: name for part, name in seen.items()}
        wins = self.wins == "DRAG"  # what is pinned gives way to what is dragged
        dragged = {self.body.skeleton.names[one.bone] for one in self.effectors if wins}

        def as_seen(cause: Cause) -> Cause:
            return cause.seen(names, _DRAGGED if cause.bone in dragged else {})

        explained = self.solution.explain(say_length=self._say_length, tacit=tacit, names=names, seen=as_seen)
        stays = self._staying([*(effector.bone for effector in self.effectors), *pinned])
        turns = zip(reversed(self._yielding), reversed(self.solution.met()), strict=False)
        stays = [*self._driven(self._missed()), *stays]
        stays += [self.body.held.explain_yielded(turn) for turn, met in turns if not met]
        said = (*self.fk.said.values(), *self.body.notes, *self._short(), *stays, *explained, *self._refusals)
        return [*said, *self.writer.at_limit(), *self.writer.misfit]

    def held(self) -> list[str]:
        """Return sentences: what is posed in place of the grabbed, and what missed effectors hang on or what stays."""
        missed = self._missed()
        short = [] if self.restless else self._short()
        return [*self.body.notes, *short, *self._driven(missed), *self._staying(missed)]

    def _missed(self) -> list[int]:
        """Return the bones of the effectors that are not where they are wanted."""
        met = [] if self.solution is None else self.solution.met()[: len(self.effectors)]
        return [effector.bone for effector, there in zip(self.effectors, met, strict=False) if not there]

    def _short(self) -> list[str]:
        """Return sentences about dragged and pinned bones that Blender does not show at their targets, by how much.

        What the solver itself misses it explains.
        """
        said = list[str]()
        if self.solution is None:
            return said
        context: Any = bpy.context
        context.view_layer.update()
        armature = self.body.find()
        asked = [(one.name, one.grabbed, place, None)
                 for one, (place, _) in zip(self.effectors, self.targets, strict=True)]  # fmt: skip
        asked += [(pin.bone, pin.point, *pin.in_armature_space(self.body.world))
                  for pin in self.pins.holding(self.turning)]  # fmt: skip
        for (name, point, place, turn), goal, met in zip(asked, self.solution.goals, self.solution.met(), strict=False):
            matrix, turned = np.array(armature.pose.bones[name].matrix), 0.0
            far = 0.0 if place is None else float(rotation.lengths(matrix[:3, :3] @ point + matrix[:3, 3] - place))
            if turn is not None and isinstance(goal, Goal) and goal.rotation is not None:
                turned = float(rotation.angle_between(frame_rotations(matrix[None, :3, :3])[0], turn))
            away = bridge.say_beside(self.body.skeleton.size, far, turned, self._say_length)
            if met and away:
                said.append(Explanation(f'"{name}" is {away} short of its target', [Cause(Kind.RIG)]))
        return said

    def _driven(self, bones: Sequence[int]) -> list[str]:
        if self.body.controlled is not None:
            return self.body.held.follows(self.body.find(), bones)
        return [*dict.fromkeys(cause.sentence for cause in map(self.body.rig.driven_above, bones) if cause)]

    def _staying(self, bones: Sequence[int]) -> list[str]:
        return self.body.held.explain({above for bone in bones for above in self.body.skeleton.ancestors(bone)})

    def _say_length(self, length: float) -> str:
        return bridge.say_length(bpy.context.scene, float(bridge.length_scale(self.body.world)) * length)

    def frames(self) -> tuple[Array, Array]:
        """Return heads (J, 3) and rotations (J, 4) in the present pose."""
        if self._frames is None:
            self._frames = forward(self.body.skeleton, self.pose)
        return self._frames
