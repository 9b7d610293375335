"""Bodies that are driven by controls, over frames in which what drives them changes: IK in some, FK in others."""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import bpy
import numpy as np

from ..core import Pose, Skeleton, forward, rotation
from ..core.body import Roles
from ..core.body.limbs import bend_limbs
from ..core.causes import Explanation
from ..core.pose import frame_rotations
from ..core.rotation import Array, Floats
from ..core.skeleton import Flags, Indices
from .armature import Rig, read_rig
from .channels import ArmatureObject
from .control_bodies import find_bodies, may_be_controlled
from .control_graph import Graph
from .control_switch import find_switch
from .controlled_body import APART, ASTRAY, ControlledBody, read_controlled, with_ik_starts
from .driven import pole_object
from .motion import iterate_frames, preserve_channels
from .roles import read_roles
from .words import say_length
from .worlds import length_scale, world_matrix

_BESIDE: Final = 1e-3  # of the skeleton's size: a bone that is further from where it is to be is said
_TURNED: Final = float(np.radians(0.5))  # likewise

State = bytes  # of all constraints of an armature: what of them is in force


@dataclass(frozen=True, eq=False)
class ControlledFrames:
    """A body over F frames.

    bodies  with what poses it in each state of the constraints; parts and skeleton are the same
    which   (F,) the one of each frame
    now     the one of the present frame
    """

    bodies: tuple[ControlledBody, ...]
    which: Indices
    now: ControlledBody

    @property
    def skeleton(self) -> Skeleton:
        """The skeleton of the body's parts."""
        return self.now.skeleton

    @property
    def roles(self) -> Roles:
        """The roles of the body's parts."""
        return self.now.roles

    @property
    def keyed(self) -> set[int]:
        """The indices of the bones that are keyed for the body, in whatever frame."""
        return {bone for body in self.bodies for bone in body.keyed}

    @property
    def planted(self) -> list[int]:
        """The parts that are `planted` in every frame."""
        return sorted(set.intersection(*(set(body.planted) for body in self.bodies)))

    def at(self, place: int) -> ControlledBody:
        """Return the body of a frame, counted from 0."""
        return self.bodies[self.which[place]]

    def take(self, places: Any) -> "ControlledFrames":
        """Return some of the frames, by their places or as a slice."""
        return replace(self, which=self.which[places])

    def changed(self, change: Callable[[ControlledBody], ControlledBody]) -> "ControlledFrames":
        """Return the frames with bodies that a function changes."""
        return replace(self, bodies=tuple(map(change, self.bodies)), now=change(self.now))

    def parts(self, matrices: Floats) -> Array:
        """Return the matrices (F, N, 3, 4) of the parts, of those of the rig's bones (F, J, 3, 4)."""
        found = np.empty((len(matrices), len(self.skeleton), 3, 4))
        for number, body in enumerate(self.bodies):
            on = self.which == number
            found[on] = matrices[on][:, body.frames]
            found[on, ..., 3] += (found[on, ..., :3] @ body.beside[..., None])[..., 0]
            found[on, ..., :3] = found[on, ..., :3] @ rotation.to_matrix(body.aligned)
        return found

    def read(self, matrices: Array) -> Pose:
        """Return the poses (F) of the body as it is seen, see `read_controlled`."""
        rotations, translations = (np.empty((len(matrices), len(self.skeleton), width)) for width in (4, 3))
        for number, body in enumerate(self.bodies):
            on = self.which == number
            pose = read_controlled(body, matrices[on])
            rotations[on], translations[on] = pose.rotations, pose.translations
        return Pose(rotations, translations)

    def bent(self, pose: Pose, shown: Pose | None = None) -> Pose:
        """Return poses (F) with limbs on IK bent as it bends them, see `bend_limbs`."""
        rotations, translations = np.array(pose.rotations), np.array(pose.translations)
        for number, body in enumerate(self.bodies):
            on = self.which == number
            there = bend_limbs(self.skeleton, pose[on], body.hinged, None if shown is None else shown[on])
            rotations[on], translations[on] = there.rotations, there.translations
        return replace(pose, rotations=rotations, translations=translations)

    def with_starts(self, rig: Rig) -> Rig:
        """Return the rig for this body, see `with_ik_starts`."""
        for body in self.bodies:
            rig = with_ik_starts(rig, body)
        return rig


def repeated(body: ControlledBody, count: int) -> ControlledFrames:
    """Return a body that is driven in the same way in `count` frames."""
    return ControlledFrames((body,), np.zeros(count, int), body)


def read_state(armature: ArmatureObject) -> State:
    """Return what of the armature's constraints is in force now: all that decides which bones are its controls."""
    found = bytearray()
    for bone in armature.pose.bones:
        for constraint in bone.constraints:
            influence = 0.0 if constraint.mute else constraint.influence
            found.append((influence > 0.0) + (influence == 1.0))
            if influence and constraint.type == "ARMATURE":
                found += bytes(target.weight > 0.0 for target in constraint.targets)
    return bytes(found)


def find_controlled_frames(
    armature: ArmatureObject, rig: Rig, roles: Roles, frames: Array, states: Mapping[float, State],
    besides: Sequence[int] = (),
) -> ControlledFrames | None:  # fmt: skip
    """Return the body at `frames` (F,), or None if `find_controlled` returns it in one of them.

    `states`: those of the constraints at frames where they are not as now.
    """
    if not may_be_controlled(rig, roles):
        return None
    context: Any = bpy.context
    now = read_state(armature)
    graphs = {now: Graph(armature, rig)}
    found = [states.get(frame, now) for frame in frames.tolist()]
    first = dict(zip(reversed(found), reversed(frames.tolist()), strict=True))
    new = [state for state in first if state != now]
    with preserve_channels(context, armature):
        for place in iterate_frames(context, np.array([first[state] for state in new])):
            graphs[new[place]] = Graph(armature, rig)
    bodies = find_bodies(rig, roles, list(graphs.values()), besides)
    if not bodies:
        return None
    number = {state: place for place, state in enumerate(graphs)}
    return ControlledFrames(tuple(bodies), np.array([number[state] for state in found]), bodies[0])


@dataclass(frozen=True)
class Misfit:
    """How far a limb on IK with what hangs on it, or all else, is shown beside the solved pose at most.

    end           the part at the limb's end, or -1
    far, turned   in armature units, at `part`, and radians
    """

    end: int
    far: float
    turned: float
    part: int

    def beyond(self, far: float, turned: float) -> bool:
        """Return whether it is more than a distance or an angle."""
        return self.far > far or self.turned > turned

    def sentence(self, armature: ArmatureObject, skeleton: Skeleton) -> str:
        """Return it in words."""
        context: Any = bpy.context
        scale = float(length_scale(world_matrix(armature)))
        beside = say_beside(
            skeleton.size, self.far, self.turned, lambda length: say_length(context.scene, scale * length)
        )
        part = skeleton.names[self.part]
        if self.end < 0:
            return f'The rig misses the solved pose by up to {beside} (at "{part}")'
        return f'IK of "{skeleton.names[self.end]}" misses the solved pose by up to {beside} (at "{part}")'


def say_beside(size: float, far: float, turned: float, say: Callable[[float], str]) -> str:
    """Return how far a bone is from where it is to be, as "3 mm and 1.2 degrees"; nothing if it is near.

    size, far in armature units, turned in radians; say: of a length in these units.
    """
    said = [say(far)] if far > _BESIDE * size else []
    said += [f"{np.degrees(turned):.1f} degrees"] if turned > _TURNED else []
    return " and ".join(said)


def find_misfits(controlled: ControlledFrames, pose: Pose, matrices: Array) -> list[Misfit]:
    """Return how each limb on IK, and all that is not of one, is shown beside the solved pose (F).

    matrices (F, J, 3, 4): those of the rig.
    """
    heads, turns = forward(controlled.skeleton, pose)
    seen = controlled.parts(matrices)
    far = rotation.lengths(seen[..., 3] - heads)
    turned = rotation.angle_between(frame_rotations(seen[..., :3]), turns)
    limbs, known, turning = (
        np.array(some)[controlled.which] for some in zip(*map(_limbs, controlled.bodies), strict=True)
    )
    found: list[Misfit] = []
    for end in np.unique(limbs).tolist():
        own = (limbs == end) & known
        away, angles = (far * own).max(axis=0), (turned * (own & turning)).max(axis=0)  # (N,)
        most = away if away.max() > _BESIDE * controlled.skeleton.size else angles
        found.append(Misfit(end, float(away.max()), float(angles.max()), int(most.argmax())))
    return found


def _limbs(body: ControlledBody) -> tuple[Indices, Flags, Flags]:
    """Return for each part (N,) the end of the limb on IK that it is of, or hangs on, or -1; and if it is posed.

    And if it turns: not what is moved itself, and turned by nothing, as the target of a chain beside the body.
    """
    parts = np.arange(len(body.ends))
    of_limb = (body.ends != parts) | np.isin(parts, body.ends[body.ends != parts])
    limbs = np.where(of_limb, body.ends, -1)
    for part, parent in enumerate(body.skeleton.parents.tolist()):
        limbs[part] = limbs[parent] if limbs[part] < 0 <= parent else limbs[part]
    still = (body.bones_that("moves") == body.bones) & (body.bones_that("turns") < 0)
    return limbs, of_limb | body.skeleton.movable, ~still


def explain_misfit(
    armature: ArmatureObject, controlled: ControlledFrames, pose: Pose, matrices: Array, but: Container[int] = ()
) -> list[str]:
    """Return a sentence for each limb on IK that Blender shows beside its solved pose, and one for all else.

    `but`: the parts at the ends of limbs that are left out. See `find_misfits`.
    """
    near = _BESIDE * controlled.skeleton.size
    found = (one for one in find_misfits(controlled, pose, matrices) if one.end not in but)
    return [
        Explanation(one.sentence(armature, controlled.skeleton), remedy=_remedy(armature, controlled.now, one))
        for one in found
        if one.beyond(near, _TURNED)
    ]


def _remedy(armature: ArmatureObject, body: ControlledBody, misfit: Misfit) -> str:
    """Return what a user can do to have a limb posed by other controls than those of its IK, or by its pole elsewhere.

    Nothing where the limb is as near as parts of a body are to their leaders. No control moves a pole that is another
    object.
    """
    if not misfit.beyond(APART * body.skeleton.size, ASTRAY):
        return ""
    if misfit.end < 0:
        return "Mute what else moves its bones"
    rig = read_rig(armature)
    pole = pole_object(armature, (rig.skeleton.names[bone] for bone in body.leaders[body.ends == misfit.end]))
    if pole is not None:
        return f'Move its pole "{pole}"'
    switch = find_switch(armature, rig, read_roles(armature, rig.skeleton), body, misfit.end)
    return "Mute its IK" if switch is None else f'Set {switch.name} of "{switch.bone}" to {switch.fk:g} or mute its IK'
