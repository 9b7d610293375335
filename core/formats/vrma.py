"""VRM Animation (`VRMC_vrm_animation` 1.0): motions of a humanoid whose bones the file names, as binary glTF.

https://github.com/vrm-c/vrm-specification/tree/master/specification/VRMC_vrm_animation-1.0 and GLB of glTF 2.0.
"""

import json
import struct
from collections.abc import Mapping
from typing import Any, Final

from ..errors import CoreError
from ..keypoints.recordings import is_list, is_object
from ..skeleton import is_whole
from ..sources import parse_json

_EXTENSION: Final = "VRMC_vrm_animation"
_HEADER: Final = struct.Struct("<4sII")  # magic, version, bytes
_CHUNK: Final = struct.Struct("<I4s")  # bytes, kind
_MAGIC, _VERSION, _JSON, _BINARY = b"glTF", 2, b"JSON", b"BIN\0"
_LEFT_OUT: Final = (  # of the file, and of its nodes: all that is no motion
    "skins", "meshes", "materials", "textures", "images", "cameras", "extensions", "extensionsUsed",
    "extensionsRequired", "name", "mesh", "skin", "camera",
)  # fmt: skip


def skinned(data: bytes) -> bytes:
    """Return the glTF file of a VRM Animation whose bones are joints of a skin, of which Blender makes an armature.

    Its bones have their names in VRM, such as "leftUpperArm". Raises CoreError for anything else.
    """
    root, rest = _parsed(data)
    nodes: Any = root.get("nodes")
    bones = _bones(root)
    if not is_list(nodes) or not all(is_object(node) for node in nodes):
        raise CoreError("its nodes are no list of objects.")
    names: dict[int, str] = {}
    for name, bone in bones.items():
        node: Any = bone.get("node") if is_object(bone) else None
        if not is_whole(node) or not 0 <= node < len(nodes) or node in names:
            raise CoreError(f'the node of its bone "{name}" is none of its {len(nodes)}, or that of another bone.')
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
        raise CoreError("it is no binary glTF file, as a VRM Animation is.")
    size, _ = _CHUNK.unpack_from(data, _HEADER.size)
    try:
        root: Any = parse_json(data[start : start + size].decode("utf-8"))
    except CoreError:
        raise
    except ValueError:
        raise CoreError("it is no whole glTF file: its JSON cannot be read.") from None
    if not is_object(root):
        raise CoreError("its JSON is no object.")
    return root, data[start + size :]


def _bones(root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the file's bones, by their names in VRM."""
    place: Any = root
    for key in ("extensions", _EXTENSION, "humanoid", "humanBones"):
        place = place.get(key) if is_object(place) else None
    if not is_object(place) or not place:
        raise CoreError(f"it names no bones of a humanoid ({_EXTENSION}).")
    return place


def _named(names: Mapping[int, str], number: int) -> dict[str, str]:
    return {"name": names[number]} if number in names else {}
