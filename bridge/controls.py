"""Rigs whose body bones are driven: which bones a user keys in their place, and how those bring the body to a pose.

The body of such a rig is a skeleton of its own: the bones that play parts, hung on each other as in a body, standing
where Blender evaluates them. What is solved there is brought to the controls by looking: each control is turned by what
its part is off, taking it to ride on the part before; Blender evaluates; what is left is turned again.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import bpy
import numpy as np

from ..core import CoreError, Pose, Skeleton, rotation
from ..core.body import BODY, SIDES, Roles
from ..core.body.gaze import is_eye
from ..core.body.roles import PARTS_OF_HANDS
from ..core.limits import Framed, LimitGroup, clamp_rotations
from ..core.pose import forward, frame_rotations
from ..core.rotation import Array
from ..core.skeleton import Flags, Indices
from .armature import Rig, read_matrices, read_pose, write_pose
from .channels import ArmatureObject, read_channels, write_channels
from .driven import decided_by, split_path

_SAME_PLACE: Final = 1e-3  # of the size, between the head of a bone and its control's
_ALIGNED: Final = float(np.cos(np.radians(15.0)))
_ROUNDS: Final = 12
_NOISE: Final = 1e-4  # radians, or parts of the size: less is what single precision makes of a bone that stands still
_THERE: Final = float(np.radians(0.02))
# In a tick that others follow: errors that nobody sees, radians and parts of the size.
_GLANCE: Final = float(np.radians(1.0))
_SEEN: Final = 5e-4
_EASED: Final = 0.7  # of the twist that was left is left again: turning the control has nothing to do with it
_ASTRAY: Final = float(np.radians(3.0))  # a part that is further off after all rounds is not led by its control
_BY_PLACE: Final = {
    "STRETCH_TO", "DAMPED_TRACK", "TRACK_TO", "LOCKED_TRACK", "IK", "COPY_LOCATION", "LIMIT_DISTANCE",
}  # fmt: skip
_GAZES: Final = {"DAMPED_TRACK", "TRACK_TO", "LOCKED_TRACK"}
_BEFORE: Final = {  # what a part hangs on, the nearest that is there
    "neck": ("spine", "hips"), "head": ("neck", "spine", "hips"), "shoulder": ("spine", "hips"),
    "upper_arm": ("shoulder", "spine", "hips"), "forearm": ("upper_arm",), "hand": ("forearm",),
    "thigh": ("hips",), "shin": ("thigh",), "foot": ("shin",), "toe": ("foot",), "spine": ("hips",),
}  # fmt: skip
_BEHIND: Final = {"leg", "leg.hind", "tail"}  # of a creature: they hang where its spine begins


@dataclass(frozen=True)
class Control:
    """A bone that is keyed for one of the body: it turns it, moves it, both, or is what it aims at; -1 for none.

    begins: the bone itself, where an IK chain without a pole bends it: Blender's solver begins from its channels, and
    stays where these have the end of the chain at its goal.
    """

    turns: int = -1
    moves: int = -1
    aims: int = -1
    begins: int = -1


@dataclass(frozen=True, eq=False)
class ControlledBody:
    """A body that is led by controls.

    skeleton, roles   of the body's own bones, by their names
    bones (N,)        those bones in the rig
    controls          of each of them
    hangs (N,)        whether its control goes along with the part before
    rigid (N,)        segments of limbs: they may be stretched now, but not by what turns them
    switches          bone of the body -> (bone, property, value): what has to be so for its control to lead it
    riding            further bones of the rig -> bone of the body: where they are led, that is
    goals             what IK chains of the rig go after, and their poles
    """

    skeleton: Skeleton
    roles: Roles
    bones: Indices
    controls: tuple[Control, ...]
    hangs: Flags
    rigid: Flags
    switches: Mapping[int, tuple[str, str, float]]
    riding: Mapping[int, int]
    goals: frozenset[int]

    def serves(self, rig: Rig, bones: Iterable[int]) -> bool:
        """Whether one of these is led with this body alone: it is driven, hangs on what is, or leads a limb by IK."""
        led = [bone for bone in bones if bone in self.parts()]
        return any(bone in self.goals or rig.driven_above(bone) or not rig.skeleton.movable[bone] for bone in led)

    def parts(self) -> dict[int, int]:
        """Bone of the rig -> bone of the body: its own, those that turn them, and those that ride on them."""
        turners = {control.turns: part for part, control in enumerate(self.controls) if control.turns >= 0}
        return {**turners, **{int(bone): part for part, bone in enumerate(self.bones)}, **self.riding}

    @property
    def led(self) -> set[int]:
        """The bones that are keyed for those of the body: what turns, moves and is aimed at, and where IK begins."""
        return {bone for one in self.controls for bone in (one.turns, one.moves, one.aims, one.begins)} - {-1}


def find_controlled(
    armature: ArmatureObject,
    rig: Rig,
    roles: Roles,
    besides: Sequence[int] = (),
    along: bool = False,
    poles: bool = False,
) -> ControlledBody | None:
    """The body's controls where its bones are driven, or do not hang on each other; None where they are led by none.

    `besides`: other bones that are to ride on the body, as far as they lead a part of it, or are driven by one. Those
    that led it otherwise than its control does, as by IK, go with it, poles of IK with their segment; with `along` all
    that stand where it stands now, with `poles` those of segments that no control turns. On the first of `besides` the
    body is moved, if all of it hangs there.
    """
    order = _tree(roles)
    limbs = {roles.bones.get(f"{part}.{side}") for side in SIDES for part in ("upper_arm", "forearm", "thigh", "shin")}
    if "hips" not in roles.bones and "spine" not in roles.limbs:
        return None
    skeleton = rig.skeleton
    apart = {bone for bone, parent in order.items() if parent >= 0 and parent not in skeleton.ancestors(bone)}
    if not apart and all(skeleton.movable[bone] for bone in order):
        return None
    graph = _Graph(armature, rig)
    first = next(iter(order))
    order = _with_twists(order, roles, graph)
    eyes = {eye: target for eye, target in graph.gazes.items() if eye not in order and roles.bone("head") in order}
    order |= dict.fromkeys(eyes, roles.bone("head"))
    controls: dict[int, Control] = {}
    for bone in tuple(order):
        parent = order[bone]
        if bone in eyes:
            controls[bone] = Control(aims=eyes[bone])
            continue
        if parent < 0:
            control = graph.mover(bone, order, besides[:1])
        else:
            control = graph.turner(bone, parent, controls[parent].turns)
        ik = graph.goal(bone)
        if ik >= 0:
            control = replace(control, moves=ik)
        elif bone in apart and control.turns == bone and skeleton.translatable[bone].all():
            control = Control(bone, bone)
        if control == Control() and bone not in graph.in_chains:
            if bone in limbs:
                return None
            order = {b: parent if p == bone else p for b, p in order.items()}  # what hangs on it hangs on what it does
            continue
        controls[bone] = replace(control, begins=bone) if control == Control() and bone in graph.begun else control
    if first not in controls:
        return None
    turners = {control.turns: part for part, control in controls.items()}
    carriers = graph.upstream(controls[first].turns).keys()  # the body leads nothing that it hangs on
    others = graph.twins(controls) if along else set[int]()
    bent = {bone for bone, control in controls.items() if control.turns < 0}
    others |= {pole for pole, chain in graph.poles.items() if poles and chain & bent}
    besides = [*besides, *(others - {*besides})]
    riding = {bone: turners.get(bone, graph.part_of(bone, controls)) for bone in besides
              if bone not in controls and bone not in carriers}  # fmt: skip
    riding = {bone: part for bone, part in riding.items() if part >= 0 and part not in eyes}  # they go their own ways
    body = dict(controls)
    for bone, part in riding.items():
        first_led = next((other for other in body if bone in graph.upstream(other)), part)
        switched = graph.switch(first_led, body[first_led].turns) is not None
        goes_along = switched and bone not in turners and graph.moving[bone] and not graph.hangs(bone, part, body)
        order[bone] = part
        controls[bone] = Control(bone, bone) if goes_along else Control(moves=bone if bone in graph.poles else -1)
    bones = [bone for bone in order if bone in controls]
    return _hung(rig.skeleton, roles, bones, order, controls, graph, riding)


def lone_controls(rig: Rig, roles: Roles, bones: Iterable[int]) -> ControlledBody:
    """Bones that hang on driven ones and have locations of their own, as of a face: each a body of one bone."""
    whole, numbers = rig.skeleton, list(bones)
    rest, count = whole.rest_matrices[numbers], len(numbers)
    skeleton = Skeleton(
        tuple(whole.names[bone] for bone in numbers),
        np.full(count, -1),
        rest[:, :, 3],
        frame_rotations(rest[:, :, :3]),
        whole.lengths[numbers],
        movable=whole.movable[numbers],
    )
    controls = tuple(Control(bone if whole.movable[bone] else -1, bone) for bone in numbers)
    apart = np.zeros(count, bool)
    roles = replace(roles, bones={}, twist={}, limbs={})
    return ControlledBody(skeleton, roles, np.array(numbers), controls, apart, apart, {}, {}, frozenset())


def _chains(roles: Roles) -> dict[str, tuple[int, ...]]:
    """Part -> its bones, what others hang on first; of a creature its limbs."""
    if not roles.humanoid:
        trunk = [name for name in ("spine", "neck", "head") if name in roles.limbs]
        return {name: roles.limbs[name] for name in (*trunk, *(name for name in roles.limbs if name not in trunk))}
    hands = sorted(PARTS_OF_HANDS, key=lambda role: not role.startswith("palm"))
    found = {role: roles.bones.get(role, ()) for role in (*BODY, *hands)}
    return {role: (bones,) if isinstance(bones, int) else bones for role, bones in found.items() if bones != ()}


def _tree(roles: Roles) -> dict[int, int]:
    """Bones of the body -> what they hang on, as in a body, parents first; -1 for the first."""
    found: dict[int, int] = {}
    chains = _chains(roles)
    for role, chain in chains.items():
        part, side = (role[:-2], role[-2:]) if role[-2:] in (".L", ".R") else (role, "")
        names = _BEFORE.get(part, (f"palm.{part}", "hand") if roles.humanoid else ("spine",))
        above = next((chains[n] for name in names for n in (f"{name}{side}", name) if n in chains and n != role), ())
        if found and not above:
            continue  # what hangs on nothing is none of this body
        before = above[0 if part in _BEHIND else -1] if found else -1
        for bone in chain:
            if bone not in found and (before < 0 or before in found):
                found[bone] = before
            before = bone
    return found


def _with_twists(order: Mapping[int, int], roles: Roles, graph: "_Graph") -> dict[int, int]:
    """The tree with free twist bones between a part and the one that it hangs on, as in the rig."""
    twists = {bone for chain in roles.twist.values() for bone in chain if graph.turning[bone]}
    found: dict[int, int] = {}
    for bone, parent in order.items():
        chain = graph.rig.skeleton.ancestors(bone)
        between = chain[1 : chain.index(parent)] if parent in chain else []
        for link in reversed([link for link in between if link in twists and link not in order]):
            found[link], parent = parent, link
        found[bone] = parent
    return found


class _Graph:
    """What decides what, by bones' numbers."""

    def __init__(self, armature: ArmatureObject, rig: Rig) -> None:
        self.rig, self.object = rig, armature
        skeleton = rig.skeleton
        self.rest = skeleton.rest_matrices
        self.above: list[set[int]] = [{int(parent)} - {-1} for parent in skeleton.parents]
        self.turned_by = [set(above) for above in self.above]  # without what matters by its place alone
        self.in_chains: set[int] = set()
        self.begun: set[int] = set()  # of chains that bend as they are when Blender's solver begins
        self.goals: dict[int, int] = {}
        self.poles: dict[int, set[int]] = {}  # free bones that say where an IK chain bends to -> the chain
        self.gazes: dict[int, int] = {}  # eyeballs, and the free bones that they aim at
        for bone in armature.pose.bones:
            for constraint in bone.constraints:
                targets = [getattr(constraint, "subtarget", ""), getattr(constraint, "pole_subtarget", "")]
                targets += [target.subtarget for target in getattr(constraint, "targets", ())]
                named = {skeleton.index(name) for name in targets if name in armature.pose.bones}
                for decided in decided_by(constraint, bone):
                    bone_decided = skeleton.index(decided)
                    self.above[bone_decided] |= named - {bone_decided}
                    if constraint.type not in _BY_PLACE:
                        self.turned_by[bone_decided] |= named - {bone_decided}
                if not named or constraint.mute or constraint.influence == 0.0:
                    continue
                if constraint.type == "IK":
                    self._note_chain(constraint, bone)
                if constraint.type in _GAZES and is_eye(bone.name) and skeleton.translatable[list(named)].all():
                    self.gazes[skeleton.index(bone.name)] = min(named)
        self._upstream: dict[int, dict[int, int]] = {}
        locks = np.array([list(bone.lock_rotation) for bone in armature.pose.bones])
        self.turning = skeleton.movable & ~locks.all(axis=1) & (locks.sum(axis=1) < 2)
        self.moving = self.turning & skeleton.translatable.all(axis=1)

    def _note_chain(self, constraint: Any, bone: Any) -> None:
        """An IK chain whose end is led by a free bone."""
        index = self.rig.skeleton.index
        target = index(constraint.subtarget) if constraint.subtarget in self.object.pose.bones else -1
        chain = [index(name) for name in decided_by(constraint, bone)]
        if constraint.pole_subtarget in self.object.pose.bones:
            pole = index(constraint.pole_subtarget)
            if self.rig.skeleton.translatable[pole].all():
                self.poles.setdefault(pole, set()).update(chain)
        self.in_chains |= set(chain)
        if constraint.pole_target is None:
            skeleton = self.rig.skeleton
            free = skeleton.inherit_rotation & ~skeleton.rotation_locks.any(axis=1)
            self.begun |= {link for link in chain if free[link]}
        if target >= 0 and self.rig.skeleton.translatable[target].all():
            for below in bone.children:
                self.goals.setdefault(index(below.name), target)

    def upstream(self, bone: int) -> dict[int, int]:
        """All that a bone depends on, with the number of steps to it."""
        if bone not in self._upstream:
            self._upstream[bone] = _reach(self.above, bone)
        return self._upstream[bone]

    def turner(self, bone: int, part: int, above: int) -> Control:
        """The free bone that has this one's place and direction, and does not turn the part before.

        Of several one that hangs on the control `above` of that part, and of those the nearest.
        """
        if self.turning[bone]:
            return Control(turns=bone)
        steps, before = self.upstream(bone), _reach(self.turned_by, part)
        near = [other for other in steps if self.turning[other] and other not in before and self._fits(other, bone)]
        near.sort(key=lambda other: (above not in self.upstream(other), steps[other], other))
        return Control(turns=near[0]) if near else Control()

    def mover(self, bone: int, body: Iterable[int], wanted: Sequence[int]) -> Control:
        """The free bone nearest to the hips on which the whole body hangs; one of `wanted` before others."""
        carried = [other for other in body if not self.turning[other]]
        places = self.rest[:, :, 3]
        able = [other for other in self.upstream(bone) if self.moving[other]]
        able = [other for other in able if all(other in self.upstream(part) for part in carried)]
        own = bone if self.turning[bone] and self.rig.skeleton.translatable[bone].all() else -1
        if own >= 0 and (own in wanted or not {*able} & {*wanted}):
            return Control(own, own)
        able.sort(key=lambda other: (other not in wanted, float(np.linalg.norm(places[other] - places[bone]))))
        return Control(able[0], able[0]) if able else Control(turns=bone if self.turning[bone] else -1)

    def goal(self, bone: int) -> int:
        """The bone that leads an IK chain to this one's head; -1: none."""
        return self.goals.get(bone, -1) if bone not in self.in_chains else -1

    def part_of(self, bone: int, controls: Mapping[int, Control]) -> int:
        """The part that a bone leads, of several the nearest; if bones drive it the one it hangs on; -1: none."""
        places = self.rest[:, :, 3]
        led = [part for part in controls if bone in self.upstream(part)]
        if led:
            return min(led, key=lambda part: float(np.linalg.norm(places[part] - places[bone])))
        driven = self.rig.skeleton.driven[bone] and self.above[bone] - {int(self.rig.skeleton.parents[bone])}
        steps = self.upstream(bone) if driven else {}
        parts = {other: part for part, control in controls.items() for other in (part, control.turns)}
        return parts[min(parts.keys() & steps, key=steps.__getitem__)] if parts.keys() & steps else -1

    def twins(self, controls: Mapping[int, Control]) -> set[int]:
        """Free bones that lead a part otherwise than its control does, and stand where it stands now: IK controls."""
        places, near = read_matrices(self.object)[:, :, 3], _SAME_PLACE * self.rig.skeleton.size
        return {
            bone
            for part, control in controls.items() if self.switch(part, control.turns) is not None
            for bone in self.upstream(part).keys() - self.upstream(control.turns).keys()
            if self.moving[bone] and np.linalg.norm(places[bone] - places[part]) < near
        }  # fmt: skip

    def hangs(self, control: int, part: int, controls: Mapping[int, Control]) -> bool:
        """Whether a control goes along with a part of the body, or with that part's control."""
        if control < 0 or part < 0:
            return False
        upstream = self.upstream(control)
        return part in upstream or controls[part].turns in upstream

    def switch(self, bone: int, control: int) -> tuple[str, str, float] | None:
        """What property fades out the constraints that come after the one by which `control` leads this bone."""
        if control < 0:
            return None
        drivers = self.object.animation_data.drivers if self.object.animation_data else ()
        for other in (bone, *self.upstream(bone)):
            constraints = self.object.pose.bones[other].constraints
            places = [place for place, constraint in enumerate(constraints)
                      if getattr(constraint, "subtarget", "") == self.rig.skeleton.names[control]]  # fmt: skip
            for constraint in constraints[places[0] + 1 :] if places else ():
                path = constraint.path_from_id("influence")
                for curve in drivers:
                    variables = curve.driver.variables if curve.data_path == path else ()
                    for variable in variables:
                        found = split_path(variable.targets[0].data_path)
                        if found is not None and found[1].startswith('["'):
                            return found[0], found[1][2:-2], 1.0
        return None

    def _fits(self, other: int, bone: int) -> bool:
        far = np.linalg.norm(self.rest[other, :, 3] - self.rest[bone, :, 3])
        return bool(
            far < _SAME_PLACE * self.rig.skeleton.size and self.rest[other, :, 1] @ self.rest[bone, :, 1] > _ALIGNED
        )


def _reach(edges: list[set[int]], bone: int) -> dict[int, int]:
    """What can be come to from a bone, with the number of steps."""
    found: dict[int, int] = {}
    ring, step = {bone}, 0
    while ring:
        step += 1
        ring = {other for start in ring for other in edges[start] if other not in found}
        found |= dict.fromkeys(ring, step)
    return found


def _hung(
    skeleton: Skeleton, roles: Roles, bones: list[int], order: Mapping[int, int], controls: Mapping[int, Control],
    graph: _Graph, riding: Mapping[int, int],
) -> ControlledBody:  # fmt: skip
    place = {bone: number for number, bone in enumerate(bones)}
    parents = np.array([place.get(order[bone], -1) for bone in bones])
    rest = skeleton.rest_matrices[bones]
    turns = frame_rotations(rest[:, :, :3])
    above = np.where((parents >= 0)[:, None], turns[parents], rotation.IDENTITY)
    origin = np.where((parents >= 0)[:, None], rest[parents, :, 3], 0.0)
    body = Skeleton(
        tuple(skeleton.names[bone] for bone in bones),
        parents,
        rotation.rotate(rotation.inv(above), rest[:, :, 3] - origin),
        rotation.mul(rotation.inv(above), turns),
        skeleton.lengths[bones],
        limits=_limits_of_parts(skeleton, controls, graph, order, place, turns),
        movable=~np.isin(bones, list(riding)),
        translatable=np.array([[controls[bone].moves >= 0 and parents[place[bone]] < 0] * 3 for bone in bones]),
    )
    known: dict[str, Any] = {}
    for role, found in roles.bones.items():
        if isinstance(found, int):
            known |= {role: place[found]} if found in place else {}
        else:
            known[role] = tuple(place[bone] for bone in found if bone in place)
    limbs = {name: tuple(place[bone] for bone in chain if bone in place) for name, chain in roles.limbs.items()}
    twist = {role: tuple(place[bone] for bone in chain if bone in place) for role, chain in roles.twist.items()}
    twist = {role: chain for role, chain in twist.items() if chain}
    known = {role: found for role, found in known.items() if found != ()}
    lean = replace(roles, bones=known, twist=twist, limbs=limbs)
    switches = {place[bone]: found for bone in bones
                if (found := graph.switch(bone, controls[bone].turns)) is not None}  # fmt: skip
    ends = {roles.bones.get(f"{part}.{side}") for side in SIDES for part in ("forearm", "hand", "shin", "foot")}
    ends |= {bone for name, chain in roles.limbs.items() if name.startswith(("leg", "arm")) for bone in chain[1:]}
    rigid = np.isin(bones, [bone for bone in ends if isinstance(bone, int)])
    hangs = np.array([graph.hangs(controls[bone].turns, order[bone], controls) for bone in bones])
    return ControlledBody(
        body, lean, np.array(bones), tuple(controls[bone] for bone in bones), hangs, rigid, switches,
        {bone: place[part] for bone, part in riding.items()}, frozenset({*graph.goals.values(), *graph.poles}),
    )  # fmt: skip


def _limits_of_parts(
    skeleton: Skeleton, controls: Mapping[int, Control], graph: _Graph, order: Mapping[int, int],
    place: Mapping[int, int], turns: Array,
) -> tuple[LimitGroup, ...]:  # fmt: skip
    """What the controls' limits are for the parts that they turn, where they hang on the part before as these do."""
    parts = {
        control.turns: bone for bone, control in controls.items()
        if control.turns >= 0 and order[bone] >= 0 and graph.hangs(control.turns, order[bone], controls)
    }  # fmt: skip
    found: list[LimitGroup] = []
    for group in _limits_of(skeleton, parts):
        own = [place[parts[bone]] for bone in group.bones.tolist()]
        frames = frame_rotations(skeleton.rest_matrices[group.bones][:, :, :3])
        away = rotation.mul(rotation.inv(frames), turns[own])  # (k, 4) the parts at rest, in the controls' frames
        found.append(Framed(group, away, rotation.inv(away), own))
    return tuple(found)


def _limits_of(skeleton: Skeleton, bones: Container[int]) -> tuple[LimitGroup, ...]:
    """The limits of some bones."""
    kept = [(group, [place for place, bone in enumerate(group.bones.tolist()) if bone in bones])
            for group in skeleton.limits]  # fmt: skip
    return tuple(group.take(np.array(places)) for group, places in kept if places)


def with_beginnings(rig: Rig, controlled: ControlledBody) -> Rig:
    """The rig with bones that IK bends as ones that may be turned: they then bend as the body's pose has them."""
    movable = np.array(rig.skeleton.movable)
    movable[[control.begins for control in controlled.controls if control.begins >= 0]] = True
    return replace(rig, skeleton=replace(rig.skeleton, movable=movable))


def read_controlled(controlled: ControlledBody, matrices: Array, loose: bool = False) -> Pose:
    """The pose (...) of the body as its bones stand, from the rig's evaluated matrices (..., J, 3, 4).

    loose: ends of limbs that hang on nothing in the rig are where they are, not where the limbs end.
    """
    skeleton, parents = controlled.skeleton, controlled.skeleton.parents
    own = matrices[..., controlled.bones, :, :]
    free = [
        loose and control.moves == bone for control, bone in zip(controlled.controls, controlled.bones, strict=True)
    ]
    rigid = controlled.rigid & ~np.array(free)
    heads, turns = own[..., 3], frame_rotations(own[..., :3])
    hangs = (parents >= 0)[:, None]
    above = np.where(hangs, turns[..., parents, :], rotation.IDENTITY)
    origin = np.where(hangs, heads[..., parents, :], 0.0)
    base = rotation.mul(above, skeleton.rest_rotations)
    away = rotation.rotate(rotation.inv(above), heads - origin) - skeleton.offsets
    moved = rotation.rotate(rotation.inv(skeleton.rest_rotations), away) * ~rigid[:, None]
    return Pose(rotation.normalize(rotation.mul(rotation.inv(base), turns)), moved)


@dataclass(frozen=True, eq=False)
class Led:
    """What a body was led by: the rig's pose after, the bones turned and moved, and properties that were set.

    held: the controls that a limit of theirs kept from bringing their part where it is wanted
    """

    pose: Pose
    turned: list[int]
    moved: list[int]
    switched: dict[tuple[str, str], Any]  # with what they were
    held: list[int] = field(default_factory=list[int])


def lead_controls(
    armature: ArmatureObject,
    rig: Rig,
    controlled: ControlledBody,
    pose: Pose,
    passing: bool = False,
    looks: bool = True,
) -> Led:
    """Bring the controls to where the body stands as in `pose`; `passing`: near enough for the eye, others follow.

    Without `looks` eyes go on aiming at what they aim at. Controls go as far as their limits let them.

    Raises CoreError, with the controls as they were, where a part does not follow its control.
    """
    context: Any = bpy.context
    context.view_layer.update()
    start = now = read_pose(armature, rig)
    channels = read_channels(armature, rig.channels)
    turned = np.array([control.turns for control in controlled.controls])
    moved = np.array([control.moves for control in controlled.controls])
    present = read_controlled(controlled, read_matrices(armature))
    pose, stopped = _within(controlled.skeleton.limits, present, pose)
    wanted_heads, wanted = forward(controlled.skeleton, pose)
    limits = _limits_of(rig.skeleton, set(turned.tolist()))
    held = np.zeros(len(wanted), bool)  # parts whose control is at its limit, and what hangs on those
    aims = np.array([control.aims for control in controlled.controls])
    same = rotation.angle_between(pose.rotations, present.rotations) < _NOISE
    aims[same | (not looks)] = -1
    follows = (turned >= 0) | (aims >= 0)
    before = _set_switches(armature, controlled, pose, present)
    begins = np.array([control.begins for control in controlled.controls])
    begins[~rig.skeleton.movable[begins]] = -1
    led = np.flatnonzero(follows | (begins >= 0))
    bones = sorted({*turned.tolist(), *moved.tolist(), *aims.tolist(), *begins.tolist()} - {-1})
    errors, twist = np.zeros(len(wanted)), np.full(len(wanted), np.inf)
    parents = controlled.skeleton.parents
    bent_above = (parents >= 0) & (turned[parents] < 0)  # by IK, which may twist what hangs there in any round
    # parts whose own twist no control gives: eyes, and halves of an arm beside twist bones
    stubborn = aims >= 0
    at_limit: Indices = np.zeros(0, int)
    try:
        for _ in range(_ROUNDS):
            context.view_layer.update()
            matrices = read_matrices(armature)
            heads, turns = matrices[:, :, 3], frame_rotations(matrices[:, :, :3])
            own = turns[controlled.bones]
            change = rotation.mul(wanted, rotation.inv(own))  # (N, 4) what each part is off
            swing, twisted = rotation.swing_twist(change, rotation.rotate(own, np.array([0.0, 1.0, 0.0])))
            twist, before_twist = 2.0 * np.arccos(np.clip(twisted[:, 0], -1.0, 1.0)), twist
            stubborn |= (twist > _THERE) & (twist > _EASED * before_twist) & ~bent_above
            change = np.where(stubborn[:, None], swing, change)
            errors = np.zeros(len(wanted))
            errors[led] = rotation.angle_between(change[led], rotation.IDENTITY)
            errors[held] = 0.0
            far = np.linalg.norm(wanted_heads - heads[controlled.bones], axis=-1) / rig.skeleton.size
            far[held] = 0.0
            if errors.max() < _THERE and far[moved >= 0].max(initial=0.0) < _THERE:
                break
            if passing and errors.max() < _GLANCE and far[(turned >= 0) | (moved >= 0)].max() < _SEEN:
                break
            last, now = now, _turned(now, rig.skeleton, controlled, change, heads, turns, wanted_heads, wanted, aims)
            now, at_limit = _within(limits, start, now)
            held = _with_below(np.isin(turned, at_limit), parents)
            write_pose(armature, rig, now, bones)
            if not _differ(last, now, rig.skeleton.size):
                break  # what is left is not for the controls to mend, as where a limit of IK is in the way
        errors[held | ~follows] = 0.0
        if errors.max() > _ASTRAY:
            first = int(np.flatnonzero(errors > _ASTRAY)[0])  # what hangs on it is off with it
            raise CoreError(_astray(armature, controlled.skeleton.names[first], controlled.controls[first], rig))
    except CoreError:
        write_channels(armature, channels)
        _give_back(armature, before)
        raise
    new_turned = [bone for bone in sorted({*turned.tolist(), *begins.tolist()} - {-1})
                  if rotation.angle_between(start.rotations[bone], now.rotations[bone]) > _NOISE]  # fmt: skip
    step = _NOISE * rig.skeleton.size
    new_moved = [bone for bone in sorted({*moved.tolist(), *aims.tolist()} - {-1})
                 if np.any(np.abs(start.translations[bone] - now.translations[bone]) > step)]  # fmt: skip
    write_channels(armature, channels)  # what did not change stays exactly as it was
    write_pose(armature, rig, now, {*new_turned, *new_moved})
    at_limits = sorted({*turned[stopped].tolist(), *at_limit.tolist()} - {-1})
    return Led(now, new_turned, new_moved, before, at_limits)


def _astray(armature: ArmatureObject, part: str, control: Control, rig: Rig) -> str:
    """What to say of a part that does not go along."""
    leader = max(control.turns, control.aims)
    if leader < 0:
        return f'"{part}" does not follow its control; something else decides it.'
    name = rig.skeleton.names[leader]
    constraint = next((one for one in armature.pose.bones[name].constraints if not one.mute and one.influence), None)
    why = "something else decides it" if constraint is None else f'its constraint "{constraint.name}" is in the way'
    return f'"{part}" does not follow its control "{name}"; {why}.'


def _within(limits: tuple[LimitGroup, ...], start: Pose, wanted: Pose) -> tuple[Pose, Indices]:
    """A pose as far as limits let it go from where it starts, and the bones that they stop."""
    if not limits:
        return wanted, np.zeros(0, int)
    inside, _ = clamp_rotations(limits, wanted.rotations)
    turning = rotation.angle_between(start.rotations, wanted.rotations) > _NOISE
    rotations = np.where(turning[:, None], inside, wanted.rotations)
    return replace(wanted, rotations=rotations), np.flatnonzero(
        rotation.angle_between(rotations, wanted.rotations) > _THERE
    )


def _with_below(parts: Flags, parents: Indices) -> Flags:
    """The parts, and all that hangs on them."""
    found = parts.copy()
    for part, parent in enumerate(parents.tolist()):
        found[part] |= parent >= 0 and found[parent]
    return found


def _differ(before: Pose, after: Pose, size: float) -> bool:
    turned = rotation.angle_between(before.rotations, after.rotations).max() > _NOISE
    return bool(turned or np.abs(after.translations - before.translations).max() > _NOISE * size)


def _turned(
    now: Pose, skeleton: Skeleton, controlled: ControlledBody, change: Array, heads: Array, turns: Array,
    wanted_heads: Array, wanted: Array, aims: Indices,
) -> Pose:  # fmt: skip
    """The controls' next channels."""
    rotations, translations = np.array(now.rotations), np.array(now.translations)
    turners, movers = (np.array([getattr(one, name) for one in controlled.controls]) for name in ("turns", "moves"))
    parts = np.flatnonzero(turners >= 0)
    bones = turners[parts]
    base = rotation.mul(turns[bones], rotation.inv(now.rotations[bones]))
    hangs = controlled.hangs[parts][:, None]
    # segments that IK bends go where it bends them, which only Blender knows
    above = controlled.skeleton.parents[parts]
    carried = np.where(hangs & (turners[above] >= 0)[:, None], change[above], rotation.IDENTITY)
    after = rotation.mul(change[parts], turns[bones])
    rotations[bones] = rotation.normalize(rotation.mul(rotation.inv(rotation.mul(carried, base)), after))
    begun = np.array([control.begins >= 0 for control in controlled.controls])
    parts = np.flatnonzero(begun)
    bones, above = controlled.bones[parts], controlled.skeleton.parents[parts]
    carried = rotation.mul(change[above], turns[skeleton.parents[bones]])
    base = rotation.mul(np.where(begun[above, None], wanted[above], carried), skeleton.rest_rotations[bones])
    rotations[bones] = rotation.normalize(rotation.mul(rotation.inv(base), wanted[parts]))
    parts = np.flatnonzero(movers >= 0)
    bones = movers[parts]
    base = rotation.mul(turns[bones], rotation.inv(now.rotations[bones]))
    rest = frame_rotations(skeleton.rest_matrices[bones][:, :, :3])  # locations that are not local know no rest frame
    base = np.where(skeleton.local_location[bones, None], base, rotation.mul(base, rotation.inv(rest)))
    lever = heads[controlled.bones[parts]] - heads[bones]
    # what has the part's place goes there itself: led by what is left, it would run away where IK ends before it
    places = skeleton.rest_matrices[:, :, 3]
    apart = np.linalg.norm(places[controlled.bones[parts]] - places[bones], axis=-1)
    lever[apart < _SAME_PLACE * skeleton.size] = 0.0
    swung = np.where((bones == turners[parts])[:, None], rotation.rotate(change[parts], lever), lever)
    step = wanted_heads[parts] - swung - heads[bones]
    translations[bones] += rotation.rotate(rotation.inv(base), step)
    parts = np.flatnonzero(aims >= 0)
    bones = aims[parts]
    base = rotation.mul(turns[bones], rotation.inv(now.rotations[bones]))
    sight = heads[bones] - heads[controlled.bones[parts]]
    translations[bones] += rotation.rotate(rotation.inv(base), rotation.rotate(change[parts], sight) - sight)
    return replace(now, rotations=rotations, translations=translations)


def _set_switches(
    armature: ArmatureObject, controlled: ControlledBody, pose: Pose, now: Pose
) -> dict[tuple[str, str], float]:
    """Let the controls lead what will change; returns what the properties were."""
    changed = rotation.angle_between(pose.rotations, now.rotations) > _THERE
    changed |= np.any(np.abs(pose.translations - now.translations) > _THERE * controlled.skeleton.size, axis=-1)
    for part, parent in enumerate(controlled.skeleton.parents.tolist()):  # and all that goes along
        changed[part] |= parent >= 0 and changed[parent]
    before: dict[tuple[str, str], float] = {}
    for part, (bone, name, value) in controlled.switches.items():
        owner = armature.pose.bones[bone]
        if changed[part] and owner.get(name) != value and (bone, name) not in before:
            before[bone, name] = owner[name]
            owner[name] = type(owner[name])(value)
    if before:
        armature.update_tag(refresh={"DATA"})
    return before


def _give_back(armature: ArmatureObject, before: Mapping[tuple[str, str], float]) -> None:
    for (bone, name), value in before.items():
        armature.pose.bones[bone][name] = value


def controls_by_role(controlled: ControlledBody, roles: Roles, names: tuple[str, ...]) -> dict[str, str | list[str]]:
    """Role -> the bone, or bones, that a user keys for it."""
    found: dict[str, str | list[str]] = {}
    place = {int(bone): number for number, bone in enumerate(controlled.bones)}
    for role, chain in {**roles.bones, **roles.limbs}.items():
        bones = (chain,) if isinstance(chain, int) else chain
        led = [controlled.controls[place[bone]] for bone in bones if bone in place]
        led = [control for control in led if max(control.turns, control.moves) >= 0]
        keyed = [names[c.moves if c.moves >= 0 and c.moves != c.turns else c.turns] for c in led]
        if keyed:
            found[role] = keyed[0] if isinstance(chain, int) else keyed
    return found
