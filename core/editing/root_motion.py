"""Root motion: the way and the heading of a body over the ground, apart from what it does on its way.

A root bone may have them, as game engines want it, or the object, the body may have them, or nobody, so that it moves
in place.
"""

from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from .. import rotation
from ..errors import CoreError
from ..motion import Motion, blocks, forward_of, in_blocks, matrices_of, shifted
from ..pose import Pose, forward_matrices, own_channels
from ..rotation import Array
from ..skeleton import Flags, Indices, Skeleton
from .path import move_roots

Carrier = Literal["root", "object", "body", "nobody"]

_WIDE: Final = 3.0  # standard deviations of the smoothing kernel on either side
_NARROW: Final = 0.1  # frames: deviations below have a kernel of one frame
_STILL: Final = 1e-5  # radians, and of the size: a bone that moves less beside its parent does not
_CLOSED: Final = 1e-4  # radians, and of the size: a motion whose last pose differs less from the first is a loop


@dataclass(frozen=True, eq=False)
class Travel:
    """How a body has moved over the ground since the first frame: turned by `turns` (F, 4) about the point `start` (3,)
    and then moved by `shifts` (F, 3), in armature space. `bone`: whose travel it is.
    """

    start: Array
    turns: Array
    shifts: Array
    bone: int

    @property
    def matrices(self) -> Array:
        """The same as matrices (F, 4, 4)."""
        return _about(self.start, self.turns, self.shifts)


def _about(start: Array, turns: Array, shifts: Array) -> Array:
    """Return matrices (F, 4, 4) that turn by `turns` (F, 4) about a point (3,) and then move by `shifts` (F, 3)."""
    found = np.tile(np.eye(4), (len(turns), 1, 1))
    found[:, :3, :3] = rotation.to_matrix(turns)
    found[:, :3, 3] = start + shifts - rotation.rotate(turns, start)
    return found


def find_travel(
    skeleton: Skeleton,
    motion: Motion,
    bone: int,
    up: ArrayLike = (0.0, 0.0, 1.0),
    smooth: float = 0.5,
    axes: ArrayLike | None = None,
    turning: bool = True,
) -> Travel:
    """Return how a bone, such as the hips, travels: its head's way over the ground, and its turn about `up` (3,).

    smooth   standard deviation in seconds of the Gaussian kernel of a local linear regression (Fan and Gijbels, *Local
             Polynomial Modelling*, 1996, 2.3), which keeps what is straight and even: ups and downs, sway and what a
             step turns the hips stay with the body; 0: all of it travels. A loop goes on beyond both of its ends, and
             stays one
    axes     (k, 3) unit vectors, orthogonal to each other, along which travel counts; None for all across `up`
    turning  whether the turn counts
    """
    vertical = np.asarray(up, float) / np.linalg.norm(up)
    heads, frames = (part[:, 0] for part in forward_of(skeleton, motion.pose, [bone]))
    flat = heads - (heads @ vertical)[:, None] * vertical
    twists = rotation.swing_twist(rotation.mul(frames, rotation.inv(frames[:1])), vertical)[1]
    angles = np.unwrap(2.0 * np.arctan2(twists[:, 1:] @ vertical, twists[:, 0]))
    way, reach = np.column_stack([flat, angles]), int(np.ceil(_WIDE * smooth * motion.fps))
    if _is_loop(skeleton, motion, bone, heads @ vertical):
        even = smoothed(_repeated(way, vertical, reach), smooth * motion.fps)[reach : reach + len(way)]
    else:
        even = smoothed(way, smooth * motion.fps)
    shifts = even[:, :3] - even[0, :3]
    if axes is not None:
        along = np.asarray(axes, float).reshape(-1, 3)
        shifts = shifts @ along.T @ along
    turned = (even[:, 3] - even[0, 3]) * turning
    return Travel(even[0, :3], rotation.exp(turned[:, None] * vertical), shifts, bone)


def _is_loop(skeleton: Skeleton, motion: Motion, bone: int, heights: Array) -> bool:
    """Return whether a motion ends in the pose and at the height in which it begins, but for where it has gone."""
    own = np.ones(len(skeleton), bool)
    own[skeleton.ancestors(bone)] = False  # they travel
    turned = float(rotation.angle_between(*motion.pose.rotations[[0, -1]][:, own]).max(initial=0.0))
    return len(motion) > 2 and max(turned, abs(heights[-1] - heights[0]) / skeleton.size) < _CLOSED


def _repeated(way: Array, up: Array, reach: int) -> Array:
    """Return the way (F, 4) of a loop, places over the ground and angles about `up`, and `reach` frames on either side.

    Each cycle is the one before it, moved as the body has from the first frame to the last.
    """
    gone = (way[-1] - way[0])[None]
    travel = _about(way[0, :3], rotation.exp(gone[:, 3:] * up), gone[:, :3])[0]
    cycles, frames = np.divmod(np.arange(-reach, len(way) + reach), len(way) - 1)
    powers: list[Array] = [np.linalg.matrix_power(travel, cycle) for cycle in cycles.tolist()]
    by = np.array(powers)
    places = (by[:, :3, :3] @ way[frames, :3, None])[..., 0] + by[:, :3, 3]
    return np.column_stack([places, way[frames, 3] + cycles * gone[0, 3]])


def smoothed(values: Array, deviation: float) -> Array:
    """Return values (F, n) after a local linear regression with a Gaussian kernel of a `deviation` in frames."""
    reach = int(np.ceil(_WIDE * deviation))
    if deviation < _NARROW or len(values) < 2:
        return values.copy()
    places = np.arange(-reach, reach + 1.0)
    kernel = np.exp(-0.5 * np.square(places / deviation))

    def moment(power: int, column: Array) -> Array:
        """Return the sum over frames j of kernel (j - i)^power column_j, for each frame i."""
        return np.convolve(column, (kernel * places**power)[::-1])[reach : reach + len(column)]

    ones = np.ones(len(values))
    s0, s1, s2 = (moment(power, ones) for power in range(3))
    lines = [(s2 * moment(0, column) - s1 * moment(1, column)) / (s0 * s2 - s1 * s1) for column in values.T]
    return np.column_stack(lines)


def set_carrier(skeleton: Skeleton, motion: Motion, travel: Travel, root: int | None, carrier: Carrier) -> Motion:
    """Return the motion with its travel carried by the root bone, by the object, by the body, or by nobody.

    The root bone, if there is one, starts as in the first frame, and travels or stays there. The body stays where it is
    as the root bone or the body itself carries it, to rounding, and goes back by the travel where nobody does, or the
    object. What does not move beside the body, such as targets of IK for a game engine, keeps its channels, and goes
    along with what carries it. Raises CoreError without a root bone to carry it, or for a bone that cannot be moved.
    """
    if root is None and carrier == "root":
        raise CoreError(
            "There is no bone above the hips to transfer the travel to. Set Travel to Object, or add a root bone."
        )
    body = skeleton.parents == (-1 if root is None else root)
    if carrier == "object":  # which carries all that hangs on nothing
        body |= skeleton.parents < 0
    body &= _alive(skeleton, motion.pose, travel.bone)
    changed = body.copy()
    roots, back = None, np.linalg.inv(travel.matrices)[:, None]
    if root is not None:
        body[root], changed[root] = False, True
        roots = root_frames(matrices_of(skeleton, motion.pose, [root])[:, 0], travel, carrier)

    def carried(part: slice) -> Pose:
        frames = forward_matrices(skeleton, motion.pose[part])
        if roots is not None:
            frames[:, root] = roots[part]
        if carrier in ("object", "nobody"):
            frames[:, body] = moved(back[part], frames[:, body])
        return placed_at(skeleton, motion.pose[part], frames, np.flatnonzero(changed))

    return replace(motion, pose=in_blocks(len(motion), carried))


def _alive(skeleton: Skeleton, pose: Pose, hips: int) -> Flags:
    """Return which bones (J,) move in poses (F) beside their parents, or carry such bones or the hips."""
    moves, found = np.zeros((2, len(skeleton)), bool)
    for part in blocks(len(pose.rotations)):
        turned = rotation.angle_between(pose.rotations[part], pose.rotations[:1])
        gone = rotation.lengths(pose.translations[part] - pose.translations[:1])
        moves |= np.any((turned > _STILL) | (gone > _STILL * skeleton.size), axis=0)
    for bone in [hips, *np.flatnonzero(moves).tolist()]:
        found[skeleton.ancestors(bone)] = True
    return found


def root_frames(frames: Array, travel: Travel, carrier: Carrier) -> Array:
    """Return the frames (F, 3, 4) of a root bone that starts as in the first one, and travels or stays there."""
    return moved(travel.matrices if carrier == "root" else np.eye(4)[None], np.repeat(frames[:1], len(frames), axis=0))


def with_object(skeleton: Skeleton, motion: Motion, worlds: Array, scales: bool = False) -> Motion:
    """Return the motion with that of its object, `worlds` (F, 4, 4), in the object's space at the first frame.

    With `scales` roots grow as the object does, evenly.
    """
    carried: Array = np.linalg.inv(worlds[0]) @ worlds
    turns = rotation.from_matrix(rotation.nearest_rotation(carried[:, :3, :3]))
    pose = move_roots(skeleton, motion, np.zeros(3), turns, carried[:, :3, 3])
    if scales:
        sizes = np.ones_like(pose.translations) if pose.scales is None else np.array(pose.scales)
        growth = np.cbrt(np.linalg.det(carried[:, :3, :3]))[:, None]
        for root in np.flatnonzero(skeleton.parents < 0).tolist():
            heads = forward_of(skeleton, pose, [root])[0][:, 0]
            pose = shifted(skeleton, pose, root, (growth - 1.0) * (heads - carried[:, :3, 3]))
            sizes[:, root] *= growth
        pose = replace(pose, scales=sizes)
    return replace(motion, pose=pose)


def placed_at(skeleton: Skeleton, pose: Pose, frames: Array, bones: Indices) -> Pose:
    """Return the pose with some bones at frames (..., J, 3, 4) in armature space; all others keep their channels.

    Raises CoreError for a bone that cannot be moved.
    """
    fixed = next((bone for bone in bones.tolist() if not skeleton.translatable[bone].all()), None)
    if fixed is not None:
        raise CoreError(f'"{skeleton.names[fixed]}" cannot be moved. Unlock its location first.')
    turns, shifts, _ = own_channels(skeleton, frames, bones)
    rotations, translations = pose.rotations.copy(), pose.translations.copy()
    rotations[..., bones, :], translations[..., bones, :] = turns, shifts
    return replace(pose, rotations=rotations, translations=translations)


def moved(by: Array, frames: Array) -> Array:
    """Return frames (..., 3, 4) moved by rigid matrices (..., 4, 4)."""
    found = by[..., :3, :3] @ frames
    found[..., 3] += by[..., :3, 3]
    return found


def root_above(skeleton: Skeleton, bone: int) -> int | None:
    """Return the topmost bone above another one, such as the hips, or None if it is itself at the top."""
    top = skeleton.ancestors(bone)[-1]
    return None if top == bone else top
