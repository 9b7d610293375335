"""How natural poses are on characters that other studios animated, as `python -m benchmarks.naturalness` measures it.

python -m benchmarks.naturalness.artists [METHOD ...]    in a Python with bpy; needs ../shared/data

Of every fourth frame of all actions those are taken that differ from the one before, 40 of a rig at most; the body from
the hips down and up, without scale, as large as a 1.7 m human. A line for each method and case: the mean of the rigs,
then each rig, millimetres.
"""

import sys
from pathlib import Path
from typing import Any, Final

import standalone

standalone.enable()

import bpy  # noqa: E402  (Poise has to be enabled before the first import)
import numpy as np  # noqa: E402

import bridge  # noqa: E402
from core import Pose, Skeleton, forward, rotation  # noqa: E402
from core.body.axes import canonical_frame  # noqa: E402
from core.body.detection import find_roles  # noqa: E402
from core.body.roles import Roles  # noqa: E402
from core.pose import frame_rotations  # noqa: E402
from tests.blender.rigs import load  # noqa: E402
from tests.paths import SHARED  # noqa: E402

from .__main__ import METHODS  # noqa: E402
from .measure import compare  # noqa: E402
from .motion import EFFECTORS, Array, Frames, place_root  # noqa: E402

RIGS: Final = ("mesh2motion_human.blend", "quaternius_man_mixamo_like.fbx", "ozz_pab_walk.fbx", "cesium_man.gltf")
STRIDE: Final = 4  # frames
MOST: Final = 40  # frames of a rig
APART: Final = np.radians(3.0)  # that a joint turns at least from one frame to the next
FROM_REST: Final = np.radians(10.0)
PARTS: Final = {
    "clavicle": "shoulder", "shoulder": "upper_arm", "elbow": "forearm", "wrist": "hand",
    "hip": "thigh", "knee": "shin", "ankle": "foot", "toe": "toe",
}  # fmt: skip


def frames_of(file: Path) -> Frames:
    """Return the frames of all actions of a rig, facing +Z with Y up as those of the motion packs do."""
    armature: Any = load(file)[0]
    skeleton = bridge.read_rig(armature).skeleton
    roles = bridge.read_roles(armature, skeleton)
    hips, rest, size = roles.bone("hips"), skeleton.rest_matrices, skeleton.size
    kept = [bone for bone in range(len(skeleton)) if hips in (bone, *skeleton.ancestors(bone))]
    parents = np.array([-1 if bone == hips else kept.index(int(skeleton.parents[bone])) for bone in kept])
    turn = rotation.inv(canonical_frame(roles.up, roles.facing))
    heads = rotation.rotate(turn, rest[kept, :, 3]) / size
    turns = rotation.mul(turn, frame_rotations(rest[kept, :, :3]))
    above = np.where((parents < 0)[:, None], rotation.IDENTITY, turns[parents])
    base = np.where((parents < 0)[:, None], 0.0, heads[parents])
    body = Skeleton(
        tuple(skeleton.names[bone] for bone in kept), parents, rotation.rotate(rotation.inv(above), heads - base),
        rotation.mul(rotation.inv(above), turns), skeleton.lengths[kept] / size,
    )  # fmt: skip
    own, places = [], []
    for matrices in _played(armature):
        seen = rotation.mul(turn, frame_rotations(matrices[kept, :3, :3]))
        above = np.where((parents < 0)[:, None], rotation.IDENTITY, seen[parents])
        own.append(rotation.mul(rotation.inv(rotation.mul(above, body.rest_rotations)), seen))
        places.append(rotation.rotate(turn, matrices[kept[0], :3, 3]) / size)
    chosen = _different(np.stack(own))
    pose = Pose(np.stack(own)[chosen], place_root(body, np.stack(places)[chosen]))
    roles = find_roles(body)
    return Frames("artists", file.stem, file.stem, body, roles, _joints(roles), pose, *forward(body, pose))


def _played(armature: Any) -> list[Array]:
    """Return the matrices of all bones as Blender shows them, in every so manieth frame of all actions."""
    found: list[Array] = []
    scene: Any = bpy.context.scene
    if armature.animation_data is None:
        armature.animation_data_create()
    actions: Any = bpy.data.actions
    data: Any = armature.animation_data
    for action in actions:
        data.action = action
        if data.action_slot is None:
            slots = [slot for slot in action.slots if slot.target_id_type in ("OBJECT", "UNSPECIFIED")]
            if not slots:
                continue
            data.action_slot = slots[0]
        first, last = map(int, action.frame_range)
        for frame in range(first, last + 1, STRIDE):
            scene.frame_set(frame)
            found.append(bridge.read_matrices(armature))
    return found


def _different(own: Array) -> list[int]:
    away = rotation.angle_between(own, np.broadcast_to(rotation.IDENTITY, own.shape)).max(axis=1) > FROM_REST
    steps = np.concatenate([[np.inf], rotation.angle_between(own[1:], own[:-1]).max(axis=1)])
    chosen = np.flatnonzero(away & (steps > APART))
    return chosen[:: max(1, -(-len(chosen) // MOST))].tolist()


def _joints(roles: Roles) -> dict[str, int]:
    """Return the bones of the joints that the motion packs have, by their names."""
    spine = roles.chain("spine")
    joints = {"pelvis": roles.bone("hips"), **{f"spine{number + 1}": bone for number, bone in enumerate(spine[:3])}}
    joints |= {"neck": (*roles.chain("neck"), spine[-1])[0], "head": roles.bone("head")}
    for side, letter in zip("lr", "LR", strict=True):
        chains = {joint: roles.chain(f"{part}.{letter}") for joint, part in PARTS.items()}
        joints |= {f"{side}_{joint}": chain[0] for joint, chain in chains.items() if chain}
    return joints


def main() -> None:
    """Print a line for each method and case."""
    files = [SHARED / "rigs" / "real" / name for name in RIGS]
    parts = [frames_of(file) for file in files if file.is_file()]
    if not parts:
        print(f"Nothing was measured: the rigs are not in {SHARED.name} beside the project.")
        return
    print(", ".join(f"{part.subject} {len(part.heads)} frames" for part in parts))
    for method in sys.argv[1:] or ("pins", "ranges", "panel", "humanoid"):
        for case in EFFECTORS:
            away = [1e3 * compare(part, case, METHODS[method](part, case, None))["away"].mean() for part in parts]
            rigs = ", ".join(f"{part.subject} {one:.1f}" for part, one in zip(parts, away, strict=True))
            print(f"{method:9} {case} {np.mean(away):.1f}; {rigs}", flush=True)


if __name__ == "__main__":
    main()
    standalone.leave(0)
