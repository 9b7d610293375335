"""One chain in one frame, in plain Python numbers: a joint is turned in a few microseconds.

No step makes an array, but those of joints that have limits. `ChainBatch` does the same for many frames at once.
"""

from math import acos, atan2, cos, hypot, sin, sqrt

import numpy as np

from ... import rotation
from ...rotation import Array
from .limits import Room, allowed, at_frames, find_room, is_within
from .path import Chain
from .plan import (
    BALL,
    DAMPING,
    FINISHER_STEPS,
    FIRST_DAMPING,
    GIVEN_UP,
    GROWTH,
    OPPOSITE,
    RESTS,
    RIDGE,
    STALLED,
    Plan,
    Step,
)
from .walk import STILL, ChainWalk, Quaternion, Triple, full_rotation, half_of_y, mul, rotate


class ChainFrame(ChainWalk):
    """Frame `frame` of a chain."""

    def __init__(self, chain: Chain, plan: Plan, frame: int = 0) -> None:
        super().__init__(chain.path, plan)
        self.chain, self.frame = chain, frame
        self.links = [(x, y, z) for x, y, z in chain.links[frame].tolist()]
        columns = np.swapaxes(rotation.to_matrix(chain.frames[frame]), -1, -2)
        self.axes = [[(x, y, z) for x, y, z in node] for node in columns.tolist()]
        self.own = _quaternions(chain.own[frame])
        self.frames = _quaternions(chain.frames[frame])
        self.limits = {node: at_frames(groups, np.array([frame])) for node, groups in chain.limits.items()}
        self.rooms: dict[int, tuple[Quaternion, Room]] = {}  # where a joint was, and the room that it had there
        self.rotations = [STILL] * self.count
        self.error, self.finished = 0.0, False

    def restart(self, turns: Array | None = None) -> None:
        """Go on from turns (n, 4); by default from the pose that was read."""
        self.rotations = [STILL] * self.count if turns is None else _quaternions(turns)

    @property
    def turns(self) -> Array:
        """(n, 4)"""
        return np.array(self.rotations).reshape(-1, 4)

    def reach(self, target: Triple) -> int:
        """Turn the joints towards the target by the plan, from where they are; returns the steps that took.

        Steps are passes, sweeps and steps of the finisher. `error` tells how far off the effector is in the end, and
        `finished` whether the finisher was needed.
        """
        plan, self.finished = self.plan, False
        self.aim(target)
        self.error = hypot(*self.gap())
        used = 0
        for larger in plan.passes:
            if self.error <= plan.tolerance:
                return used
            for step in plan.steps:
                self._actuate(step, larger)
            self.error = hypot(*self.gap())
            used += 1
        for _ in range(plan.sweeps):
            if self.error <= plan.tolerance:
                return used
            before = self.error
            if plan.balls:
                self._sweep_balls()
            else:
                for step in plan.sweep:
                    self._actuate(step, True)
                self.error = hypot(*self.gap())
            used += 1
            if self.error > STALLED * before:
                break
        if plan.finish and self.error > plan.tolerance:
            self.finished = True
            used += self._finish()
        return used

    def _actuate(self, step: Step, larger: bool) -> None:
        """Turn one joint as far as its entry, and its limits, let it."""
        t, e = self.see(step.node)
        if step.axis == BALL:
            self.turn(step.node, _shortest(e, t, self.plan.nothing))
            return
        axis = self.axis(step)
        sine, cosine, *squares = full_rotation(axis, t, e)
        if min(squares) <= self.plan.nothing:
            return
        angle = step.part_of(atan2(sine, cosine), larger)
        if step.limited and angle:
            angle = self._limited(step, angle)
        scale = sin(0.5 * angle)
        self.turn(step.node, (cos(0.5 * angle), scale * axis[0], scale * axis[1], scale * axis[2]))

    def _limited(self, step: Step, angle: float) -> float:
        """How much of an angle the joint's limits let it turn; the same room does for many small turns."""
        node, limits, own = step.node, self.limits[step.node], self._own_rotation(step.node)
        there, room = self.rooms.get(node, (own, None))
        if room is None or not is_within(room, abs(angle) + _between(own, there)):
            room = find_room(limits, np.array(own))
            if room is not None:
                self.rooms[node] = own, room
            if room is None or not is_within(room, abs(angle)):
                sign = -1.0 if self.inverted[node] else 1.0
                return sign * float(allowed(limits, np.array([own]), step.axis, np.array([sign * angle]))[0])
        return angle

    def _own_rotation(self, node: int) -> Quaternion:
        """`Chain.own_rotations` of one bone."""
        own, axes, turn = self.own[node], self.frames[node], self.rotations[node]
        if turn is STILL:
            return own
        local = mul(_inverse(axes), mul(turn, axes))
        w, x, y, z = mul(_inverse(local) if self.inverted[node] else local, own)
        scale = 1.0 / sqrt(w * w + x * x + y * y + z * z)
        return w * scale, x * scale, y * scale, z * scale

    # -- ball joints only ---------------------------------------------------------------------------------------------

    def _sweep_balls(self) -> None:
        """A sweep of plain CCD from the tip to the base: `_actuate` for all joints, written out."""
        turns, targets, links, last = self.rotations, self.targets, self.links, self.count - 1
        tx, ty, tz = targets[0]
        for node in range(last):
            w, x, y, z = turns[node]
            ux, uy, uz = ty * z - tz * y, tz * x - tx * z, tx * y - ty * x
            ux, uy, uz = ux + ux, uy + uy, uz + uz
            lx, ly, lz = links[node + 1]
            tx, ty, tz = (
                tx + w * ux + uy * z - uz * y - lx,
                ty + w * uy + uz * x - ux * z - ly,
                tz + w * uz + ux * y - uy * x - lz,
            )
            targets[node + 1] = (tx, ty, tz)
        least = self.plan.nothing
        ex = ey = ez = 0.0
        for node in range(last, -1, -1):
            w, x, y, z = turns[node]
            lx, ly, lz = links[node + 1]
            lx, ly, lz = lx + ex, ly + ey, lz + ez
            ux, uy, uz = y * lz - z * ly, z * lx - x * lz, x * ly - y * lx
            ux, uy, uz = ux + ux, uy + uy, uz + uz
            ex, ey, ez = lx + w * ux + y * uz - z * uy, ly + w * uy + z * ux - x * uz, lz + w * uz + x * uy - y * ux
            tx, ty, tz = targets[node]
            square_e, square_t = ex * ex + ey * ey + ez * ez, tx * tx + ty * ty + tz * tz
            if square_e <= least or square_t <= least:
                continue
            both = sqrt(square_e * square_t)
            more = both + ex * tx + ey * ty + ez * tz
            if more <= OPPOSITE * both:
                qw, qx, qy, qz = _shortest((ex, ey, ez), (tx, ty, tz), least)
            else:
                scale = 1.0 / sqrt(2.0 * both * more)
                qw = more * scale
                qx, qy, qz = (ey * tz - ez * ty) * scale, (ez * tx - ex * tz) * scale, (ex * ty - ey * tx) * scale
            turns[node] = (
                qw * w - qx * x - qy * y - qz * z,
                qw * x + qx * w + qy * z - qz * y,
                qw * y + qy * w + qz * x - qx * z,
                qw * z + qz * w + qx * y - qy * x,
            )
            scale = sqrt(square_e / square_t)
            ex, ey, ez = tx * scale, ty * scale, tz * scale
        self.effectors[0] = (ex, ey, ez)
        self._down = self._up = 0
        self.error = hypot(tx - ex, ty - ey, tz - ez)

    def _finish(self) -> int:
        """Damped least squares over all joints; returns the steps.

        With r_k from pivot k to the effector the rotation vectors of least squares that close a gap g are
        w_k = r_k x y, where (sum_k |r_k|^2 I - r_k r_k^T + damping) y = g is 3 by 3. What lies beyond pivot k turns by
        the sum of them up to k: by the rotation whose tangent of half the angle is half of that sum (Cayley's), which
        takes no trigonometry. Every link is kept in armature space here, with how it has turned: quaternions of any
        length, until the end.
        """
        tolerance = self.plan.tolerance
        (bx, by, bz), (tx, ty, tz) = self.links[0], self.target
        carried = STILL
        turned: list[Quaternion] = []
        ways: list[Triple] = []
        for turn, link in zip(self.rotations, self.links[1:], strict=True):
            carried = carried if turn is STILL else mul(carried, turn)
            turned.append(carried)
            ways.append(link if carried is STILL else rotate(carried, link))
        goal: Triple = (tx - bx, ty - by, tz - bz)
        gap = _gap(goal, ways)
        distance, damping = hypot(*gap), FIRST_DAMPING
        used = 0
        while distance > tolerance and damping <= GIVEN_UP and used < FINISHER_STEPS:
            used += 1
            new_turned, new_ways = _stepped(turned, ways, gap, damping, tolerance * tolerance)
            new_gap = _gap(goal, new_ways)
            new_distance = hypot(*new_gap)
            if new_distance >= distance:
                damping = max(DAMPING, damping * GROWTH)
                continue
            rests = distance - new_distance < RESTS * tolerance
            turned, ways, gap, distance = new_turned, new_ways, new_gap, new_distance
            damping = GROWTH * GIVEN_UP if rests else damping / GROWTH if damping > DAMPING else 0.0
        before = STILL
        for node, (w, x, y, z) in enumerate(turned):
            scale = 1.0 / sqrt(w * w + x * x + y * y + z * z)
            w, x, y, z = w * scale, x * scale, y * scale, z * scale
            self.rotations[node] = mul(before, (w, x, y, z))
            before = (w, -x, -y, -z)
        self.error = distance
        return used


def _quaternions(rotations: Array) -> list[Quaternion]:
    """Rotations (n, 4) as plain numbers."""
    return [(w, x, y, z) for w, x, y, z in rotations.tolist()]


def _between(a: Quaternion, b: Quaternion) -> float:
    """The angle between two rotations."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return 2.0 * acos(min(1.0, abs(aw * bw + ax * bx + ay * by + az * bz)))


def _inverse(turn: Quaternion) -> Quaternion:
    w, x, y, z = turn
    return w, -x, -y, -z


def _gap(goal: Triple, ways: list[Triple]) -> Triple:
    x, y, z = goal
    for dx, dy, dz in ways:
        x, y, z = x - dx, y - dy, z - dz
    return x, y, z


def _stepped(
    turned: list[Quaternion], ways: list[Triple], gap: Triple, damping: float, least: float
) -> tuple[list[Quaternion], list[Triple]]:
    """How links have turned and where they lead after a step of least squares."""
    rx = ry = rz = 0.0
    xx = yy = zz = xy = xz = yz = 0.0
    arms: list[Triple] = []
    for x, y, z in reversed(ways):
        rx, ry, rz = rx + x, ry + y, rz + z
        arms.append((rx, ry, rz))
        xx += rx * rx
        yy += ry * ry
        zz += rz * rz
        xy += rx * ry
        xz += rx * rz
        yz += ry * rz
    more = (RIDGE + damping) * (xx + yy + zz + least)
    yx, y_y, y_z = half_of_y(gap, (xx, yy, zz, xy, xz, yz), more)
    ox = oy = oz = 0.0
    new_turned: list[Quaternion] = []
    new_ways: list[Triple] = []
    for (rx, ry, rz), (dx, dy, dz), (w, x, y, z) in zip(reversed(arms), ways, turned, strict=True):
        ox += ry * y_z - rz * y_y
        oy += rz * yx - rx * y_z
        oz += rx * y_y - ry * yx
        new_turned.append(
            (
                w - ox * x - oy * y - oz * z,
                x + ox * w + oy * z - oz * y,
                y + oy * w + oz * x - ox * z,
                z + oz * w + ox * y - oy * x,
            )
        )
        ux, uy, uz = oy * dz - oz * dy, oz * dx - ox * dz, ox * dy - oy * dx
        twice = 2.0 / (1.0 + ox * ox + oy * oy + oz * oz)
        new_ways.append(
            (
                dx + twice * (ux + oy * uz - oz * uy),
                dy + twice * (uy + oz * ux - ox * uz),
                dz + twice * (uz + ox * uy - oy * ux),
            )
        )
    return new_turned, new_ways


def _shortest(e: Triple, t: Triple, nothing: float) -> Quaternion:
    """The shortest rotation from the direction of e to that of t; none if either vanishes."""
    (ex, ey, ez), (tx, ty, tz) = e, t
    square_e, square_t = ex * ex + ey * ey + ez * ez, tx * tx + ty * ty + tz * tz
    if square_e <= nothing or square_t <= nothing:
        return STILL
    both = sqrt(square_e * square_t)
    more = both + ex * tx + ey * ty + ez * tz
    if more <= OPPOSITE * both:  # half a turn about anything across
        x, y, z = abs(ex), abs(ey), abs(ez)
        across = (0.0, -ez, ey) if x <= y and x <= z else (ez, 0.0, -ex) if y <= z else (-ey, ex, 0.0)
        length = hypot(*across)
        return 0.0, across[0] / length, across[1] / length, across[2] / length
    scale = 1.0 / sqrt(2.0 * both * more)
    return more * scale, (ey * tz - ez * ty) * scale, (ez * tx - ex * tz) * scale, (ex * ty - ey * tx) * scale
