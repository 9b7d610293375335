"""Find the controls of a rig whose body bones are driven: which bone is keyed to turn or move which part."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from ..core import Skeleton, rotation
from ..core.body import BODY, SIDES, Roles
from ..core.body.gaze import is_eye
from ..core.body.roles import PARTS_OF_HANDS
from ..core.limits import Framed, LimitGroup
from ..core.pose import frame_rotations
from ..core.rotation import Array
from .armature import Rig, flags, read_matrices
from .channels import ArmatureObject
from .controls import SAME_PLACE, Control, ControlledBody, limits_of
from .driven import constrained_bones, split_path

_ALIGNED: Final = float(np.cos(np.radians(15.0)))
_BY_PLACE: Final = {
    "STRETCH_TO", "DAMPED_TRACK", "TRACK_TO", "LOCKED_TRACK", "IK", "COPY_LOCATION", "LIMIT_DISTANCE",
}  # fmt: skip
_GAZES: Final = {"DAMPED_TRACK", "TRACK_TO", "LOCKED_TRACK"}
_BEFORE: Final = {  # the parents of a part, the first that exists
    "neck": ("spine", "hips"), "head": ("neck", "spine", "hips"), "shoulder": ("spine", "hips"),
    "upper_arm": ("shoulder", "spine", "hips"), "forearm": ("upper_arm",), "hand": ("forearm",),
    "thigh": ("hips",), "shin": ("thigh",), "foot": ("shin",), "toe": ("foot",), "spine": ("hips",),
}  # fmt: skip
_BEHIND: Final = {"leg", "leg.hind", "tail"}  # of a creature: children of the first bone of its spine


def find_controlled(
    armature: ArmatureObject,
    rig: Rig,
    roles: Roles,
    besides: Sequence[int] = (),
    along: bool = False,
    poles: bool = False,
) -> ControlledBody | None:
    """Return the body with its controls if its bones are driven or not parented to each other, else None.

    `besides`: other bones that are to move with the body, as far as they drive a part of it or are driven by one. Those
    that drive it in another way than its control, as IK does, go with the part, IK poles with their segment; with
    `along` all such bones at the place of their part, with `poles` those of segments that no control turns. The body is
    moved by the first of `besides` if all of it is below that bone.
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
            # its children become children of its parent
            order = {b: parent if p == bone else p for b, p in order.items()}
            continue
        controls[bone] = replace(control, begins=bone) if control == Control() and bone in graph.begun else control
    if first not in controls:
        return None
    turners = {control.turns: part for part, control in controls.items()}
    carriers = graph.upstream(controls[first].turns).keys()  # the body does not move bones that it depends on
    others = graph.twins(controls) if along else set[int]()
    bent = {bone for bone, control in controls.items() if control.turns < 0}
    others |= {pole for pole, chain in graph.poles.items() if poles and chain & bent}
    besides = [*besides, *(others - {*besides})]
    riding = {bone: turners.get(bone, graph.part_of(bone, controls)) for bone in besides
              if bone not in controls and bone not in carriers}  # fmt: skip
    riding = {bone: part for bone, part in riding.items() if part >= 0 and part not in eyes}  # eyes aim by themselves
    body = dict(controls)
    for bone, part in riding.items():
        first_led = next((other for other in body if bone in graph.upstream(other)), part)
        switched = graph.switch(first_led, body[first_led].turns) is not None
        goes_along = switched and bone not in turners and graph.moving[bone] and not graph.hangs(bone, part, body)
        order[bone] = part
        controls[bone] = Control(bone, bone) if goes_along else Control(moves=bone if bone in graph.poles else -1)
    bones = [bone for bone in order if bone in controls]
    return _hung(rig.skeleton, roles, bones, order, controls, graph, riding)


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


class _Graph:
    """The dependencies between the bones (indices) of a rig."""

    def __init__(self, armature: ArmatureObject, rig: Rig) -> None:
        self.rig, self.object = rig, armature
        skeleton = rig.skeleton
        self.rest = skeleton.rest_matrices
        self.above: list[set[int]] = [{int(parent)} - {-1} for parent in skeleton.parents]
        self.turned_by = [set(above) for above in self.above]  # without dependencies on a place only
        self.in_chains: set[int] = set()
        self.begun: set[int] = set()  # bones of IK chains that start Blender's solver from their own channels
        self.goals: dict[int, int] = {}
        self.poles: dict[int, set[int]] = {}  # free bones that are the pole of an IK chain -> the chain
        self.gazes: dict[int, int] = {}  # eyes -> the free bones that they aim at
        for bone in armature.pose.bones:
            for constraint in bone.constraints:
                targets = [getattr(constraint, "subtarget", ""), getattr(constraint, "pole_subtarget", "")]
                targets += [target.subtarget for target in getattr(constraint, "targets", ())]
                named = {skeleton.index(name) for name in targets if name in armature.pose.bones}
                for decided in constrained_bones(constraint, bone):
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
        locks = flags(armature.pose.bones, "lock_rotation", 3)
        self.turning = skeleton.movable & ~locks.all(axis=1) & (locks.sum(axis=1) < 2)
        self.moving = self.turning & skeleton.translatable.all(axis=1)

    def _note_chain(self, constraint: Any, bone: Any) -> None:
        """Note an IK chain, its pole, and its target if that is a free bone."""
        index = self.rig.skeleton.index
        target = index(constraint.subtarget) if constraint.subtarget in self.object.pose.bones else -1
        chain = [index(name) for name in constrained_bones(constraint, bone)]
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
        """Return all bones that a bone depends on, with the number of steps."""
        if bone not in self._upstream:
            self._upstream[bone] = _reach(self.above, bone)
        return self._upstream[bone]

    def turner(self, bone: int, part: int, above: int) -> Control:
        """Return the free bone with this bone's place and direction that does not turn the part before.

        Of several, one below the control `above` of that part is preferred, then the nearest.
        """
        if self.turning[bone]:
            return Control(turns=bone)
        steps, before = self.upstream(bone), _reach(self.turned_by, part)
        near = [other for other in steps if self.turning[other] and other not in before and self._fits(other, bone)]
        near.sort(key=lambda other: (above not in self.upstream(other), steps[other], other))
        return Control(turns=near[0]) if near else Control()

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

    def goal(self, bone: int) -> int:
        """Return the target of the IK chain that ends at this bone's head, or -1."""
        return self.goals.get(bone, -1) if bone not in self.in_chains else -1

    def part_of(self, bone: int, controls: Mapping[int, Control]) -> int:
        """Return the nearest part that depends on a bone; else the part that drives it; else -1."""
        places = self.rest[:, :, 3]
        led = [part for part in controls if bone in self.upstream(part)]
        if led:
            return min(led, key=lambda part: float(np.linalg.norm(places[part] - places[bone])))
        driven = self.rig.skeleton.driven[bone] and self.above[bone] - {int(self.rig.skeleton.parents[bone])}
        steps = self.upstream(bone) if driven else {}
        parts = {other: part for part, control in controls.items() for other in (part, control.turns)}
        return parts[min(parts.keys() & steps, key=steps.__getitem__)] if parts.keys() & steps else -1

    def twins(self, controls: Mapping[int, Control]) -> set[int]:
        """Return free bones at the place of a part that drive it in another way than its control: IK controls."""
        places, near = read_matrices(self.object)[:, :, 3], SAME_PLACE * self.rig.skeleton.size
        return {
            bone
            for part, control in controls.items() if self.switch(part, control.turns) is not None
            for bone in self.upstream(part).keys() - self.upstream(control.turns).keys()
            if self.moving[bone] and np.linalg.norm(places[bone] - places[part]) < near
        }  # fmt: skip

    def hangs(self, control: int, part: int, controls: Mapping[int, Control]) -> bool:
        """Return whether a control follows a part of the body, or that part's control."""
        if control < 0 or part < 0:
            return False
        upstream = self.upstream(control)
        return part in upstream or controls[part].turns in upstream

    def switch(self, bone: int, control: int) -> tuple[str, str, float] | None:
        """Return (bone, property, value) that turns off the constraints after the one by which `control` drives it."""
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
            far < SAME_PLACE * self.rig.skeleton.size and self.rest[other, :, 1] @ self.rest[bone, :, 1] > _ALIGNED
        )


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

    def kept(found: Any) -> Any:
        return place.get(found, ()) if isinstance(found, int) else tuple(place[bone] for bone in found if bone in place)

    known, twist = ({role: some for role, found in table.items() if (some := kept(found)) != ()}
                    for table in (roles.bones, roles.twist))  # fmt: skip
    lean = replace(roles, bones=known, twist=twist, limbs={name: kept(chain) for name, chain in roles.limbs.items()})
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
    """Return the limits of the controls as limits of the parts that they turn, if both have the same parent."""
    parts = {
        control.turns: bone for bone, control in controls.items()
        if control.turns >= 0 and order[bone] >= 0 and graph.hangs(control.turns, order[bone], controls)
    }  # fmt: skip
    found: list[LimitGroup] = []
    for group in limits_of(skeleton, parts):
        own = [place[parts[bone]] for bone in group.bones.tolist()]
        frames = frame_rotations(skeleton.rest_matrices[group.bones][:, :, :3])
        away = rotation.mul(rotation.inv(frames), turns[own])  # (k, 4) the parts at rest, in the controls' frames
        found.append(Framed(group, away, rotation.inv(away), own))
    return tuple(found)
