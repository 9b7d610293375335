"""Poses as control rigs can show them: limbs bend in one plane, and to one side; some bones are not twisted."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import cos
from typing import Final

import numpy as np

from .. import rotation
from ..limits import EulerBox, Framed, clamp_rotations
from ..pose import Pose, forward
from ..rotation import Array, cross, lengths
from ..skeleton import Flags, Skeleton

_STRAIGHT: Final = 0.03  # of the way to its end: a joint so far beside it is hardly bent, by four degrees
_ASIDE: Final = np.pi / 2.0  # that a hinge never turns about other axes: it says which of two triples of angles counts
_LEAST_BEND: Final = float(np.radians(0.3))  # of Blender's IK, which leaves 0.26 to 0.31 degrees however far it reaches


@dataclass(frozen=True, eq=False)
class HingedLimb:
    """The bones of a limb, each the parent of the next; `axis` (3,) of the hinge is a unit vector of the lower one."""

    upper: int
    lower: int
    end: int
    axis: Array


def bend_limbs(skeleton: Skeleton, pose: Pose, limbs: Sequence[HingedLimb], shown: Pose | None = None) -> Pose:
    """Return poses (...) in which limbs bend about their hinges, to the side to which they are bent at rest.

    Their ends keep place and rotation, if they are in reach. About the line to its end a limb is turned so that its
    middle joint is where it was; one that is nearly straight, or bent to the other side, turns as its upper bone did.
    `shown`: poses (...) whose translations, and so lengths, the segments are to have, and which may be straighter.
    """
    rotations, translations = np.array(pose.rotations), np.array(pose.translations)
    heads, turns = forward(skeleton, pose)
    for limb in limbs:
        upper, lower, end = limb.upper, limb.lower, limb.end
        if shown is not None:
            translations[..., [lower, end], :] = shown.translations[..., [lower, end], :]
        first, second = _segments(skeleton, limb, translations)
        rest = skeleton.rest_rotations[lower]
        way, middle = heads[..., end, :] - heads[..., upper, :], heads[..., lower, :] - heads[..., upper, :]
        turned = None if shown is None else rotation.mul(rest, shown.rotations[..., lower, :])
        straight = 0.0 if turned is None else lengths(first + rotation.rotate(turned, second))
        angle = _bend(first, rotation.rotate(rest, second), rotation.rotate(rest, limb.axis), lengths(way), straight)
        bent = rotation.from_axis_angle(limb.axis, angle)
        reach = first + rotation.rotate(rotation.mul(rest, bent), second)
        before = turns[..., upper, :]
        after = rotation.mul(rotation.shortest(rotation.rotate(before, reach), way), before)
        after = rotation.mul(_swivel(way, rotation.rotate(after, first), middle), after)
        above = rotation.mul(before, rotation.inv(rotations[..., upper, :]))
        rotations[..., upper, :] = rotation.mul(rotation.inv(above), after)
        rotations[..., lower, :] = bent
        base = rotation.mul(rotation.mul(rotation.mul(after, rest), bent), skeleton.rest_rotations[end])
        rotations[..., end, :] = rotation.mul(rotation.inv(base), turns[..., end, :])
    return replace(pose, rotations=rotations, translations=translations)


def within_reach(skeleton: Skeleton, limbs: Sequence[HingedLimb], pose: Pose, start: Pose) -> tuple[Skeleton, Pose]:
    """Return a skeleton in which limbs reach no further than they do at rest, or in `start` (J), and a pose (J) there.

    IK may have stretched limbs in the pose: a straight limb could always go on, and IK would stretch it again.
    """
    bones, axes, low, high = list[int](), list[Array](), list[tuple[float, ...]](), list[tuple[float, ...]]()
    for limb in limbs:
        first, second = _segments(skeleton, limb, pose.translations)
        whole = (_segments(skeleton, limb, one) for one in (np.zeros_like(pose.translations), start.translations))
        reach = max(float(lengths(upper) + lengths(lower)) for upper, lower in whole)
        if not lengths(first) + lengths(second) > reach:
            continue
        rest = skeleton.rest_rotations[limb.lower]
        second, hinge = rotation.rotate(rest, second), rotation.rotate(rest, limb.axis)
        angle, straight = (float(_bend(first, second, hinge, np.array(far))) for far in (reach, np.inf))
        bones.append(limb.lower)
        axes.append(limb.axis)
        low.append((angle if straight < 0.0 else -np.pi, -_ASIDE, -_ASIDE))
        high.append((angle if straight > 0.0 else np.pi, _ASIDE, _ASIDE))
    if not bones:
        return skeleton, pose
    frames = rotation.shortest(np.array([1.0, 0.0, 0.0]), np.array(axes))
    further = Framed(EulerBox(bones, ["XYZ"] * len(bones), low, high), rotation.inv(frames), frames, firm=True)
    inside = replace(pose, rotations=clamp_rotations((further,), pose.rotations)[0])
    return replace(skeleton, limits=(*skeleton.limits, further)), inside


def take_twists(skeleton: Skeleton, pose: Pose, shown: Pose, bones: Flags) -> Pose:
    """Return poses (...) in which some bones (..., J) are turned about their own Y as in `shown` (...), and no others.

    What begins beside that axis moves with it.
    """
    turns, seen = (forward(skeleton, one)[1] for one in (pose, shown))
    _, twists = rotation.swing_twist(rotation.mul(rotation.inv(turns), seen), np.array([0.0, 1.0, 0.0]))
    turns = np.where(bones[..., None], rotation.mul(turns, twists), turns)
    above = np.where((skeleton.parents >= 0)[:, None], turns[..., skeleton.parents, :], rotation.IDENTITY)
    rotations = rotation.mul(rotation.inv(rotation.mul(above, skeleton.rest_rotations)), turns)
    return replace(pose, rotations=rotation.normalize(rotations))


def _segments(skeleton: Skeleton, limb: HingedLimb, translations: Array) -> tuple[Array, Array]:
    """Return where the lower bone begins in the frame of the upper one at rest, and the end in that of the lower one.

    translations (..., J, 3), the results (..., 3)
    """
    lower, end = (
        skeleton.offsets[bone] + rotation.rotate(skeleton.rest_rotations[bone], translations[..., bone, :])
        for bone in (limb.lower, limb.end)
    )
    return lower, end


def _bend(first: Array, second: Array, hinge: Array, far: Array, straight: Array | float = 0.0) -> Array:
    """Return the angle (...) to turn `second` by about a hinge (3,), so that the sum with `first` has a length (...).

    first, second (..., 3). Where none does, it is the nearest one, which is never quite straight, but for a sum that is
    known to be as long as `straight` (...); of two it is the one on the same side of the longest sum as 0.
    """
    along = (second @ hinge)[..., None] * hinge
    across = second - along
    sine, cosine = _dot(first, cross(hinge, across)), _dot(first, across)
    longest = np.arctan2(sine, cosine)
    base = 0.5 * (_dot(first, first) + _dot(second, second)) + _dot(first, along)
    wanted, known = ((0.5 * length * length - base) / np.hypot(sine, cosine) for length in (far, straight))
    return longest - np.sign(longest) * np.arccos(np.clip(wanted, -1.0, np.clip(known, cos(_LEAST_BEND), 1.0)))


def _swivel(way: Array, here: Array, wanted: Array) -> Array:
    """Return the rotations (..., 4) about vectors (..., 3) of joints `here` (..., 3) towards where they are wanted.

    That counts by the fourth power of how far it is beside the vector, and less if it is on the other side.
    """
    far = lengths(way)[..., None]
    axis = way / np.where(far > 0.0, far, 1.0)
    here, wanted = (joint - _dot(joint, axis)[..., None] * axis for joint in (here, wanted))
    angle = np.arctan2(_dot(axis, cross(here, wanted)), _dot(here, wanted))
    beside = lengths(wanted) / np.where(far > 0.0, far, 1.0)[..., 0]
    share = 0.5 * (1.0 + np.cos(angle)) * (beside / _STRAIGHT) ** 4
    return rotation.from_axis_angle(axis, np.arctan2(share * np.sin(angle), 1.0 + share * np.cos(angle)))


def _dot(one: Array, other: Array) -> Array:
    """(...)"""
    return (one * other).sum(axis=-1)
