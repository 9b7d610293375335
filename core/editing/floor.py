"""Feet that are not below the floor: heel, ball and toe tip are contacts on it.

In each frame the foot is turned about what is not below, and raised, until heel and ball are on the floor; then it is
levelled sideways as far as its edges ask for, and the toes are raised until their tip is on the floor. Where nothing is
below, nothing changes, and what is deep is less deep before and after: so the change has no ease.
"""

from typing import Final

import numpy as np

from .. import rotation
from ..body import SIDES, Roles
from ..body.axes import axis_vector
from ..body.ground import find_sole
from ..motion import Motion
from ..pose import forward
from ..rotation import Array, lengths
from ..skeleton import Skeleton
from .contacts import runs
from .timed_pins import TimedPin

LEAST: Final = 1e-4  # of the size of the body, and radians: what is so little below is on the floor
WIDTH: Final = 0.3  # half of the width of a sole, of its length; people's is half of that, cartoons' is not


def floor_pins(skeleton: Skeleton, motion: Motion, roles: Roles, height: float) -> tuple[TimedPin, ...]:
    """Return pins that raise the feet of a human body where they are below a floor at this height, and no others."""
    heads, frames = forward(skeleton, motion.pose)
    up = axis_vector(roles.up)
    pins: list[TimedPin] = []
    for side in SIDES:
        if roles.bone(f"foot.{side}") < 0:
            continue
        sole = find_sole(skeleton, roles, side)
        turn, ankle = frames[:, sole.foot], heads[:, sole.foot]
        across, wide = np.cross(sole.up, sole.forward), WIDTH * float(np.linalg.norm(sole.tip - sole.heel))
        heel, front = (ankle + rotation.rotate(turn, end) for end in (sole.heel, sole.tip))
        floors = [height, height]
        if sole.toe >= 0:  # the joint of the toes, as high as it is on flat feet
            front = heads[:, sole.toe]
            floors[1] += float((rotation.rotate(rotation.inv(turn[0]), front[0] - ankle[0]) - sole.ball) @ sole.up)
        tall = [np.maximum(end @ up - floor, 0.0) for end, floor in zip((heel, front), floors, strict=True)]
        sides = rotation.rotate(turn, across)
        rise = tall[1] + floors[1] - tall[0] - floors[0]
        over = _turned(front - heel, rise, sides, np.minimum(*tall) / wide, up)
        raised = front + (tall[1] + floors[1] - front @ up)[:, None] * up
        place = raised + rotation.rotate(over, ankle - front)
        held: list[tuple[int, Array | None, Array]] = [(sole.foot, place, rotation.mul(over, turn))]
        if sole.toe >= 0:
            toes = rotation.mul(over, frames[:, sole.toe])
            end = rotation.rotate(toes, sole.end)
            tip = np.maximum((raised + end) @ up - height, 0.0)
            sides = rotation.rotate(toes, rotation.rotate(rotation.inv(sole.flat), across))
            bent = _turned(end, tip + height - raised @ up, sides, np.minimum(tall[1], tip) / wide, up)
            held.append((sole.toe, None, rotation.mul(bent, toes)))
        changed = np.any([rotation.angle_between(turned, frames[:, bone]) > LEAST for bone, _, turned in held], axis=0)
        changed |= lengths(place - ankle) > LEAST * skeleton.size
        for first, last in runs(changed):
            span = float(motion.frames[first]), float(motion.frames[last])
            pins += [TimedPin(bone, *span, position, turned) for bone, position, turned in held]
    return tuple(pins)


def _turned(ways: Array, rise: Array, across: Array, most: Array, up: Array) -> Array:
    """Return the rotations (F, 4) of vectors (F, 3) that then rise by `rise` (F,), if they can, and lean no more.

    `across` (F, 3) are unit vectors to the side, which rise by `most` (F,) at most.
    """
    length = lengths(ways)
    level = ways - (ways @ up)[:, None] * up
    wanted = np.clip(rise, -length, length)
    far = np.sqrt(np.square(length) - np.square(wanted)) / np.maximum(lengths(level), LEAST)
    over = rotation.shortest(ways, far[:, None] * level + wanted[:, None] * up)
    axis = rotation.rotate(over, ways / length[:, None])
    side = rotation.rotate(over, across)
    slope = up - (axis @ up)[:, None] * axis
    steep = np.maximum(lengths(slope), LEAST)
    angle = np.arctan2((side * slope).sum(axis=-1), (side * rotation.cross(slope, axis)).sum(axis=-1))
    largest = np.arcsin(np.clip(most / steep, 0.0, 1.0))
    return rotation.mul(rotation.from_axis_angle(axis, np.clip(angle, -largest, largest) - angle), over)
