"""What the bones of a rig depend on now: parents, constraints in force, chains of IK."""

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile
from typing import Any, Final

import numpy as np

from ..core import rotation
from ..core.body.gaze import is_eye
from ..core.skeleton import Flags
from .armature import Rig, read_matrices
from .channels import ArmatureObject, flags
from .constraints import (
    aims,
    in_force,
    limits_place,
    poses_itself,
    replaces,
    replaces_place,
    replaces_turn,
    takes_back,
    turns_in_part,
    turns_locally,
)
from .controlled_body import SAME_PLACE, Control, begins_at_end
from .driven import constrained_bones
from .shown import read_for_posing

_ALIGNED: Final = float(np.cos(np.radians(15.0)))
_BY_PLACE: Final = {
    "STRETCH_TO", "DAMPED_TRACK", "TRACK_TO", "LOCKED_TRACK", "IK", "COPY_LOCATION", "LIMIT_DISTANCE",
}  # fmt: skip
_COPIES: Final = {"COPY_TRANSFORMS", "COPY_ROTATION"}
_GAZES: Final = {"DAMPED_TRACK", "TRACK_TO", "LOCKED_TRACK"}


@dataclass(frozen=True)
class _Chain:
    """An IK chain in force."""

    tip: int
    target: int  # the bone that it leads to, or -1: another object
    pole: int  # the free bone that is its pole, or -1
    poled: bool  # it has a pole
    # it bends as its target and pole say alone: else Blender mixes in part of where its own channels end, or it has
    # more than two bones and a pole that goes with it, and begins as these are
    whole: bool
    lax: bool  # IK brings its end to the target in part only, or not as far as another object
    parts: dict[int, int]  # part of the body -> the bone of the chain that it shows


class Graph:
    """The dependencies between the bones (indices) of a rig, as its constraints are now."""

    def __init__(self, armature: ArmatureObject, rig: Rig) -> None:
        self.rig, self.object, self.matrices = rig, armature, read_matrices(armature)
        skeleton = rig.skeleton
        self.rest = skeleton.rest_matrices
        self.place_of = {name: place for place, name in enumerate(skeleton.names)}
        parents: list[tuple[int, ...]] = [() if parent < 0 else (parent,) for parent in skeleton.parents.tolist()]
        self.above = list(map(set, parents))
        self.turned_by = list(map(set, parents))  # without dependencies on a place only
        self.twisted_by = list(map(set, parents))  # nor on turns without that about the bone's own Y
        self.swinging: set[int] = set()  # bones of which others copy the turns without that
        self.ever = list(map(set, parents))  # whatever the settings are
        self.gazes: dict[int, int] = {}  # eyes -> the free bones that they aim at
        self._targets: set[int] = set()  # of IK, whatever the settings are
        locks, placed = flags(armature.pose.bones, "lock_rotation", 3), flags(armature.pose.bones, "lock_location", 3)
        bones = armature.pose.bones
        every = [(bone, constraint) for bone in bones for constraint in bone.constraints]  # Blender lists them slowly
        aimed = {one.subtarget for _, one in every if one.type == "IK" and one.subtarget in bones}
        led = {skeleton.names[above] for name in aimed for above in skeleton.ancestors(self.place_of[name])}
        hung = np.isin(skeleton.names, [name for name in rig.driven if poses_itself(bones[name], name in led)])
        self.begins = locks.sum(axis=1) < 3  # bones of chains that start Blender's solver from their own channels
        self.turning = (skeleton.movable | hung) & ~locks.all(axis=1) & (locks.sum(axis=1) < 2)
        self._unlocked = ~skeleton.connected & ~placed.any(axis=1)
        self.free = skeleton.translatable.all(axis=1) | (hung & self._unlocked)
        self.for_posing = read_for_posing(armature)
        # what only its locks hold; of bones that are not for posing these are the rigger's
        alone = self.for_posing & ~skeleton.connected & ~skeleton.driven
        self.placed, self.locked = placed.any(axis=1) & alone, (locks.any(axis=1) | placed.any(axis=1)) & alone
        self.free |= self.placed & skeleton.translatable.any(axis=1)
        pivots = [bone.parent.name for bone, one in every if takes_back(one, bone)]
        plain = ~np.isin(skeleton.names, pivots)  # what carries a pivot, which an animator places, poses what it turns
        self.free, self.turning = self.free & plain, self.turning & plain
        self.moving = self.turning & self.free
        self.carrier, self.beyond = -1, False  # the bone that carries the body of a search, see `mover`
        self.shared = frozenset[int]()  # bones of a search that carry the targets of several limbs
        self.kept: dict[int, int] = {}  # parts of a search that a lock of a bone's location holds -> that bone
        self.ik_locks = np.stack([flags(armature.pose.bones, f"lock_ik_{axis}", 1)[:, 0] for axis in "xyz"], axis=1)
        self.chains: list[_Chain] = []
        self.bent: dict[int, _Chain] = {}
        self.segments: set[int] = set()  # parts of limbs that deforming bones may show with a part of their twist
        self.ends: dict[int, _Chain] = {}
        self.in_chains: dict[int, _Chain] = {}
        self.aiming: set[int] = set()  # bones that IK turns alone, or as its target
        self._tracking: set[int] = set()  # bones that look at something, in part or fully
        # bones that have the place of another one, or of an object (-1), whatever they hang on
        self._pinned: dict[int, int] = {}
        self._limited: set[int] = set()  # bones of which constraints limit the place
        self.in_part: set[tuple[int, int]] = set()  # bones that have the rotation of another but for some axes
        self.local: set[tuple[int, int]] = set()  # bones that have the channels' rotation of another
        self._copied: dict[int, int] = {}  # bones that have the transform of another one
        self._turners: defaultdict[int, set[int]] = defaultdict(set)  # of which bones copy rotations
        self._mixed: dict[int, set[int]] = {}  # bones that copy several others in part
        iks: list[tuple[Any, Any]] = []
        for bone, constraint in every:
            self._read(bone, constraint)
            if constraint.type == "IK" and in_force(constraint):
                iks.append((constraint, bone))
        self._upstream: dict[int, dict[int, int]] = {}
        self._shows: dict[int, list[int]] = {}
        uses = Counter(name for ik in iks for name in (*[*constrained_bones(*ik)][-1:], ik[0].pole_subtarget))
        for constraint, bone in iks:
            self._note_chain(constraint, bone, uses)

    def unmarked(self, shared: frozenset[int] = frozenset()) -> "Graph":
        """Return the graph without what a search for a body has noted in it, but for bones that limbs share."""
        found = copy(self)
        chains = {id(chain): replace(chain, parts={}) for chain in self.chains}
        found.chains = [*chains.values()]
        found.in_chains = {bone: chains[id(chain)] for bone, chain in self.in_chains.items()}
        found.bent, found.ends, found.kept, found.segments, found.carrier, found.beyond = {}, {}, {}, set(), -1, False
        found.shared = shared
        return found

    def _read(self, bone: Any, constraint: Any) -> None:
        """Add what a bone depends on by a constraint."""
        place, kind = self.place_of, constraint.type
        weights = {target.subtarget: target.weight for target in constraint.targets} if kind == "ARMATURE" else {}
        every = getattr(constraint, "subtarget", ""), constraint.pole_subtarget if kind == "IK" else "", *weights
        named = {place[name] for name in every if name in place}
        now = {place[name] for name in every if name in place and weights.get(name, 1.0) > 0.0}
        acts = in_force(constraint)
        if kind == "IK":
            self._targets |= {place.get(constraint.subtarget, -1)} & named
        replaced = bool(now) and replaces(constraint)
        for decided in [place[name] for name in constrained_bones(constraint, bone)]:
            self.ever[decided] |= named - {decided}
            if not acts or limits_place(constraint):
                if acts:
                    self._limited.add(decided)
                continue
            if replaced:  # all before it, the parent included
                self._copied[decided] = min(now)
                for edges in (self.above, self.turned_by, self.twisted_by):
                    edges[decided] = set()
            if replaces_place(constraint):
                self._pinned[decided] = min(now, default=-1)
            if kind == "COPY_ROTATION":
                self.in_part |= {(decided, other) for other in now if turns_in_part(constraint)}
                self.local |= {(decided, other) for other in now if turns_locally(constraint)}
                if now and replaces_turn(constraint):
                    for edges in (self.above, self.turned_by, self.twisted_by):
                        edges[decided] -= self._turners[decided] - {int(self.rig.skeleton.parents[decided])}
                self._turners[decided] |= now
            self.above[decided] |= now - {decided}
            if kind in _GAZES:
                self._tracking.add(decided)
            if kind in _COPIES and constraint.influence < 1.0:
                self._mixed[decided] = self.above[decided] | now
            if kind not in _BY_PLACE or aims(constraint):
                self.turned_by[decided] |= now - {decided}
                swings = kind == "COPY_ROTATION" and not constraint.use_y
                (self.swinging if swings else self.twisted_by[decided]).update(now - {decided})
        gazes = kind in _GAZES and acts and is_eye(bone.name)
        if now and gazes and self.rig.skeleton.translatable[list(now)].all():
            self.gazes[place[bone.name]] = min(now)

    def _note_chain(self, constraint: Any, bone: Any, uses: Mapping[str, int]) -> None:
        """Note an IK chain. Blender solves those that begin at one bone together, without poles.

        uses: how many chains begin at a bone, or have it as their pole
        """
        index, bones = self.rig.skeleton.index, self.object.pose.bones
        names = [*constrained_bones(constraint, bone)]  # the last one first
        poled = constraint.pole_target is not None and uses[names[-1]] == 1
        inside = constraint.target == self.object and constraint.subtarget in bones
        if constraint.target in (None, self.object) and not inside:
            return
        own = poled and constraint.pole_target == self.object and constraint.pole_subtarget in bones
        pole = index(constraint.pole_subtarget) if own else -1
        pole = pole if pole >= 0 and self.free[pole] and self._unlocked[pole] else -1
        bent = [*map(index, names)]
        target = index(constraint.subtarget) if inside else -1
        lax = constraint.influence < 1.0 or (target < 0 and self._is_short(bent[0], constraint))
        if constraint.use_rotation and len(bent) > 1:  # the last bone goes with the target
            last = bent.pop(0)
            self.aiming.add(last)
            self.turned_by[last] |= {target} - {-1}
        led = pole >= 0 and uses[constraint.pole_subtarget] == 1 and len(bent) > 2
        if target in self._limited:  # to what the limb reaches: what it has its place from says where IK is to lead
            target = self._pinned.get(target, target)
        chain = _Chain(bent[0], target, pole, poled, constraint.influence == 1.0 and not led, lax, {})
        self.chains.append(chain)
        if aims(constraint):
            self.aiming.add(bent[0])
        else:
            self.in_chains |= dict.fromkeys(bent, chain)

    def _is_short(self, tip: int, constraint: Any) -> bool:
        """Return whether the last bone of a chain does not reach another object."""
        if constraint.subtarget:
            return False
        target = self.object.matrix_world.inverted_safe() @ constraint.target.matrix_world.translation
        away = rotation.lengths(np.array(target) - np.array(self.object.pose.bones[tip].tail))
        return bool(away > SAME_PLACE * self.rig.skeleton.size)

    @cached_property
    def _seated(self) -> Flags:
        """Which bones IK turns, where their own location has them."""
        return self._unlocked & np.isin(np.arange(len(self.free)), [*self.in_chains])

    def is_shared(self, bone: int, trunk: Iterable[int]) -> bool:
        """Return whether a bone of the trunk is of the IK chain of a limb, without a pole."""
        chain = self.in_chains.get(bone)
        return (
            chain is not None
            and not chain.poled
            and not any(chain.tip in (part, *self.upstream(part)) for part in trunk)
        )

    def is_led(self, bone: int, parts: Container[int] = ()) -> bool:
        """Return whether a bone is of an IK chain that bends no part of the body, or hangs on one, as of a tail.

        But not if one of the `parts` depends on it with other settings, as of a limb that is in FK now.
        """
        above = [self.in_chains[one] for one in self.rig.skeleton.ancestors(bone) if one in self.in_chains]
        return any(not chain.parts for chain in above) and not any(one in parts for one in reach(self._led, bone))

    def _carriers(self, target: int) -> list[int]:
        """Return a bone and those that carry it: from parent to parent, from the end of a chain to its target."""
        found, bone = list[int](), target
        while bone >= 0 and bone not in found:
            found.append(bone)
            chain = self.in_chains.get(bone)
            parent = int(self.rig.skeleton.parents[bone])
            bone = self._copied.get(bone, parent if chain is None or chain.tip != bone else chain.target)
        return found

    def starter(self, bone: int, further: bool, before: int) -> int:
        """Return the bone that starts a bone of a chain without a pole, or -1: itself, or of the first one above it.

        A bone that the part `before` the limb depends on does not count: it starts more than the limb.
        """
        above = [bone] if further else self.rig.skeleton.ancestors(bone)
        others = {before, *self.upstream(before)} if before >= 0 else set[int]()
        found = next((other for other in above if self.begins[other] and other not in others), -1)
        return found if found in self.in_chains or self.rig.skeleton.movable[found] else -1

    def _at(self, bone: int, other: int) -> bool:
        """Return whether two bones have the same place at rest."""
        return bool(
            np.linalg.norm(self.rest[bone, :, 3] - self.rest[other, :, 3]) < SAME_PLACE * self.rig.skeleton.size
        )

    def with_target(self, part: int, control: Control, body: Container[int], wanted: Container[int] = ()) -> Control:
        """Return the control of a part at the end of an IK chain, which what carries the target moves.

        That turns it, too, unless something else does, or what is between looks at something. A bone at the place of
        the part is preferred, else the last one that carries neither the `body` nor what the chain starts from; bones
        for posing before others; one of `wanted` that carries this one comes before it. A bone that limbs
        share moves none but that at its place, unless nothing else does. A part that IK aims keeps its twist. A bone
        whose location is locked holds the part, and none below it comes in its place.
        """
        chain = self.ends[part]
        start = int(self.rig.skeleton.parents[next(iter(chain.parts.values()))])
        before = {start, *reach(self.turned_by, start)} if start >= 0 else set[int]()
        carriers = [bone for bone in self._carriers(chain.target) if bone not in body and bone not in before]
        own = [bone for bone in carriers if bone not in self.shared or self._at(bone, part)]
        carriers = own if any(self.free[bone] or self.placed[bone] for bone in own) else carriers
        follows = reach(self.turned_by, part)
        able = self._preferred(bone for bone in carriers if self.free[bone] or self.placed[bone])
        moves = next((bone for bone in able if self._at(bone, part)), able[-1] if able else -1)
        above = carriers[carriers.index(moves) :] if able else []
        moves = next((bone for bone in above if bone in wanted and self.free[bone]), moves)
        rigid = [*takewhile(lambda bone: bone not in self._tracking, carriers)]
        turning, further = (
            self._preferred(bone for bone in some if self.turning[bone] and bone in follows)
            for some in (rigid, carriers)
        )
        turning = turning or further
        turns = moves if moves in turning else next(iter(turning), -1)
        if control.turns >= 0 and self.fits(control.turns, part):
            turns = self._preferred((control.turns, *((turns,) if turns >= 0 else ())))[0]
        return Control(turns, self._unless_locked(moves, part), begins=part if part in self.aiming else -1)

    def _preferred(self, bones: Iterable[int]) -> list[int]:
        """Return those of the bones that are for posing, or all if none is."""
        found = list(bones)
        return [bone for bone in found if self.for_posing[bone]] or found

    @property
    def poles(self) -> dict[int, int]:
        """The poles of the chains that bend the body, with the part behind which each is."""
        return {chain.pole: part for part, chain in self.bent.items() if chain.pole >= 0}

    def target_of(self, chain: _Chain) -> int:
        """Return the first bone with a location of its own that carries the target of a chain, or -1."""
        return next((bone for bone in self._carriers(chain.target) if self.free[bone]), -1)

    @property
    def goals(self) -> frozenset[int]:
        """The targets and poles of the IK chains."""
        targets = map(self.target_of, self.chains)
        return frozenset({*targets, *(chain.pole for chain in self.chains)} - {-1})

    def upstream(self, bone: int) -> dict[int, int]:
        """Return all bones that a bone depends on, with the number of steps; none of -1."""
        if bone not in self._upstream:
            self._upstream[bone] = reach(self.above, bone) if bone >= 0 else {}
        return self._upstream[bone]

    def ever_above(self, bones: Iterable[int]) -> set[int]:
        """Return all bones that some bones depend on, whatever the settings are."""
        found, ring = set[int](), {*bones}
        while ring:
            ring = {other for bone in ring for other in self.ever[bone]} - found
            found |= ring
        return found

    def leader(self, part: int, before: int, control: int, behind: Iterable[int], bent: bool) -> int:
        """Return the bone, free to turn or (`bent`) of an IK chain, that turns a part but not the one before it, or -1.

        It has the place and direction of the part, or else carries it; if none of the former is for posing, one that
        is and that carries the part at its place comes before them. Of several one that turns the parts `behind` is
        preferred, then one for posing, then one below the `control` of the part before, then the nearest; of a part
        with none behind the farthest: tweaks are nearer.
        """
        others = {before, *reach(self.turned_by, before)} if before >= 0 else set[int]()
        steps = {part: 0, **self.upstream(part)}
        by_itself = (part,) if self.rig.skeleton.movable[part] else ()  # also where locks leave it one axis
        more = {*by_itself, *(self.in_chains if bent else ())}
        able = [bone for bone in steps if bone not in others and (self.turning[bone] or bone in more)]
        near = np.array(able, int)[self.fits(able, part)].tolist()
        after = [self.upstream(other) for other in behind]

        def order(bone: int) -> tuple[Any, ...]:
            carries = any(bone in found for found in after)
            away = steps[bone] if after else -steps[bone]
            apart = control not in self.upstream(bone)
            return bone not in self.in_chains, not carries, not self.for_posing[bone], apart, away

        carriers = takewhile(lambda bone: bone not in self.in_chains, self._carriers(part))
        able = [bone for bone in carriers if bone not in others and self.turning[bone]]
        seen = next((bone for bone in able if self.for_posing[bone] and self._at(bone, part)), -1)
        if near and (seen < 0 or self.for_posing[near].any() or not self.in_chains.keys().isdisjoint(near)):
            return min(near, key=order)
        return seen if seen >= 0 else next(iter(able), -1)

    def is_barred(self, bone: int) -> bool:
        """Return whether a bone is for posing, but driven by something else than IK."""
        driven = self.rig.skeleton.names[bone] in self.rig.driven
        return driven and bool(self.for_posing[bone]) and bone not in self.in_chains

    def barred(self, part: int, first: bool) -> int:
        """Return the nearest such bone in whose place a part is, or that the `first` part depends on at all; or -1."""
        steps = {part: 0, **self.upstream(part)}
        found = (bone for bone in steps if self.is_barred(bone) and (first or self.fits(bone, part)))
        return min(found, key=lambda bone: steps[bone], default=-1)

    def mixed_with(self, part: int, control: int = -1) -> int:
        """Return the FK control that is mixed with IK, or with a control, in a part of a limb, or -1."""
        ik = self._carriers(self.ends[part].target) if part in self.ends else [control]
        able = [other for bone in self.mixtures(part) for other in self._mixed[bone]
                if other not in ik and self.turning[other] and self.fits(other, part)]  # fmt: skip
        return next(iter(self._preferred(able)), -1)

    def mixtures(self, part: int) -> list[int]:
        """Return the bones in the place of a part that copy several others in part, the nearest to it first."""
        steps = {part: 0, **self.upstream(part)}
        return [bone for bone in sorted(steps, key=lambda bone: steps[bone])
                if bone in self._mixed and self.fits(bone, part)]  # fmt: skip

    def shown_by(self, part: int, control: int) -> int:
        """Return the bone that has the rotation of a part: of a chain, or the control of a segment, or itself."""
        if part in self.bent:
            return self.bent[part].parts[part]
        return control if part in self.segments and control >= 0 and self.fits(control, part) else part

    def at_end(self, part: int, order: Mapping[int, int]) -> bool:
        """Return whether a part is the first behind an IK chain that bends its body; its chain is noted then.

        It begins where the chain ends or, if no part does, it is the first behind the chain's last bone.
        """
        above = order[part]
        while above >= 0 and above not in self.bent and above not in self.ends:
            above = order[above]
        chain = self.bent.get(above)
        if chain is None:
            return False
        behind = chain.parts[above] == chain.tip and not begins_at_end(self.rig, [*order], [chain.tip]).any()
        if not (behind or begins_at_end(self.rig, [part], [chain.tip]).any()):
            return False
        self.ends[part] = chain
        return True

    def mover(self, bone: int, body: Iterable[int], wanted: Sequence[int]) -> Control:
        """Return the free bone nearest to the hips above the whole body; one of `wanted` is preferred.

        The rig's root, which carries the targets of IK too, or is above all others of them, comes last. A bone that is
        locked holds the body, and the root does not come in its place. `carrier` is the bone afterwards, `beyond` says
        whether it came as one of `wanted` alone.
        """
        moving = self.moving | self._seated
        able = [other for other in (bone, *reach(self.turned_by, bone)) if moving[other] or self.locked[other]]
        able = [other for other in able if self._carries(other, body) and self._places(other, bone)] or [
            other for other in (bone,) if moving[other]
        ]
        away = rotation.lengths(self.rest[:, :, 3] - self.rest[bone, :, 3])

        def order(other: int) -> tuple[Any, ...]:
            root = self._carries(other, able) + bool(self._targets and self._carries(other, self._targets))
            return other not in wanted, root, not self.for_posing[other], not moving[other], float(away[other])

        found = self.carrier = min(able, key=order, default=bone)
        self.beyond = found != min(able, key=lambda other: order(other)[1:], default=bone)
        turns = self.turning[found] and (self.free[found] or found == bone)  # others turn about a place beside the part
        return Control(found if turns else -1, self._unless_locked(found, bone) if able else -1)

    def _places(self, other: int, bone: int) -> bool:
        """Return whether a bone goes where another one goes, rather than being held by something else."""
        held = next((one for one in self._carriers(bone) if one in self._pinned or one == other), other)
        return held == other or self._pinned[held] == other or other in self.upstream(self._pinned[held])

    def _unless_locked(self, control: int, part: int) -> int:
        """Return the bone that moves a part, or -1 if it cannot; a lock that holds the part is noted."""
        if control >= 0 and self.placed[control]:
            self.kept[part] = control
        return control if control >= 0 and (self.free[control] or self._seated[control]) else -1

    def _carries(self, bone: int, others: Iterable[int]) -> bool:
        """Return whether others depend on a bone."""
        return all(bone == other or bone in self.upstream(other) for other in others)

    def root_above(self, bone: int) -> int:
        """Return the free bone that a bone depends on over the most steps, such as the root of a rig; else -1."""
        able = self._preferred(other for other in self.upstream(bone) if other != bone and self.moving[other])
        return max(able, key=self.upstream(bone).__getitem__, default=-1)

    @cached_property
    def _led(self) -> list[set[int]]:
        """What depends on each bone, whatever the settings are."""
        found: list[set[int]] = [set() for _ in self.ever]
        for bone, above in enumerate(self.ever):
            for other in above:
                found[other].add(bone)
        return found

    def part_of(self, bone: int, controls: Mapping[int, Control]) -> int:
        """Return the part that depends on a bone and that it is nearest to; else the part that drives it; else -1.

        Parts that depend on it as the settings are now come first. A bone that can be neither turned nor moved, as one
        with settings only, stands for the part in its place.
        """
        below = reach(self._led, bone)
        led = [part for part in controls if part in below]
        led = [part for part in led if bone in self.upstream(part)] or led
        if led:
            heads, ways = self.rest[led, :, 3], self.rest[led, :, 1]
            away, lengths = self.rest[bone, :, 3] - heads, self.rig.skeleton.lengths[led]
            along = np.clip(np.sum(away * ways, axis=-1), 0.0, lengths)
            beside = np.linalg.norm(away - along[:, None] * ways, axis=-1)
            # of parts that meet at the bone, the one that begins there
            steps = np.rint(beside / (SAME_PLACE * self.rig.skeleton.size))
            return led[int(np.lexsort((np.linalg.norm(away, axis=-1), steps))[0])]
        driven = self.rig.decided[bone] and self.ever[bone] - {int(self.rig.skeleton.parents[bone])}
        steps = reach(self.ever, bone) if driven else {}
        parts = {
            other: part for part, control in controls.items() for other in (*self._showing(part), part, control.turns)
        }
        able = parts.keys() & steps
        if able:
            return parts[min(able, key=lambda other: (not self.fits(other, bone), steps[other]))]
        stuck = not (self.rig.skeleton.movable[bone] or self.rig.skeleton.translatable[bone].any())
        return next((part for part in controls if stuck and self._at(bone, part)), -1)

    def is_base(self, bone: int, part: int, control: Control) -> bool:
        """Return whether a bone that stays where it is carries the control or pole of a part: what moves these.

        As their space: whatever they do, it stays. What only turns a part may hang on bones that the body moves.
        """
        skeleton = self.rig.skeleton
        if skeleton.translatable[bone].any():
            return False
        led = [control.moves, *(pole for pole, behind in self.poles.items() if behind == part)]
        led += [control.turns] if skeleton.driven[bone] else []
        return any(bone != one and bone in self.upstream(one) for one in led)

    def swings_alone(self, part: int, control: int) -> bool:
        """Return whether a control turns a part, but not about its own Y."""
        return control in self.swinging and control not in reach(self.twisted_by, part)

    def hangs(self, control: int, part: int, controls: Mapping[int, Control]) -> bool:
        """Return whether a control follows a part of the body, or that part's control."""
        if control < 0 or part < 0:
            return False
        upstream = self.upstream(control)
        return part in upstream or controls[part].turns in upstream

    def turns_with(self, control: int, part: int, controls: Mapping[int, Control]) -> bool:
        """Return whether a control turns with a part of the body, or its control, and copies no other turn between."""
        if control < 0 or part < 0:
            return False
        above, parts = reach(self.turned_by, control).keys(), {part, controls[part].turns}
        between = above - {*parts, *reach(self.turned_by, part)}
        return not parts.isdisjoint(above) and between.isdisjoint({*self._turners, *self._mixed})

    def acts(self, bone: int, part: int, before: int, control: Control) -> bool:
        """Return whether a bone poses a part as the settings are now, or goes with it or with its control.

        Or poses a bone between it and the part before, as tweaks of spines do.
        """
        above = {bone, *self.upstream(bone)}
        goes = not above.isdisjoint({*self._showing(part), part, control.turns, control.moves})
        own = takewhile(lambda one: one != before, self.rig.skeleton.ancestors(part))
        return goes or any(bone in self.upstream(one) for one in own)

    def _showing(self, part: int) -> list[int]:
        """Return the driven bones that a part depends on in its place: they are where it is."""
        if part not in self._shows:
            above = np.array([other for other in self.upstream(part) if self.rig.skeleton.driven[other]], int)
            self._shows[part] = above[self.fits(above, part)].tolist()
        return self._shows[part]

    def stays(self, goal: int) -> bool:
        """Return whether a bone, if there is one, stays where it is when the carrier of the body moves."""
        return goal >= 0 and not self._carries(self.carrier, [goal])

    def fits(self, others: Any, bone: int) -> Any:
        """Return whether bones (an index, or a list of n) have the place and direction of a bone at rest."""
        here = self.rest[others]
        far = np.linalg.norm(here[..., 3] - self.rest[bone, :, 3], axis=-1)
        along = here[..., 1] @ self.rest[bone, :, 1]
        return (far < SAME_PLACE * self.rig.skeleton.size) & (along > _ALIGNED)


def reach(edges: list[set[int]], bone: int) -> dict[int, int]:
    """Return the bones that can be reached from a bone, with the number of steps."""
    found: dict[int, int] = {}
    ring, step = {bone}, 0
    while ring:
        step += 1
        ring = {other for start in ring for other in edges[start] if other not in found}
        found |= dict.fromkeys(ring, step)
    return found
