"""Blender is the ground truth: on real and on odd rigs, `forward` is what Blender evaluates.

By default a few rigs and few poses; POISE_ZOO=full takes every rig of ../shared/data/rigs with 200 poses each.
"""

from pathlib import Path

import numpy as np
import pytest

from bridge import BridgeError, check, read_matrices, read_pose, read_rig
from core import forward, forward_matrices, rotation
from core.pose import frame_rotations
from tests.blender.rigs import FULL, REFUSED, SUFFIXES, context, diagonal, load, set_random_pose
from tests.paths import DATA, SHARED

POSES = 200 if FULL else 12
BOUND = 1e-5  # positions by the rig's size, matrices by their size
SAMPLE = (
    "rigs/scripted/named_mmd_japanese.blend",
    "rigs/scripted/odd_disconnected_roots.blend",
    "rigs/scripted/rigify_generated_human.blend",
    "rigs/real/vrm_armature_nonuniform_scale.blend",
    "rigs/real/cesium_man.gltf",
)


def files() -> list[Path]:
    shipped = sorted(p for p in (DATA / "rigs").iterdir() if p.suffix in SUFFIXES)
    if FULL and SHARED.is_dir():
        zoo = sorted(p for p in (SHARED / "rigs").rglob("*") if p.suffix in SUFFIXES and p.name != REFUSED)
        return shipped + zoo
    return shipped + [SHARED / name for name in SAMPLE]


@pytest.mark.parametrize("path", files(), ids=lambda path: path.stem)
def test_forward_is_blenders_pose(path: Path) -> None:
    rng = np.random.default_rng(2026)
    for ob in load(path):
        ob.data.pose_position = "POSE"
        if ob.animation_data:  # a frame change would undo the random poses
            ob.animation_data.action = None
            ob.animation_data.use_nla = False
        rig = read_rig(ob)
        size = diagonal(rig.skeleton)
        worst_position = worst_matrix = 0.0
        for number in range(POSES):
            scale = ("none", "uniform", "any", "none")[number % 4]
            values = set_random_pose(ob, rng, size, scale)
            pose = read_pose(ob, rig)
            assert np.allclose(pose.translations[~rig.decided], values["location"][~rig.decided])
            wanted, got = read_matrices(ob), forward_matrices(rig.skeleton, pose)
            difference = np.abs(got - wanted)
            if scale == "any":  # of carried bones shear is lost, as of Blender's visual keys
                difference[[bool({*rig.skeleton.ancestors(bone)} & {*rig.carried}) for bone in range(len(got))]] = 0.0
            # scaled parents carry their children beyond the rest pose's size
            extent = size if scale == "none" else max(size, float(np.ptp(wanted[:, :, 3], axis=0).max()))
            position = difference[:, :, 3].max(axis=1) / extent
            matrix = difference[:, :, :3].max(axis=(1, 2)) / np.maximum(1.0, np.abs(wanted[:, :, :3]).max(axis=(1, 2)))
            assert np.all(position < BOUND), (ob.name, rig.skeleton.names[position.argmax()], position.max())
            assert np.all(matrix < BOUND), (ob.name, rig.skeleton.names[matrix.argmax()], matrix.max())
            heads, turns = forward(rig.skeleton, pose)
            assert np.array_equal(heads, got[..., 3])
            if scale == "none":
                assert np.all(rotation.angle_between(turns, frame_rotations(wanted[:, :, :3])) < 2.0 * BOUND)
            worst_position, worst_matrix = max(worst_position, position.max()), max(worst_matrix, matrix.max())
        driven, bones = len(rig.driven), len(rig.skeleton)
        print(f"{path.name} {ob.name}: {bones} bones, {driven} driven, {worst_position:.1e}, {worst_matrix:.1e}")


def test_an_armature_shown_in_rest_position_reads_as_seen_and_is_not_changed() -> None:
    ob = load(DATA / "rigs" / "odd_random_rolls_apose.blend")[0]
    rig = read_rig(ob)
    set_random_pose(ob, np.random.default_rng(1), diagonal(rig.skeleton))
    ob.data.pose_position = "REST"
    context.view_layer.update()
    seen = forward_matrices(rig.skeleton, read_pose(ob, read_rig(ob)))
    assert np.allclose(seen, read_matrices(ob), atol=1e-5)
    with pytest.raises(BridgeError, match="rest position"):
        check(ob)
