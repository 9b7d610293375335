"""Keypoints to rotations beside baselines, on motion of people that nothing was learned from.

python -m benchmarks.keypoints            all tables, some minutes
python -m benchmarks.keypoints --stride N every N-th frame only
"""

import argparse
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Final

import numpy as np

from benchmarks.naturalness.motion import DATA, Array
from core.keypoints import LAYOUTS, METHODS
from core.keypoints.body import HIPS, LANDMARK, LANDMARKS
from core.keypoints.conversion import Landmarks
from core.keypoints.estimate import LiveEstimator, Method, estimate_clip, estimate_rotations, measure

from .measure import Figures, angles, by_part, figures
from .motion import Clip, load
from .one_euro import one_euro

SETS: Final = {"walks": ("cmu_mb_val", 3, ()), "dance": ("cmu_daz_train", 12, ("94",))}  # pack, stride, subjects
NOISES: Final = (0.0, 0.005, 0.010, 0.020)
SEEDS: Final = (0, 1, 2)
CLIP_NOISE: Final = 0.010
CLIPS, LONGEST = 8, 300  # clips, and frames of each, that filters are run over
CORRELATION: Final = 0.9  # of noise from frame to frame, where it is not white
ENDS: Final = 8  # frames at both ends of a clip that are left out: filters begin there
UNSEEN: Final = 0.1  # share of landmarks that are missing where some are
TIMED: Final = 200
PARTS: Final = ("frames", "layouts", "clips", "time")


def weights_of(layout: str, shape: tuple[int, ...]) -> Array:
    """(..., M) 1 for the landmarks that a layout has."""
    return np.broadcast_to(LAYOUTS[layout].rows[1].astype(float), shape)


def noisy(clip: Clip, noise: float, seed: int, correlation: float = 0.0) -> Array:
    """Landmarks of a clip, each coordinate off by `noise` metres."""
    rng = np.random.default_rng(seed)
    off = rng.normal(0.0, 1.0, clip.landmarks.shape)
    for frame in range(1, len(off) if correlation else 0):
        off[frame] = correlation * off[frame - 1] + np.sqrt(1.0 - correlation**2) * off[frame]
    return clip.landmarks + noise * off


def read_all(clips: list[Clip], method: str, noise: float, seed: int, layout: str, unseen: float = 0.0) -> list[Array]:
    """Each frame for itself; lengths measured over the clip as Poise does, the noise is told."""
    result: list[Array] = []
    for number, clip in enumerate(clips):
        landmarks = noisy(clip, noise, seed + 100 * number)
        weights = np.array(weights_of(layout, landmarks.shape[:-1]))
        if unseen:
            gone = np.random.default_rng(seed).random(weights.shape) < unseen
            gone[:, [LANDMARK[f"{landmark}.{side}"] for landmark in ("hip", "shoulder") for side in "LR"]] = False
            weights[gone] = 0.0
        subject = measure(landmarks, weights)
        lengths = None if subject is None else subject.lengths
        result.append(estimate_rotations(landmarks, weights, noise, lengths, method))  # pyright: ignore
    return result


def of_frames(clips: list[Clip]) -> Iterator[tuple[str, ...]]:
    """Method, degrees at each noise, and what 10 mm do to places and twists."""
    true = [clip.rotations for clip in clips]
    for method in METHODS[::-1]:
        cells: list[str] = []
        last: Figures | None = None
        for noise in NOISES:
            runs = [figures(read_all(clips, method, noise, seed, "mediapipe"), true, False) for seed in SEEDS]
            spread = np.ptp([run.angle for run in runs])
            cells.append(f"{np.mean([run.angle for run in runs]):.2f}" + (f" ±{spread / 2:.2f}" if noise else ""))
            last = runs[0] if noise == CLIP_NOISE else last
        assert last is not None
        twist = [f"{mean:.1f} / {most:.1f}" for mean, most in last.twist.values()]
        yield (method, *cells, f"{last.position:.1f}", *twist)


def of_layouts(clips: list[Clip]) -> Iterator[tuple[str, ...]]:
    """Layout, and degrees at 10 mm of the closed form and of the corrected one."""
    true = np.concatenate([clip.rotations for clip in clips])
    for layout, unseen in [*((name, 0.0) for name in LAYOUTS if name != "marks"), ("mediapipe", UNSEEN)]:
        row = [layout + (f", {unseen:.0%} unseen" if unseen else "")]
        for method in ("closed", "source", "corrected"):
            found = np.concatenate(read_all(clips, method, CLIP_NOISE, 0, layout, unseen))
            parts = by_part(found, true)
            row += [f"{angles(found, true).mean():.2f}", f"{parts['hand']:.1f}", f"{parts['foot']:.1f}"]
        yield tuple(row)


def of_clips(clips: list[Clip]) -> Iterator[tuple[str, ...]]:
    """Filter and method, degrees and jitter, for white and for correlated noise of 10 mm, as Poise reads clips."""
    seen = weights_of("mediapipe", (len(LANDMARKS),))

    def whole(landmarks: Array, fps: float, method: Method, smooth: bool = True) -> Array:
        weights = np.broadcast_to(seen, landmarks.shape[:-1])
        known = Landmarks(landmarks, weights)
        return estimate_clip(known, np.arange(len(landmarks)) / fps, method, smooth).rotations

    def without(landmarks: Array, fps: float, method: Method) -> Array:
        return whole(landmarks, fps, method, smooth=False)

    def euro(landmarks: Array, fps: float, method: Method) -> Array:
        middle = landmarks[:, HIPS].mean(axis=1, keepdims=True)
        return whole(one_euro(landmarks - middle, fps), fps, method, smooth=False)

    def live(delay: int) -> Callable[[Array, float, Method], Array]:
        def run(landmarks: Array, fps: float, method: Method) -> Array:
            estimator = LiveEstimator(method, delay)
            found: list[Array] = []
            for number, positions in enumerate(landmarks):
                estimator.add(positions, seen, number / fps)
                found.append(estimator.estimate().rotations[0])
            return np.stack(found[delay:] + found[-1:] * delay)

        return run

    filters = {"none": without, "One-Euro": euro, **{f"delay {n}": live(n) for n in range(4)}, "whole clip": whole}
    for name, run in filters.items():
        for method in ("closed", "corrected") if name != "none" else METHODS[::-1]:
            cells: list[str] = []
            for correlation in (0.0, CORRELATION):
                rows = [noisy(clip, CLIP_NOISE, number, correlation) for number, clip in enumerate(clips)]
                found = [run(some, clip.fps, method) for some, clip in zip(rows, clips, strict=True)]
                inner = slice(ENDS, -ENDS)
                got = figures([f[inner] for f in found], [clip.rotations[inner] for clip in clips], True)
                cells += [f"{got.angle:.2f}", f"{got.jitter:.2f}"]
            yield (name, method, *cells)


def of_time(clip: Clip) -> Iterator[tuple[str, ...]]:
    """Method, milliseconds for one frame and for a thousand: the best of many."""
    landmarks = np.resize(clip.landmarks, (1000, *clip.landmarks.shape[1:]))
    weights = weights_of("mediapipe", landmarks.shape[:-1])
    subject = measure(landmarks, weights)
    lengths = None if subject is None else subject.lengths
    for method in METHODS[::-1]:
        cells: list[str] = []
        for rows, rounds in ((slice(1), TIMED), (slice(None), 10)):
            spent: list[float] = []
            for _ in range(rounds):
                begin = perf_counter()
                estimate_rotations(landmarks[rows], weights[rows], 0.005, lengths, method)  # pyright: ignore
                spent.append(perf_counter() - begin)
            cells.append(f"{1000.0 * min(spent):.2f}")
        yield (method, *cells)


def table(title: str, head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> None:
    """Print a table as Markdown, row by row."""
    print(f"\n{title}\n\n| {' | '.join(head)} |\n|{' --- |' * len(head)}", flush=True)
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stride", type=int)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    options = parser.parse_args()
    if not DATA.is_dir():
        print("Nothing was measured: the motion packs are not in the data beside the project.")
        return
    for name in options.sets:
        pack, stride, subjects = SETS[name]
        clips = [clip for clip in load(pack, options.stride or stride, subjects) if len(clip) > 1]
        count = sum(map(len, clips))
        noises = tuple(f"{1000 * noise:.0f} mm" for noise in NOISES)
        head = ("method", *noises, "mm of places at 10", "upper arm twist at 10", "thigh twist at 10")
        if "frames" in options.parts:
            table(f"{name}: {count} frames, degrees", head, of_frames(clips))
        kinds = tuple(
            f"{kind} {what}" for kind in ("closed", "source", "corrected") for what in ("all", "hands", "feet")
        )
        if "layouts" in options.parts:
            table(f"{name}: degrees at 10 mm by layout", ("layout", *kinds), of_layouts(clips))
        if "clips" not in options.parts:
            continue
        whole = [clip for clip in load(pack, 1, subjects) if len(clip) > 4 * ENDS][: 2 if options.stride else CLIPS]
        whole = [Clip(c.name, c.subject, c.fps, c.rotations[:LONGEST], c.landmarks[:LONGEST]) for c in whole]
        head = ("filter", "method", "white", "jitter", "correlated", "jitter")
        table(f"{name}: {len(whole)} clips at 10 mm", head, of_clips(whole))
    if "time" in options.parts:
        table("Milliseconds", ("method", "1 frame", "1,000 frames"), of_time(load("cmu_mb_val", 1)[0]))


if __name__ == "__main__":
    main()
