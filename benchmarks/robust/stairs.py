"""Level walks that are locked on stairs: `python -m benchmarks.robust.stairs`.

Captured walks of CMU are put on stairs, up or down, as the ground of `lock_feet` and of the floor. Looked at are
points of the soles from heel to toe tip in all frames: how many are more than 5 mm below the stairs, how deep, and how
far pins are off. Lengths are those of a body of 1.7 m.
"""

import argparse
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from benchmarks.motion.clips import CLIPS, read_clip
from core import Motion, Skeleton, rotation
from core.body import SIDES, Roles, find_roles
from core.body.ground import find_sole
from core.editing.contacts import UP, Surface, foot_points, point_positions
from core.editing.floor import floor_pins, floor_under
from core.editing.foot_lock import foot_lock_settings, lock_feet
from core.editing.timed_pins import pin_errors, pin_motion
from core.motion import forward_of
from core.rotation import Array, lengths

TAKEN: Final = ("07_01", "35_01", "16_15", "10_04", "16_32")
FRAMES: Final = 80
RISES: Final = (0.15, -0.15)
TREAD: Final = 0.28
BEGIN: Final = 0.3  # of the way
DEEP: Final = 0.005
ALONG: Final = np.linspace(0.0, 1.0, 6)[:, None, None]


@dataclass(frozen=True)
class Row:
    clip: str
    rise: float
    share: float
    deepest: float
    pins: float  # the 90th percentile of how far these are off, at most in their frames


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clips", nargs="+", default=list(TAKEN), help="numbers of CMU's clips")
    arguments = parser.parse_args()
    if not CLIPS.is_dir():
        print(f"Nothing was measured: there are no clips in {CLIPS}.")
        return
    rows = [measure(clip, rise) for clip in arguments.clips for rise in RISES]
    print(f"{'clip':8}{'rise':>8}{'in a step':>12}{'deepest':>12}{'pins off':>12}")
    for row in rows:
        deepest, pins = 1000.0 * row.deepest, 1000.0 * row.pins
        print(f"{row.clip:8}{row.rise:8.2f}{row.share:12.2%}{deepest:9.1f} mm{pins:9.1f} mm")
    deepest = 1000.0 * np.median([row.deepest for row in rows])
    print(f"{'all':16}{np.mean([row.share for row in rows]):12.2%}{deepest:9.1f} mm in the middle")


def measure(clip: str, rise: float) -> Row:
    found = read_clip(CLIPS / f"cmu_{clip}.bvh")
    skeleton, whole = found.skeleton, found.motion
    motion = replace(whole, pose=whole.pose[:FRAMES], frames=whole.frames[:FRAMES])
    roles = find_roles(skeleton)
    surface = stairs(skeleton, motion, roles, rise)
    locked = lock_feet(skeleton, motion, roles, surface=surface)
    contacts = replace(locked.contacts, ground=replace(locked.contacts.ground, surface=surface))
    flat = replace(contacts, drift=np.zeros_like(contacts.drift))
    held, pins = locked.pinned.motion, locked.pins
    floor = floor_under(skeleton, held, flat, pins)
    raised = floor_pins(skeleton, held, roles, floor, pins)
    limited, method = foot_lock_settings(skeleton, held, roles)
    again = [replace(pin, ease_in=0.0, ease_out=0.0, priority=pin.priority + 1) for pin in pins]
    after = pin_motion(limited, held, [*raised, *again], method).motion
    depth = np.concatenate([surface(points) - points @ UP for points in soles(skeleton, after, roles)])
    off = [lengths(pin_errors(skeleton, after, pin)[0]).max(initial=0.0) for pin in pins]
    size = skeleton.size
    return Row(clip, rise, float((depth > DEEP * size).mean()), max(0.0, float(depth.max())) / size,
               float(np.percentile(off, 90.0)) / size)  # fmt: skip


def stairs(skeleton: Skeleton, motion: Motion, roles: Roles, rise: float) -> Surface:
    """Return stairs across the way of a body, which begin at `BEGIN` of it."""
    hips = forward_of(skeleton, motion.pose, [roles.bone("hips")])[0][:, 0]
    way = (hips[-1] - hips[0]) * (1.0, 1.0, 0.0)
    length = float(np.linalg.norm(way))
    start = (hips[0] + BEGIN * way) @ way / length
    floor = np.percentile(point_positions(skeleton, motion.pose, foot_points(skeleton, roles)) @ UP, 2.0)

    def under(places: Array) -> Array:
        steps = np.floor((places @ way / length - start) / (TREAD * skeleton.size)) + 1.0
        return floor + rise * skeleton.size * np.maximum(steps, 0.0)

    return under


def soles(skeleton: Skeleton, motion: Motion, roles: Roles) -> list[Array]:
    """Return points (n, F, 3) from heel to ball, and on to the tip of the toes, of both feet."""
    found: list[Array] = []
    for side in SIDES:
        sole = find_sole(skeleton, roles, side)
        heads, turns = forward_of(skeleton, motion.pose, [sole.foot, max(sole.toe, 0)])
        heel, ball, tip = (heads[:, 0] + rotation.rotate(turns[:, 0], end) for end in (sole.heel, sole.ball, sole.tip))
        start = ball
        if sole.toe >= 0:
            down, end = (
                heads[:, 1] + rotation.rotate(turns[:, 1], way) for way in (sole.tips[0] - sole.tips[1], sole.end)
            )
            start, tip = down, end
        found += [(1.0 - ALONG) * heel + ALONG * ball, (1.0 - ALONG) * start + ALONG * tip]
    return found


if __name__ == "__main__":
    main()
