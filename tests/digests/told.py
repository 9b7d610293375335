"""What is put on record: bytes as digests, sentences as they are; and what can be read of an armature in Blender."""

import hashlib
import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

# Never twice the same: times, the bytes of .blend files, and the eight random digits that tell entries of lists apart.
LEFT_OUT: Final = ("seconds", "frames_per_second", "output")
RANDOM: Final = re.compile(r' [0-9a-f]{8}(?=\\*")')
SETS: Final = ("confidence",)  # of `info`: the order of its fields depends on Python's hashes
LONGEST: Final = 600  # characters of a text that is kept whole


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:24]


def shortened(text: str) -> str:
    """A text as it is, or the beginning of a long one with its digest."""
    return text if len(text) <= LONGEST else f"{digest(text.encode())} {text[:LONGEST]}..."


def lasting(text: str) -> str:
    """A line of JSON without what is never twice the same."""

    def cleared(value: Any) -> Any:
        if isinstance(value, dict):
            kept = {name: cleared(one) for name, one in value.items() if name not in LEFT_OUT}
            return {name: dict(sorted(one.items())) if name in SETS else one for name, one in kept.items()}
        return [cleared(one) for one in value] if isinstance(value, list) else value

    try:
        return json.dumps(cleared(json.loads(text)))
    except json.JSONDecodeError:
        return text


def bytes_of(values: Any) -> str:
    """Of an array its digest, shape and mean."""
    import numpy as np

    array = np.ascontiguousarray(values)
    mean = f" mean {array.mean():.6g}" if array.size and array.dtype.kind in "biuf" else ""
    return f"{digest(array.tobytes())} {array.dtype}{list(array.shape)}{mean}"


def begun() -> tuple[str, Path, Path, Path | None]:
    """What a worker is asked for: the part, the file to write, the folder, and ../shared/data."""
    part, file, folder, data = sys.argv[1:]
    sys.path[0] = str(Path.cwd())
    return part, Path(file), Path(folder), Path(data) if data else None


def ended(file: Path, found: dict[str, dict[str, str]]) -> None:
    """Write what was found and leave without Blender's clean-up, which can hang in the bpy module."""
    file.write_text(json.dumps(found), encoding="utf-8")
    sys.stdout.flush()
    if "standalone" in sys.modules:
        sys.modules["standalone"].leave(0)
    os._exit(0)


# -- in Blender


def plain(value: Any) -> Any:
    """A property of Poise as what JSON has; what it points to by name."""
    import bpy

    if isinstance(value, (str, int, float, bool, type(None))):
        return value
    if isinstance(value, bpy.types.ID):
        return value.name
    if isinstance(value, bpy.types.PropertyGroup):
        names = [one.identifier for one in value.bl_rna.properties]
        return {name: plain(getattr(value, name)) for name in names if name != "rna_type"}
    return [plain(one) for one in value]


def saved(owner: Any) -> dict[str, Any]:
    """What Poise saves with an object or a pose bone, but for what is as it was at first."""
    names = [one.identifier for one in owner.bl_rna.properties if one.identifier.startswith("poise_")]
    return {name: plain(getattr(owner, name)) for name in names if owner.is_property_set(name)}


def curves(actions: Any) -> tuple[str, str]:
    """The digest of all F-curves of all actions, with every number of their keys, and how many there are."""
    import numpy as np

    sha, count, keys = hashlib.sha256(), 0, 0
    for action in sorted(actions, key=lambda one: one.name):
        head = (action.name, tuple(action.frame_range), action.use_cyclic, action.use_frame_range)
        sha.update(repr((head, [slot.identifier for slot in action.slots])).encode())
        for bag in (bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags):
            for curve in sorted(bag.fcurves, key=lambda one: (one.data_path, one.array_index)):
                points, modifiers = curve.keyframe_points, [one.type for one in curve.modifiers]
                head = (curve.data_path, curve.array_index, curve.extrapolation, curve.mute, curve.hide, modifiers)
                sha.update(repr((head, curve.group and curve.group.name, len(points))).encode())
                for name, width, kind in (
                    *((name, 2, np.float32) for name in ("co", "handle_left", "handle_right")),
                    *((name, 1, np.int32) for name in ("interpolation", "easing", "handle_left_type")),
                    *((name, 1, np.int32) for name in ("handle_right_type", "type")),
                    *((name, 1, np.float32) for name in ("amplitude", "back", "period")),
                ):
                    values = np.empty(width * len(points), kind)
                    points.foreach_get(name, values)
                    sha.update(values.tobytes())
                count, keys = count + 1, keys + len(points)
    return sha.hexdigest()[:24], f"{len(actions)} actions, {count} curves, {keys} keys"


def read_file() -> dict[str, str]:
    """All that tools change in the file that is open."""
    import bpy
    import numpy as np

    told = {"curves": " ".join(curves(bpy.data.actions))}
    armatures: list[Any] = [one for one in bpy.data.objects if one.type == "ARMATURE"]
    for object in sorted(armatures, key=lambda one: one.name):
        bones, parts = object.pose.bones, []
        for name, width in (
            *(("location", 3), ("rotation_quaternion", 4), ("rotation_euler", 3), ("rotation_axis_angle", 4)),
            *(("scale", 3), ("matrix", 16)),
        ):
            values = np.empty(width * len(bones), np.float32)
            bones.foreach_get(name, values)
            parts.append(values)
        told[f"pose of {object.name}"] = bytes_of(np.concatenate(parts))
        rests = np.array(
            [[*bone.matrix_local.col[0], *bone.head_local, *bone.tail_local] for bone in object.data.bones]
        )
        told[f"rest of {object.name}"] = bytes_of(rests)
        data, custom = object.animation_data, {bone.name: dict(sorted(_numbers(bone))) for bone in bones}
        state = {
            "action": data and data.action and data.action.name,
            "mode": object.mode,
            "muted": [(bone.name, one.name) for bone in bones for one in bone.constraints if one.mute],
            "modes": digest(repr([bone.rotation_mode for bone in bones]).encode()),
            "custom": digest(repr({name: some for name, some in custom.items() if some}).encode()),
            "bones": {bone.name: some for bone in bones if (some := saved(bone))},
            "object": saved(object),
        }
        told[f"state of {object.name}"] = shortened(RANDOM.sub(" ...", json.dumps(state)))
    return told


def _numbers(bone: Any) -> list[tuple[str, float]]:
    """Custom properties, such as the switches of limbs."""
    return [(name, value) for name, value in bone.items() if isinstance(value, (bool, int, float))]


def tried(act: Callable[[], Any]) -> str:
    """What comes of a call, or the sentence that it is refused with."""
    try:
        return repr(act())
    except Exception as error:
        return f"{type(error).__name__}: {error}"
