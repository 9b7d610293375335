"""Find the controls of a rig whose body bones are driven: which bone is keyed to turn or move which part.

What counts is what drives the body now: a limb on IK is posed by its IK control and its pole, a limb on FK by its FK
controls. No setting of the rig is changed.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from ..core import Skeleton, rotation
from ..core.body import BODY, SIDES, Roles
from ..core.body.gaze import is_eye
from ..core.body.roles import PARTS_OF_HANDS
from ..core.limits import Framed, LimitGroup
from ..core.pose import frame_rotations
from ..core.rotation import Array
from .armature import Rig, read_matrices
from .channels import ArmatureObject, flags
from .controls import SAME_PLACE, Control, ControlledBody, astray, limits_of
from .driven import constrained_bones

_ALIGNED: Final = float(np.cos(np.radians(15.0)))
_NEAR_END: Final = 0.01  # of the skeleton's size: between the end of an IK chain and the head of the part behind it
_BY_PLACE: Final = {
    "STRETCH_TO", "DAMPED_TRACK", "TRACK_TO", "LOCKED_TRACK", "IK", "COPY_LOCATION", "LIMIT_DISTANCE",
}  # fmt: skip
_GAZES: Final = {"DAMPED_TRACK", "TRACK_TO", "LOCKED_TRACK"}
_BEFORE: Final = {  # the parents of a part, the first that exists
    "neck": ("spine", "hips"), "head": ("neck", "spine", "hips"), "shoulder": ("spine", "hips"),
    "upper_arm": ("shoulder", "spine", "hips"), "forearm": ("upper_arm",), "hand": ("forearm",),
    "thigh": ("hips",), "shin": ("thigh",), "foot": ("shin",), "toe": ("foot",), "spine": ("hips",),
}  # fmt: skip
_TRUNK: Final = {"hips", "spine", "neck", "head"}
_BEHIND: Final = {"leg", "leg.hind", "tail"}  # of a creature: children of the first bone of its spine


def find_controlled(
    armature: ArmatureObject, rig: Rig, roles: Roles, besides: Sequence[int] = ()
) -> ControlledBody | None:
    """Return the body with its controls if its bones are driven or not parented to each other, else None.

    `besides`: other bones that are to move with the body, as far as they drive a part of it or are driven by one. Poles
    of IK chains that bend the body move with their segment. The body is moved by the first of `besides` if all of it is
    below that bone.
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
    bent = graph.bent
    trunk = [bone for role, chain in _chains(roles).items() if role in _TRUNK for bone in chain]
    controls: dict[int, Control] = {}
    carried: set[int] = set()  # parts without a control that go with the part before
    for bone in tuple(order):
        parent = order[bone]
        if bone in eyes:
            controls[bone] = Control(aims=eyes[bone])
            continue
        shown = graph.leader(bone, parent, controls[parent].turns if parent >= 0 else -1)
        if shown in graph.in_chains:
            chain = bent[bone] = graph.in_chains[shown]
            chain.parts[bone] = shown
            controls[bone] = Control(begins=-1 if chain.poled else graph.starter(shown, bent.get(parent) is chain))
            continue
        control = graph.mover(bone, trunk, besides[:1]) if parent < 0 else Control(turns=shown)
        if graph.at_end(bone, order):
            control = graph.with_target(bone, control)
        elif bone in apart and control.turns == bone and skeleton.translatable[bone].all():
            control = Control(bone, bone)
        if control == Control():
            if bone in limbs:
                return None
            if bone in rig.carried:
                carried.add(bone)
                controls[bone] = control
                continue
            # its children become children of its parent
            order = {b: parent if p == bone else p for b, p in order.items()}
            continue
        controls[bone] = control
    if first not in controls or (not apart and _is_plain(rig, order, controls, carried)):
        return None
    turners = {control.turns: part for part, control in controls.items()}
    carriers = graph.upstream(controls[first].turns).keys()  # the body does not move bones that it depends on
    poles = {chain.pole: part for part, chain in bent.items() if chain.pole >= 0}
    more = [bone for bone in dict.fromkeys((*besides, *poles)) if bone not in controls and bone not in carriers]
    riding = {bone: turners.get(bone, poles.get(bone, graph.part_of(bone, controls))) for bone in more}
    riding = {bone: part for bone, part in riding.items() if part >= 0 and part not in eyes}  # eyes aim by themselves
    for bone, part in riding.items():
        order.pop(bone, None)  # of a part without a control: after the part that it rides on now
        order[bone] = part
        controls[bone] = Control(moves=bone if bone in poles else -1)
    bones = [bone for bone in order if bone in controls]
    return _hung(rig.skeleton, roles, bones, order, controls, graph, riding, carried)


def _is_plain(rig: Rig, order: Mapping[int, int], controls: Mapping[int, Control], carried: Collection[int]) -> bool:
    """Return whether all parts are posed by themselves, or carried by the parts before them."""
    return all(bone in carried or (bone in controls and controls[bone].turns == bone) for bone in order)


def _chains(roles: Roles) -> dict[str, tuple[int, ...]]:
    """Return role -> its bones, parents first; for a creature its limbs."""
    if not roles.humanoid:
        trunk = [name for name in ("spine", "neck", "head") if name in roles.limbs]
        return {name: roles.limbs[name] for name in (*trunk, *(name for name in roles.limbs if name not in trunk))}
    hands = sorted(PARTS_OF_HANDS, key=lambda role: not role.startswith("palm"))
    found = {role: roles.bones.get(role, ()) for role in (*BODY, *hands)}
    return {role: (bones,) if isinstance(bones, int) else bones for role, bones in found.items() if bones != ()}


def _tree(roles: Roles) -> dict[int, int]:
    """Return bone -> parent as in a body, parents first; -1 for the first."""
    found: dict[int, int] = {}
    chains = _chains(roles)
    for role, chain in chains.items():
        part, side = (role[:-2], role[-2:]) if role[-2:] in (".L", ".R") else (role, "")
        names = _BEFORE.get(part, (f"palm.{part}", "hand") if roles.humanoid else ("spine",))
        above = next((chains[n] for name in names for n in (f"{name}{side}", name) if n in chains and n != role), ())
        if found and not above:
            continue  # a bone without parent is not part of this body
        before = above[0 if part in _BEHIND else -1] if found else -1
        for bone in chain:
            if bone not in found and (before < 0 or before in found):
                found[bone] = before
            before = bone
    return found


def _with_twists(order: Mapping[int, int], roles: Roles, graph: "_Graph") -> dict[int, int]:
    """Return the tree with the free twist bones of the rig between a part and its parent."""
    twists = {bone for chain in roles.twist.values() for bone in chain if graph.turning[bone]}
    found: dict[int, int] = {}
    for bone, parent in order.items():
        chain = graph.rig.skeleton.ancestors(bone)
        between = chain[1 : chain.index(parent)] if parent in chain else []
        for link in reversed([link for link in between if link in twists and link not in order]):
            found[link], parent = parent, link
        found[bone] = parent
    return found


@dataclass(frozen=True)
class _Chain:
    """An IK chain in force."""

    tip: int
    target: int
    pole: int  # the free bone that is its pole, or -1
    poled: bool  # it has a pole
    parts: dict[int, int]  # part of the body -> the bone of the chain that it shows


class _Graph:
    """The dependencies between the bones (indices) of a rig, as its constraints are now."""

    def __init__(self, armature: ArmatureObject, rig: Rig) -> None:
        self.rig, self.object = rig, armature
        skeleton = rig.skeleton
        self.rest = skeleton.rest_matrices
        self.place_of = {name: place for place, name in enumerate(skeleton.names)}
        parents = [() if parent < 0 else (parent,) for parent in skeleton.parents.tolist()]
        self.above = list(map(set[int], parents))
        self.turned_by = list(map(set[int], parents))  # without dependencies on a place only
        self.ever = list(map(set[int], parents))  # whatever the settings are
        self.gazes: dict[int, int] = {}  # eyes -> the free bones that they aim at
        locks = flags(armature.pose.bones, "lock_rotation", 3)
        self.begins = ~locks.all(axis=1)  # bones of chains that start Blender's solver from their own channels
        self.turning = skeleton.movable & ~locks.all(axis=1) & (locks.sum(axis=1) < 2)
        self.moving = self.turning & skeleton.translatable.all(axis=1)
        self.ik_locks = np.stack([flags(armature.pose.bones, f"lock_ik_{axis}", 1)[:, 0] for axis in "xyz"], axis=1)
        self.chains: list[_Chain] = []
        self.bent: dict[int, _Chain] = {}
        self.ends: dict[int, _Chain] = {}
        self.in_chains: dict[int, _Chain] = {}
        self._copied: dict[int, int] = {}  # bones that have the transform of another one
        iks: list[tuple[Any, Any]] = []
        for bone in armature.pose.bones:
            for constraint in bone.constraints:
                self._read(bone, constraint)
                if constraint.type == "IK" and _in_force(constraint):
                    iks.append((constraint, bone))
        self._upstream: dict[int, dict[int, int]] = {}
        for constraint, bone in iks:
            self._note_chain(constraint, bone)

    def _read(self, bone: Any, constraint: Any) -> None:
        """Add what a bone depends on by a constraint."""
        place, kind = self.place_of, constraint.type
        weights = {target.subtarget: target.weight for target in getattr(constraint, "targets", ())}
        every = (getattr(constraint, "subtarget", ""), getattr(constraint, "pole_subtarget", ""), *weights)
        named = {place[name] for name in every if name in place}
        now = {place[name] for name in every if name in place and weights.get(name, 1.0) > 0.0}
        in_force = _in_force(constraint)
        replaces = bool(now) and _replaces(constraint)
        for decided in [place[name] for name in constrained_bones(constraint, bone)]:
            self.ever[decided] |= named - {decided}
            if not in_force:
                continue
            if replaces:  # all before it, the parent included
                self._copied[decided] = min(now)
                self.above[decided], self.turned_by[decided] = set[int](), set[int]()
            self.above[decided] |= now - {decided}
            if kind not in _BY_PLACE:
                self.turned_by[decided] |= now - {decided}
        aims = kind in _GAZES and in_force and is_eye(bone.name)
        if now and aims and self.rig.skeleton.translatable[list(now)].all():
            self.gazes[place[bone.name]] = min(now)

    def _note_chain(self, constraint: Any, bone: Any) -> None:
        """Note an IK chain that leads to a bone."""
        index, bones = self.rig.skeleton.index, self.object.pose.bones
        if constraint.subtarget not in bones:
            return
        pole = index(constraint.pole_subtarget) if constraint.pole_subtarget in bones else -1
        pole = pole if pole >= 0 and self.rig.skeleton.translatable[pole].all() else -1
        chain = _Chain(index(bone.name), index(constraint.subtarget), pole, constraint.pole_target is not None, {})
        self.chains.append(chain)
        self.in_chains |= dict.fromkeys(map(index, constrained_bones(constraint, bone)), chain)

    def _carriers(self, target: int) -> list[int]:
        """Return a bone and those that carry it: from parent to parent, from the end of a chain to its target."""
        found, bone = list[int](), target
        while bone >= 0 and bone not in found:
            found.append(bone)
            chain = self.in_chains.get(bone)
            parent = int(self.rig.skeleton.parents[bone])
            bone = self._copied.get(bone, parent if chain is None or chain.tip != bone else chain.target)
        return found

    def starter(self, bone: int, further: bool) -> int:
        """Return the bone that starts a bone of a chain without a pole, or -1: itself, or of the first one above it."""
        above = [bone] if further else self.rig.skeleton.ancestors(bone)
        found = next((other for other in above if self.begins[other]), -1)
        return found if found in self.in_chains or self.rig.skeleton.movable[found] else -1

    def _at(self, bone: int, other: int) -> bool:
        """Return whether two bones have the same place at rest."""
        return bool(
            np.linalg.norm(self.rest[bone, :, 3] - self.rest[other, :, 3]) < SAME_PLACE * self.rig.skeleton.size
        )

    def with_target(self, part: int, control: Control) -> Control:
        """Return the control of a part at the end of an IK chain, which what carries the target moves.

        That turns it, too, unless something else does. A bone at the place of the part is preferred.
        """
        carriers, follows = self._carriers(self.ends[part].target), _reach(self.turned_by, part)
        able = [bone for bone in carriers if self.rig.skeleton.translatable[bone].all()]
        moves = next((bone for bone in able if self._at(bone, part)), able[0] if able else -1)
        turning = [bone for bone in carriers if self.turning[bone] and bone in follows]
        turns = moves if moves in turning and self._at(moves, part) else next(iter(turning), -1)
        return Control(control.turns if control.turns >= 0 and self.fits(control.turns, part) else turns, moves)

    def _begins_at_end(self, part: int, chain: _Chain) -> bool:
        """Return whether a part begins where the chain ends."""
        matrix, length = self.rest[chain.tip], self.rig.skeleton.lengths[chain.tip]
        far = np.linalg.norm(matrix[:, 3] + length * matrix[:, 1] - self.rest[part, :, 3])
        return bool(far < _NEAR_END * self.rig.skeleton.size)

    @property
    def goals(self) -> frozenset[int]:
        """The targets and poles of the IK chains."""
        free = self.rig.skeleton.translatable.all(axis=1)
        targets = (next((bone for bone in self._carriers(chain.target) if free[bone]), -1) for chain in self.chains)
        return frozenset({*targets, *(chain.pole for chain in self.chains)} - {-1})

    def upstream(self, bone: int) -> dict[int, int]:
        """Return all bones that a bone depends on, with the number of steps."""
        if bone not in self._upstream:
            self._upstream[bone] = _reach(self.above, bone)
        return self._upstream[bone]

    def leader(self, part: int, before: int, control: int) -> int:
        """Return the bone, free to turn or of an IK chain, that carries a part but not the part before it, or -1.

        Else the nearest one with the place and direction of the part; of several one below the `control` of the part
        before is preferred.
        """
        if self.turning[part]:
            return part
        others = {before, *_reach(self.turned_by, before)} if before >= 0 else set[int]()
        for bone in self._carriers(part):
            if bone in self.in_chains and not self.fits(bone, part):
                break
            if bone not in others and (bone in self.in_chains or self.turning[bone]):
                return bone
        steps = self.upstream(part)
        near = [bone for bone in steps if (self.turning[bone] or bone in self.in_chains)
                and bone not in others and self.fits(bone, part)]  # fmt: skip
        return min(near, key=lambda bone: (control not in self.upstream(bone), steps[bone], bone), default=-1)

    def at_end(self, part: int, order: Mapping[int, int]) -> bool:
        """Return whether a part is the first behind an IK chain that bends its body; its chain is noted then."""
        above = order[part]
        while above >= 0 and above not in self.bent and above not in self.ends:
            above = order[above]
        if above not in self.bent or not self._begins_at_end(part, self.bent[above]):
            return False
        self.ends[part] = self.bent[above]
        return True

    def mover(self, bone: int, body: Iterable[int], wanted: Sequence[int]) -> Control:
        """Return the free bone nearest to the hips above the whole body; one of `wanted` is preferred."""
        carried = [other for other in body if not self.turning[other]]
        places = self.rest[:, :, 3]
        able = [other for other in self.upstream(bone) if self.moving[other]]
        able = [other for other in able if all(other in self.upstream(part) for part in carried)]
        own = bone if self.turning[bone] and self.rig.skeleton.translatable[bone].all() else -1
        if own >= 0 and (own in wanted or not {*able} & {*wanted}):
            return Control(own, own)
        able.sort(key=lambda other: (other not in wanted, float(np.linalg.norm(places[other] - places[bone]))))
        return Control(able[0], able[0]) if able else Control(turns=bone if self.turning[bone] else -1)

    @cached_property
    def _led(self) -> list[set[int]]:
        """What depends on each bone, whatever the settings are."""
        found = [set[int]() for _ in self.ever]
        for bone, above in enumerate(self.ever):
            for other in above:
                found[other].add(bone)
        return found

    def part_of(self, bone: int, controls: Mapping[int, Control]) -> int:
        """Return the part that depends on a bone and that it is nearest to; else the part that drives it; else -1."""
        below = _reach(self._led, bone)
        led = [part for part in controls if part in below]
        if led:
            heads, ways = self.rest[led, :, 3], self.rest[led, :, 1]
            away, lengths = self.rest[bone, :, 3] - heads, self.rig.skeleton.lengths[led]
            along = np.clip(np.sum(away * ways, axis=-1), 0.0, lengths)
            beside = np.linalg.norm(away - along[:, None] * ways, axis=-1)
            # of parts that meet at the bone, the one that begins there
            steps = np.rint(beside / (SAME_PLACE * self.rig.skeleton.size))
            return led[int(np.lexsort((np.linalg.norm(away, axis=-1), steps))[0])]
        driven = self.rig.decided[bone] and self.ever[bone] - {int(self.rig.skeleton.parents[bone])}
        steps = _reach(self.ever, bone) if driven else {}
        parts = {other: part for part, control in controls.items() for other in (part, control.turns)}
        return parts[min(parts.keys() & steps, key=steps.__getitem__)] if parts.keys() & steps else -1

    def hangs(self, control: int, part: int, controls: Mapping[int, Control]) -> bool:
        """Return whether a control follows a part of the body, or that part's control."""
        if control < 0 or part < 0:
            return False
        upstream = self.upstream(control)
        return part in upstream or controls[part].turns in upstream

    def fits(self, other: int, bone: int) -> bool:
        """Return whether two bones have the same place and direction at rest."""
        far = np.linalg.norm(self.rest[other, :, 3] - self.rest[bone, :, 3])
        return bool(
            far < SAME_PLACE * self.rig.skeleton.size and self.rest[other, :, 1] @ self.rest[bone, :, 1] > _ALIGNED
        )


def _in_force(constraint: Any) -> bool:
    return not constraint.mute and constraint.influence > 0.0


def _replaces(constraint: Any) -> bool:
    """Return whether a bone has the transform of the target alone, whatever is before the constraint."""
    return constraint.type == "COPY_TRANSFORMS" and constraint.mix_mode == "REPLACE" and constraint.influence == 1.0


def _reach(edges: list[set[int]], bone: int) -> dict[int, int]:
    """Return the bones that can be reached from a bone, with the number of steps."""
    found: dict[int, int] = {}
    ring, step = {bone}, 0
    while ring:
        step += 1
        ring = {other for start in ring for other in edges[start] if other not in found}
        found |= dict.fromkeys(ring, step)
    return found


def _hung(
    skeleton: Skeleton, roles: Roles, bones: list[int], order: Mapping[int, int], controls: Mapping[int, Control],
    graph: _Graph, riding: Mapping[int, int], carried: Collection[int],
) -> ControlledBody:  # fmt: skip
    place = {bone: number for number, bone in enumerate(bones)}
    parents = np.array([place.get(order[bone], -1) for bone in bones])
    bent = graph.bent
    leaders = np.array([bent[bone].parts[bone] if bone in bent else bone for bone in bones])
    frames = np.where(astray(read_matrices(graph.object), skeleton.size, np.array(bones), leaders), bones, leaders)
    hinges = np.isin(bones, list(bent)) & (frames == leaders)
    limbs = {id(chain): place[end] for end, chain in graph.ends.items() if end in place}
    rest = skeleton.rest_matrices[frames]
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
        movable=~np.isin(bones, [*riding, *carried]),
        rotation_locks=graph.ik_locks[frames] & hinges[:, None],
        translatable=np.array([[controls[bone].moves >= 0 and parents[place[bone]] < 0] * 3 for bone in bones]),
    )

    def kept(found: Any) -> Any:
        return place.get(found, ()) if isinstance(found, int) else tuple(place[bone] for bone in found if bone in place)

    known, twist = ({role: some for role, found in table.items() if (some := kept(found)) != ()}
                    for table in (roles.bones, roles.twist))  # fmt: skip
    lean = replace(roles, bones=known, twist=twist, limbs={name: kept(chain) for name, chain in roles.limbs.items()})
    ends = {roles.bones.get(f"{part}.{side}") for side in SIDES for part in ("forearm", "hand", "shin", "foot")}
    ends |= {bone for name, chain in roles.limbs.items() if name.startswith(("leg", "arm")) for bone in chain[1:]}
    rigid = np.isin(bones, [bone for bone in ends if isinstance(bone, int)])
    hangs = np.array([graph.hangs(controls[bone].turns, order[bone], controls) for bone in bones])
    return ControlledBody(
        body, lean, np.array(bones), leaders, frames, tuple(controls[bone] for bone in bones), hangs, rigid,
        np.array([limbs.get(id(bent.get(bone)), place[bone]) for bone in bones]),
        {bone: place[part] for bone, part in riding.items()}, graph.goals,
    )  # fmt: skip


def _limits_of_parts(
    skeleton: Skeleton, controls: Mapping[int, Control], graph: _Graph, order: Mapping[int, int],
    place: Mapping[int, int], turns: Array,
) -> tuple[LimitGroup, ...]:  # fmt: skip
    """Return the limits of controls and of IK chains as limits of the parts, if both have the same parent."""
    leaders = {bone: control.turns for bone, control in controls.items()}
    leaders |= {bone: chain.parts[bone] for bone, chain in graph.bent.items()}
    parts = {
        leader: bone for bone, leader in leaders.items()
        if leader >= 0 and order[bone] >= 0 and graph.hangs(leader, order[bone], controls)
    }  # fmt: skip
    found: list[LimitGroup] = []
    for group in limits_of(skeleton, parts):
        own = [place[parts[bone]] for bone in group.bones.tolist()]
        frames = frame_rotations(skeleton.rest_matrices[group.bones][:, :, :3])
        away = rotation.mul(rotation.inv(frames), turns[own])  # (k, 4) the parts at rest, in the controls' frames
        found.append(Framed(group, away, rotation.inv(away), own))
    return tuple(found)
