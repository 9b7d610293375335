"""Arms and legs of a figure: bent to their targets, hands and feet turned, twist shared (CN106502395)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from ... import rotation
from ...body.figure import LimbBones
from ...rotation import Array, lengths
from .limb import Limb, bend_limb, departure, measure_limb, plane_frame, swivel_of, swivel_towards
from .nodes import PosedNodes
from .targets import NodeTarget, Targets

_HALF_TURN: Final = np.radians(30.0)  # radians short of half a turn from which on a twist is shared less


@dataclass(frozen=True, eq=False)
class LimbTask:
    """An arm or a leg in the start pose, and what is wanted of it.

    target        of the hand or foot
    point         (B, 3) of the frame of the hand or foot, the end of the limb
    wanted        (B, 3) for `point`
    middle        (B, 3) for elbow or knee
    swivel        (B,) radians, to be kept: of the plane of its hinge, or of its own plane if `is_set`
    is_set        whether the swivel is one that was asked for
    upper, lower  (B,) lengths of the segments
    """

    bones: LimbBones
    target: NodeTarget | None
    point: Array
    wanted: Array | None
    middle: Array | None
    swivel: Array
    is_set: bool
    upper: Array
    lower: Array


def read_limbs(start: PosedNodes, targets: Targets, swivels: Mapping[str, Array]) -> list[LimbTask]:
    """Return the tasks of all limbs; swivels (B,), by name, replace those of the start pose."""
    found: list[LimbTask] = []
    for name, bones in start.figure.limbs.items():
        target = targets.nodes.get(bones.end)
        point, wanted = np.zeros((len(start.heads), 3)), None
        if target is not None and target.position is not None:
            if target.rotation is None:
                point, wanted = target.point, target.position
            else:  # the wanted position of the head follows
                wanted = target.position - rotation.rotate(target.rotation, target.point)
        now = _measure(start, bones, point)
        is_set = name in swivels
        swivel = swivels[name] if is_set else swivel_of(now, _field(start, bones)) - now.turned
        upper, lower = lengths(now.middle - now.root), lengths(now.end - now.middle)
        middle = targets.middles.get(name)
        found.append(LimbTask(bones, target, point, wanted, middle, swivel, is_set, upper, lower))
    return found


def bend(nodes: PosedNodes, task: LimbTask) -> None:
    """Turn the bones of a limb so that its end, else its middle joint, is at its wanted position."""
    bones = task.bones
    now = _measure(nodes, bones, task.point)
    if task.wanted is None:
        if task.middle is not None:
            nodes.turn(bones.upper, rotation.shortest(now.middle - now.root, task.middle - now.root))
        return
    field, swivel = _field(nodes, bones), task.swivel
    turned = departure(now, task.wanted, task.upper, task.lower)
    if task.middle is not None:
        swivel = swivel_towards(field, now.root, task.wanted, task.upper, task.lower, task.middle)
    elif not task.is_set:
        swivel = swivel + turned
    then = bend_limb(field, now.root, task.wanted, task.upper, task.lower, swivel, turned)
    upper = _between(now.middle - now.root, now.hinge, then.middle - then.root, then.hinge)
    nodes.turn(bones.upper, upper)
    way, hinge = rotation.rotate(upper, now.end - now.middle), rotation.rotate(upper, now.hinge)
    nodes.turn(bones.lower, _between(way, hinge, then.end - then.middle, then.hinge))


def orient_end(nodes: PosedNodes, task: LimbTask) -> None:
    """Turn a hand or foot to its wanted frame, and share the twist of both segments among their bones."""
    bones, target = task.bones, task.target
    if target is not None and target.rotation is not None:
        nodes.turn(bones.end, rotation.mul(target.rotation, rotation.inv(nodes.frame(bones.end))))
        twists = bones.twists[1] if bones.name.startswith("leg") else (bones.lower, *bones.twists[1])
        _share_twist(nodes, twists, bones.end, with_tip=True)
    if bones.twists[0] and task.wanted is not None:
        _share_twist(nodes, (bones.upper, *bones.twists[0]), bones.lower, with_tip=False)


def _measure(nodes: PosedNodes, bones: LimbBones, point: Array) -> Limb:
    hinge = rotation.rotate(nodes.frame(bones.elbow), bones.hinge)
    return measure_limb(nodes.head(bones.upper), nodes.head(bones.lower), nodes.point(bones.end, point), hinge)


def _field(nodes: PosedNodes, bones: LimbBones) -> Array:
    """Return the frame (B, 3, 3) of the reference field, in armature space."""
    return rotation.to_matrix(nodes.carried_frame(bones.carrier)) @ bones.field


def _between(way: Array, normal: Array, way_after: Array, normal_after: Array) -> Array:
    """Return the rotation (..., 4) of a segment with its plane."""
    return rotation.from_matrix(plane_frame(way_after, normal_after) @ np.swapaxes(plane_frame(way, normal), -1, -2))


def _share_twist(nodes: PosedNodes, bones: tuple[int, ...], tip: int, with_tip: bool) -> None:
    """Share the twist of a segment in equal parts among its bones and, with it, its tip, whose frame is kept."""
    if not bones:
        return
    frame = nodes.frame(tip)
    own = [_twist(nodes, bone, nodes.frame(bone), nodes.head(tip) - nodes.head(bone)) for bone in bones]
    total = np.sum(own, axis=0)
    if with_tip:
        total = total + _twist(nodes, tip, nodes.base_frame(tip), nodes.head(tip) - nodes.head(bones[-1]))
    # near half a turn, whose direction is undefined, the twist stays at the joint
    total = total * np.clip((np.pi - np.abs(total)) / _HALF_TURN, 0.0, 1.0)
    share = total / (len(bones) + int(with_tip))
    for bone, now in zip(bones, own, strict=True):
        nodes.turn(bone, rotation.from_axis_angle(nodes.head(tip) - nodes.head(bone), share - now))
    nodes.turn(tip, rotation.mul(frame, rotation.inv(nodes.frame(tip))))


def _twist(nodes: PosedNodes, bone: int, frame: Array, way: Array) -> Array:
    """Return radians (B,) of a bone's own rotation about a direction (B, 3) carried by `frame` (B, 4)."""
    own = rotation.mul(rotation.inv(nodes.base_frame(bone)), nodes.frame(bone))
    axis = rotation.rotate(rotation.inv(frame), way)
    axis = axis / np.maximum(lengths(axis), np.finfo(float).tiny)[:, None]
    return rotation.wrap(2.0 * np.arctan2(np.sum(own[:, 1:] * axis, axis=-1), own[:, 0]))
