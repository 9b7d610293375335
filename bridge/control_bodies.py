"""Find the controls of a rig whose body bones are driven: which bone is keyed to turn or move which part.

What counts is what drives the body now: a limb on IK is posed by its IK control and its pole, a limb on FK by its FK
controls. No setting of the rig is changed.
"""

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from ..core import Skeleton, rotation
from ..core.body import BODY, SIDES, Roles
from ..core.body.limbs import HingedLimb
from ..core.body.roles import PARTS_OF_HANDS
from ..core.limits import Framed, LimitGroup
from ..core.pose import frame_rotations
from ..core.rotation import Array
from .armature import Rig
from .channels import ArmatureObject
from .control_graph import Graph
from .controlled_body import Control, ControlledBody, astray, sizes_of
from .hinges import hinge_axes, hinges_of
from .limited import limits_of

_BEFORE: Final = {  # the parents of a part, the first that exists
    "neck": ("spine", "hips"), "head": ("neck", "spine", "hips"), "shoulder": ("spine", "hips"),
    "upper_arm": ("shoulder", "spine", "hips"), "forearm": ("upper_arm",), "hand": ("forearm",),
    "thigh": ("hips",), "shin": ("thigh",), "foot": ("shin",), "toe": ("foot",), "spine": ("hips",),
}  # fmt: skip
_FACE: Final = ("jaw", "ear.L", "ear.R")  # of a creature: they have no controls that pose the body
_SAME_AXES: Final = 1e-3  # radians
_TRUNK: Final = {"hips", "spine", "neck", "head"}
_BEHIND: Final = {"leg", "leg.hind", "tail"}  # of a creature: children of its hips, or of the first bone of its spine


def find_controlled(
    armature: ArmatureObject, rig: Rig, roles: Roles, besides: Sequence[int] = (), graph: Graph | None = None
) -> ControlledBody | None:
    """Return the body with its controls if its bones are driven or not parented to each other, else None.

    `besides`: other bones that are to move with the body, as far as they drive a part of it or are driven by one. Poles
    of IK chains that bend the body move with their segment. The body is moved by the first of `besides` if all of it is
    below that bone. `graph`: that of the rig as it is now, if it is known.
    """
    if not may_be_controlled(rig, roles):
        return None
    found = find_bodies(rig, roles, [graph or Graph(armature, rig)], besides)
    return found[0] if found else None


def find_barred(armature: ArmatureObject, rig: Rig, roles: Roles) -> tuple[dict[int, int], dict[int, int]]:
    """Return the tree of a body, bone -> the one before it, and bones -> what they follow, or are, that is driven.

    These are bones for posing, that constraints or drivers move in place of an animator.
    """
    graph, order = Graph(armature, rig), _tree(roles)
    found = {bone: bone for bone in np.flatnonzero(graph.for_posing).tolist() if graph.is_barred(bone)}
    found |= {bone: by for bone, above in order.items() if (by := graph.barred(bone, above < 0)) >= 0}
    return order, found


def find_root_control(armature: ArmatureObject, rig: Rig, controlled: ControlledBody) -> int:
    """Return the bone of the rig that carries the control which moves the body, such as Rigify's root; -1 for none."""
    mover = next((bone for bone in controlled.bones_that("moves").tolist() if bone >= 0), -1)
    return Graph(armature, rig).root_above(mover) if mover >= 0 else -1


def may_be_controlled(rig: Rig, roles: Roles) -> bool:
    """Return whether there is a body with bones that are driven or not parented to each other."""
    if "hips" not in roles.bones and "spine" not in roles.limbs:
        return False
    order = _tree(roles)
    return bool(_apart(rig.skeleton, order)) or not all(rig.skeleton.movable[bone] for bone in order)


def find_bodies(rig: Rig, roles: Roles, graphs: Sequence[Graph], besides: Sequence[int] = ()) -> list[ControlledBody]:
    """Return the body once for each graph: the same parts and the same skeleton, with what poses them there.

    Empty if in one of them a limb has no controls, or all bones are posed by themselves. `besides` as for
    `find_controlled`.
    """
    graphs = [graph.unmarked() for graph in graphs]
    order, head = _with_twists(_tree(roles), roles, graphs[0]), roles.bone("head")
    eyes = {eye: head for graph in graphs for eye in graph.gazes if eye not in order and head in order}
    order |= eyes
    found = [_find_controls(rig, roles, graph, order, eyes, besides) for graph in graphs]
    shared = [_shared(controls) for controls in found]
    if any(shared):
        graphs = [graph.unmarked(bones) for graph, bones in zip(graphs, shared, strict=True)]
        found = [_alone(_find_controls(rig, roles, graph, order, eyes, besides), besides) for graph in graphs]
    first = next(iter(order))
    if not all(first in controls for controls in found):
        return []
    plain = (_is_plain(graph, order, controls) for graph, controls in zip(graphs, found, strict=True))
    if not _apart(rig.skeleton, _tree(roles)) and all(plain):
        return []
    between: dict[int, int] = {}  # parts without a control -> the part before them
    for bone in tuple(order):
        if not any(bone in controls for controls in found):  # its children become children of its parent
            between[bone] = parent = order.pop(bone)
            order = {b: parent if p == bone else p for b, p in order.items()}
    riding: dict[int, int] = {}
    for graph, controls in zip(graphs, found, strict=True):
        more = _find_riding(graph, controls, between, besides)
        riding |= {bone: part for bone, part in more.items() if bone in graph.poles or bone not in riding}
    riding = {bone: part for bone, part in riding.items() if bone not in order and part not in eyes}  # which aim alone
    order |= riding
    everywhere = [
        {bone: controls.get(bone, Control(moves=bone if bone in graph.poles else -1)) for bone in order}
        for graph, controls in zip(graphs, found, strict=True)
    ]
    return _hung(rig.skeleton, roles, order, everywhere, graphs, riding, besides)


def _apart(skeleton: Skeleton, order: Mapping[int, int]) -> set[int]:
    """Return the parts that are no descendants of their parents."""
    return {bone for bone, parent in order.items() if parent >= 0 and parent not in skeleton.ancestors(bone)}


def _is_plain(graph: Graph, order: Mapping[int, int], controls: Mapping[int, Control]) -> bool:
    """Return whether all parts are posed by themselves, carried by the parts before them, or held by something else."""
    carried = {bone for bone, control in controls.items() if control == Control()} - graph.bent.keys()
    return all(bone in carried or bone not in controls or controls[bone].turns == bone for bone in order)


def _find_controls(
    rig: Rig, roles: Roles, graph: Graph, order: Mapping[int, int], eyes: Container[int], besides: Sequence[int]
) -> dict[int, Control]:
    """Return the controls of the parts of a tree in one graph, none for those that are carried.

    Empty if a limb has none.
    """
    skeleton = rig.skeleton
    limbs = {roles.bone(f"{part}.{side}") for side in SIDES for part in ("upper_arm", "forearm", "thigh", "shin")}
    trunk = [bone for role, chain in _chains(roles).items() if role in _TRUNK for bone in chain]
    apart = _apart(skeleton, _tree(roles))
    bent, graph.segments = graph.bent, limbs
    first, order, controls = next(iter(order)), dict(order), dict[int, Control]()
    for bone in tuple(order):
        parent = order[bone]
        if bone in eyes:
            controls |= {bone: Control(aims=graph.gazes[bone])} if bone in graph.gazes else {}
            continue
        behind = [other for other, above in order.items() if above == bone and other not in eyes]
        ended = graph.at_end(bone, order)
        shown = graph.leader(bone, parent, controls[parent].turns if parent >= 0 else -1, behind, not ended)
        if bone in trunk and graph.is_shared(shown, trunk):  # it is as its own channels: they leave IK nothing to do
            moves = graph.mover(bone, trunk, besides[:1]).moves if parent < 0 else -1
            controls[bone] = Control(moves=moves, begins=shown)
            continue
        if shown in graph.in_chains:
            chain = bent[bone] = graph.in_chains[shown]
            chain.parts[bone] = shown
            begins = -1 if chain.poled and chain.whole else graph.starter(shown, bent.get(parent) is chain, parent)
            controls[bone] = Control(begins=begins, blends=graph.mixed_with(bone))
            continue
        control = graph.mover(bone, trunk, besides[:1]) if parent < 0 else Control(turns=shown)
        if ended and first in controls:
            mixed = graph.mixed_with(bone)
            control = Control() if control.turns == mixed else control
            above = rig.skeleton.ancestors if graph.carrier in graph.in_chains else graph.upstream
            body = {graph.carrier, *above(graph.carrier)}  # what moves it cannot move a hand alone
            control = graph.with_target(bone, control, body, besides)
            control = replace(control, blends=mixed)
        elif parent in controls and controls[parent].blends >= 0:  # toes behind a foot between IK and FK
            control = replace(control, blends=graph.mixed_with(bone, control.turns))
        elif bone in apart and control.turns == bone and graph.free[bone]:
            control = Control(bone, bone)
        if (bone, control.turns) in graph.in_part and bone not in limbs:  # it turns as Blender has it
            control = replace(control, turns=-1)
        if control == Control() and bone != first:  # which a lock may hold
            if bone in limbs:
                return {}
            if not (bone in rig.carried or ended):  # its children become children of its parent
                order = {b: parent if p == bone else p for b, p in order.items()}
                continue
        controls[bone] = control
    return controls


def _shared(controls: Mapping[int, Control]) -> frozenset[int]:
    """Return the bones that move several parts: what would put one of them in its place takes the others away."""
    moved = Counter(one.moves for one in controls.values() if one.moves >= 0)
    return frozenset(bone for bone, count in moved.items() if count > 1)


def _alone(controls: Mapping[int, Control], besides: Sequence[int]) -> dict[int, Control]:
    """Return controls of which none moves several parts: one of `besides` keeps it, or the first."""
    owners: dict[int, int] = {}
    for part in sorted(controls, key=lambda part: part not in besides):
        owners.setdefault(controls[part].moves, part)
    return {part: one if owners[one.moves] == part else replace(one, moves=-1) for part, one in controls.items()}


def _find_riding(
    graph: Graph, controls: Mapping[int, Control], between: Mapping[int, int], besides: Sequence[int]
) -> dict[int, int]:
    """Return bones that are to move with the body, and poles that are in force: bone -> part.

    `between`: bones of the body without controls -> the part that they go with.
    """
    turners = {**between, **{control.turns: part for part, control in controls.items()}}
    carriers = graph.upstream(graph.carrier).keys()  # the body moves no bones that it depends on
    poles = graph.poles
    ends = Counter(chain.pole for chain in graph.ends.values())  # one pole of several limbs cannot go with each
    own = (pole for pole in poles if ends[pole] <= 1)
    able = [bone for bone in dict.fromkeys((*besides, *own)) if bone not in controls and bone not in carriers]
    more = [bone for bone in able if bone in turners or not (bone in graph.shared or graph.is_led(bone, controls))]
    found = {bone: turners.get(bone, poles.get(bone, graph.part_of(bone, controls))) for bone in more}
    return {bone: part for bone, part in found.items() if part >= 0 and not graph.is_base(bone, part, controls[part])}


def _chains(roles: Roles) -> dict[str, tuple[int, ...]]:
    """Return role -> its bones, parents first; for a creature its limbs."""
    if not roles.humanoid:
        trunk = [name for name in ("hips", "spine", "neck", "head") if name in roles.limbs]
        others = [name for name in roles.limbs if name not in (*trunk, *_FACE)]
        return {name: roles.limbs[name] for name in (*trunk, *others)}
    hands = sorted(PARTS_OF_HANDS, key=lambda role: not role.startswith("palm"))
    found = {role: roles.bones.get(role, ()) for role in (*BODY, *hands)}
    return {role: (bones,) if isinstance(bones, int) else bones for role, bones in found.items() if bones != ()}


def _tree(roles: Roles) -> dict[int, int]:
    """Return bone -> parent as in a body, parents first; -1 for the first."""
    found: dict[int, int] = {}
    chains = _chains(roles)
    for role, chain in chains.items():
        part, side = (role[:-2], role[-2:]) if role[-2:] in (".L", ".R") else (role, "")
        trunk = ("hips", "spine") if part in _BEHIND else ("spine", "hips")
        names = _BEFORE.get(part, (f"palm.{part}", "hand") if roles.humanoid else trunk)
        above = next((chains[n] for name in names for n in (f"{name}{side}", name) if n in chains and n != role), ())
        if found and not above:
            continue  # a bone without parent is not part of this body
        before = above[0 if part in _BEHIND else -1] if found else -1
        for bone in chain:
            if bone not in found and (before < 0 or before in found):
                found[bone] = before
            before = bone
    return found


def _with_twists(order: Mapping[int, int], roles: Roles, graph: Graph) -> dict[int, int]:
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


def _hung(
    skeleton: Skeleton, roles: Roles, order: Mapping[int, int], found: Sequence[Mapping[int, Control]],
    graphs: Sequence[Graph], riding: Mapping[int, int], besides: Sequence[int],
) -> list[ControlledBody]:  # fmt: skip
    """Return the bodies of a tree with its controls in each graph. Where one has a hinge, it is one in all of them."""
    bones = list(order)
    place = {bone: number for number, bone in enumerate(bones)}
    parents = np.array([place.get(order[bone], -1) for bone in bones])
    both = list(zip(graphs, found, strict=True))
    leaders = np.array([[graph.shown_by(bone, controls[bone].turns) for bone in bones] for graph, controls in both])
    off = [astray(graph.matrices, skeleton.size, np.array(bones), leaders[n]) for n, graph in enumerate(graphs)]
    frames = np.where(off, bones, leaders)
    hinges = np.array([np.isin(bones, list(graph.bent)) for graph in graphs]) & (frames == leaders)
    chosen = hinges.argmax(axis=0)  # (N,) the graph whose frame each part has: the first that has it as a hinge
    shown = frames[chosen, np.arange(len(bones))]
    rest = skeleton.rest_matrices[shown]
    turns = frame_rotations(rest[:, :, :3])
    above = np.where((parents >= 0)[:, None], turns[parents], rotation.IDENTITY)
    origin = np.where((parents >= 0)[:, None], rest[parents, :, 3], 0.0)
    limits: list[LimitGroup] = []
    for number, (graph, controls) in enumerate(both):
        own = {bone for bone, one in zip(bones, chosen == number, strict=True) if one}
        limits += _limits_of_parts(skeleton, controls, graph, order, place, turns, own)
        limits += hinges_of(graph, {bone: place[bone] for bone in bones if bone in own and hinges[number, place[bone]]})
    bent = {bone for graph in graphs for bone in graph.bent}
    still = [bone for bone in bones if all(replace(one[bone], moves=-1) == Control() for one in found)]
    carried = [bone for bone in still if bone not in bent]
    moved = np.array([any(controls[bone].moves >= 0 for controls in found) for bone in bones])
    turners = [{controls[bone].turns for controls in found} for bone in bones]
    leads = np.array([min(some) if len(some) == 1 else -1 for some in turners])
    alike = rotation.angle_between(frame_rotations(skeleton.rest_matrices[leads, :, :3]), turns) < _SAME_AXES
    own = leads == bones  # they have the locks of their controls
    for part in np.flatnonzero(~own & (leads >= 0) & alike & skeleton.rotation_locks[leads].any(axis=1)).tolist():
        own[part] = all(graph.turns_with(leads[part], order[bones[part]], controls) for graph, controls in both)
    first = [controls[bones[0]] for controls in found]
    held = bones[0] not in bent and all(one.turns < 0 and one.begins < 0 for one in first)  # by a lock
    mover = first[0].moves if first[0].moves >= 0 else shown[0]
    size = float(np.round(sizes_of(graphs[0].matrices[mover]), 5))  # that of float32 is noise
    carried += bones[:1] if held else []
    body = Skeleton(
        tuple(skeleton.names[bone] for bone in bones),
        parents,
        size * rotation.rotate(rotation.inv(above), rest[:, :, 3] - origin),
        rotation.mul(rotation.inv(above), turns),
        size * skeleton.lengths[bones],
        limits=tuple(limits),
        movable=~np.isin(bones, [*riding, *carried]),
        rotation_locks=(graphs[0].ik_locks[shown] & hinges.any(axis=0)[:, None])
        | (skeleton.rotation_locks[leads] & own[:, None]),
        rotation_modes=tuple(np.where(own, np.array(skeleton.rotation_modes)[leads], "QUATERNION").tolist()),
        translatable=np.repeat((moved & (parents < 0))[:, None], 3, axis=1),
    )

    def kept(found: Any) -> Any:
        return place.get(found, ()) if isinstance(found, int) else tuple(place[bone] for bone in found if bone in place)

    known, twist = ({role: some for role, found in table.items() if (some := kept(found)) != ()}
                    for table in (roles.bones, roles.twist))  # fmt: skip
    lean = replace(roles, bones=known, twist=twist, limbs={name: kept(chain) for name, chain in roles.limbs.items()},
                   soles={role: size * points for role, points in roles.soles.items()})  # fmt: skip
    ends = {roles.bones.get(f"{part}.{side}") for side in SIDES for part in ("forearm", "hand", "shin", "foot")}
    ends |= {bone for name, chain in roles.limbs.items() if name.startswith(("leg", "arm")) for bone in chain[1:]}
    ends -= {bone for bone in bent if order[bone] not in bent}  # where a limb begins it may be moved
    bodies: list[ControlledBody] = []
    for number, (graph, controls) in enumerate(both):
        chains = {place[end]: chain for end, chain in graph.ends.items() if end in place}
        limbs, ended = {id(chain): end for end, chain in chains.items()}, [*map(id, graph.ends.values())]
        starts = {chain.pole: place[part] for part, chain in reversed(graph.bent.items()) if id(chain) in ended}
        idle = [bone for bone, part in riding.items() if not graph.acts(bone, part, order[part], controls[part])]
        mixed = [place[bone] for bone in bones if controls[bone].blends >= 0]  # neither IK nor FK alone shows it
        read = frames[number]
        read[mixed] = [graph.mixtures(bones[part])[0] for part in mixed]
        read[[place[bone] for bone in idle]] = read[[place[riding[bone]] for bone in idle]]
        read_at = skeleton.rest_matrices[read]
        own_turns = frame_rotations(read_at[:, :, :3])
        beside = rotation.rotate(rotation.inv(own_turns), skeleton.rest_matrices[bones][:, :, 3] - read_at[:, :, 3])
        keyed = [(bone, controls[bone]) for bone in bones]
        along = np.array([one.moves >= 0 and not graph.stays(one.moves) for _, one in keyed])
        along[0] = False
        slides = [
            one.turns >= 0 > one.moves and one.turns not in graph.upstream(order[bone])
            and bool(skeleton.translatable[one.turns].any()) for bone, one in keyed
        ]  # fmt: skip
        local = np.array([(bone, one.turns) in graph.local for bone, one in keyed])
        bodies.append(ControlledBody(
            body, lean, np.array(bones), leaders[number], read,
            aligned=rotation.mul(rotation.inv(own_turns), turns),
            beside=np.where(np.isin(bones, idle)[:, None], beside, 0.0),
            controls=tuple(one for _, one in keyed),
            hangs=local | [graph.hangs(one.turns, order[bone], controls) for bone, one in keyed],
            rigid=np.array([bone in ends and bone not in (one.moves, one.turns) for bone, one in keyed]),
            ends=np.array([limbs.get(id(graph.bent.get(bone)), place[bone]) for bone in bones]),
            riding={bone: place[part] for bone, part in riding.items()},
            goals=graph.goals,
            poles={place[pole]: starts[pole] for pole in riding if pole in starts and pole not in besides},
            targets={end: chain.target for end, chain in chains.items()},
            lax=frozenset(end for end, chain in chains.items() if chain.lax),
            asked=tuple(besides),
            hinged=tuple(
                HingedLimb(place[upper], place[lower], limbs[id(graph.bent[lower])],
                           rotation.rotate(rotation.inv(turns[place[lower]]), axis))
                for (upper, lower), axis in hinge_axes(graph).items()
                if id(graph.bent[lower]) in limbs and hinges[number, [place[upper], place[lower]]].all()
            ),
            untwisted=tuple(place[bone] for bone, one in keyed if graph.swings_alone(bone, one.turns)),
            idle=frozenset(idle),
            planted=tuple(end for end in chains if graph.stays(keyed[end][1].moves)),
            beyond=graph.beyond,
            along=along,
            slides=np.array(slides),
            local=local,
            kept={place[part]: bone for part, bone in graph.kept.items() if part in place},
        ))  # fmt: skip
    return bodies


def _limits_of_parts(
    skeleton: Skeleton, controls: Mapping[int, Control], graph: Graph, order: Mapping[int, int],
    place: Mapping[int, int], turns: Array, chosen: Container[int],
) -> tuple[LimitGroup, ...]:  # fmt: skip
    """Return the limits of controls and of IK chains as limits of the `chosen` parts, if both have the same parent."""
    leaders = {bone: control.turns for bone, control in controls.items()}
    leaders |= {bone: chain.parts[bone] for bone, chain in graph.bent.items()}
    parts = {
        leader: bone for bone, leader in leaders.items()
        if leader >= 0 and bone in chosen and order[bone] >= 0 and graph.hangs(leader, order[bone], controls)
    }  # fmt: skip
    found: list[LimitGroup] = []
    for group in limits_of(skeleton, parts):
        own = [place[parts[bone]] for bone in group.bones.tolist()]
        frames = frame_rotations(skeleton.rest_matrices[group.bones][:, :, :3])
        away = rotation.mul(rotation.inv(frames), turns[own])  # (k, 4) the parts at rest, in the controls' frames
        found.append(Framed(group, away, rotation.inv(away), own))
    return tuple(found)


def controls_by_role(controlled: ControlledBody, roles: Roles, names: tuple[str, ...]) -> dict[str, str | list[str]]:
    """Return the bone, or bones, that a user keys for each role."""
    found: dict[str, str | list[str]] = {}
    place = {int(bone): number for number, bone in enumerate(controlled.bones)}
    for role, chain in {**roles.bones, **roles.limbs}.items():
        bones = (chain,) if isinstance(chain, int) else chain
        led = [controlled.controls[place[bone]] for bone in bones if bone in place]
        every = [[bone for bone in (one.moves, one.turns, one.begins) if bone >= 0] for one in led]
        keyed = [names[some[0]] for some in every if some]
        if keyed:
            found[role] = keyed[0] if isinstance(chain, int) else keyed
    return found
