"""Find the controls of a rig whose body bones are driven: which bone is keyed to turn or move which part.

What counts is what drives the body now: a limb on IK is posed by its IK control and its pole, a limb on FK by its FK
controls. No setting of the rig is changed.
"""

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
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
from .constraints import aims, hangs_only, in_force, replaces
from .controls import SAME_PLACE, Control, ControlledBody, astray, limits_of
from .driven import constrained_bones
from .hinges import hinge_limits
from .shown import read_shown

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
    limbs = {roles.bone(f"{part}.{side}") for side in SIDES for part in ("upper_arm", "forearm", "thigh", "shin")}
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
    bent, graph.segments = graph.bent, limbs
    trunk = [bone for role, chain in _chains(roles).items() if role in _TRUNK for bone in chain]
    controls: dict[int, Control] = {}
    carried: set[int] = set()  # parts without a control that go with the part before
    for bone in tuple(order):
        parent = order[bone]
        if bone in eyes:
            controls[bone] = Control(aims=eyes[bone])
            continue
        behind = [other for other, above in order.items() if above == bone and other not in eyes]
        ended = graph.at_end(bone, order)
        shown = graph.leader(bone, parent, controls[parent].turns if parent >= 0 else -1, behind, not ended)
        if shown in graph.in_chains:
            chain = bent[bone] = graph.in_chains[shown]
            chain.parts[bone] = shown
            controls[bone] = Control(begins=-1 if chain.poled else graph.starter(shown, bent.get(parent) is chain))
            continue
        control = graph.mover(bone, trunk, besides[:1]) if parent < 0 else Control(turns=shown)
        if ended and first in controls:
            control = graph.with_target(bone, control, graph.upstream(controls[first].turns))
        elif bone in apart and control.turns == bone and graph.free[bone]:
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
    starts = {chain.pole: part for part, chain in reversed(bent.items())}
    steered = {pole: starts[pole] for pole in riding if pole in poles and pole not in besides}
    return _hung(rig.skeleton, roles, bones, order, controls, graph, riding, carried, steered)


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
        locks, placed = flags(armature.pose.bones, "lock_rotation", 3), flags(armature.pose.bones, "lock_location", 3)
        hung = np.isin(skeleton.names, [name for name in rig.driven if hangs_only(armature.pose.bones[name])])
        self.begins = locks.sum(axis=1) < 3  # bones of chains that start Blender's solver from their own channels
        self.turning = (skeleton.movable | hung) & ~locks.all(axis=1) & (locks.sum(axis=1) < 2)
        self.free = skeleton.translatable.all(axis=1) | (hung & ~skeleton.connected & ~placed.any(axis=1))
        self.moving = self.turning & self.free
        self.shown = read_shown(armature)
        self.ik_locks = np.stack([flags(armature.pose.bones, f"lock_ik_{axis}", 1)[:, 0] for axis in "xyz"], axis=1)
        self.chains: list[_Chain] = []
        self.bent: dict[int, _Chain] = {}
        self.segments: set[int] = set()  # parts of limbs that deforming bones may show with a part of their twist
        self.ends: dict[int, _Chain] = {}
        self.in_chains: dict[int, _Chain] = {}
        self.aiming: set[int] = set()  # bones that IK turns alone
        self._copied: dict[int, int] = {}  # bones that have the transform of another one
        iks: list[tuple[Any, Any]] = []
        for bone in armature.pose.bones:
            for constraint in bone.constraints:
                self._read(bone, constraint)
                if constraint.type == "IK" and in_force(constraint):
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
        acts = in_force(constraint)
        replaced = bool(now) and replaces(constraint)
        for decided in [place[name] for name in constrained_bones(constraint, bone)]:
            self.ever[decided] |= named - {decided}
            if not acts:
                continue
            if replaced:  # all before it, the parent included
                self._copied[decided] = min(now)
                self.above[decided], self.turned_by[decided] = set[int](), set[int]()
            self.above[decided] |= now - {decided}
            if kind not in _BY_PLACE or aims(constraint):
                self.turned_by[decided] |= now - {decided}
        gazes = kind in _GAZES and acts and is_eye(bone.name)
        if now and gazes and self.rig.skeleton.translatable[list(now)].all():
            self.gazes[place[bone.name]] = min(now)

    def _note_chain(self, constraint: Any, bone: Any) -> None:
        """Note an IK chain that leads to a bone."""
        index, bones = self.rig.skeleton.index, self.object.pose.bones
        if constraint.subtarget not in bones:
            return
        pole = index(constraint.pole_subtarget) if constraint.pole_subtarget in bones else -1
        pole = pole if pole >= 0 and self.free[pole] else -1
        bent = [index(name) for name in constrained_bones(constraint, bone)]  # the last one first
        chain = _Chain(bent[0], index(constraint.subtarget), pole, constraint.pole_target is not None, {})
        self.chains.append(chain)
        if aims(constraint):
            self.aiming.add(bent[0])
        else:
            self.in_chains |= dict.fromkeys(bent, chain)

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

    def with_target(self, part: int, control: Control, body: Container[int]) -> Control:
        """Return the control of a part at the end of an IK chain, which what carries the target moves.

        That turns it, too, unless something else does. A bone at the place of the part is preferred, else the last
        one that does not carry the `body`; bones that are shown before others. A part that IK aims keeps its twist.
        """
        carriers = [bone for bone in self._carriers(self.ends[part].target) if bone not in body]
        follows = _reach(self.turned_by, part)
        able = self._preferred(bone for bone in carriers if self.free[bone])
        moves = next((bone for bone in able if self._at(bone, part)), able[-1] if able else -1)
        turning = self._preferred(bone for bone in carriers if self.turning[bone] and bone in follows)
        turns = moves if moves in turning else next(iter(turning), -1)
        turns = control.turns if control.turns >= 0 and self.fits(control.turns, part) else turns
        return Control(turns, moves, begins=part if part in self.aiming else -1)

    def _preferred(self, bones: Iterable[int]) -> list[int]:
        """Return those of the bones that are shown, or all if none is."""
        found = list(bones)
        return [bone for bone in found if self.shown[bone]] or found

    def _begins_at_end(self, part: int, chain: _Chain) -> bool:
        """Return whether a part begins where the chain ends."""
        matrix, length = self.rest[chain.tip], self.rig.skeleton.lengths[chain.tip]
        far = np.linalg.norm(matrix[:, 3] + length * matrix[:, 1] - self.rest[part, :, 3])
        return bool(far < _NEAR_END * self.rig.skeleton.size)

    def hinges(self, parts: Mapping[int, int]) -> tuple[LimitGroup, ...]:
        """Return the limits of the lower segments of chains of two with a pole; `parts`: bone -> its number."""
        pairs = [(list(chain.parts), chain) for chain in {id(chain): chain for chain in self.bent.values()}.values()]
        lower = [own[1] for own, chain in pairs if chain.poled and len(own) == 2 and own[1] in parts]
        lower = [part for part in lower if self.ik_locks[self.bent[part].parts[part]].sum() < 2]  # no hinge by itself
        bones = [self.bent[part].parts[part] for part in lower]
        firsts = [next(iter(self.bent[part].parts.values())) for part in lower]
        rest = self.rest[bones]
        ends = rest[:, :, 3] + self.rig.skeleton.lengths[bones, None] * rest[:, :, 1]
        heads = np.stack([self.rest[firsts, :, 3], rest[:, :, 3]], axis=1)
        return hinge_limits([parts[part] for part in lower], heads, ends, frame_rotations(rest[:, :, :3]))

    @property
    def goals(self) -> frozenset[int]:
        """The targets and poles of the IK chains."""
        targets = (
            next((bone for bone in self._carriers(chain.target) if self.free[bone]), -1) for chain in self.chains
        )
        return frozenset({*targets, *(chain.pole for chain in self.chains)} - {-1})

    def upstream(self, bone: int) -> dict[int, int]:
        """Return all bones that a bone depends on, with the number of steps."""
        if bone not in self._upstream:
            self._upstream[bone] = _reach(self.above, bone)
        return self._upstream[bone]

    def leader(self, part: int, before: int, control: int, behind: Iterable[int], bent: bool) -> int:
        """Return the bone, free to turn or (`bent`) of an IK chain, that turns a part but not the one before it, or -1.

        It has the place and direction of the part, or else carries it. Of several one that turns the parts `behind` is
        preferred, then one that is shown, then one below the `control` of the part before, then the nearest; of a part
        with none behind the farthest: tweaks are nearer.
        """
        others = {before, *_reach(self.turned_by, before)} if before >= 0 else set[int]()
        steps = {part: 0, **self.upstream(part)}
        able = [bone for bone in steps
                if bone not in others and (self.turning[bone] or (bent and bone in self.in_chains))]  # fmt: skip
        near = np.array(able, int)[self.fits(able, part)].tolist()
        after = [self.upstream(other) for other in behind]

        def order(bone: int) -> tuple[Any, ...]:
            carries = any(bone in found for found in after)
            away = steps[bone] if after else -steps[bone]
            apart = control not in self.upstream(bone)
            return bone not in self.in_chains, not carries, not self.shown[bone], apart, away

        if near:
            return min(near, key=order)
        for bone in self._carriers(part):
            if bone in self.in_chains:
                break
            if bone not in others and self.turning[bone]:
                return bone
        return -1

    def shown_by(self, part: int, control: int) -> int:
        """Return the bone that has the rotation of a part: of a chain, or the control of a segment, or itself."""
        if part in self.bent:
            return self.bent[part].parts[part]
        return control if part in self.segments and control >= 0 and self.fits(control, part) else part

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
        places = self.rest[:, :, 3]
        able = [other for other in (bone, *self.upstream(bone)) if self.moving[other]]
        able = [other for other in able if all(other == part or other in self.upstream(part) for part in body)] or [
            other for other in (bone,) if self.moving[other]
        ]

        def order(other: int) -> tuple[Any, ...]:
            return other not in wanted, not self.shown[other], float(np.linalg.norm(places[other] - places[bone]))

        return Control(*[min(able, key=order)] * 2) if able else Control(turns=bone if self.turning[bone] else -1)

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
        able = parts.keys() & steps
        return parts[min(able, key=lambda other: (not self.fits(other, bone), steps[other]))] if able else -1

    def hangs(self, control: int, part: int, controls: Mapping[int, Control]) -> bool:
        """Return whether a control follows a part of the body, or that part's control."""
        if control < 0 or part < 0:
            return False
        upstream = self.upstream(control)
        return part in upstream or controls[part].turns in upstream

    def fits(self, others: Any, bone: int) -> Any:
        """Return whether bones (an index, or a list of n) have the place and direction of a bone at rest."""
        here = self.rest[others]
        far = np.linalg.norm(here[..., 3] - self.rest[bone, :, 3], axis=-1)
        along = here[..., 1] @ self.rest[bone, :, 1]
        return (far < SAME_PLACE * self.rig.skeleton.size) & (along > _ALIGNED)


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
    graph: _Graph, riding: Mapping[int, int], carried: Collection[int], steered: Mapping[int, int],
) -> ControlledBody:  # fmt: skip
    place = {bone: number for number, bone in enumerate(bones)}
    parents = np.array([place.get(order[bone], -1) for bone in bones])
    bent = graph.bent
    leaders = np.array([graph.shown_by(bone, controls[bone].turns) for bone in bones])
    frames = np.where(astray(read_matrices(graph.object), skeleton.size, np.array(bones), leaders), bones, leaders)
    hinges = np.isin(bones, list(bent)) & (frames == leaders)
    free = {bone: place[bone] for bone, hinged in zip(bones, hinges, strict=True) if hinged}
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
        limits=(*_limits_of_parts(skeleton, controls, graph, order, place, turns), *graph.hinges(free)),
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
        {place[pole]: place[first] for pole, first in steered.items()},
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
