"""What tells the twist of upper arms: `python -m benchmarks.keypoints.twist`.

Twists of the walks, guessed from other people's poses by less and more of what is seen: nothing, the way of the upper
arm in the chest's frame, and that with the wrist, all off by 10 mm. A guess is the median of the nearest poses; their
number is the best of some, chosen on the walks themselves, so that no guess of its kind is much better. The last line
is what three joints of the arm, each off by 10 mm, can tell beside a normal prior as wide as the twists are: the bound
of Cramer and Rao with a prior (van Trees), for the plane of shoulder, elbow and wrist.
"""

from typing import Final

import numpy as np

from benchmarks.naturalness.motion import Array
from core import rotation
from core.keypoints.body import LANDMARK, PART

from .__main__ import CLIP_NOISE, SETS
from .motion import Clip, load

PACK, STRIDE = "cmu_mb_train", 6
WAY: Final = np.array([1.0, 0.0, 0.0])
NEAREST: Final = (1, 5, 20, 80, 320)
STRAIGHT: Final = (0.06, 0.12)  # metres of the wrist beside the line of the upper arm


def arms(clips: list[Clip], rng: np.random.Generator) -> tuple[Array, Array, Array, Array, Array]:
    """Twists (N,), ways of upper arms (N, 3), wrists from elbows (N, 3), metres of wrists beside upper arms (N,), and
    standard deviations (N,) of the angle of the plane of the arm.

    In the chest's frame, right arms mirrored; ways and wrists are noisy, the distances are not.
    """
    found: list[tuple[Array, Array, Array, Array, Array]] = []
    for clip in clips:
        back = rotation.inv(clip.rotations[:, PART["chest"]])
        for side, sign in (("L", 1.0), ("R", -1.0)):
            mirror = np.array([sign, 1.0, 1.0])
            own = rotation.mul(back, clip.rotations[:, PART[f"upper_arm.{side}"]])
            own = own * np.array([1.0, 1.0, sign, sign])
            swing, twist = rotation.swing_twist(own, WAY)
            joints = [clip.landmarks[:, LANDMARK[f"{joint}.{side}"]] for joint in ("shoulder", "elbow", "wrist")]
            upper, lower = (rotation.rotate(back, joints[n + 1] - joints[n]) * mirror for n in range(2))
            line = rotation.rotate(swing, WAY)
            beside = np.linalg.norm(np.cross(lower, line), axis=-1)
            on = (lower * line).sum(axis=-1) / np.linalg.norm(upper, axis=-1)
            # the wrist off the plane, by its own error and by those of the line that two joints tell
            plane = np.arctan2(CLIP_NOISE * np.sqrt(1.0 + np.square(1.0 + on) + np.square(on)), beside)
            upper, lower = (v + rng.normal(0.0, CLIP_NOISE * np.sqrt(2.0), v.shape) for v in (upper, lower))
            angle = 2.0 * np.arctan2(twist[:, 1], twist[:, 0])
            found.append((angle, upper / np.linalg.norm(upper, axis=-1, keepdims=True), lower, beside, plane))
    angle, upper, lower, beside, plane = (np.concatenate(some) for some in zip(*found, strict=True))
    return angle, upper, lower, beside, plane


def guessed(seen: Array, there: Array, angles: Array, count: int) -> Array:
    """Median angles (N,) of the `count` poses that are nearest to what is seen (N, k)."""
    found = np.empty(len(seen))
    for row, one in enumerate(seen):
        near = np.argpartition(np.square(there - one).sum(axis=-1), count)[:count]
        found[row] = np.median(angles[near])
    return found


def main() -> None:
    rng = np.random.default_rng(0)
    pack, stride, subjects = SETS["walks"]
    angle, upper, lower, beside, plane = arms(load(pack, stride, subjects), rng)
    known = arms(load(PACK, STRIDE), rng)
    arm = 0.3  # metres: a way is as long as an upper arm
    views = {
        "nothing": (np.zeros((len(angle), 1)), np.zeros((len(known[0]), 1))),
        "way of the upper arm": (upper, known[1]),
        "and wrist": (np.hstack([arm * upper, lower]), np.hstack([arm * known[1], known[2]])),
    }
    groups = [beside < STRAIGHT[0], (beside >= STRAIGHT[0]) & (beside < STRAIGHT[1]), beside >= STRAIGHT[1]]
    print(f"{len(angle)} arms, {len(known[0])} of others; shares {[f'{g.mean():.0%}' for g in groups]}")
    for name, (seen, there) in views.items():
        errors = []
        for count in NEAREST if seen.shape[1] > 1 else (len(known[0]) - 1,):
            off = np.degrees(np.abs(rotation.wrap(guessed(seen, there, known[0], count) - angle)))
            errors.append((off.mean(), count, off))
        mean, count, off = min(errors, key=lambda one: one[0])
        cells = " ".join(f"{off[group].mean():6.1f}" for group in groups)
        print(f"{name:22} mean {mean:5.1f}, 95 % {np.percentile(off, 95):5.1f}; straight to bent {cells}; of {count}")
    spread = np.std(angle)
    least = np.degrees(np.sqrt(2.0 / np.pi) / np.hypot(1.0 / spread, 1.0 / plane))
    cells = " ".join(f"{least[group].mean():6.1f}" for group in groups)
    print(f"{'bound of three joints':22} mean {least.mean():5.1f}; straight to bent {cells}")


if __name__ == "__main__":
    main()
