"""Humanoid: six points or one, and the whole body takes a natural, stable pose (CN106502395).

Hips stand where they are told or where the pull puts them; spine and neck turn about one common axis each; limbs are
bent in closed form at the swivel that they had, and what they cannot reach is left to the pull; hands and feet stand as
they are told, their twist shared with the bones before them. Everything is a function of the start pose and of the
targets, continuous where those are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeGuard

import numpy as np
from numpy.typing import NDArray

from ... import rotation
from ...body.roles import Roles
from ...errors import CoreError
from ...goals import AnyGoal, Goal
from ...limits import clamp_rotations
from ...pose import Pose, forward
from ...rotation import Array, lengths
from ...skeleton import Skeleton
from ...solution import Solution
from ..batches import batch_shape_of, check_inputs, flat_array, flat_pose
from ..pins import numbers
from ..pins.explain import reasons
from ..pins.limits import locked_angles
from ..pins.problem import PinAndDrag
from .figure import Figure, LimbBones, Nodes, Stance
from .limb import Limb, bend_limb, measure_limb, plane_frame, swivel_of, swivel_towards
from .spine import Column, direct_column, orient_column, straight_column

# Unknowns of the pull: shift and turn of the hips, turns of spine and neck, turns of the clavicles.
_SHIFT, _TURN, _SPINE, _NECK, _LEFT, _RIGHT = (slice(3 * part, 3 * part + 3) for part in range(6))
_UNKNOWNS: Final = 18
_CLAVICLES: Final = 2.0 * np.radians((4.0, 8.0, 10.0))  # how far they go about the anatomical axes: 2 deviations
_SHOULDER_GAIN: Final = 0.5
_SPINE_GAIN: Final = 0.3
_TURN_GAIN: Final = 0.3
_OF: Final = {"spine": "spine", "turn": "hips", "shift": "hips"}
_ROUNDS: Final = 60
_RESTS: Final = 1e-7  # radians, or parts of the size, that the trunk still moves in a round
_LED_RESTS: Final = 1e-4  # the same between two steps of a drag, where the next target is near
_NEARLY_MET: Final = 0.01  # of the tolerances: what is missed by more is finished, since joints go far for the last bit
_HALF_TURN: Final = np.radians(30.0)
PARTS: Final = ("hips", "spine", "neck", "shoulder")


@dataclass(frozen=True, eq=False)
class Humanoid:
    """The method for `solve` that knows the body: targets of hips, chest, head, hands and feet, elbows and knees.

    Goals are positions and rotations in armature space; their weights, at most 1, say how far the way from the start
    pose to the target is gone. Bones that ride on such a part (toes, fingers, jaw) may be named in its place. Goals of
    other parts and of other kinds, but velocities, are left to the finish.

    roles       the parts, found in the skeleton if not given
    pull        how hard an end that is out of reach pulls the body along, 0 to 1; for all, or by role ("hand.L",
                "foot.R", "head", "chest"), 1 for those not named
    resist      how much a part of the trunk withstands, 0 to 1, by "hips", "spine", "neck", "shoulder"
    reach       the share of its length to which a limb stretches before it pulls
    swivel      the wanted swivel of a limb by name ("arm.L", "leg.R"), radians (...); without, it is kept
    limits      keep the skeleton's limits; anatomical ones of elbows and knees are always kept
    finish      goals that are still missed, since limits hold, a part is stiff, or closed forms do not know them, are
                finished by `PinAndDrag`
    """

    roles: Roles | None = None
    pull: float | Mapping[str, float] = 1.0
    resist: Mapping[str, float] = field(default_factory=dict[str, float])
    reach: float = 0.95
    swivel: Mapping[str, Array | float] = field(default_factory=dict[str, "Array | float"])
    limits: bool = True
    finish: bool = True
    position_tolerance: float | None = None
    rotation_tolerance: float = float(numbers.ROTATION_TOLERANCE)

    def solve(self, skeleton: Skeleton, pose: Pose, goals: Sequence[AnyGoal]) -> Solution:
        return _Body(self, skeleton, pose, goals).solve()

    def prepare(self, skeleton: Skeleton, pose: Pose, goals: Sequence[AnyGoal]) -> "HumanoidDrag":
        """For one pose whose goals move step by step, as under the mouse; raises CoreError as `solve` does."""
        return HumanoidDrag(self, skeleton, pose, goals)

    def reasons(self, skeleton: Skeleton, pose: Pose, goals: tuple[AnyGoal, ...], index: int) -> list[str]:
        """Those of the pins solver, after the settings that keep parts of the body where they are."""
        figure = Figure(skeleton, self.roles)
        said, still = self._kept(figure, goals[index])
        movable = skeleton.movable & ~np.isin(np.arange(len(skeleton)), list(still))
        fixed = figure.root in still
        method = PinAndDrag(limits=self.limits, root="fixed" if fixed else "free", root_bone=figure.root)
        problem = method.prepare(replace(skeleton, movable=movable), pose, goals)
        found = reasons(problem, index)
        return [*said, *found] if found else []

    def _kept(self, figure: Figure, goal: AnyGoal) -> tuple[list[str], set[int]]:
        """Sentences about settings that keep parts of the body from serving a goal, and the bones of these parts."""
        skeleton, still = figure.skeleton, set[int]()
        bone = skeleton.index(goal.bone)
        chain, place = skeleton.ancestors(bone), figure.anchors[bone]
        node = int(figure.nodes[place]) if place >= 0 else -1
        node = next((limb.end for limb in figure.limbs.values() if limb.lower == node), node)
        said: list[str] = []
        if node in figure.ends and isinstance(goal, Goal) and goal.position is not None:
            pull = self.pull_of(figure.ends[node][0])
            if pull < 1.0:
                said.append(f"its pull of {pull:g} leaves the body behind")
            if pull <= 0.0:
                own = set(figure.ends[node][1])
                still = {bone for bone in range(len(skeleton)) if not own.intersection(skeleton.ancestors(bone))}
        for part, bones in figure.trunk.items():
            if self.gives(part) <= 0.0 and (part == "hips" or set(bones).intersection(chain)):
                said.append(f"{part} {'resist' if part == 'hips' else 'resists'} with 1")
                still.update(bones if part != "hips" else (*bones, figure.root))
        return said, still

    def pull_of(self, role: str) -> float:
        """How hard an end pulls."""
        return float(self.pull if not isinstance(self.pull, Mapping) else self.pull.get(role, 1.0))

    def gives(self, part: str) -> float:
        """How far a part of the trunk goes along, 1 minus what it resists."""
        return 1.0 - float(np.clip(self.resist.get(part, 0.0), 0.0, 1.0))


class HumanoidDrag:
    """Goals that move: every answer is about the first pose, so that a closed path comes home.

    Under the mouse the trunk comes to rest to a tenth of a millimetre of a human, and `relax` goes on to where
    `Humanoid.solve` ends. It starts from the first pose each time: from the last answer it would be quicker, but a body
    that has been pulled along would not go back.
    """

    def __init__(self, method: Humanoid, skeleton: Skeleton, pose: Pose, goals: Sequence[AnyGoal]) -> None:
        self.method, self.skeleton, self.pose, self.goals = method, skeleton, pose, list(goals)
        self._figure = Figure(skeleton, method.roles)
        self._body()  # refuses what is no goal of this method

    def move(self, index: int, position: Array | None = None, turn: Array | None = None) -> None:
        """Give a goal another position (3,), or rotation (4,), or both."""
        changes = {name: value for name, value in (("position", position), ("rotation", turn)) if value is not None}
        goal: Any = self.goals[index]
        for name in changes:
            if getattr(goal, name, None) is None:
                raise CoreError(f'The goal of "{goal.bone}" has no {name} to move.')
        self.goals[index] = replace(goal, **changes)

    def solve(self) -> Solution:
        """The answer for the goals as they are now."""
        return self._body().solve(_LED_RESTS)

    def relax(self) -> Solution:
        """The same to the end."""
        return self._body().solve()

    def _body(self) -> "_Body":
        return _Body(self.method, self.skeleton, self.pose, self.goals, self._figure)


@dataclass(frozen=True, eq=False)
class _Target:
    """What is wanted of a node: `position` (B, 3) of a `point` (3,) of its frame, `rotation` (B, 4) of its frame."""

    point: Array
    position: Array | None
    rotation: Array | None


@dataclass(frozen=True, eq=False)
class _Span:
    """A limb that pulls where it is too short: from the head of the bone `root` to a place (B, 3), lengths (B,)."""

    root: int
    wanted: Array
    reach: Array
    weight: float
    one_way: bool

    def pull(self, nodes: Nodes) -> "_Pull":
        here = nodes.head(self.root)
        way = self.wanted - here
        far = lengths(way)
        over = far - self.reach
        over = np.maximum(over, 0.0) if self.one_way else over
        return _Pull(self.root, here, (over / np.maximum(far, np.finfo(float).tiny))[:, None] * way, self.weight)


@dataclass(eq=False)
class _Pull:
    """A place (B, 3) on a node that should move by `short` (B, 3)."""

    bone: int
    place: Array
    short: Array
    weight: float


class _Body:
    """One solve: B frames, flat."""

    def __init__(
        self, method: Humanoid, skeleton: Skeleton, pose: Pose, goals: Sequence[AnyGoal], figure: Figure | None = None
    ) -> None:
        check_inputs(skeleton, pose, goals)
        self.method, self.skeleton, self.goals = method, skeleton, tuple(goals)
        self.figure = Figure(skeleton, method.roles) if figure is None else figure
        tolerance = method.position_tolerance
        self.tolerance = numbers.POSITION_TOLERANCE * skeleton.size if tolerance is None else tolerance
        self.bent: set[str] = set()
        self.batch_shape = batch_shape_of(goals, pose)
        self.start = flat_pose(pose, self.batch_shape)
        self.stance = Stance(self.figure, self.start)
        self.targets = self._read_goals()
        self.middles = {
            name: self.targets.pop(limb.lower) for name, limb in self.figure.limbs.items() if limb.lower in self.targets
        }
        self._check_names()
        self._measure()

    # -- what is asked ----------------------------------------------------------------------------------------------

    def _read_goals(self) -> dict[int, _Target]:
        """The targets of nodes; what closed forms do not know is left to the finish."""
        found: dict[int, _Target] = {}
        self.wanted: list[AnyGoal] = []  # the goals of the flat frames, weights of places seen to
        self.known: list[bool] = []  # which of them are targets of nodes
        for goal in self.goals:
            self._check_goal(goal)
            node, wanted = self._node_of(goal), self._flat_goal(goal)
            self.wanted.append(wanted)
            self.known.append(node >= 0)
            if node < 0:
                continue
            assert isinstance(wanted, Goal)
            target = self._carried(wanted, node)
            before = found.get(node)
            if before is not None:
                twice = [a is not None and b is not None for a, b in (
                    (before.position, target.position), (before.rotation, target.rotation))]  # fmt: skip
                if any(twice):
                    raise CoreError(f'Two goals want the same of "{self.skeleton.names[node]}".')
                first, second = (before, target) if before.position is not None else (target, before)
                target = replace(first, rotation=second.rotation)
            found[node] = target
        return found

    def _check_goal(self, goal: AnyGoal) -> None:
        """Raises CoreError for what nothing here serves."""
        if isinstance(goal, Goal) and (goal.velocity is not None or goal.angular_velocity is not None):
            raise CoreError(f'The humanoid method follows no velocities; give "{goal.bone}" a place, or use pins.')
        if self.method.finish or self._node_of(goal) >= 0:
            return
        if not _in_space(goal):
            raise CoreError(
                "Without its finish the humanoid method takes positions and rotations in space; pin "
                f'"{goal.bone}" instead.'
            )
        name = self.skeleton.names[self.skeleton.index(goal.bone)]
        raise CoreError(
            f'Without its finish the humanoid method has no target for "{name}": name hips, chest, head, hands, feet, '
            "elbows or knees, or what hangs on them, or use pins."
        )

    def _node_of(self, goal: AnyGoal) -> int:
        """The node that closed forms bring to the goal, on which its bone rides; -1 where they cannot."""
        figure, bone = self.figure, self.skeleton.index(goal.bone)
        if not _in_space(goal) or figure.anchors[bone] < 0:
            return -1
        node = int(figure.nodes[figure.anchors[bone]])
        if node in {figure.hips, figure.chest, figure.head, *(limb.end for limb in figure.limbs.values())}:
            return node
        middles = {limb.lower for limb in figure.limbs.values()}
        elbow = node in middles and node == bone and goal.rotation is None and not np.any(goal.point)
        return node if elbow else -1

    def _flat_goal(self, goal: AnyGoal) -> AnyGoal:
        """The goal of the flat frames; one in space at the part of the way from the start that its weights say."""
        if self.batch_shape:
            goal = goal.at(np.unravel_index(np.arange(len(self.start.rotations)), self.batch_shape), self.batch_shape)
        if not isinstance(goal, Goal) or goal.relative_to is not None:
            return goal
        bone = self.skeleton.index(goal.bone)
        head, turn = self.stance.start_heads[:, bone], self.stance.start_turns[:, bone]
        if goal.position is not None:
            here = head + rotation.rotate(turn, goal.point)
            way = goal.position - here
            goal = replace(goal, position=here + _share(goal.position_weight) * way, position_weight=1.0)
        if goal.rotation is not None:
            share = _share(goal.rotation_weight)[..., 0]
            wanted = rotation.slerp(turn, np.broadcast_to(goal.rotation, turn.shape), np.broadcast_to(share, len(turn)))
            goal = replace(goal, rotation=wanted, rotation_weight=1.0)
        return goal

    def _carried(self, goal: Goal, node: int) -> _Target:
        """The goal of a bone as one of the node that it rides on."""
        stance, bone = self.stance, self.skeleton.index(goal.bone)
        heads, turns = stance.start_heads, stance.start_turns
        back = rotation.inv(turns[:, node])
        ride = rotation.mul(back, turns[:, bone])  # (B, 4) the bone in the node's frame
        point = rotation.rotate(back, heads[:, bone] - heads[:, node]) + rotation.rotate(ride, goal.point)
        turned = None if goal.rotation is None else rotation.mul(goal.rotation, rotation.inv(ride))
        return _Target(point, goal.position, turned)

    def _check_names(self) -> None:
        method, limbs = self.method, self.figure.limbs
        ends = ("chest", "head", *(self.figure.ends[limb.end][0] for limb in limbs.values()))
        pulls: Mapping[str, float] = method.pull if isinstance(method.pull, Mapping) else {}
        named: list[tuple[str, list[str], tuple[str, ...]]] = [
            ("pull", [*pulls], ends),
            ("resist", [*method.resist], PARTS),
            ("swivel", [*method.swivel], tuple(limbs)),
        ]
        for setting, given, known in named:
            for name in given:
                if name not in known:
                    raise CoreError(f'{setting} does not know "{name}"; it knows {", ".join(known)}.')

    def _pull_of(self, bone: int) -> float:
        """How hard an end pulls."""
        return self.method.pull_of(self.figure.ends[bone][0])

    # -- how it stands ----------------------------------------------------------------------------------------------

    def _measure(self) -> None:
        """Swivels, lengths and reaches at the start."""
        self.ends = {name: self._end_of(limb) for name, limb in self.figure.limbs.items()}
        self.swivels: dict[str, Array] = {}
        self.lengths: dict[str, tuple[Array, Array]] = {}
        for name, limb in self.figure.limbs.items():
            now = self._stands(limb)
            wanted = self.method.swivel.get(name)
            measured = swivel_of(now, self._field(limb))
            self.swivels[name] = measured if wanted is None else flat_array(wanted, self.batch_shape, 0)
            self.lengths[name] = lengths(now.middle - now.root), lengths(now.end - now.middle)

    def _end_of(self, limb: LimbBones) -> tuple[Array, Array | None]:
        """The point (B, 3) of the limb's last bone that is its end, and where it is wanted (B, 3), if anywhere."""
        target = self.targets.get(limb.end)
        if target is None or target.position is None:
            return np.zeros((len(self.stance.heads), 3)), None
        if target.rotation is None:
            return target.point, target.position
        return np.zeros_like(target.point), target.position - rotation.rotate(target.rotation, target.point)

    def _stands(self, limb: LimbBones) -> Limb:
        stance, (point, _) = self.stance, self.ends[limb.name]
        hinge = rotation.rotate(stance.turn(limb.elbow), limb.hinge)
        return measure_limb(stance.head(limb.upper), stance.head(limb.lower), stance.point(limb.end, point), hinge)

    def _field(self, limb: LimbBones) -> Array:
        return rotation.to_matrix(self.stance.carried_turn(limb.carrier)) @ limb.field

    # -- the trunk --------------------------------------------------------------------------------------------------

    def _trunk(self, x: Array) -> Nodes:
        """The nodes for unknowns (B, D), limbs carried along as they are."""
        figure, start, size = self.figure, self.stance, self.skeleton.size
        nodes = Nodes(figure, start.heads, start.turns)
        turn = rotation.exp(x[..., _TURN])
        pivot = nodes.head(figure.hips)
        to = pivot + size * x[..., _SHIFT]
        wanted = self.targets.get(figure.hips)
        if wanted is not None and wanted.rotation is not None:
            turn = rotation.mul(wanted.rotation, rotation.inv(nodes.turn(figure.hips)))
        if wanted is not None and wanted.position is not None:
            pivot, to = nodes.point(figure.hips, wanted.point), wanted.position
        nodes.move(figure.below(figure.root), turn, pivot, to)
        if figure.spine:
            self._turn_column(nodes, figure.spine, rotation.rotate(turn, x[..., _SPINE]))
        for side, part in (("L", _LEFT), ("R", _RIGHT)):
            limb = figure.limbs.get(f"arm.{side}")
            if limb is not None and limb.before >= 0:
                axes = rotation.mul(nodes.turn(limb.before), figure.anatomy.axes[limb.before])
                nodes.turn_about(limb.before, rotation.exp(rotation.rotate(axes, x[..., part])))
        if figure.neck:
            change = rotation.mul(nodes.turn(figure.chest), rotation.inv(start.turn(figure.chest)))
            self._turn_column(nodes, figure.neck, rotation.rotate(change, x[..., _NECK]))
        return nodes

    def _turn_column(self, nodes: Nodes, bones: tuple[int, ...], vector: Array) -> None:
        """Spine or neck: its end as it is told to look, its shape by the unknown."""
        count, end = len(bones), bones[-1]
        upward = np.arange(1.0, count + 1.0) / (0.5 * count * (count + 1))  # shares of the orientation
        target = self.targets.get(end)
        tip = nodes.head(end) if target is None else nodes.point(end, target.point)
        column = straight_column(np.stack([*(nodes.head(bone) for bone in bones), tip], axis=-2))
        column = column.turned(vector, np.full(count, 1.0 / count))
        shares = upward[::-1]
        if target is not None and target.rotation is not None:
            column = orient_column(column, rotation.mul(target.rotation, rotation.inv(nodes.turn(end))), upward)
            shares = shares - upward
        if target is not None and target.position is not None:
            column = direct_column(column, target.position, shares)
        self._apply(nodes, bones, column)

    def _apply(self, nodes: Nodes, bones: tuple[int, ...], column: Column) -> None:
        before = [nodes.head(bone).copy() for bone in bones]
        after = column.joints()
        for number, bone in enumerate(bones):
            places = nodes.figure.below(bone)
            if number + 1 < len(bones):
                places = np.setdiff1d(places, nodes.figure.below(bones[number + 1]))
            nodes.move(places, column.turns[..., number, :], before[number], after[..., number, :])

    # -- the pull ---------------------------------------------------------------------------------------------------

    def _pulled(self, rests: float) -> Array:
        """The unknowns (B, D) of the trunk: remainders carried inwards, part by part, until nothing is left to do."""
        x = np.zeros((len(self.stance.heads), _UNKNOWNS))
        spans, points, gains = self._spans(), self._points(), self._gains()
        if not spans and not points:
            return x
        for _ in range(_ROUNDS):
            nodes = self._trunk(x)
            pulls = [span.pull(nodes) for span in spans]
            for target, bone in points:
                assert target.position is not None
                here = nodes.point(bone, target.point)
                pulls.append(_Pull(bone, here, target.position - here, self._pull_of(bone)))
            step = self._carry(nodes, x, pulls, gains)
            x = x + step
            if np.abs(step).max() < rests:
                break
        return x

    def _carry(self, nodes: Nodes, x: Array, pulls: list[_Pull], gains: Mapping[str, float]) -> Array:
        """What each part of the trunk does about what is left, from the clavicles inwards."""
        figure, step = self.figure, np.zeros_like(x)
        for name, unknown in (("arm.L", _LEFT), ("arm.R", _RIGHT)):
            limb = figure.limbs.get(name)
            if limb is None or limb.before < 0 or not gains["shoulder"]:
                continue
            mine = [pull for pull in pulls if pull.bone == limb.upper]
            axes = rotation.mul(nodes.turn(limb.before), figure.anatomy.axes[limb.before])
            turn = rotation.rotate(rotation.inv(axes), gains["shoulder"] * _lever(mine, nodes.head(limb.before)))
            # no further than a clavicle goes
            turn = np.clip(x[:, unknown] + turn, -_CLAVICLES, _CLAVICLES) - x[:, unknown]
            step[:, unknown] = turn
            _turned(mine, rotation.rotate(axes, turn), nodes.head(limb.before))
        upper = figure.below(figure.spine[0]) if figure.spine else ()
        above = [pull for pull in pulls if figure.place[pull.bone] in upper]
        if figure.spine and gains["spine"]:
            middle = np.mean([nodes.head(bone) for bone in figure.spine], axis=0)
            turn = gains["spine"] * _lever(above, middle)
            step[:, _SPINE] = turn
            _turned(above, turn, middle)
        hips = nodes.head(figure.hips)
        if gains["turn"]:
            step[:, _TURN] = gains["turn"] * _lever(above, hips)
            _turned(pulls, step[:, _TURN], hips)
        if gains["shift"]:
            weights = [pull.weight * lengths(pull.short) for pull in pulls]
            total = np.maximum(np.sum(weights, axis=0), np.finfo(float).tiny)
            shift = sum(weight[:, None] * pull.short for weight, pull in zip(weights, pulls, strict=True))
            step[:, _SHIFT] = gains["shift"] * shift / total[:, None] / self.skeleton.size
        return step

    def _gains(self) -> dict[str, float]:
        """The share of what is left that each part takes on."""
        figure = self.figure
        gives = {part: self.method.gives(part) for part in PARTS}
        hips, chest = self.targets.get(figure.hips), self.targets.get(figure.chest)
        free = {
            "spine": bool(figure.spine) and (chest is None or chest is hips or chest.rotation is None),
            "turn": hips is None or hips.rotation is None,
            "shift": figure.shifts and (hips is None or hips.position is None),
        }
        # the last part that may move takes on all that is left
        shares = {"spine": _SPINE_GAIN, "turn": _TURN_GAIN, "shift": 1.0}
        last = next((part for part in reversed(free) if free[part]), "")
        shares |= {last: 1.0} if last else {}
        gains = {part: gives[_OF[part]] * shares[part] * free[part] for part in free}
        return {"shoulder": gives["shoulder"] * _SHOULDER_GAIN, **gains}

    def _spans(self) -> list[_Span]:
        """Limbs with a target, the end's or else the middle joint's."""
        found: list[_Span] = []
        for name, limb in self.figure.limbs.items():
            (point, wanted), middle, pull = self.ends[name], self.middles.get(name), self._pull_of(limb.end)
            upper, lower = self.lengths[name]
            if pull <= 0.0:
                continue
            if wanted is not None:
                now = lengths(self.stance.point(limb.end, point) - self.stance.head(limb.upper))
                soft = np.maximum(self.method.reach * (upper + lower), np.minimum(now, upper + lower))
                found.append(_Span(limb.upper, wanted, soft, pull, True))
            elif middle is not None and middle.position is not None:
                found.append(_Span(limb.upper, middle.position, upper, pull, False))
        return found

    def _points(self) -> list[tuple[_Target, int]]:
        """Targets of positions that the trunk itself has to reach."""
        bones = {self.figure.chest, self.figure.head} - {-1, self.figure.hips}
        pulling = [(self.targets[bone], bone) for bone in sorted(bones) if bone in self.targets]
        return [
            (target, bone) for target, bone in pulling
            if target.position is not None and self._pull_of(bone) > 0.0
        ]  # fmt: skip

    # -- limbs ------------------------------------------------------------------------------------------------------

    def _bend(self, limb: LimbBones) -> None:
        """The limb to its target, or its middle joint, if that alone is wanted."""
        stance, (_, wanted), middle = self.stance, self.ends[limb.name], self.middles.get(limb.name)
        now = self._stands(limb)
        if wanted is None:
            if middle is not None and middle.position is not None:
                stance.turn_about(limb.upper, rotation.shortest(now.middle - now.root, middle.position - now.root))
            return
        self.bent.add(limb.name)
        field, swivel = self._field(limb), self.swivels[limb.name]
        if middle is not None and middle.position is not None:
            swivel = swivel_towards(field, now.root, wanted, middle.position)
        then = bend_limb(field, now.root, wanted, *self.lengths[limb.name], swivel)
        upper = _between(now.middle - now.root, now.normal, then.middle - then.root, then.normal)
        stance.turn_about(limb.upper, upper)
        lower = _between(
            rotation.rotate(upper, now.end - now.middle), rotation.rotate(upper, now.normal),
            then.end - then.middle, then.normal,
        )  # fmt: skip
        stance.turn_about(limb.lower, lower)

    def _stand(self, limb: LimbBones) -> None:
        """The limb's last bone as it is told, and the twist of both segments shared among their bones."""
        target, stance = self.targets.get(limb.end), self.stance
        if target is not None and target.rotation is not None:
            stance.turn_about(limb.end, rotation.mul(target.rotation, rotation.inv(stance.turn(limb.end))))
            bones = limb.twists[1] if limb.name.startswith("leg") else (limb.lower, *limb.twists[1])
            self._share_twist(bones, limb.end, with_tip=True)
        if limb.twists[0] and limb.name in self.bent:
            self._share_twist((limb.upper, *limb.twists[0]), limb.lower, with_tip=False)

    def _share_twist(self, bones: tuple[int, ...], tip: int, with_tip: bool) -> None:
        """The twist of a segment, in equal parts at its bones and, with it, at its tip; the tip stands as it stood."""
        if not bones:
            return
        stance, frame = self.stance, self.stance.turn(tip).copy()
        own = [self._twist(bone, stance.turn(bone), stance.head(tip) - stance.head(bone)) for bone in bones]
        total = np.sum(own, axis=0)
        if with_tip:
            total = total + self._twist(tip, stance.base_turn(tip), stance.head(tip) - stance.head(bones[-1]))
        # towards a half turn, which goes either way, it stays at the joint
        total = total * np.clip((np.pi - np.abs(total)) / _HALF_TURN, 0.0, 1.0)
        share = total / (len(bones) + int(with_tip))
        for bone, now in zip(bones, own, strict=True):
            stance.turn_about(bone, rotation.from_axis_angle(stance.head(tip) - stance.head(bone), share - now))
        stance.turn_about(tip, rotation.mul(frame, rotation.inv(stance.turn(tip))))

    def _twist(self, bone: int, frame: Array, way: Array) -> Array:
        """(B,) radians of a bone's own rotation about a direction (B, 3) that `frame` (B, 4) carries."""
        own = rotation.mul(rotation.inv(self.stance.base_turn(bone)), self.stance.turn(bone))
        axis = rotation.rotate(rotation.inv(frame), way)
        axis = axis / np.maximum(lengths(axis), np.finfo(float).tiny)[:, None]
        return rotation.wrap(2.0 * np.arctan2(np.sum(own[:, 1:] * axis, axis=-1), own[:, 0]))

    # -- the answer -------------------------------------------------------------------------------------------------

    def solve(self, rests: float = _RESTS) -> Solution:
        stays = self._stays()
        if stays.all():
            return self._solution(self.start, *self._errors(self.start), np.zeros(len(stays), int))
        trunk = self._trunk(self._pulled(rests))
        self.stance.heads, self.stance.turns = trunk.heads, trunk.turns
        for limb in self.figure.limbs.values():
            self._bend(limb)
            self._stand(limb)
        pose = self.stance.to_pose()
        limits = (*(self.skeleton.limits if self.method.limits else ()), *self.figure.anatomy.limits)
        locked = locked_angles(self.skeleton, self.start.rotations, self.figure.nodes.tolist())
        inside, _ = clamp_rotations((*limits, *locked), pose.rotations)
        still = stays[:, None] | ~self.skeleton.movable
        pose = replace(pose, rotations=np.where(still[..., None], self.start.rotations, inside))
        pose = replace(pose, translations=np.where(stays[:, None, None], self.start.translations, pose.translations))
        used = np.ones(len(inside), int)
        errors = self._errors(pose)
        missed = np.flatnonzero(~self._met(*errors, share=_NEARLY_MET))
        if self.method.finish and len(missed):
            ways = self._ways() if rests == _RESTS else []  # under the mouse there is no time for them
            pose, used[missed] = self._finished(pose, missed, replace(self.skeleton, limits=limits), ways)
            errors = self._errors(pose)
        return self._solution(pose, *errors, used)

    def _finished(
        self, pose: Pose, missed: NDArray[np.int64], skeleton: Skeleton, ways: list[Array]
    ) -> tuple[Pose, NDArray[np.int64]]:
        """The missed frames by the pins solver, near the pose that was found; and the steps that it took."""
        known = self.figure.anatomy
        fixed = self.method.gives("hips") == 0.0
        method = PinAndDrag(
            root="fixed" if fixed else "free", root_bone=self.figure.root, reference=pose[missed],
            deviations=self._deviations(), axes=known.axes, bends=known.bends, restarts=0,
            position_tolerance=self.method.position_tolerance, rotation_tolerance=self.method.rotation_tolerance,
        )  # fmt: skip
        goals = [goal.at((missed,), (len(pose.rotations),)) for goal in self._pulling(pose)]
        solution = method.prepare(skeleton, pose[missed], goals).solve(near=True, ways=ways)
        rotations, translations = np.array(pose.rotations), np.array(pose.translations)
        rotations[missed], translations[missed] = solution.pose.rotations, solution.pose.translations
        return replace(pose, rotations=rotations, translations=translations), solution.iterations

    def _ways(self) -> list[Array]:
        """Signs (J, 3) of turns about the anatomical axes: spine and neck the other way sideways, then forwards."""
        column = [*self.figure.spine, *self.figure.neck]
        found = np.ones((2, len(self.skeleton), 3))
        found[0, column, 1:], found[1, column, 0] = -1.0, -1.0
        return list(found)

    def _deviations(self) -> Array:
        """(J, 3) those of the anatomy, smaller where the trunk resists."""
        deviations = np.array(self.figure.anatomy.deviations)
        for part, bones in self.figure.trunk.items():
            deviations[list(bones)] *= self.method.gives(part)
        return deviations

    def _pulling(self, pose: Pose) -> list[AnyGoal]:
        """The goals as far as they pull: of an end that does not, where the limb has brought it."""
        heads, turns = forward(self.skeleton, pose)
        figure, found = self.figure, list[AnyGoal]()
        for goal, known in zip(self.wanted, self.known, strict=True):
            bone = self.skeleton.index(goal.bone)
            node = int(figure.nodes[figure.anchors[bone]])
            if known and isinstance(goal, Goal) and goal.position is not None and node in figure.ends:
                here = heads[:, bone] + rotation.rotate(turns[:, bone], goal.point)
                goal = replace(goal, position=here + self._pull_of(node) * (goal.position - here))
            found.append(goal)
        return found

    def _errors(self, pose: Pose) -> tuple[Array, Array]:
        """Distances and angles (B, G) by which the goals are missed, as far as their weights want them."""
        heads, turns = forward(self.skeleton, pose)
        far, off = np.zeros((2, len(heads), len(self.goals)))
        others = np.flatnonzero(np.logical_not(self.known))
        if len(others):
            goals = [self.wanted[number] for number in others.tolist()]
            far[:, others], off[:, others] = PinAndDrag(limits=False).prepare(self.skeleton, pose, goals).missing()
        for number, goal in enumerate(self.wanted):
            if not self.known[number] or not isinstance(goal, Goal):
                continue
            bone = self.skeleton.index(goal.bone)
            if goal.position is not None:
                here = heads[:, bone] + rotation.rotate(turns[:, bone], goal.point)
                far[:, number] = lengths(here - goal.position)
            if goal.rotation is not None:
                off[:, number] = rotation.angle_between(turns[:, bone], goal.rotation)
        return far, off

    def _met(self, far: Array, off: Array, share: float = 1.0) -> NDArray[np.bool_]:
        """(B,) frames whose goals are met within a share of the tolerances."""
        return np.all((far <= share * self.tolerance) & (off <= share * self.method.rotation_tolerance), axis=-1)

    def _stays(self) -> NDArray[np.bool_]:
        """(B,) frames whose goals are met as they are: nothing is to move there, not even by rounding."""
        return self._met(*self._errors(self.start), share=_NEARLY_MET) & (not self.method.swivel)

    def _solution(self, pose: Pose, far: Array, off: Array, used: NDArray[np.int64]) -> Solution:
        return Solution(
            self.skeleton, self.goals, pose, far, off, used, self._met(far, off), self.tolerance,
            self.method.rotation_tolerance, self.start, np.zeros(pose.rotations.shape[:-1], bool), self.method,
        ).reshape(self.batch_shape)  # fmt: skip


def _in_space(goal: AnyGoal) -> TypeGuard[Goal]:
    """Whether it is a whole position or rotation, or both, in armature space."""
    if not isinstance(goal, Goal) or goal.relative_to is not None:
        return False
    return goal.position_axes is None and goal.rotation_axes is None


def _share(weight: Array | float) -> Array:
    """(..., 1) of the way to a target."""
    return np.clip(np.asarray(weight, float), 0.0, 1.0)[..., None]


def _lever(pulls: list[_Pull], pivot: Array) -> Array:
    """(B, 3) the small turn about a pivot that serves the pulls best, by weight and by what they are short of."""
    size = np.finfo(float).tiny
    moment: Array = np.zeros_like(pivot)
    for pull in pulls:
        arm, weight = pull.place - pivot, pull.weight * lengths(pull.short)
        moment = moment + weight[:, None] * rotation.cross(arm, pull.short)
        size = size + weight * np.sum(arm * arm, axis=-1)
    return moment / np.reshape(size, (-1, 1))


def _turned(pulls: list[_Pull], turn: Array, pivot: Array) -> None:
    """Take from the pulls what a small turn does for them."""
    for pull in pulls:
        pull.short = pull.short - rotation.cross(turn, pull.place - pivot)


def _between(way: Array, normal: Array, way_after: Array, normal_after: Array) -> Array:
    """(..., 4) the rotation of a segment with its plane."""
    return rotation.from_matrix(plane_frame(way_after, normal_after) @ np.swapaxes(plane_frame(way, normal), -1, -2))
