"""Every rig of ../shared/data and of the tests is dragged as its animator would, with and without keys.

    python -m benchmarks.zoo             what falls short, the worst first, and how many drags there were
    python -m benchmarks.zoo WORDS       of files with these words in their names

Hips, hands and feet, or the ends of a creature's limbs, are dragged with the other feet pinned. Measured are how far
Blender shows a part from where it was solved, in millimetres of a human of 1.7 m and in degrees, and how far the
dragged bone is from the mouse. Then all controls are keyed in a step at three frames, and dragged at the second one,
with auto-keying off and on, and *Only Insert Available* on: no setting of the rig, no key and
no evaluated bone of another frame may change, and no channel may be new.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import standalone

standalone.enable()

import bpy  # noqa: E402  (Poise has to be enabled before the first import)
import numpy as np  # noqa: E402

import bridge  # noqa: E402
from tests.blender.control_drags import (  # noqa: E402
    CONTROL_WAY,
    NEAR,
    TURNED,
    WAYS,
    drag_bone,
    key_step,
    keys,
    pin_feet,
    seen,
    settings,
    size_of,
)
from tests.blender.rigs import REFUSED, SUFFIXES, load, select  # noqa: E402
from tests.paths import DATA, SHARED  # noqa: E402

FRAMES: Final = (1, 20, 40)
SAME: Final = 1e-5  # of the size: a change of another frame
LIMBS: Final = 3  # of a creature that are dragged


def files(words: list[str]) -> list[Path]:
    """Return the files of rigs whose names have the words."""
    every = [path for root in (SHARED / "rigs", DATA / "rigs") for path in sorted(root.rglob("*"))]
    rigs = [path for path in every if path.suffix in SUFFIXES and path.name != REFUSED]
    return [path for path in rigs if all(word in path.name for word in words)]


def opened(path: Path, name: str) -> Any:
    """Return an armature of a file in Pose Mode, without a motion."""
    rig = next(rig for rig in load(path) if rig.name == name)
    rig.hide_set(False)
    rig.data.pose_position = "POSE"
    if rig.animation_data is not None:
        rig.animation_data_clear()
    if rig.mode != "POSE":
        select(rig, [])
    return rig


def parts_of(rig: Any) -> dict[str, str]:
    """Return what is dragged: role, or name of a limb -> bone."""
    skeleton = bridge.read_rig(rig).skeleton
    roles = bridge.read_roles(rig, skeleton)
    found = {role: skeleton.names[roles.bone(role)] for role in WAYS if role in roles.bones}
    ends = {name: skeleton.names[chain[-1]] for name, chain in [*roles.limbs.items()][:LIMBS] if chain}
    return found or ends


def way(role: str) -> tuple[float, ...]:
    """Return how far a part is dragged, metres of a human of 1.7 m."""
    return WAYS.get(role, CONTROL_WAY)


def pin(rig: Any, parts: dict[str, str], role: str) -> None:
    """Pin the feet of a human that are not dragged."""
    if {"foot.L", "foot.R"} <= parts.keys():
        pin_feet(rig, parts, role)


def missed(path: Path, name: str, parts: dict[str, str]) -> Iterator[tuple[float, str]]:
    """Yield, for each drag, by how much of what is allowed it misses, and a line about it."""
    for role, bone in parts.items():
        rig = opened(path, name)
        pin(rig, parts, role)
        shown = drag_bone(rig, bone, way(role))
        silent = shown.short if not shown.said else 0.0
        line = f"{path.name} {name}: {bone} {1e3 * shown.off:.2f} mm, {shown.turned:.2f} degrees at {shown.worst}"
        yield max(shown.off / NEAR, shown.turned / TURNED, silent / NEAR), f"{line}; {'. '.join(shown.said)}"


def changed(path: Path, name: str, parts: dict[str, str]) -> Iterator[tuple[float, str]]:
    """Yield, for each drag at a frame of a step, how much it changes elsewhere, and a line about it."""
    context: Any = bpy.context
    context.preferences.edit.use_keyframe_insert_available = True
    for role, bone in parts.items():
        for keying in (False, True):
            rig = opened(path, name)
            context.scene.tool_settings.use_keyframe_insert_auto = keying
            key_step(rig, FRAMES)
            before = {frame: seen(rig, frame) for frame in FRAMES}, settings(rig), keys(rig)
            context.scene.frame_set(FRAMES[1])
            pin(rig, parts, role)
            shift = tuple(size_of(rig) * np.array(way(role)))
            bpy.ops.poise.drag(bone=bone, shift=shift)  # pyright: ignore[reportAttributeAccessIssue]
            here = float(FRAMES[1])
            after = settings(rig), {curve: {**points, here: 0.0} for curve, points in keys(rig).items()}
            same = after == (before[1], {curve: {**points, here: 0.0} for curve, points in before[2].items()})
            far = max(float(np.abs(seen(rig, frame) - before[0][frame]).max()) for frame in (FRAMES[0], FRAMES[2]))
            share = far / (SAME * size_of(rig)) if same else np.inf
            yield share, f"{path.name} {name}: {bone} at frame {here:g}, auto-keying {keying}: {far:.1e} elsewhere"


def main() -> int:
    """Print what falls short."""
    rows, rigs = list[tuple[float, str]](), 0
    for path in files(sys.argv[1:]):
        for name in [rig.name for rig in load(path)]:
            try:
                parts = parts_of(opened(path, name))
                rigs += 1
                rows += [*missed(path, name, parts), *changed(path, name, parts)]
            except (RuntimeError, bridge.BridgeError) as refusal:
                rows.append((np.inf, f"{path.name} {name}: {refusal}"))
            print(f"{path.name} {name}: {len(rows)} drags until here", file=sys.stderr, flush=True)
    short = sorted((row for row in rows if row[0] >= 1.0), reverse=True)
    print("\n".join(line for _, line in short))
    print(f"\n{rigs} rigs, {len(rows)} drags, {len(short)} fall short")
    return 0


if __name__ == "__main__":
    standalone.leave(main())
