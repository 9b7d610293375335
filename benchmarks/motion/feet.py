"""Feet that are locked: how much they skated, and what it cost the rest of the body."""

from time import perf_counter
from typing import Any, Final

import numpy as np

from core import Motion, forward
from core.body import find_roles
from core.editing.contacts import BodyPoint, find_ground, point_positions
from core.editing.foot_lock import count_skating, lock_feet
from core.rotation import Array, lengths

from .clips import Clip

SKATING: Final = 0.5  # metres a second
PLAIN_HEIGHT, PLAIN_FPS = 0.05, 20.0  # of the usual measure


def measure(clip: Clip) -> dict[str, Any]:
    skeleton, motion = clip.skeleton, clip.motion
    roles = find_roles(skeleton)
    begin = perf_counter()
    locked = lock_feet(skeleton, motion, roles)
    seconds = perf_counter() - begin
    after, contacts = locked.pinned.motion, locked.contacts
    old, new = (point_positions(skeleton, one.pose, contacts.points) for one in (motion, after))
    feet = {point.bone for point in contacts.points} | {roles.bones[f"foot.{side}"] for side in "LR"}
    free = [bone for bone in range(len(skeleton)) if not feet & set(skeleton.ancestors(bone))]
    heads = [forward(skeleton, one.pose)[0][:, free] for one in (motion, after)]
    jolts = [np.percentile(lengths(np.diff(h, 2, axis=0)), 99.0) for h in heads]
    return {
        "frames": len(motion),
        "touches": len(locked.pins),
        "skate_before": count_skating(skeleton, motion, contacts, contacts.touching, SKATING),
        "skate_after": count_skating(skeleton, after, contacts, contacts.touching, SKATING),
        "plain_before": plain_skate(old, contacts.points, motion),
        "plain_after": plain_skate(new, contacts.points, motion),
        "worst_pin_mm": 1e3 * float(locked.pinned.position_error.max(initial=0.0)),
        "change_mm": 1e3 * float(lengths(heads[1] - heads[0]).mean()),
        "acceleration": float(jolts[1] / jolts[0]),
        "frames_per_second": len(motion) / seconds,
    }


def plain_skate(places: Array, points: tuple[BodyPoint, ...], motion: Motion) -> list[int]:
    """The usual measure, without any detector: steps at 20 fps of a ball under 5 cm that is faster; and all steps."""
    frames = np.arange(motion.frames[0], motion.frames[-1], motion.fps / PLAIN_FPS)
    balls = [i for i, point in enumerate(points) if point.name.startswith("ball")]
    ground = find_ground(places[:, balls])
    sampled = places[:, balls][np.round(frames - motion.frames[0]).astype(int)]
    speed = lengths(np.diff(sampled, axis=0)[..., :2]) * PLAIN_FPS
    low = ground.heights(sampled)[1:] < PLAIN_HEIGHT
    return [int((low & (speed > SKATING)).sum()), int(low.size)]


def table(figures: list[dict[str, Any]]) -> str:
    lines = [
        "",
        "Feet, after: share of bearing steps that skate (and by the plain measure), change of the other joints",
    ]
    columns = (
        "frames",
        "touches",
        "skate before",
        "after",
        "plain before",
        "after",
        "change",
        "acceleration",
        "frames/s",
    )
    lines.append(f"{'':32}" + "".join(f"{column:>13}" for column in columns))

    def share(rows: list[dict[str, Any]], name: str) -> float:
        some, whole = np.sum([row[name] for row in rows], axis=0)
        return some / max(whole, 1)

    def line(name: str, rows: list[dict[str, Any]]) -> str:
        weights = [row["frames"] for row in rows]
        change = np.average([row["change_mm"] for row in rows], weights=weights)
        jolt, speed = (np.median([row[key] for row in rows]) for key in ("acceleration", "frames_per_second"))
        return (
            f"{name:32}{sum(weights):13}{sum(row['touches'] for row in rows):13}"
            f"{share(rows, 'skate_before'):13.2%}{share(rows, 'skate_after'):13.2%}"
            f"{share(rows, 'plain_before'):13.2%}{share(rows, 'plain_after'):13.2%}"
            f"{change:10.2f} mm{jolt:13.2f}{speed:13.0f}"
        )

    lines += [line(row["clip"], [row]) for row in figures]
    lines.append(line("all (medians of the last two)", figures))
    jolts = [row["acceleration"] for row in figures]
    calm = sum(jolt <= 1.2 for jolt in jolts)
    worst = max(row["worst_pin_mm"] for row in figures)
    lines.append(f"acceleration at most 1.2 times in {calm} of {len(jolts)} clips, worst {max(jolts):.2f}; ")
    lines[-1] += f"pins held to {worst:.3f} mm at worst"
    return "\n".join(lines)
