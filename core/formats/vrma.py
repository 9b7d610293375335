"""VRM Animation (`VRMC_vrm_animation` 1.0): motions of a humanoid whose bones the file names, as binary glTF.

https://github.com/vrm-c/vrm-specification/tree/master/specification/VRMC_vrm_animation-1.0 and GLB of glTF 2.0.
"""

import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from .. import rotation
from ..body import SIDES, Roles
from ..body.ground import ground_at_rest
from ..body.part_turns import canonical_frames
from ..body.posture import take_posture
from ..body.roles import ARM, FINGERS, LEG
from ..errors import CoreError
from ..keypoints.recordings import is_list, is_object
from ..motion import Motion
from ..pose import Pose
from ..rotation import Array
from ..skeleton import Skeleton, is_whole
from ..sources import parse_json

_EXTENSION: Final = "VRMC_vrm_animation"
_HEADER: Final = struct.Struct("<4sII")  # magic, version, bytes
_CHUNK: Final = struct.Struct("<I4s")  # bytes, kind
_MAGIC, _VERSION, _JSON, _BINARY = b"glTF", 2, b"JSON", b"BIN\0"
_LEFT_OUT: Final = (  # of the file, and of its nodes: all that is no motion
    "skins", "meshes", "materials", "textures", "images", "cameras", "extensions", "extensionsUsed",
    "extensionsRequired", "name", "mesh", "skin", "camera",
)  # fmt: skip

_WORDS: Final = dict(zip(SIDES, ("left", "right"), strict=True))
_SPINE: Final = ("spine", "chest", "upperChest")
_LIMBS: Final = {  # parts from the trunk outwards, with their names after the side
    **dict(zip(ARM, ("Shoulder", "UpperArm", "LowerArm", "Hand"), strict=True)),
    **dict(zip(LEG, ("UpperLeg", "LowerLeg", "Foot", "Toes"), strict=True)),
}
_THUMB, _PHALANGES = ("Metacarpal", "Proximal", "Distal"), ("Proximal", "Intermediate", "Distal")
_NEEDED: Final = ("spine", "head", *(f"{part}.{side}" for side in SIDES for part in (*ARM[1:], *LEG[:3])))
_FLOAT: Final = 5126  # the type of numbers in glTF


def vrm_animation(skeleton: Skeleton, motion: Motion, roles: Roles, unit: float) -> bytes:
    """Return a motion of a human body as a VRM Animation; `unit`: metres of a length in the motion.

    At rest the bones have no rotation, and the body is in a T-pose on the ground. Raises CoreError if it lacks a part
    that VRM needs.
    """
    roles.require("hips", *_NEEDED)
    bones = _humanoid(roles)
    standing, _ = canonical_frames(skeleton, take_posture(skeleton, roles, Pose.rest(skeleton), "T"), roles)
    heads, turns = canonical_frames(skeleton, motion.pose, roles)
    ground = np.array([0.0, ground_at_rest(skeleton, roles), 0.0])
    nodes: list[dict[str, Any]] = []
    curves: list[tuple[int, str, Array]] = []
    number = {name: place for place, name in enumerate(bones)}
    for name, (bone, parent) in bones.items():
        place, own = standing[bone] - ground, turns[:, bone]
        if parent:
            above = bones[parent][0]
            place, own = standing[bone] - standing[above], rotation.mul(rotation.inv(turns[:, above]), own)
            nodes[number[parent]].setdefault("children", []).append(len(nodes))
        else:
            curves.append((len(nodes), "translation", (heads[:, bone] - ground) * unit))
        curves.append((len(nodes), "rotation", np.roll(rotation.unroll(own), -1, axis=-1)))  # w comes last
        nodes.append({"name": name, "translation": (place * unit).tolist()})
    root = {
        "asset": {"version": "2.0", "generator": "Poise"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": nodes,
        "extensionsUsed": [_EXTENSION], "extensions": {_EXTENSION: {
            "specVersion": "1.0",
            "humanoid": {"humanBones": {name: {"node": place} for name, place in number.items()}},
        }},
    }  # fmt: skip
    animation, data = _animation((motion.frames - motion.frames[0]) / motion.fps, curves)
    return glb(root | animation, _CHUNK.pack(len(data), _BINARY) + data)


def _humanoid(roles: Roles) -> dict[str, tuple[int, str]]:
    """Return bones of VRM -> bone and the name of its parent, parents first; of long chains some bones are taken."""
    found = {"hips": (roles.require("hips")[0], "")}
    last = "hips"

    def add(name: str, chain: Sequence[int], parent: str) -> str:
        if not chain:
            return parent
        found[name] = chain[0], parent
        return name

    spine = roles.chain("spine")
    for share, name in enumerate(_SPINE[: len(spine)]):
        last = add(name, spine[round(share * (len(spine) - 1) / max(min(len(spine), len(_SPINE)) - 1, 1)) :], last)
    add("head", roles.chain("head"), add("neck", roles.chain("neck"), last))
    for side, word in _WORDS.items():
        for parts, above in ((ARM, last), (LEG, "hips")):
            for part in parts:
                above = add(word + _LIMBS[part], roles.chain(f"{part}.{side}"), above)
        for finger in FINGERS:
            above, title = f"{word}Hand", "Little" if finger == "pinky" else finger.title()
            chain = roles.chain(f"{finger}.{side}")
            for phalanx, bone in zip(_THUMB if finger == "thumb" else _PHALANGES, chain, strict=False):
                above = add(f"{word}{title}{phalanx}", (bone,), above)
    return found


def _animation(times: Array, curves: Sequence[tuple[int, str, Array]]) -> tuple[dict[str, Any], bytes]:
    """Return the parts of a glTF file of curves (node, path, values (F, n)), and its binary data."""
    tables = [times[:, None], *(values for _, _, values in curves)]
    parts = [table.astype("<f4") for table in tables]
    starts = np.cumsum([0, *(part.nbytes for part in parts)]).tolist()
    kinds = {1: "SCALAR", 3: "VEC3", 4: "VEC4"}
    accessors = [
        {"bufferView": n, "componentType": _FLOAT, "count": len(part), "type": kinds[part.shape[1]]}
        for n, part in enumerate(parts)
    ]
    accessors[0] |= {"min": parts[0].min(axis=0).tolist(), "max": parts[0].max(axis=0).tolist()}
    channels = [{"sampler": n, "target": {"node": node, "path": path}} for n, (node, path, _) in enumerate(curves)]
    return {
        "buffers": [{"byteLength": starts[-1]}],
        "bufferViews": [
            {"buffer": 0, "byteOffset": start, "byteLength": part.nbytes}
            for start, part in zip(starts, parts, strict=False)
        ],
        "accessors": accessors,
        "animations": [{
            "samplers": [{"input": 0, "output": n + 1} for n in range(len(curves))], "channels": channels,
        }],
    }, b"".join(part.tobytes() for part in parts)  # fmt: skip


def skinned(data: bytes) -> bytes:
    """Return the glTF file of a VRM Animation whose bones are joints of a skin, of which Blender makes an armature.

    Its bones have their names in VRM, such as "leftUpperArm". Raises CoreError for anything else.
    """
    root, rest = _parsed(data)
    nodes: Any = root.get("nodes")
    bones = _bones(root)
    if not is_list(nodes) or not all(is_object(node) for node in nodes):
        raise CoreError("its nodes are not a list of objects.")
    names: dict[int, str] = {}
    for name, bone in bones.items():
        node: Any = bone.get("node") if is_object(bone) else None
        if not is_whole(node) or not 0 <= node < len(nodes) or node in names:
            raise CoreError(
                f'the node of its bone "{name}" is not one of its {len(nodes)}, or is that of another bone.'
            )
        names[node] = name
    made = {key: value for key, value in root.items() if key not in _LEFT_OUT}
    made["nodes"] = [
        {key: value for key, value in node.items() if key not in _LEFT_OUT} | _named(names, number)
        for number, node in enumerate(nodes)
    ]
    made["skins"] = [{"joints": [*names]}]
    return glb(made, rest)


def glb(root: Mapping[str, Any], rest: bytes) -> bytes:
    """Return a binary glTF file of its JSON and the chunks after it."""
    text = json.dumps(root, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    size = _HEADER.size + _CHUNK.size + len(text) + len(rest)
    return _HEADER.pack(_MAGIC, _VERSION, size) + _CHUNK.pack(len(text), _JSON) + text + rest


def _parsed(data: bytes) -> tuple[Mapping[str, Any], bytes]:
    """Return the JSON of a binary glTF file and the chunks after it."""
    start = _HEADER.size + _CHUNK.size
    if len(data) < start or not data.startswith(_MAGIC):
        raise CoreError("it is not a binary glTF file, as a VRM Animation must be.")
    size, _ = _CHUNK.unpack_from(data, _HEADER.size)
    try:
        root: Any = parse_json(data[start : start + size].decode("utf-8"))
    except CoreError:
        raise
    except ValueError:
        raise CoreError("the glTF file is incomplete: its JSON cannot be read.") from None
    if not is_object(root):
        raise CoreError("its JSON is not an object.")
    return root, data[start + size :]


def _bones(root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the file's bones, by their names in VRM."""
    place: Any = root
    for key in ("extensions", _EXTENSION, "humanoid", "humanBones"):
        place = place.get(key) if is_object(place) else None
    if not is_object(place) or not place:
        raise CoreError(f"it has no bones of a humanoid ({_EXTENSION}).")
    return place


def _named(names: Mapping[int, str], number: int) -> dict[str, str]:
    return {"name": names[number]} if number in names else {}
