"""Small whole files and packets of every kind that Poise reads, made here: what the fuzzer spoils."""

import io
import json
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np

IMPORTED = (".bvh", ".fbx", ".gltf", ".usda", ".usdc", ".npz", ".vrma")  # kinds that Blender reads
KEPT = Path(__file__).parent / "kept"  # KIND/NAME: what once went wrong, tried first in every run
_BODY = {"eye": (0.03, -0.1, 1.65), "ear": (0.08, 0.0, 1.63), "shoulder": (0.2, 0.0, 1.4),
         "elbow": (0.45, 0.0, 1.4), "wrist": (0.7, 0.0, 1.4), "hip": (0.1, 0.0, 0.9),
         "knee": (0.1, -0.02, 0.5), "ankle": (0.1, 0.0, 0.1)}  # fmt: skip
_SIDES = [[x * side, y, z] for x, y, z in _BODY.values() for side in (1, -1)]
POINTS = (np.array([[0.0, -0.12, 1.6], *_SIDES]) + np.random.default_rng(0).normal(0.0, 0.003, (3, 17, 3))).round(3)
NAMES = ["nose", "left_eye", "right_eye", "left_ear", "right_ear"] + [
    f"{side}_{part}" for part in ("shoulder", "elbow", "wrist", "hip", "knee", "ankle") for side in ("left", "right")
]

JOB = {
    "version": 1, "frames": [1, 24], "space": "world", "armature": "Armature", "limits": "soft", "root": "pull",
    "goals": [
        {"bone": "foot.L", "pin": ["position", "rotation"], "at": 3, "weight": 2, "priority": 0},
        {"bone": "hand.R", "position": {"path": [[1, 0, 0, 1.4], [24, -0.2, -0.6, 0.4]]}, "frames": [2, 20], "ease": 3},
        {"role": "head", "look_at": {"object": "Cup"}, "axis": [0, 0, 1]},
        {"bone": "hand.L", "distance": 0.3, "to": "hand.R", "bound": "at most", "to_point": [0, 0.1, 0]},
        {"bone": "chest", "rotation": [1, 0, 0, 0.1], "relative_to": "hips", "rotation_axes": [1, 0, 0]},
    ],
    "tolerance": {"position": 0.001, "rotation": 0.5}, "write": {"key": True, "bones": ["a"], "action": "new"},
    "balance": {"supports": ["foot.L"], "radius": 0.05, "masses": {"hips": 30}, "priority": 1},
    "stiffness": {"spine": 0.8, "chest": [1, 0, 1]}, "roles": {"hand.L": "Hand_L", "spine": ["a", "b"]},
}  # fmt: skip
DOCUMENTS: dict[str, list[Any]] = {
    "job": [
        JOB,
        {"version": 1, "goals": [{"bone": "b", "position": [0, 0, 1]}], "method": {
            "name": "ccd", "list": [{"bone": "b", "axis": "X", "fraction": 0.3, "angle": 20}], "passes": 3, "base": "a",
        }},
        {"version": 1, "goals": [{"role": "hand.L", "position": [0, 0, 1]}], "method": {
            "name": "humanoid", "pull": {"hand.L": 0.5}, "reach": 0.9, "swivel": {"arm.L": 30}, "finish": True,
        }},
        {"version": 1, "goals": [{"bone": "b", "position": [0, 0, 1]}], "roles": "roles.json"},
    ],
    "recipe": [{
        "version": 1, "name": "jump", "seconds": 1.2,
        "poses": {"min": {"thigh": [-75, 0, 0]}, "max": {"frame": 12, "action": "a"}},
        "tracks": [{"parts": "all", "samples": [0.5, 0, 1], "gamma": 2, "width": 0.1, "weights": [1, 2, 1]},
                   {"bones": ["a"], "samples": [[0, 1], [1, 0]]}],
        "path": {"samples": [[0, 0, 0, 0], [0.6, 0, 0, 0.3]]},
        "supports": [{"role": "foot.L", "seconds": [0, 0.4], "at": 0.4}], "flights": [[0.4, 0.9]],
    }],
    "list": [{"list": [{"bone": "b", "axis": "X", "fraction": 0.3, "angle": 20}], "mode": "mixed", "share": 0.5}],
    "mapping": [{"version": 1, "roles": {"hips": "Hips", "spine": ["Spine"], "hand.L": None}}],
    "markers": [{"marks": {"hip.L": ["LASI", "LPSI"]}, "unit": "mm", "up": "+Z"}],
}  # fmt: skip


def corpus() -> dict[str, list[bytes]]:
    """Return whole files by kind: names of documents, of packets, and suffixes of files."""
    found = {name: [json.dumps(one).encode() for one in some] for name, some in DOCUMENTS.items()}
    return found | _recordings() | _packets() | _clips()


def _clips() -> dict[str, list[bytes]]:
    return {
        ".bvh": [_bvh()], ".fbx": [_fbx()], ".gltf": _gltf(), ".vrma": [vrma()], "smpl": smpl(),
        "body model": [body_model(24), body_model(55)],
    }  # fmt: skip


def kept(kind: str) -> list[bytes]:
    """Return the files of a kind that once went wrong."""
    return [path.read_bytes() for path in sorted((KEPT / kind.lstrip(".")).glob("*"))]


def _recordings() -> dict[str, list[bytes]]:
    frames = [
        {"time": n / 25, "layout": "coco17", "points": [[*p, 0.9] for p in points]}
        for n, points in enumerate(POINTS.tolist())
    ]
    rows = [[n / 25, *points.ravel().tolist()] for n, points in enumerate(POINTS)]
    columns = [f"{name}_{axis}" for name in NAMES for axis in "xyz"]
    csv = [",".join(["time", *columns]), *(",".join(map(str, row)) for row in rows)]
    tidy = ["timestamp,frame,keypoint,x,y,z"]
    tidy += [f"{n / 25},{n},{NAMES[k]},{','.join(map(str, POINTS[n, k]))}" for n in range(3) for k in range(17)]
    plain = [",".join(map(str, row[1:])) for row in rows]
    head = ["PathFileType\t4\t(X/Y/Z)\ta.trc", "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits",
            "25\t25\t3\t17\tm", "Frame#\tTime\t" + "\t\t\t".join(NAMES) + "\t\t", ""]  # fmt: skip
    trc = [*head, *("\t".join(map(str, [n + 1, *row])) for n, row in enumerate(rows))]
    return {
        ".json": [json.dumps({"frames": frames, "fps": 25, "layout": "coco17", "unit": "m", "up": "+Z"}).encode()],
        ".jsonl": ["\n".join(map(json.dumps, frames)).encode()],
        ".csv": ["\n".join(lines).encode() for lines in (csv, tidy, plain)],
        ".trc": ["\n".join(trc).encode()],
        ".npy": [_numpy(np.save, POINTS), _numpy(np.save, POINTS.astype(np.float32))],
        ".npz": [
            _numpy(np.savez_compressed, points=POINTS, time=np.arange(3) / 25, confidence=np.full((3, 17), 0.9), fps=25)
        ],
        ".c3d": [_c3d()],
    }


def _numpy(write: Any, *arrays: Any, **named: Any) -> bytes:
    file = io.BytesIO()
    write(file, *arrays, **named)
    return file.getvalue()


def _c3d() -> bytes:
    """A C3D file by its specification (c3d.org): a header, a block of parameters, frames of whole numbers."""

    def parameter(group: int, name: bytes, kind: int, sizes: list[int], data: bytes) -> bytes:
        body = struct.pack("<bB", kind, len(sizes)) + bytes(sizes) + data + b"\0"
        return struct.pack("<bb", len(name), group) + name + struct.pack("<h", len(body) + 2) + body

    def group(number: int, name: bytes) -> bytes:
        return struct.pack("<bb", len(name), -number) + name + struct.pack("<h", 3) + b"\0"

    labels = b"".join(name.encode().ljust(16) for name in NAMES)
    block = b"\1\x50\2\x54" + group(1, b"POINT") + group(2, b"ANALOG")
    for name, kind, sizes, data in (
        (b"USED", 2, [], struct.pack("<h", 17)), (b"SCALE", 4, [], struct.pack("<f", 1.0)),
        (b"RATE", 4, [], struct.pack("<f", 25.0)), (b"DATA_START", 2, [], struct.pack("<h", 4)),
        (b"FRAMES", 2, [], struct.pack("<h", 3)), (b"LABELS", -1, [16, 17], labels), (b"UNITS", -1, [2], b"mm"),
    ):  # fmt: skip
        block += parameter(1, name, kind, sizes, data)
    block += parameter(2, b"USED", 2, [], struct.pack("<h", 0)) + b"\0\0"
    header = struct.pack("<BBhhhhhfhhf", 2, 0x50, 17, 0, 1, 3, 10, 1.0, 4, 0, 25.0).ljust(512, b"\0")
    points = np.concatenate([1000 * POINTS, np.zeros((3, 17, 1))], -1).astype("<i2")
    return header + block.ljust(1024, b"\0") + points.tobytes()


def _packets() -> dict[str, list[bytes]]:
    point = [[*p, 0.9] for p in POINTS[0].tolist()]
    bones = ["Hips", "Spine", "Head"] + [
        side + name
        for side in ("Left", "Right")
        for name in ("UpperArm", "LowerArm", "Hand", "UpperLeg", "LowerLeg", "Foot")
    ]
    vmc = [_message("/VMC/Ext/Bone/Pos", name, 0.1, 0.2, 0.0, 0.0, 0.0, 0.0, 1.0) for name in bones]
    whole = [*vmc, _message("/VMC/Ext/T", 1.5)]
    return {
        "points": [json.dumps({"frame": 3, "time": 0.5, "points": point}).encode(), json.dumps(point).encode(),
                   _message("/poise/points", 3, 0.5, *(value for one in point for value in one))],
        "vmc": [_bundle(*whole), whole[0], whole[-1], _bundle(_bundle(*whole), _bundle(*whole))],
    }  # fmt: skip


def _text(text: str) -> bytes:
    data = text.encode() + b"\0"
    return data + b"\0" * (-len(data) % 4)


def _message(address: str, *values: Any) -> bytes:
    tags = "".join({int: "i", float: "f", str: "s"}[type(value)] for value in values)
    packed = [_text(v) if isinstance(v, str) else struct.pack(">i" if isinstance(v, int) else ">f", v) for v in values]
    return _text(address) + _text("," + tags) + b"".join(packed)


def _bundle(*parts: bytes) -> bytes:
    return b"#bundle\0" + struct.pack(">q", 1) + b"".join(struct.pack(">i", len(part)) + part for part in parts)


def _bvh() -> bytes:
    lines, depth = ["HIERARCHY"], 0
    for number, name in enumerate(("Hips", "Chest", "Head")):
        lines += [f"{'JOINT' if number else 'ROOT'} {name}", "{", "OFFSET 0.0 10.0 0.0"]
        lines += ["CHANNELS 3 Zrotation Xrotation Yrotation" if number else
                  "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation"]  # fmt: skip
        depth += 1
    lines += ["End Site", "{", "OFFSET 0.0 5.0 0.0", "}", *["}"] * depth, "MOTION", "Frames: 4", "Frame Time: 0.04"]
    lines += [" ".join(str(round(float(n * k) / 7, 2)) for k in range(12)) for n in range(4)]
    return ("\n".join(lines) + "\n").encode()


def _fbx() -> bytes:
    """A binary FBX file of a few nodes, one with a packed array."""

    def node(name: bytes, values: list[bytes], inner: bytes, place: int) -> bytes:
        body = b"".join(values)
        end = place + 13 + len(name) + len(body) + len(inner) + (13 if inner else 0)
        return (
            struct.pack("<IIIB", end, len(values), len(body), len(name))
            + name + body + inner + (b"\0" * 13 if inner else b"")
        )  # fmt: skip

    numbers = zlib.compress(np.arange(100, dtype="<f8").tobytes())
    array = b"d" + struct.pack("<III", 100, 1, len(numbers)) + numbers
    head = b"Kaydara FBX Binary  \x00\x1a\x00" + struct.pack("<I", 7400)
    place = len(head) + 13 + len(b"Objects")
    inner = node(b"Vertices", [array, b"S" + struct.pack("<I", 3) + b"abc", b"I" + struct.pack("<i", 5)], b"", place)
    return head + node(b"Objects", [], inner, len(head)) + b"\0" * 13


def _gltf() -> list[bytes]:
    root = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}],
        "nodes": [{"name": "a", "children": [1]}, {}],
        "buffers": [{"byteLength": 28, "uri": "data:application/octet-stream;base64," + "A" * 40}],
        "bufferViews": [{"buffer": 0, "byteLength": 4}, {"buffer": 0, "byteOffset": 4, "byteLength": 12}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 1, "type": "SCALAR"},
                      {"bufferView": 1, "componentType": 5126, "count": 1, "type": "VEC3"}],
        "animations": [{"samplers": [{"input": 0, "output": 1}],
                        "channels": [{"sampler": 0, "target": {"node": 0, "path": "translation"}}]}],
        "skins": [{"joints": [0, 1]}],
    }  # fmt: skip
    text = json.dumps(root).encode()
    text += b" " * (-len(text) % 4)
    glb = b"glTF" + struct.pack("<II", 2, 20 + len(text)) + struct.pack("<I", len(text)) + b"JSON" + text
    return [text, glb]


def smpl() -> list[bytes]:
    """Motions of SMPL+H in one array as AMASS has them, of SMPL by parts as video mocap has them, and as matrices."""
    rng, frames = np.random.default_rng(1), 4
    turns = rng.normal(0.0, 0.2, (frames, 52, 3)).astype(np.float32)
    way, betas = rng.normal(0.0, 0.1, (frames, 3)), np.zeros(10)
    matrices = np.tile(np.eye(3), (frames, 22, 1, 1))
    return [
        _numpy(np.savez, poses=turns.reshape(frames, -1), trans=way, betas=betas, mocap_framerate=120.0, gender="male"),
        _numpy(np.savez, global_orient=turns[:, 0], body_pose=turns[:, 1:22].reshape(frames, -1), transl=way,
               left_hand_pose=turns[:, 22:37], right_hand_pose=turns[:, 37:], betas=np.zeros((frames, 10))),
        _numpy(np.savez, root_orient=matrices[:, :1], pose_body=matrices[:, 1:], fps=30),
    ]  # fmt: skip


def body_model(joints: int) -> bytes:
    """The joints of a body model of 60 points, two shapes, and as many joints as said."""
    rng = np.random.default_rng(joints)
    return _numpy(
        np.savez, J_regressor=np.eye(joints, 60), v_template=rng.normal(0.0, 0.5, (60, 3)),
        shapedirs=rng.normal(0.0, 0.01, (60, 3, 2)),
    )  # fmt: skip


def vrma() -> bytes:
    """A VRM Animation of hips and a spine that turn, with an expression, by its specification."""
    times, turns = np.array([0.0, 0.5], "<f4"), np.array([[0, 0, 0, 1], [0, 0.6, 0, 0.8]], "<f4")
    root = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0, 2]}], "buffers": [{"byteLength": 40}],
        "nodes": [{"name": "a", "translation": [0, 1, 0], "children": [1]}, {"translation": [0, 0.2, 0]},
                  {"name": "smile"}],
        "bufferViews": [{"buffer": 0, "byteLength": 8}, {"buffer": 0, "byteOffset": 8, "byteLength": 32}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 2, "type": "SCALAR", "min": [0], "max": [0.5]},
                      {"bufferView": 1, "componentType": 5126, "count": 2, "type": "VEC4"}],
        "animations": [{"samplers": [{"input": 0, "output": 1}],
                        "channels": [{"sampler": 0, "target": {"node": n, "path": "rotation"}} for n in (0, 1)]}],
        "extensionsUsed": ["VRMC_vrm_animation"],
        "extensions": {"VRMC_vrm_animation": {
            "specVersion": "1.0", "humanoid": {"humanBones": {"hips": {"node": 0}, "spine": {"node": 1}}},
            "expressions": {"preset": {"happy": {"node": 2}}},
        }},
    }  # fmt: skip
    text = json.dumps(root).encode()
    text += b" " * (-len(text) % 4)
    data = times.tobytes() + turns.tobytes()
    chunks = struct.pack("<I", len(text)) + b"JSON" + text + struct.pack("<I", len(data)) + b"BIN\0" + data
    return b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks
