"""Bones that stay in a pose without keys, since they have none and would change in all frames."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from .. import bridge
from ..bridge import Body, ControlledBody, ControlledFrames, Held, Rig
from ..bridge.held import FIRM
from ..bridge.turns import update
from ..core import Goal, Pose, Skeleton, forward, rotation
from ..core.body import Roles
from ..core.body.anatomy import carrier_of
from ..core.body.axes import unit
from ..core.causes import UNPINNED, Cause, Kind
from ..core.editing.footsteps import feet_but, plant_others
from ..core.goals import LAST_PRIORITY, AnyGoal
from ..core.rotation import Array
from ..core.skeleton import Indices, chain_to_root

_HEAD: Final = np.zeros(3)
_ACROSS: Final = np.array([1.0, 0.0, 0.0])  # a plane in which a limb bends, in its axes
_SAME: Final = 1e-5  # of the skeleton's size: a shift that does not count
_TURNED: Final = 1e-4  # radians: likewise
_MISSED: Final = float(np.radians(0.5))  # a part that is turned away from its wanted rotation by more is reported


class HeldRig:
    """A rig, and its body on controls if it has one, in which the channels that stay are locked.

    free: the rig as it is without that.
    goals: for the parts that stay where controls have them, and do not go with the part before them.
    still_poles: the names of poles that stay -> their parts.
    plants: whether feet on IK stay where their controls are, out of reach, too, see `bridge.hold_controls`.
    feet: these feet.
    Raises CoreError if no control is left.
    """

    def __init__(
        self, armature: Any, rig: Rig, controlled: ControlledBody | None, held: Held, plants: bool = False
    ) -> None:
        self.free, self._whole, self._held = rig, controlled, held
        self.rig, self.controlled = held.lock(rig), controlled
        self.goals: list[Goal] = []
        self.still_poles = dict[str, int]()
        self.feet: Sequence[int] = ()
        self._pivots: Mapping[int, Array] = {}
        self._tree: tuple[dict[int, int], dict[int, int]] | None = None  # of `bridge.find_barred`, once asked for
        self._unturned = held.turned(rig).any(axis=1)  # of the body's parts
        if controlled is not None:
            self._matrices = matrices = bridge.read_matrices(armature)
            if plants:
                self.feet = feet_but(controlled.skeleton, controlled.roles, controlled.planted, ())
            left = bridge.hold_controls(rig, controlled, held, matrices, self.feet)
            self.controlled, self._staying = left.controlled, bridge.StayingParts(left, matrices)
            still = self.controlled.still_poles.items()
            self.still_poles = {rig.skeleton.names[bone]: part for bone, part in still}
            self._pivots = left.pivots
            self._unturned = controlled.bones_that("turns") != self.controlled.bones_that("turns")
            self.goals = self._staying.goals(matrices)

    @property
    def first(self) -> int:
        """The first priority of what is asked for: it comes after what stays, which nothing moves."""
        return int(bool(self.goals))

    @property
    def body_of(self) -> Skeleton:
        """The skeleton that is solved."""
        return self.rig.skeleton if self.controlled is None else self.controlled.skeleton

    def body(self, body: Body) -> Body:
        """Return the body that the rig and the controls are of, without what stays."""
        return replace(body, rig=self.rig, skeleton=self.body_of, controlled=self.controlled)

    def along(self, goal: Goal) -> Goal:
        """Return a goal without the place of a part along axes in which its control is locked."""
        for one in self.goals if goal.position_axes is None else ():
            if one.position_axes is not None and self.body_of.index(one.bone) == self.body_of.index(goal.bone):
                return replace(goal, position_axes=1.0 - one.position_axes, axes=one.axes)
        return goal

    def yielding(self, goal: AnyGoal) -> tuple[AnyGoal, Goal | None]:
        """Return a goal without the rotation of a part that stays, and that as a goal which gives way to all others.

        A part that cannot turn by itself would have the body turn it, and could not keep its place else. The goal of a
        pole that stays is off.
        """
        place = self.body_of.index(goal.bone)
        if isinstance(goal, Goal) and place in self.still_poles.values():
            return replace(goal, position_weight=0.0, rotation_weight=0.0), None
        goal = self.along(goal) if isinstance(goal, Goal) else goal
        if not isinstance(goal, Goal) or goal.position is None or goal.rotation is None or not self._unturned[place]:
            return goal, None
        return replace(goal, rotation=None), replace(goal, position=None, priority=LAST_PRIORITY)

    def plant(
        self, roles: Roles, pose: Pose, ends: Iterable[int], goals: Sequence[AnyGoal], last: int
    ) -> tuple[list[Goal], int, float]:
        """Return goals that keep some ends of limbs on IK where a pose (...) of the body has them, beside other goals.

        What cannot turn by itself goes on with the part before it, about the point at which its control is. They give
        way to the `last` priority that is asked for, but not to a balance: no bent knee presses a foot down. Also
        return the last priority with theirs, and the share of the strength that this has: each level pulls twice as
        hard as the one after it, so what is asked for is pulled as without them.
        """
        points = {end: self._pivots.get(end, _HEAD) for end in ends}
        planted = plant_others(self.body_of, roles, pose, points, goals, last + 1)
        turning = [not self._unturned[self.body_of.index(goal.bone)] for goal in planted]
        kept = [goal if own else replace(goal, rotation=None) for goal, own in zip(planted, turning, strict=True)]
        return kept, last + bool(kept), 1.0 / (1 + bool(kept))

    def explain_yielded(self, goal: Goal) -> str:
        """Return that the rotation of a part's pin is missed, since the part stays."""
        skeleton = self.body_of
        return (
            f"{skeleton.names[skeleton.index(goal.bone)]} cannot rotate by itself, so its pin holds only its position"
        )

    def explain_locked(self, part: int) -> list[str]:
        """Return that a lock keeps the control of a part of the body from rotating it, in a list; or nothing."""
        if self._whole is None or not self._unturned[part]:
            return []
        control = self._whole.controls[part].turns
        locked = self.free.skeleton.rotation_locks[control].any() and not self._held.turned(self.free)[control].any()
        return [f'"{self.free.skeleton.names[control]}" is locked: unlock its rotation to rotate it'] if locked else []

    def hold(self, controlled: ControlledBody) -> ControlledBody:
        """Return the body with other controls, without those of them that stay."""
        return bridge.hold_controls(self.free, controlled, self._held, self._matrices, self.feet).controlled

    def unsteered(self, controlled: ControlledBody, asked: Sequence[int]) -> Indices:
        """Return the parts of limbs on IK that bend as Blender has it, in the drag of a body.

        Those that bend with an `asked` part only where what would turn them stays: where nothing ever does, the report
        says by how much IK misses the pose.
        """
        loose = controlled.unsteered_but(asked)
        never = loose[:0] if self._whole is None else self._whole.unsteered_but(asked)
        bent = np.isin(controlled.ends[loose], [*controlled.bent_with(asked)])
        return loose[~(bent & np.isin(loose, never))]

    def planes(
        self, controlled: ControlledBody | None, skeleton: Skeleton, pose: Pose, goals: Sequence[AnyGoal]
    ) -> list[Goal]:
        """Return goals that keep joints of limbs in the planes in which Blender bends them, where one has a goal.

        The planes go with what such a limb hangs on: no control turns it, and what Blender shows is taken over.
        """
        asked = [skeleton.index(goal.bone) for goal in goals]
        if controlled is None:
            return []
        bent = controlled.bent_with(asked)
        loose = [part for part in self.unsteered(controlled, asked) if controlled.ends[part] in bent]
        if not loose:
            return []
        (heads, turns), firsts = forward(skeleton, pose), controlled.firsts
        found: list[Goal] = []
        for joint in loose:
            end = int(controlled.ends[joint])
            first = int(firsts[end])
            base = int(skeleton.parents[first])
            if joint in (first, end) or base < 0:
                continue
            own = rotation.inv(turns[base])
            across = unit(np.cross(heads[end] - heads[first], heads[joint] - heads[first]))
            axes = rotation.mul(own, rotation.shortest(_ACROSS, across))
            place = rotation.rotate(own, heads[joint] - heads[base])
            found.append(Goal(joint, place, position_weight=FIRM, position_axes=_ACROSS, axes=axes, relative_to=base))
        return found

    def follows(self, armature: Any, parts: Iterable[int] | None = None) -> dict[str, Cause]:
        """Return the objects that the ends of limbs of some parts, or of all, follow by IK that no control leads.

        By their names; and what the first part follows, if nothing of the body moves it.
        """
        body, names, said = self._whole, self.free.skeleton.names, dict[str, Cause]()
        if body is None:
            return said
        parts = [*range(len(body.ends))] if parts is None else [*parts]
        firsts = [part for part in parts if body.skeleton.parents[part] < 0 and not body.skeleton.movable[part]]
        for end in (*firsts, *body.limbs_of(parts)):
            if body.controls[end].moves >= 0:
                continue
            target = body.targets.get(end, int(body.bones[end]) if end in firsts else -1)
            led = int(body.leaders[body.skeleton.parents[end]]) if target < 0 else target
            followed = bridge.followed_object(armature, names[led])
            if followed is not None:
                said[body.skeleton.names[end]] = Cause(Kind.FOLLOWS, body.skeleton.names[end], followed)
        return said

    def barred(self, armature: Any, roles: Roles, parts: Sequence[int], pinned: Sequence[int]) -> list[Cause]:
        """Return what drives parts of the body, of what they are between and of all that carries them, if nothing is.

        roles: of the rig
        """
        if self._tree is None:
            self._tree = bridge.find_barred(armature, self.free, roles)
        (order, barred), body, skeleton = self._tree, self._whole, self.free.skeleton
        posed = {*([] if body is None else body.bones[~body.carried].tolist())}
        bones = [int(part if body is None else body.bones[part]) for part in (*parts, *pinned)]
        ways = [_way(skeleton, order, bone) for bone in bones]
        shared = set.intersection(*map(set, ways)) if len(ways) > 1 else set[int]()
        found = dict.fromkeys(bone for way in ways for bone in way if bone in barred.keys() - shared - posed)
        names = [skeleton.names[barred[bone]] for bone in found]
        return [Cause(Kind.DRIVEN, name, self.free.driven[name]) for name in dict.fromkeys(names)]

    def retold(self, armature: Any, asked: Container[str]) -> Callable[[Cause], Cause]:
        """Return a function that returns a solver's cause in other words where it takes for a pin what is none.

        An object holds the bone, or the tool itself, if nobody `asked` for it.
        """
        tied = self.follows(armature)

        def told(cause: Cause) -> Cause:
            if cause.bone in tied and (cause.kind in UNPINNED or cause.kind is Kind.ANOTHER_TARGET):
                return tied[cause.bone]
            return cause if cause.bone in asked else cause.seen({}, UNPINNED)

        return told

    def hold_frames(self, controlled: ControlledFrames, matrices: Array | None) -> ControlledFrames:
        """Return a body over frames without the controls that stay.

        Their parts are held where the evaluated rig has them in each frame, matrices (F, J, 3, 4); None: in this one.
        """
        if matrices is None:
            return controlled.changed(self.hold)
        bodies = *controlled.bodies, controlled.now
        *left, now = (bridge.hold_controls(self.free, body, self._held) for body in bodies)
        self.goals = []
        for number, body in enumerate(left):
            weight = FIRM * (controlled.which == number)
            self.goals += [
                replace(goal, position_weight=weight, rotation_weight=weight)
                for goal in bridge.StayingParts(body, matrices).goals(matrices)
            ]
        return replace(controlled, bodies=tuple(body.controlled for body in left), now=now.controlled)

    def explain_missed(self, wanted: Pose, now: Pose) -> tuple[list[str], Pose]:
        """Return sentences about what of a wanted pose of the body stays, and the pose without that."""
        off = rotation.angle_between(wanted.rotations, now.rotations) > _MISSED
        stays = np.zeros(len(off), bool)
        if self._whole is None:
            stays = self._held.turned(self.free).any(axis=1)
        rotations = np.where(stays[:, None], now.rotations, wanted.rotations)
        return self.explain(np.flatnonzero(off).tolist()), replace(wanted, rotations=rotations)

    def follow(self, context: Any, armature: Any) -> bool:
        """Have the goals go with what carries their controls; return whether they moved."""
        if not self.goals:
            return False
        update(context)
        before, self.goals = self.goals, self._staying.goals(bridge.read_matrices(armature))
        near = _SAME * self.rig.skeleton.size
        return any(_apart(*pair, near) for pair in zip(before, self.goals, strict=True))

    def explain_above(self, bones: Iterable[int], roles: Roles) -> list[str]:
        """Return sentences about what stays of bones of the body, and of those above up to what carries the body.

        A bone at the feet that moves the whole character has no part in what these do.
        """
        carrier, found = carrier_of(self.body_of, roles), set[int]()
        for bone in bones:
            above = self.body_of.ancestors(bone)
            found.update(above[: above.index(carrier) + 1] if carrier in above else above)
        return self.explain(found)

    def explain(self, parts: Iterable[int], body: ControlledBody | None = None) -> list[str]:
        """Return sentences about what stays of some parts (indices) of the body, or bones of a rig without controls.

        `body`: the body with other controls.
        """
        if not self._held:
            return []
        skeleton, chosen = self.free.skeleton, sorted({*parts})
        whole = body or self._whole
        if whole is None:
            roots = [bone for bone in chosen if skeleton.parents[bone] < 0 and skeleton.translatable[bone].any()]
            return self._held.explain(self.free, [bone for bone in chosen if skeleton.movable[bone]], roots)
        riding = {part: whole.riding[bone] for part, bone in enumerate(whole.bones.tolist()) if bone in whole.riding}
        chosen += [pole for pole, part in {**whole.poles, **riding}.items() if part in chosen]
        turning = np.array([whole.bones_that(what)[chosen] for what in ("turns", "begins", "blends")]).ravel()
        moving = np.array([whole.bones_that(what)[chosen] for what in ("moves", "aims")]).ravel()
        return self._held.explain(self.free, turning[turning >= 0].tolist(), moving[moving >= 0].tolist())


def _way(skeleton: Skeleton, order: Mapping[int, int], bone: int) -> list[int]:
    """Return the bones of a tree (bone -> the one before it) from the one that carries a bone to its first.

    Of a bone that none of these carries its ancestors.
    """
    above = skeleton.ancestors(bone)
    carrier = next((one for one in above if one in order), -1)
    return above if carrier < 0 else chain_to_root(order, carrier)


def _apart(one: Goal, other: Goal, near: float) -> bool:
    """Return whether two goals of a part differ by more than a length, or an angle."""
    far = turned = 0.0
    if one.position is not None and other.position is not None:
        far = float(np.linalg.norm(one.position - other.position))
    if one.rotation is not None and other.rotation is not None:
        turned = float(rotation.angle_between(one.rotation, other.rotation))
    return far > near or turned > _TURNED
