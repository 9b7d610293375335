"""One chain in one frame, in floats: a joint is turned in a few microseconds.

No step makes an array, except those of joints that have limits. `ChainBatch` solves many frames at once.
"""

from math import acos, atan2, hypot, sqrt

import numpy as np

from ... import rotation
from ...rotation import Array
from .euler_turns import EulerTurns, reach, room_within
from .finisher import RIDGE, Finisher, half_of_y
from .limits import Room, allowed, at_frames, find_room, is_euler, is_within
from .path import Chain
from .plan import OPPOSITE, Plan, Round, Step
from .walk import FLOATS, STILL, ChainWalk, Quaternion, Triple, carried_links, mul


class ChainFrame(ChainWalk):
    """Frame `frame` of a chain; `finished` says whether the finisher was needed."""

    def __init__(self, chain: Chain, plan: Plan, frame: int = 0) -> None:
        super().__init__(chain.path, plan, FLOATS)
        self.chain, self.frame = chain, frame
        self.links = [(x, y, z) for x, y, z in chain.links[frame].tolist()]
        columns = np.swapaxes(rotation.to_matrix(chain.frames[frame]), -1, -2)
        self.axes = [[(x, y, z) for x, y, z in node] for node in columns.tolist()]
        self.own = _quaternions(chain.own[frame])
        self.frames = _quaternions(chain.frames[frame])
        self.limits = {node: at_frames(groups, np.array([frame])) for node, groups in chain.limits.items()}
        # of joints whose limits are ranges of Euler angles
        self.ranges = {
            node: [EulerTurns(one) for one in limits]
            for node, limits in self.limits.items()
            if all(is_euler(group) for group, _, _ in limits)
        }
        self.rooms: dict[int, tuple[Quaternion, Room]] = {}  # an own rotation of the joint, and the room around it
        self.rotations = [STILL] * self.count
        self.finished = False

    def restart(self, turns: Array | None = None) -> None:
        """Go on from turns (n, 4); by default, from the pose that was read."""
        self.rotations = [STILL] * self.count if turns is None else _quaternions(turns)

    @property
    def turns(self) -> Array:
        """The turns (n, 4)."""
        return np.array(self.rotations).reshape(-1, 4)

    def reach(self, target: Triple) -> int:
        """Turn the joints towards the target by the plan, from where they are; return the steps made.

        Steps are passes, sweeps and steps of the finisher. `error` and `finished` are set.
        """
        self.aim(target)
        self.used = 0
        self.run()
        self.finished = self.plan.finish and self.error > self.plan.tolerance
        if self.finished:
            finisher = _LinksFinisher(self)
            finisher.iterate()
            self.rotations, self.error = finisher.rotations(), finisher.distance
            self.used += finisher.used
        return self.used

    def keep(self, going: bool) -> bool:
        return going

    def make(self, one: Round) -> None:
        if one.sweep and self.plan.balls:
            self._sweep_balls()
        else:
            super().make(one)

    def full_angle(self, sine: float, cosine: float, least: float) -> float | None:
        return None if least <= self.plan.nothing else atan2(sine, cosine)

    def shortest(self, e: Triple, t: Triple) -> Quaternion:
        """Return the shortest rotation from the direction of e to that of t; none if either vanishes."""
        (ex, ey, ez), (tx, ty, tz) = e, t
        square_e, square_t = ex * ex + ey * ey + ez * ez, tx * tx + ty * ty + tz * tz
        nothing = self.plan.nothing
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

    def limited(self, step: Step, angle: float) -> float:
        """Return how much of an angle the joint's limits allow; the room found once serves many small turns."""
        if not angle:
            return angle
        node, limits, own = step.node, self.limits[step.node], self.own_rotation(step.node)
        sign, ranges = -1.0 if self.inverted[node] else 1.0, self.ranges.get(node)
        there, room = self.rooms.get(node, (own, None))
        if room is None or not is_within(room, abs(angle) + _between(own, there)):
            room = find_room(limits, np.array(own)) if ranges is None else room_within(ranges, own)
            if room is not None:
                self.rooms[node] = own, room
            if room is None or not is_within(room, abs(angle)):
                if ranges is not None:
                    return sign * reach(ranges, own, step.axis, sign * angle)
                return sign * float(allowed(limits, np.array([own]), step.axis, np.array([sign * angle]))[0])
        return angle

    def _sweep_balls(self) -> None:
        """Make a sweep of plain CCD over ball joints, from the tip to the base, without calls."""
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
                qw, qx, qy, qz = self.shortest((ex, ey, ez), (tx, ty, tz))
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


class _LinksFinisher(Finisher):
    """The finisher for one frame: goes through the links."""

    def __init__(self, walk: ChainFrame) -> None:
        (bx, by, bz), (tx, ty, tz) = walk.links[0], walk.target
        self.turned: list[Quaternion] = []
        self.ways: list[Triple] = []
        x, y, z = self.goal = (tx - bx, ty - by, tz - bz)
        for turn, (dx, dy, dz) in carried_links(walk.rotations, walk.links[1:]):
            self.turned.append(turn)
            self.ways.append((dx, dy, dz))
            x, y, z = x - dx, y - dy, z - dz
        self.gap: Triple = (x, y, z)
        super().__init__(walk.plan, FLOATS, hypot(x, y, z))

    def keep(self, going: bool) -> bool | None:
        return going or None

    def step(self) -> float:
        rx = ry = rz = 0.0
        xx = yy = zz = xy = xz = yz = 0.0
        arms: list[Triple] = []
        for x, y, z in reversed(self.ways):
            rx, ry, rz = rx + x, ry + y, rz + z
            arms.append((rx, ry, rz))
            xx += rx * rx
            yy += ry * ry
            zz += rz * rz
            xy += rx * ry
            xz += rx * rz
            yz += ry * rz
        tolerance = self.plan.tolerance
        more = (RIDGE + self.damping) * (xx + yy + zz + tolerance * tolerance)
        yx, y_y, y_z = half_of_y(self.gap, (xx, yy, zz, xy, xz, yz), more)
        ox = oy = oz = 0.0
        gx, gy, gz = self.goal
        turned: list[Quaternion] = []
        ways: list[Triple] = []
        for (rx, ry, rz), (dx, dy, dz), (w, x, y, z) in zip(reversed(arms), self.ways, self.turned, strict=True):
            ox += ry * y_z - rz * y_y
            oy += rz * yx - rx * y_z
            oz += rx * y_y - ry * yx
            turned.append(
                (
                    w - ox * x - oy * y - oz * z,
                    x + ox * w + oy * z - oz * y,
                    y + oy * w + oz * x - ox * z,
                    z + oz * w + ox * y - oy * x,
                )
            )
            ux, uy, uz = oy * dz - oz * dy, oz * dx - ox * dz, ox * dy - oy * dx
            twice = 2.0 / (1.0 + ox * ox + oy * oy + oz * oz)
            dx += twice * (ux + oy * uz - oz * uy)
            dy += twice * (uy + oz * ux - ox * uz)
            dz += twice * (uz + ox * uy - oy * ux)
            ways.append((dx, dy, dz))
            gx, gy, gz = gx - dx, gy - dy, gz - dz
        self.tried = turned, ways, (gx, gy, gz), hypot(gx, gy, gz)
        return self.tried[-1]

    def take(self, better: bool) -> None:
        if better:
            self.turned, self.ways, self.gap, self.distance = self.tried

    def rotations(self) -> list[Quaternion]:
        """Return the turns of the joints."""
        before, found = STILL, list[Quaternion]()
        for w, x, y, z in self.turned:
            scale = 1.0 / sqrt(w * w + x * x + y * y + z * z)
            w, x, y, z = w * scale, x * scale, y * scale, z * scale
            found.append(mul(before, (w, x, y, z)))
            before = (w, -x, -y, -z)
        return found


def _quaternions(rotations: Array) -> list[Quaternion]:
    """Return rotations (n, 4) as floats."""
    return [(w, x, y, z) for w, x, y, z in rotations.tolist()]


def _between(a: Quaternion, b: Quaternion) -> float:
    """Return the angle between two rotations, radians."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return 2.0 * acos(min(1.0, abs(aw * bw + ax * bx + ay * by + az * bz)))
