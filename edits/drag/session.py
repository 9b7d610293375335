"""One drag on one armature, without mouse and window: what is grabbed, where it is led, what came of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Final

import bpy
import numpy as np

from ... import bridge
from ...bridge import ControlledBody, Grab
from ...core import Balance, CoreError, Goal, Humanoid, PinAndDrag, Skeleton, Solution, forward, rotation
from ...core.body.anatomy import with_anatomy
from ...core.body.masses import masses_of
from ...core.goals import AnyGoal
from ...core.pose import forward_matrices, frame_rotations
from ...core.rotation import Array
from ...core.solvers.humanoid import HumanoidDrag
from ...core.solvers.pins import Root
from ..humanoid import read_humanoid
from ..pin_list import pin_kind, with_other_side
from ..pins import LIMITS, PinTarget, active_pins, balance_priority, read_active_pin, support_bones

ROOTS: Final[dict[str, Root]] = {
    "HOLD": "pull", "PULL": "pull", "FREE": "free", "TRANSLATE": "translate", "FIXED": "fixed",
}  # fmt: skip
_UP: Final = np.array([0.0, 0.0, 1.0])  # of the world
TURN_KINDS: Final = ("BOTH", "ROTATION")  # of pins that hold a rotation
_STILL: Final = np.radians(0.01)  # a body that turns by less in a tick rests
_STRETCHED: Final = 1e-3  # change of a scale from which on it is shown


class Lost(CoreError):
    """The armature is not there any more, or not as it was when the drag began."""


class Stuck(CoreError):
    """What is grabbed cannot be moved, but it can be turned."""


@dataclass(frozen=True, eq=False)
class Effector:
    """A point of a bone that is led; where it and its bone start, in armature space, as a rule where they were."""

    bone: int
    point: Array  # (3,)
    place: Array  # (3,)
    turn: Array  # (4,)
    name: str  # of what was grabbed: the bone, or one that leads it or rides on it
    mirrored: bool = False  # led the mirrored way


class Session:
    """Reads an armature once; `lead` solves and writes the pose, `give_back` undoes it, `finish` settles what stays.

    Raises CoreError if nothing can be dragged there; Lost, from any method, once the armature is gone.
    """

    can_turn = True  # what is dragged

    def __init__(
        self, context: Any, armature: Any, grabs: Sequence[Grab], settle: bool = False, turning: bool = False
    ) -> None:
        bridge.check(armature)
        context.view_layer.update()
        self.name, self._uid = armature.name, armature.session_uid
        self.rig = bridge.read_rig(armature)
        self._channels = bridge.read_channels(armature, self.rig.channels)
        self._roles = bridge.read_roles(armature, self.rig.skeleton)
        self._alone = False  # whether what is grabbed moves by itself, and no body with it
        self.controlled = self._find_controlled(armature, grabs)
        grabs = self._able(grabs, turning)
        if self.controlled is not None:
            self.rig = bridge.with_ik_starts(self.rig, self.controlled)
        self.switched: dict[tuple[str, str], Any] = {}  # what properties were before controls were led
        self.skeleton, self.start = self.rig.skeleton, bridge.read_pose(armature, self.rig)
        self._matrices = bridge.read_matrices(armature)
        self._start_of_rig = self.start
        if self.controlled is not None:
            self.skeleton, self._roles = self.controlled.skeleton, self.controlled.roles
            self.start = bridge.read_controlled(self.controlled, self._matrices)
        self.pose = self.start
        self.world = bridge.world_matrix(armature)
        bridge.world_to_armature(self.world)  # refuses a scale of zero
        self._to_armature = np.linalg.inv(self.world[:3, :3])
        frame = rotation.from_matrix(rotation.nearest_rotation(self.world[:3, :3]))
        self._turn_to_armature = rotation.mul(rotation.inv(frame), rotation.mul(np.eye(4), frame)).T
        self.heads, self.turns = forward(self.skeleton, self.start)
        self.effectors = self._effectors(armature, grabs)
        self.wins: str = armature.poise_wins
        self.turning = turning
        self.restless = False  # whether the body would go on under a still mouse
        self.solution: Solution | None = None
        self._stands: tuple[Array, Array] | None = None  # of the present pose, once somebody looks
        self.seconds = 0.0
        self._settle = settle
        self._at_limit: list[str] = []  # controls
        self._left_out: list[str] = []  # sentences about settings that do not count, since they cannot
        self._hold = self._find_holds(armature)
        self.pins = {effector.bone: self._pins_of(effector) for effector in self.effectors}  # names of bones
        self.kinds = {bone: pin_kind(armature, names[0]) for bone, names in self.pins.items()}
        self._problem: Any
        self._skeleton, self._method = self._prepare(armature)
        self._targets = [(effector.place, effector.turn) for effector in self.effectors]
        self.renew()

    # -- reading ----------------------------------------------------------------------------------------------------

    def _find_controlled(self, armature: Any, grabs: Sequence[Grab]) -> ControlledBody | None:
        """The controls' body, where what is grabbed is of its bones and controls, and it or a pin hangs on others.

        Or, of such a rig, what is grabbed alone, where it has a location of its own and hangs on driven bones, or eyes
        aim at it.
        """
        index = self.rig.skeleton.index
        own = [index(grab.bone) for grab in grabs]
        pinned = [index(pin.name) for pin in armature.poise_pins if pin.name in armature.pose.bones]
        controlled = bridge.find_controlled(armature, self.rig, self._roles, (*own, *pinned), along=True)
        if controlled is None:
            return None
        parts = controlled.parts()
        if own[0] in parts and controlled.serves(self.rig, (*own, *pinned)):
            return controlled
        names = with_other_side(armature, [grab.bone for grab in grabs])
        aimed_at = {control.aims for control in controlled.controls}
        lone = [bone for bone in map(index, names) if bone not in parts and self._is_lone(bone, aimed_at)]
        self._alone = own[0] in lone
        return bridge.free_controls(self.rig, self._roles, lone) if self._alone else None

    def _is_lone(self, bone: int, aimed_at: set[int]) -> bool:
        skeleton = self.rig.skeleton
        moves = skeleton.translatable[bone].all() and not (skeleton.connected[bone] or skeleton.driven[bone])
        return bool(moves) and (bone in aimed_at or self.rig.is_stuck(bone))

    def _find_holds(self, armature: Any) -> list[PinTarget]:
        """The pins that can hold; one that is no good keeps nobody from dragging."""
        found: list[PinTarget] = []
        for pin in () if self._alone else active_pins(armature):
            try:
                hold = read_active_pin(armature, pin)
                self._place_of(hold.bone)
                found.append(hold)
            except CoreError as error:
                self._left_out.append(str(error))
        return found

    def _able(self, grabs: Sequence[Grab], turning: bool) -> list[Grab]:
        """Of what is grabbed what can be led; raises CoreError if the first cannot: the others are just selected."""
        index, driven = self.rig.skeleton.index, self.rig.driven
        if self.controlled is not None:
            parts = self.controlled.parts()
            return [grab for grab in grabs if index(grab.bone) in parts]
        if grabs[0].bone in driven:
            raise CoreError(f'"{grabs[0].bone}" is decided by {driven[grabs[0].bone]}; it cannot be dragged.')
        above, first = self.rig.driven_above, index(grabs[0].bone)
        if grabs[0].is_joint and not turning and self.rig.is_stuck(first):
            refusal = f'{above(first)}; "{grabs[0].bone}" hangs on it and'
            if self.rig.skeleton.movable[first]:
                raise Stuck(f"{refusal} can only be turned.")
            raise CoreError(f"{refusal} cannot be dragged.")
        free = above(first) is None  # then what hangs on driven bones, as they stand, would fight its way
        return [grab for grab in grabs if grab.bone not in driven and not (free and above(index(grab.bone)))]

    def _place_of(self, name: str) -> tuple[int, Array, Array]:
        """The bone of the skeleton that a bone is or rides on, and its place (3,) and frame (4,) in that one's."""
        bone = self.rig.skeleton.index(name)
        if self.controlled is None:
            return bone, np.zeros(3), rotation.IDENTITY
        part = self.controlled.parts().get(bone)
        if part is None:
            raise CoreError(f'"{name}" is no part of the body that controls lead; let its pin go.')
        frames = frame_rotations(self._matrices[[self.controlled.bones[part], bone], :, :3])
        away = self._matrices[bone, :, 3] - self._matrices[self.controlled.bones[part], :, 3]
        back = rotation.inv(frames[0])
        return part, rotation.rotate(back, away), rotation.mul(back, frames[1])

    def _effectors(self, armature: Any, grabs: Sequence[Grab]) -> list[Effector]:
        found: dict[int, Effector] = {}
        skeleton = self.skeleton
        for grab in grabs:
            bone, place, turn = self._place_of(grab.bone)
            point = place + rotation.rotate(turn, np.array(grab.point))
            found.setdefault(bone, self._effector(bone, point, grab.bone))
        if armature.pose.use_mirror_x:
            side = skeleton.rest_matrices[:, 0, 3]
            first = next(iter(found))
            for bone in sorted(found, key=lambda bone: side[bone] * side[first] < 0.0):  # the grabbed side leads
                effector = found[bone]
                if effector.mirrored:
                    continue
                other = bpy.utils.flip_name(skeleton.names[bone])
                free = self.controlled is not None or other not in self.rig.driven
                if other != skeleton.names[bone] and other in skeleton.names and free:
                    twin = self._effector(skeleton.index(other), effector.point, bpy.utils.flip_name(effector.name))
                    if not armature.pose.use_mirror_relative:  # the other side is to be as this one, not to move alike
                        place, turn = bridge.mirrored(effector.place, effector.turn)
                        twin = replace(twin, place=place, turn=turn)
                    found[twin.bone] = replace(twin, mirrored=True)
        return list(found.values())

    def _effector(self, bone: int, point: Array, name: str) -> Effector:
        place = self.heads[bone] + rotation.rotate(self.turns[bone], point)
        return Effector(bone, point, place, self.turns[bone], name)

    def _pins_of(self, effector: Effector) -> list[str]:
        """The bones whose pins are those of what is dragged; if there are none, the one that would be pinned."""
        return [hold.bone for hold in self._hold if self._place_of(hold.bone)[0] == effector.bone] or [effector.name]

    def _prepare(self, armature: Any) -> tuple[Skeleton, Any]:
        """What knows how a body moves, about the pose at the press."""
        self._balanced = armature.poise_use_balance and not self._alone
        if armature.poise_method == "HUMANOID" and not self._alone:
            return self.skeleton, read_humanoid(armature).method(self._roles, bool(LIMITS[armature.poise_limits]))
        if self._balanced:
            try:
                support_bones(self._holding())
            except CoreError as error:
                self._left_out.append(str(error))
                self._balanced = False
        method = PinAndDrag(
            limits=LIMITS[armature.poise_limits],
            root="free" if self._alone else ROOTS[armature.poise_root],
            stretch=armature.poise_use_stretch,
            reference=self.start,
            settle=self._settle,
        )
        return with_anatomy(
            self.skeleton, method, self._roles, ranges=armature.poise_use_anatomy_limits,
            tuning=bridge.read_tuning(armature, self.skeleton),
        )  # fmt: skip

    @property
    def manner(self) -> str:
        """How it is solved, for the text."""
        if isinstance(self._method, Humanoid):
            return "as a humanoid"
        return "pins win" if self.wins == "PINS" else "drag wins"

    def object(self) -> Any:
        """The armature; raises Lost."""
        try:
            found: Any = bridge.find_again(self.name, self._uid, self.rig.skeleton.names)
        except bridge.BridgeError as error:
            raise Lost(f"{str(error).removesuffix('.')}; the drag ended.") from error
        if found.mode != "POSE":
            raise Lost(f'The armature "{found.name}" has left Pose Mode; the drag ended.')
        return found

    def _balance(self, after: int) -> Balance:
        """The centre of mass over what is pinned, behind the pins and the drag."""
        up = self._to_armature @ _UP
        bears = tuple(self._place_of(bone)[0] for bone in support_bones(self._holding()))
        return Balance(
            bears[0], bears, masses_of(self.skeleton, self._roles), up,
            priority=max(after, balance_priority(self._hold)),
        )  # fmt: skip

    # -- leading ----------------------------------------------------------------------------------------------------

    def renew(self) -> None:
        """Solve for other goals from here on: who wins, what turns and what is pinned may have changed."""
        drag_wins = self.wins == "DRAG"
        led = 0 if drag_wins else 1 + max((hold.priority for hold in self._hold), default=0)
        goals: list[AnyGoal] = [
            Goal(effector.bone, place, turn if self.turning else None, effector.point, priority=led)
            for effector, (place, turn) in zip(self.effectors, self._targets, strict=True)
        ]
        goals += [self._held(hold, int(drag_wins)) for hold in self._holding()]
        if isinstance(self._method, Humanoid):
            self._problem = self._method.prepare(self._skeleton, self.start, goals)
            self._writer = bridge.PoseWriter(self.rig, range(len(self._skeleton)))
            return
        if self._balanced:
            goals.append(self._balance(2))
        self._problem = self._method.prepare(self._skeleton, self.pose, goals)
        tree = self._problem.tree
        solved = {*tree.nodes[tree.joints].tolist(), *tree.nodes[tree.roots].tolist()}
        self._writer = bridge.PoseWriter(self.rig, solved, tree.nodes[tree.stretching].tolist())

    def _holding(self) -> list[PinTarget]:
        """What the pins hold now: of what is dragged its rotation, as long as that is pinned and not turned."""
        found: list[PinTarget] = []
        for hold in self._hold:
            kind = self.kinds.get(self._place_of(hold.bone)[0])
            if kind is None:
                found.append(hold)
            elif hold.rotation is not None and kind in TURN_KINDS and not self.turning:
                found.append(replace(hold, position=None))
        return found

    def _held(self, hold: PinTarget, first: int) -> Goal:
        """The goal of a pin, of the bone of the skeleton that the pinned one is or rides on."""
        goal = hold.goal(self.world, first)
        bone, place, turn = self._place_of(hold.bone)
        turned = None if goal.rotation is None else rotation.mul(goal.rotation, rotation.inv(turn))
        return replace(goal, bone=bone, point=place, rotation=turned)

    def switch(self, wins: str | None = None, turning: bool | None = None, kind: str | None = None) -> None:
        """Change who wins ("PINS", "DRAG"), whether what is dragged is turned, too, or what its pins hold (KINDS)."""
        if wins is not None and not isinstance(self._method, Humanoid):  # that one serves all alike
            self.wins = wins
        self.turning = self.turning if turning is None else turning
        self.kinds = self.kinds if kind is None else dict.fromkeys(self.kinds, kind)
        self.renew()

    def lead(self, shift: Array, turn: Array) -> Solution:
        """Lead what is grabbed by `shift` (3,) and `turn` (4,) in the world from where it was; writes the pose."""
        begin = perf_counter()
        moved, turned = self._to_armature @ shift, self._turn_to_armature @ turn
        self._targets = []
        for number, effector in enumerate(self.effectors):
            way, spin = bridge.mirrored(moved, turned) if effector.mirrored else (moved, turned)
            place, stand = effector.place + way, rotation.mul(spin, effector.turn)
            self._targets.append((place, stand))
            self._move(number, place, stand)
        return self._show(self._problem.solve(), begin)

    def _move(self, number: int, place: Array, stand: Array) -> None:
        self._problem.move(number, place, stand if self.turning else None)

    def rest(self) -> Solution:
        """Go on to where the body rests, led as it is; writes the pose."""
        begin, before = perf_counter(), self.pose
        solution = self._show(self._problem.relax(), begin)
        self.restless = float(np.max(rotation.angle_between(before.rotations, self.pose.rotations))) > _STILL
        return solution

    def _show(self, solution: Solution, begin: float) -> Solution:
        self.solution, self.pose, self.restless, self._stands = solution, solution.pose, True, None
        self._write(self.object())
        self.seconds = perf_counter() - begin
        return solution

    def _write(self, armature: Any) -> None:
        if self.controlled is None:
            self._writer.write(armature, self.pose)
            return
        self._lead_controls(armature, self.controlled, passing=True)

    def _lead_controls(self, armature: Any, controlled: ControlledBody, passing: bool) -> None:
        led = bridge.pose_controls(armature, self.rig, controlled, self.pose, passing, looks=False)
        self.switched = {**led.switched, **self.switched}
        self._at_limit = [self.rig.skeleton.names[bone] for bone in led.held]

    # -- ending -----------------------------------------------------------------------------------------------------

    def give_back(self) -> None:
        """The exact pose at the press."""
        self._restore(self.object())

    def abandon(self) -> None:
        """As `give_back`, after Lost: of the armature as it is now, if it is there and has the same bones."""
        try:
            self._restore(bridge.find_again(self.name, self._uid, self.rig.skeleton.names))
        except CoreError:
            return

    def _restore(self, armature: Any) -> None:
        for (bone, name), value in self.switched.items():
            armature.pose.bones[bone][name] = value
        bridge.write_channels(armature, self._channels)

    def finish(self) -> tuple[tuple[str, ...], ...]:
        """Keep the pose, with bones that did not change exactly as they were; names of the rotated, moved and grown."""
        armature, names = self.object(), self.rig.skeleton.names
        if self.controlled is not None:
            self._lead_controls(armature, self.controlled, passing=False)
        pose = self.pose if self.controlled is None else bridge.read_pose(armature, self.rig)
        changes = turned, moved, grown = bridge.changed_bones(self._start_of_rig, pose)
        bridge.write_channels(armature, self._channels)
        bridge.write_pose(armature, self.rig, pose, {*turned.tolist(), *moved.tolist()}, grown)
        return tuple(tuple(names[bone] for bone in bones) for bones in changes)

    def reasons(self) -> list[str]:
        """Sentences: driven bones above what does not get where it is led, and what the solver found."""
        if self.solution is None:
            return []
        explained = [*self.solution.explain(say_length=self._say_length), *self._left_out]
        if self.controlled is not None:
            return [*explained, *bridge.explain_limited_controls(self._at_limit)]
        met = self.solution.met()
        driven = (
            self.rig.driven_above(effector.bone)
            for effector, there in zip(self.effectors, met[: len(self.effectors)], strict=True)
            if not there
        )
        return [*dict.fromkeys(sentence for sentence in driven if sentence), *explained]

    def _say_length(self, length: float) -> str:
        return bridge.say_length(bpy.context.scene, float(bridge.length_scale(self.world)) * length)

    # -- showing ----------------------------------------------------------------------------------------------------

    def targets(self) -> list[tuple[Array, Array]]:
        """In the world: where each effector is wanted, and where it is."""
        heads, turns = self._now()
        found: list[tuple[Array, Array]] = []
        for effector, (wanted, _) in zip(self.effectors, self._targets, strict=True):
            here = heads[effector.bone] + turns[effector.bone] @ effector.point
            places, _ = bridge.armature_to_world(self.world, np.stack([wanted, here]))
            assert places is not None
            found.append((places[0], places[1]))
        return found

    def held_back(self) -> list[Array]:
        """In the world: head and tail (2, 3) of the bones that a limit holds."""
        solution = self.solution
        if solution is None or solution.limits_active is None:
            return []
        bones = {bone for (bone, _), on in zip(solution.limit_names, solution.limits_active, strict=True) if on}
        return [self._ends(bone) for bone in sorted(bones)]

    def stretched(self) -> list[Array]:
        """In the world: head and tail (2, 3) of the bones that have another length than at the press."""
        if self.pose.scales is None:
            return []
        before = np.ones_like(self.pose.scales) if self.start.scales is None else self.start.scales
        bones = np.flatnonzero((np.abs(self.pose.scales - before) > _STRETCHED).any(axis=-1))
        matrices = forward_matrices(self.skeleton, self.pose)[bones]
        tails = matrices[..., 3] + matrices[..., 1] * self.skeleton.lengths[bones, None]
        places, _ = bridge.armature_to_world(self.world, np.stack([matrices[..., 3], tails], axis=-2))
        assert places is not None
        return list(places)

    def _now(self) -> tuple[Array, Array]:
        """Heads (J, 3) and frames (J, 3, 3) in the present pose, of the bones that move what is wanted at least."""
        if self._stands is None:
            self._stands = self._standing()
        return self._stands

    def _standing(self) -> tuple[Array, Array]:
        lean = None if isinstance(self._problem, HumanoidDrag) else self._problem.frame
        if lean is not None and lean.at is not None:
            return lean.heads_and_frames()
        heads, turns = forward(self.skeleton, self.pose)
        return heads, rotation.to_matrix(turns)

    def _ends(self, bone: int) -> Array:
        heads, turns = self._now()
        tail = heads[bone] + turns[bone][:, 1] * self.skeleton.lengths[bone]
        places, _ = bridge.armature_to_world(self.world, np.stack([heads[bone], tail]))
        assert places is not None
        return places
