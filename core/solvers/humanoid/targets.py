"""Goals of the humanoid method as targets of the nodes of a figure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

import numpy as np

from ... import rotation
from ...body.figure import Figure
from ...errors import CoreError
from ...goals import AnyGoal, Goal
from ...rotation import Array
from ..batches import Shape
from .nodes import PosedNodes


@dataclass(frozen=True, eq=False)
class NodeTarget:
    """The wanted `position` (B, 3) of a `point` (B, 3) of a node's frame, and its wanted frame, `rotation` (B, 4)."""

    point: Array
    position: Array | None
    rotation: Array | None


@dataclass(frozen=True, eq=False)
class Targets:
    """The goals of B flat frames, with the weights of positions and rotations in armature space already applied.

    goals    all of them, in their order
    known    for each goal, whether it is a target below; the other goals are left to the finish
    nodes    hips, chest, head, hand or foot -> its target
    middles  limb -> the wanted position (B, 3) of its elbow or knee
    """

    goals: list[AnyGoal]
    known: list[bool]
    nodes: dict[int, NodeTarget]
    middles: dict[str, Array]


def read_targets(nodes: PosedNodes, goals: Sequence[AnyGoal], batch_shape: Shape, finish: bool) -> Targets:
    """Return the targets of goals (*batch_shape, ...).

    Of two goals of one node that want the same, the one of lower priority, or else the later one, is left to the
    finish. Raises CoreError for a goal with a velocity, and, without a finish, for such a goal and for one that no node
    can meet.
    """
    figure = nodes.figure
    names = figure.skeleton.names
    wanted: list[AnyGoal] = list(goals)
    known = [False] * len(goals)
    found: dict[int, NodeTarget] = {}
    for number, goal in sorted(enumerate(goals), key=lambda one: one[1].priority):
        if isinstance(goal, Goal) and (goal.velocity is not None or goal.angular_velocity is not None):
            raise CoreError(
                f'The humanoid method does not support velocities. Give "{goal.bone}" a position, or use pins.'
            )
        node = _node_of(figure, goal)
        if node < 0 and not finish:
            raise CoreError(_refusal(figure, goal))
        flat = _flat_goal(nodes, goal, batch_shape)
        wanted[number] = flat
        if node < 0:
            continue
        assert isinstance(flat, Goal)
        target = _carried(nodes, flat, node)
        before = found.get(node)
        if before is not None:
            if (before.position is not None and target.position is not None) or (
                before.rotation is not None and target.rotation is not None
            ):
                if not finish:
                    raise CoreError(f'"{names[node]}" has two targets of the same kind. Remove one of them.')
                continue
            first, second = (before, target) if before.position is not None else (target, before)
            target = replace(first, rotation=second.rotation)
        known[number], found[node] = True, target
    middles: dict[str, Array] = {}
    for name, limb in figure.limbs.items():
        middle = found.pop(limb.lower, None)
        if middle is not None and middle.position is not None:
            middles[name] = middle.position
    return Targets(wanted, known, found, middles)


def _in_space(goal: AnyGoal) -> TypeGuard[Goal]:
    """Return whether a goal is a whole position or rotation, or both, in armature space."""
    if not isinstance(goal, Goal) or goal.relative_to is not None:
        return False
    return goal.position_axes is None and goal.rotation_axes is None


def _node_of(figure: Figure, goal: AnyGoal) -> int:
    """Return the node that carries the goal's bone and can be brought to the goal; -1 if there is none."""
    bone = figure.skeleton.index(goal.bone)
    if not _in_space(goal) or figure.anchors[bone] < 0:
        return -1
    node = int(figure.nodes[figure.anchors[bone]])
    if node in {figure.hips, figure.chest, figure.head, *(limb.end for limb in figure.limbs.values())}:
        return node
    middles = {limb.lower for limb in figure.limbs.values()}
    is_middle = node in middles and node == bone and goal.rotation is None and not np.any(goal.point)
    return node if is_middle else -1


def _refusal(figure: Figure, goal: AnyGoal) -> str:
    """Return why a goal is refused that only the finish could meet."""
    if not _in_space(goal):
        return (
            "With finish turned off, the humanoid method only supports positions and rotations in armature space. Pin "
            f'"{goal.bone}" instead.'
        )
    name = figure.skeleton.names[figure.skeleton.index(goal.bone)]
    return (
        f'With finish turned off, the humanoid method has no target for "{name}". Use hips, chest, head, '
        "hands, feet, elbows or knees, or their children, or use pins."
    )


def _flat_goal(nodes: PosedNodes, goal: AnyGoal, batch_shape: Shape) -> AnyGoal:
    """Return the goal of the flat frames; a weight becomes the share of the way from the start pose to the target."""
    if batch_shape:
        goal = goal.at(np.unravel_index(np.arange(len(nodes.heads)), batch_shape), batch_shape)
    if not isinstance(goal, Goal) or goal.relative_to is not None:
        return goal
    bone = nodes.figure.skeleton.index(goal.bone)
    head, frame = nodes.start_heads[:, bone], nodes.start_frames[:, bone]
    if goal.position is not None:
        here = head + rotation.rotate(frame, goal.point)
        way = goal.position - here
        goal = replace(goal, position=here + _share(goal.position_weight)[..., None] * way, position_weight=1.0)
    if goal.rotation is not None:
        share = np.broadcast_to(_share(goal.rotation_weight), len(frame))
        wanted = rotation.slerp(frame, np.broadcast_to(goal.rotation, frame.shape), share)
        goal = replace(goal, rotation=wanted, rotation_weight=1.0)
    return goal


def _share(weight: Array | float) -> Array:
    return np.clip(np.asarray(weight, float), 0.0, 1.0)


def _carried(nodes: PosedNodes, goal: Goal, node: int) -> NodeTarget:
    """Return the goal of a bone as the target of the node that carries the bone rigidly."""
    bone = nodes.figure.skeleton.index(goal.bone)
    heads, frames = nodes.start_heads, nodes.start_frames
    back = rotation.inv(frames[:, node])
    own = rotation.mul(back, frames[:, bone])  # (B, 4) the bone's frame in that of the node
    point = rotation.rotate(back, heads[:, bone] - heads[:, node]) + rotation.rotate(own, goal.point)
    wanted = None if goal.rotation is None else rotation.mul(goal.rotation, rotation.inv(own))
    return NodeTarget(point, goal.position, wanted)
