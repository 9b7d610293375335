"""What bodies stand on, beside the meshes of their feet."""

import bpy
import numpy as np
import pytest

from bridge import read_rig, read_roles
from core import rotation
from core.body.axes import canonical_frame
from core.body.masses import soles_of
from core.goals import SUPPORT_RADIUS
from tests.blender.rigs import load
from tests.paths import SHARED

pytestmark = pytest.mark.usefixtures("empty_file")

REAL = SHARED / "rigs" / "real"
NEAR = 0.02  # of the body's size


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

    below = {skeleton.names[bone] for bone in range(len(skeleton)) if foot in (bone, *skeleton.ancestors(bone))}
    inverse, skin = np.array(armature.matrix_world.inverted()), []
    for ob in (ob for ob in bpy.data.objects if ob.type == "MESH"):
        mesh, groups = ob.data, {group.index for group in ob.vertex_groups if group.name in below}
        matrix = inverse @ np.array(ob.matrix_world)
        skin += [
            (matrix @ [*vertex.co, 1.0])[:3] for vertex in mesh.vertices
            if sum(entry.weight for entry in vertex.groups if entry.group in groups) > 0.5
        ]  # fmt: skip
    assert skin
    ends = max(corners @ ahead) + 2.0 * SUPPORT_RADIUS * skeleton.size  # nobody stands on the tips of toes
    assert ends == pytest.approx(max(np.array(skin) @ ahead), abs=NEAR * skeleton.size)
