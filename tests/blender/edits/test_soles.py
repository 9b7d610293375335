"""What bodies stand on, beside the meshes of their feet."""

from typing import Any

import bpy
import numpy as np
import pytest

from bridge import read_rig, read_roles, with_soles
from core import Skeleton, rotation
from core.body.axes import canonical_frame
from core.body.ground import find_sole, ground_at_rest
from core.body.masses import soles_of
from core.goals import SUPPORT_RADIUS
from edits.path import PathEdit
from edits.retarget import Retargeted, imported
from tests.blender.rigs import context, load, select
from tests.paths import DATA, SHARED

pytestmark = pytest.mark.usefixtures("empty_file")

REAL = SHARED / "rigs" / "real"
NEAR = 0.02  # of the body's size


def skin_of(armature: Any, bones: set[str]) -> np.ndarray:
    """The points (n, 3) of the meshes at rest, in armature space, that bones have more than half of."""
    inverse, skin = np.array(armature.matrix_world.inverted()), []
    for ob in (ob for ob in bpy.data.objects if ob.type == "MESH"):
        mesh, groups = ob.data, {group.index for group in ob.vertex_groups if group.name in bones}
        matrix = inverse @ np.array(ob.matrix_world)
        skin += [
            (matrix @ [*vertex.co, 1.0])[:3] for vertex in mesh.vertices
            if sum(entry.weight for entry in vertex.groups if entry.group in groups) > 0.5
        ]  # fmt: skip
    return np.array(skin)


def below(skeleton: Skeleton, foot: int) -> set[str]:
    """The bones of a foot and those that hang on it."""
    return {skeleton.names[bone] for bone in range(len(skeleton)) if foot in (bone, *skeleton.ancestors(bone))}


@pytest.mark.parametrize("file", ["mesh2motion_human.blend", "quaternius_man_mixamo_like.fbx"])
def test_soles_end_8_cm_before_the_mesh_of_the_foot_does(file: str) -> None:
    path = REAL / file
    if not path.is_file():
        pytest.skip(f"{file} is not in the data beside the project.")
    armature = load(path)[0]
    skeleton = read_rig(armature).skeleton
    roles = read_roles(armature, skeleton)
    foot, rest = roles.bone("foot.L"), skeleton.rest_matrices
    ahead = rotation.to_matrix(canonical_frame(roles.up, roles.facing))[:, 2]
    bones, places = soles_of(skeleton, [foot])
    corners = (rest[bones, :, :3] @ places[..., None])[..., 0] + rest[bones, :, 3]

    skin = skin_of(armature, below(skeleton, foot))
    assert len(skin)
    ends = max(corners @ ahead) + 2.0 * SUPPORT_RADIUS * skeleton.size  # nobody stands on the tips of toes
    assert ends == pytest.approx(max(skin @ ahead), abs=NEAR * skeleton.size)


@pytest.mark.parametrize(
    "file", ["mesh2motion_human.blend", "quaternius_man_mixamo_like.fbx", "kaykit_mannequin/manny_med_mod.gltf"]
)
def test_a_sole_goes_from_the_heel_to_the_tip_of_the_mesh_and_is_as_low(file: str) -> None:
    path = REAL / file
    if not path.is_file():
        pytest.skip(f"{file} is not in the data beside the project.")
    armature = next(one for one in load(path) if one.type == "ARMATURE")
    skeleton = read_rig(armature).skeleton
    roles = with_soles(armature, skeleton, read_roles(armature, skeleton))
    sole = find_sole(skeleton, roles, "L")
    skin = skin_of(armature, below(skeleton, sole.foot) | below(skeleton, roles.bone("toe.L")))
    rest = skeleton.rest_matrices[sole.foot]
    skin = np.linalg.solve(rest[:, :3], (skin - rest[:, 3]).T).T
    skin = skin[skin @ sole.up < 0.0]
    for way, contact in ((-sole.up, sole.ball), (-sole.forward, sole.heel), (sole.forward, sole.tip)):
        assert contact @ way == pytest.approx((skin @ way).max(), abs=6e-3 * skeleton.size)
    assert ground_at_rest(skeleton, roles) != 0.0


def test_a_hidden_mesh_and_one_of_another_armature_are_no_soles() -> None:
    path = REAL / "kaykit_mannequin" / "manny_med_mod.gltf"
    if not path.is_file():
        pytest.skip("The mannequin is not in the data beside the project.")
    armature = next(one for one in load(path) if one.type == "ARMATURE")
    skeleton = read_rig(armature).skeleton
    roles = read_roles(armature, skeleton)
    assert with_soles(armature, skeleton, roles).soles.keys() == {"foot.L", "toe.L", "foot.R", "toe.R"}
    for ob in bpy.data.objects:
        ob.hide_viewport |= "LegLeft" in ob.name
    bpy.context.view_layer.update()
    assert with_soles(armature, skeleton, roles).soles.keys() == {"foot.R", "toe.R"}
    for ob in bpy.data.objects:
        for modifier in ob.modifiers:
            modifier.object = None
        ob.parent = None
    assert not with_soles(armature, skeleton, roles).soles


@pytest.mark.parametrize(
    ("file", "scale", "leg"),  # in units from hip to sole
    [
        ("kaykit_mannequin/manny_med_mod.gltf", 1.0, 0.3765),  # 8.2 % where the armature alone told the soles
        ("kaykit_mannequin/manny_med_mod.gltf", 1.5, 0.3765),  # 4.7 % where toes were not levelled
        ("quaternius_male_casual.blend", 1.0, 2.124),  # 9.7 % where shoes without toes rolled over their middle
    ],
)
def test_large_shoes_are_not_below_the_floor_after_a_retarget_and_on_a_longer_path(
    file: str, scale: float, leg: float
) -> None:
    path = REAL / file
    if not path.is_file():
        pytest.skip(f"{file} is not in the data beside the project.")
    armature = next(one for one in load(path) if one.type == "ARMATURE")
    context.scene.render.fps = 30
    with imported(context, DATA / "motion" / "cmu_07_12.bvh") as (source, _):
        edit = Retargeted(context, armature, source, (40, 60))
    edit.solve()
    edit.write(armature)
    if scale != 1.0:
        path_edit = PathEdit(context, armature, (40, 60), scale=scale)
        path_edit.solve()
        report = path_edit.write(armature)
        assert len(report.goals)
        assert all(goal.met.all() for goal in report.goals)  # what stands is levelled as far as it stays
    lows = []
    for frame in range(40, 61):
        context.scene.frame_set(frame)
        graph = context.evaluated_depsgraph_get()
        for ob in (ob for ob in bpy.data.objects if ob.type == "MESH" and ob.modifiers):
            seen = ob.evaluated_get(graph)
            lows.append(min((seen.matrix_world @ vertex.co).z for vertex in seen.data.vertices))
    assert min(lows) > -0.025 * leg


def test_toes_do_not_fold_for_a_corner_of_a_foot_that_leans_aside() -> None:
    """As it pushes off: a bend hardly raises what is beside the hinge, and folded the toes by 174 degrees."""
    path, walk = REAL / "quaternius_man_mixamo_like.fbx", SHARED / "motion" / "bvh30" / "cmu_16_15.bvh"
    if not path.is_file():
        pytest.skip(f"{path.name} is not in the data beside the project.")
    armature = next(one for one in load(path) if one.type == "ARMATURE")
    select(armature, [])
    assert bpy.ops.poise.retarget(filepath=str(walk), plant=True) == {"FINISHED"}
    toe, bends = armature.pose.bones["LeftToeBase"], list[float]()
    for frame in range(8, 25):
        context.scene.frame_set(frame)
        bends.append(toe.matrix_basis.to_quaternion().angle)
    assert np.degrees(max(bends)) < 75.0
    assert np.degrees(np.abs(np.diff(bends)).max()) < 30.0
