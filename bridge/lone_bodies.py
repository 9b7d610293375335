"""Bodies of bones beside a known body: IK chains, chains that curl, controls of a face."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

import numpy as np

from ..core import Skeleton, rotation
from ..core.body import Roles
from ..core.pose import frame_rotations
from ..core.skeleton import Flags
from .armature import Rig
from .channels import ArmatureObject
from .constraints import copied_axes, turns_itself
from .control_bodies import find_controlled
from .control_graph import Graph, reach
from .controlled_body import Control, ControlledBody


def find_ik_chain(armature: ArmatureObject, rig: Rig, roles: Roles, bone: int) -> ControlledBody | None:
    """Return an IK chain as a body of its own, if a bone is of it or hangs on its end, and a free bone is its target.

    Its target and pole are moved, and not turned.
    """
    held = next((other for other in rig.skeleton.ancestors(bone) if rig.skeleton.driven[other]), -1)
    graph = Graph(armature, rig)
    chain = graph.in_chains.get(held)
    target = -1 if chain is None else graph.target_of(chain)
    if chain is None or target < 0:
        return None
    links = sorted(other for other, one in graph.in_chains.items() if one is chain)
    path = rig.skeleton.ancestors(bone)
    below = path[: path.index(held)][::-1] if held == chain.tip else []
    limb = replace(roles, humanoid=False, bones={}, twist={}, limbs={"spine": (*links, *(below or [target]))})
    body = find_controlled(armature, rig, limb, (bone,), graph)
    if body is None:
        return None
    controls = tuple(replace(one, turns=-1) if one.turns == target else one for one in body.controls)
    return replace(body, roles=replace(body.roles, limbs={}), controls=controls)


def ik_goals(armature: ArmatureObject, rig: Rig, which: Sequence[str] = ("", "pole_")) -> set[int]:
    """Return the bones (indices) that are targets ("") or poles ("pole_") of IK constraints of the armature's bones."""
    constraints = (one for bone in armature.pose.bones for one in bone.constraints if one.type == "IK")
    named = {
        getattr(one, f"{what}subtarget")
        for one in constraints
        for what in which
        if getattr(one, f"{what}target") == armature
    }
    return {number for number, name in enumerate(rig.skeleton.names) if name in named}


def find_curled(
    armature: ArmatureObject, rig: Rig, roles: Roles, bones: Sequence[int], body: ControlledBody | None = None
) -> ControlledBody | None:
    """Return chains as a body whose bones add the rotation of another to their own, if the first of `bones` is of one.

    As of a tail or a toe that curls: each begins at the first bone above that does not, if that is free. They turn, and
    are not moved. A bone that such a bone drives goes with it, but not one that is of the `body`, or goes with a part
    which that bone drives, too.
    """
    chains, riding = dict[int, None](), dict[int, int]()
    for bone in bones:
        link = _curled_link(armature, rig, bone, body)
        path = rig.skeleton.ancestors(link) if link >= 0 else []
        curled = [*takewhile(lambda other: turns_itself(armature.pose.bones[rig.skeleton.names[other]]), path)]
        first = [other for other in path[len(curled) :][:1] if curled and rig.skeleton.movable[other]]
        chains |= dict.fromkeys((*first, *reversed(curled)))
        riding |= {bone: link} if bone != link >= 0 else {}
    if bones[0] not in chains and bones[0] not in riding:
        return None
    place = {link: number for number, link in enumerate(chains)}
    whole, links = rig.skeleton, [*chains]
    parents = [place.get(int(whole.parents[link]), -1) for link in links]
    turning = whole.movable[links] | ~whole.rotation_locks[links].any(axis=1)
    ridden = {bone: place[link] for bone, link in riding.items()}
    axes = [
        copied_axes(armature.pose.bones[whole.names[link]], whole.names[links[parent]]) if parent >= 0 else None
        for link, parent in zip(links, parents, strict=True)
    ]
    copies = {number: np.array(some) for number, some in enumerate(axes) if some is not None}
    return replace(_lone(rig, roles, links, parents, turning, False, ridden), copies=copies)


def _curled_link(armature: ArmatureObject, rig: Rig, bone: int, body: ControlledBody | None) -> int:
    """Return the bone that adds the rotation of another to its own, and that a bone is or is driven by, or -1."""

    def curls(other: int) -> bool:
        return turns_itself(armature.pose.bones[rig.skeleton.names[other]])

    part = -1 if body is None else body.parts.get(bone, -1)
    if rig.skeleton.movable[bone] or (body is not None and part >= 0 and bone not in body.riding):
        return -1
    if part < 0 and curls(bone):
        return bone
    graph = Graph(armature, rig)
    steps = {bone: 0, **reach(graph.turned_by, bone)}
    link = min((other for other in steps if curls(other)), key=steps.__getitem__, default=-1)
    return -1 if body is not None and part >= 0 and link in graph.upstream(int(body.bones[part])) else link


def free_controls(rig: Rig, roles: Roles, bones: Iterable[int]) -> ControlledBody:
    """Return bones below driven ones that can be moved by themselves, as in a face: each is a body of one bone."""
    links = list(bones)
    return _lone(rig, roles, links, [-1] * len(links), rig.skeleton.movable[links], True, {})


def _lone(
    rig: Rig, roles: Roles, bones: Sequence[int], above: Sequence[int], turning: Flags, moving: bool,
    riding: Mapping[int, int],
) -> ControlledBody:  # fmt: skip
    """Return bones of the rig as a body without roles; `above`: their parents there. All are moved, or none."""
    whole, count, numbers, parents = rig.skeleton, len(bones), np.array(bones, int), np.array(above, int)
    rest, hangs = whole.rest_matrices[numbers], parents >= 0
    turns = frame_rotations(rest[:, :, :3])
    base = np.where(hangs[:, None], turns[parents], rotation.IDENTITY)
    skeleton = Skeleton(
        tuple(whole.names[bone] for bone in bones),
        parents,
        rotation.rotate(rotation.inv(base), rest[:, :, 3] - np.where(hangs[:, None], rest[parents, :, 3], 0.0)),
        rotation.mul(rotation.inv(base), turns),
        whole.lengths[numbers],
        movable=turning,
        translatable=np.full((count, 3), moving),
        rotation_locks=whole.rotation_locks[numbers] & whole.movable[numbers, None],
        rotation_modes=tuple(whole.rotation_modes[bone] for bone in bones),
    )
    return ControlledBody(
        skeleton,
        replace(roles, bones={}, twist={}, limbs={}),
        numbers,
        numbers,
        numbers,
        np.broadcast_to(rotation.IDENTITY, (count, 4)),
        np.zeros((count, 3)),
        tuple(Control(bone if able else -1, bone if moving else -1) for bone, able in zip(bones, turning, strict=True)),
        hangs,
        np.zeros(count, bool),
        np.arange(count),
        riding,
        frozenset(),
        {},
        along=np.zeros(count, bool),
        slides=np.zeros(count, bool),
        local=np.zeros(count, bool),
    )
