"""The trunk for the unknowns of the pull: hips shifted and turned, spine, neck and clavicles turned (CN106502395)."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from ... import rotation
from ...rotation import Array
from .nodes import Nodes, PosedNodes
from .spine import direct_column, orient_column, straight_column
from .targets import NodeTarget

# Unknowns (B, 18), three each: the shift of the hips in parts of the skeleton's size; rotation vectors of the hips, of
# spine and neck as wholes, and of the left and the right clavicle about its anatomical axes.
SHIFT, TURN, SPINE, NECK, LEFT, RIGHT = (slice(3 * part, 3 * part + 3) for part in range(6))
UNKNOWNS: Final = 18


def place_trunk(start: PosedNodes, targets: Mapping[int, NodeTarget], x: Array, shares: Mapping[int, float]) -> Nodes:
    """Return the nodes for unknowns (B, 18), with hips, chest and head at their targets; limbs are carried rigidly.

    shares  bone of spine or neck -> how much it turns, 1 is as by its place
    """
    figure, size = start.figure, start.figure.skeleton.size
    nodes = Nodes(figure, start.heads, start.frames)
    turn = rotation.exp(x[..., TURN])
    pivot = nodes.head(figure.hips)
    to = pivot + size * x[..., SHIFT]
    wanted = targets.get(figure.hips)
    if wanted is not None and wanted.rotation is not None:
        turn = rotation.mul(wanted.rotation, rotation.inv(nodes.frame(figure.hips)))
    if wanted is not None and wanted.position is not None:
        pivot, to = nodes.point(figure.hips, wanted.point), wanted.position
    nodes.move(figure.below[figure.root], turn, pivot, to)
    if figure.spine:
        _turn_column(nodes, figure.spine, targets.get(figure.chest), rotation.rotate(turn, x[..., SPINE]), shares)
    for side, unknown in (("L", LEFT), ("R", RIGHT)):
        limb = figure.limbs.get(f"arm.{side}")
        if limb is not None and limb.clavicle >= 0 and x[..., unknown].any():
            axes = rotation.mul(nodes.frame(limb.clavicle), figure.anatomy.axes[limb.clavicle])
            nodes.turn(limb.clavicle, rotation.exp(rotation.rotate(axes, x[..., unknown])))
    if figure.neck:
        change = rotation.mul(nodes.frame(figure.chest), rotation.inv(start.frame(figure.chest)))
        _turn_column(nodes, figure.neck, targets.get(figure.head), rotation.rotate(change, x[..., NECK]), shares)
    return nodes


def _turn_column(
    nodes: Nodes, bones: tuple[int, ...], target: NodeTarget | None, vector: Array, shares: Mapping[int, float]
) -> None:
    """Turn spine or neck by a rotation vector (B, 3) in equal parts, then bring its last bone to its target."""
    if target is None and not vector.any():
        return
    count, end, below = len(bones), bones[-1], nodes.figure.below
    own = np.array([shares.get(bone, 1.0) for bone in bones])
    # shares of the whole turn, of the orientation step and, from the other end, of the position step
    equal, upward, downward = (own * by_place / np.sum(own * by_place) for by_place in _by_place(count))
    tip = nodes.head(end) if target is None else nodes.point(end, target.point)
    heads = [nodes.head(bone) for bone in bones]
    column = straight_column(np.stack([*heads, tip], axis=-2))
    column = column.turned(vector, equal)
    if target is not None and target.rotation is not None:
        column = orient_column(column, rotation.mul(target.rotation, rotation.inv(nodes.frame(end))), upward)
        downward = downward - upward
    if target is not None and target.position is not None:
        column = direct_column(column, target.position, downward)
    after = column.joints()
    for number, bone in enumerate(bones):
        above = () if bone == end else set(below[bones[number + 1]].tolist())
        rows = np.array([row for row in below[bone].tolist() if row not in above])
        nodes.move(rows, column.turns[..., number, :], heads[number], after[..., number, :])


def _by_place(count: int) -> tuple[Array, Array, Array]:
    """Return equal numbers (n,), numbers that grow upwards, and numbers that grow downwards."""
    upward = np.arange(1.0, count + 1.0)
    return np.ones(count), upward, upward[::-1]
