"""Roles on real and on odd rigs, with their names and by shape alone, against answers given by hand.

By default the shipped rigs and a few others; POISE_ZOO=full takes every rig of ../shared/data/rigs.
"""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bridge import read_rig
from core import Skeleton, rotation
from core.body import BODY, find_roles
from tests.blender.core.rigs import ZOO, cases, files, roles_of, wrong
from tests.blender.rigs import load
from tests.paths import DATA

BY_SHAPE = 0.95  # of the body roles of all humanoids
# limbs that the rules miss: (file, limb)
MISSED = {("mesh2motion_quadruped.glb", "tail")}  # its last bone is called an end and is none


@pytest.mark.parametrize("path", files(), ids=lambda path: path.stem)
def test_with_names_every_role_is_right(path: Path) -> None:
    for ob, answer in cases(path):
        roles, found, twist, limbs = roles_of(ob, True)
        assert roles.humanoid == answer["humanoid"]
        assert wrong(found, answer, False) == set()
        assert twist == answer.get("twist", {})
        assert roles.facing == answer.get("facing", roles.facing)
        assert roles.up == answer.get("up", roles.up)
        assert roles.rest in {answer.get("rest", roles.rest), *answer.get("rest_also", ())}
        assert set(roles.missing) <= set(BODY) - found.keys()
        for limb, bones in answer.get("limbs", {}).items():
            if (path.name, limb) in MISSED:
                continue
            without_ends = [bone for bone in limbs.get(limb, []) if bone not in answer.get("ends", ())]
            assert bones in (without_ends, without_ends[1:])  # a girdle may be the first


@pytest.mark.parametrize("path", files(), ids=lambda path: path.stem)
def test_by_shape_alone_nearly_every_body_role_is_right(path: Path) -> None:
    for ob, answer in cases(path):
        roles, found, _, _ = roles_of(ob, False)
        assert roles.humanoid == answer["humanoid"]
        asked = {role for role in answer["roles"].keys() | found.keys() if role in BODY}
        mistakes = wrong(found, answer, True) & asked
        assert not asked or len(asked - mistakes) >= BY_SHAPE * len(asked), mistakes
        assert max(roles.confidence.values(), default=0.0) < 0.95


# ---- odd bodies: bones taken from whole ones


@cache
def whole(name: str) -> tuple[Skeleton, dict[str, Any]]:
    ((ob, answer),) = cases(DATA / "rigs" / name)
    return read_rig(ob).skeleton, answer["roles"]


def without(skeleton: Skeleton, cut: list[str], alone: list[str]) -> Skeleton:
    """Without the bones that are cut and all that hangs on them, and without those alone whose children stay."""
    matrices = skeleton.rest_matrices
    gone = [not {skeleton.names[above] for above in skeleton.ancestors(bone)}.isdisjoint(cut) or
            skeleton.names[bone] in alone for bone in range(len(skeleton))]  # fmt: skip
    kept = [bone for bone in range(len(skeleton)) if not gone[bone]]
    above = [next((b for b in skeleton.ancestors(bone)[1:] if not gone[b]), -1) for bone in kept]
    bases = np.array([matrices[parent] if parent >= 0 else np.eye(3, 4) for parent in above])
    own = np.swapaxes(bases[:, :, :3], 1, 2) @ (matrices[kept] - np.pad(bases[:, :, 3:], ((0, 0), (0, 0), (3, 0))))
    return Skeleton(
        [skeleton.names[bone] for bone in kept],
        [kept.index(parent) if parent >= 0 else -1 for parent in above],
        own[:, :, 3],
        rotation.from_matrix(own[:, :, :3]),
        skeleton.lengths[kept],
    )


# what is cut off, with all that hangs on it; what goes alone; roles besides that are then of other bones, or unsure
ODD: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "one leg cut at the hip": (("thigh.L",), (), ()),
    "one leg cut at the knee": (("shin.R",), (), ()),
    "one foot": (("foot.L",), (), ()),
    "no feet": (("foot.L", "foot.R"), (), ()),
    "one arm": (("shoulder.R",), (), ()),
    "one arm and a clavicle": (("upper_arm.R",), (), ()),
    "one arm cut at the elbow": (("forearm.L",), (), ()),
    "one hand": (("hand.L",), (), ()),
    "no hands": (("hand.L", "hand.R"), (), ()),
    "neither hands nor feet": (("hand.L", "hand.R", "foot.L", "foot.R"), (), ()),
    "no head and no neck": (("neck",), (), ()),
    "no head on the neck": (("head",), (), ("head", "neck")),
    "no hips": ((), ("hips",), ("hips", "spine")),
    "one bone of the spine": ((), ("spine",), ()),
}


@pytest.mark.parametrize("rig", ["named_mixamo_cm.blend", "odd_random_rolls_apose.blend", "xsens_motive_tpose.bvh"])
@pytest.mark.parametrize("case", ODD)
def test_a_body_that_lacks_a_part_is_told_by_shape_alone(rig: str, case: str) -> None:
    skeleton, answer = whole(rig)
    cut, alone, other = ODD[case]

    def bones(role: str) -> list[str]:
        found = answer.get(role, [])
        return found if isinstance(found, list) else [found]

    odd = without(
        skeleton, [bone for role in cut for bone in bones(role)], [bone for role in alone for bone in bones(role)[:2]]
    )
    roles = find_roles(odd, use_names=False)
    assert roles.humanoid
    left = {role: kept for role in answer if role in BODY and (kept := [b for b in bones(role) if b in odd.names])}
    found = {role: [odd.names[bone] for bone in roles.chain(role)] for role in BODY if roles.chain(role)}
    swap = {"L": "R", "R": "L"}
    mirrored = {role[:-1] + swap[role[-1]] if role[-2] == "." else role: bones for role, bones in found.items()}
    apart = [{role: bones for role, bones in each.items() if role not in other} for each in (left, found, mirrored)]
    # where nothing tells left from right, which is then unsure, the mirror image is as right
    unsure = max(roles.confidence[role] for role in found if role[-2] == ".") < 0.5
    assert apart[1] == apart[0] or (unsure and apart[2] == apart[0])
    assert set(roles.missing) == set(BODY) - roles.bones.keys()
    assert all(roles.confidence.get(role, 0.0) < 0.5 for role in other if role != "spine" and role in found)


@pytest.mark.parametrize("name", ["real/quaternius_eagle.fbx", "scripted/creature_left_hand_only.blend"])
def test_creatures_that_lack_a_part_are_no_human_bodies(name: str) -> None:
    for ob in load(ZOO / name):
        skeleton = read_rig(ob).skeleton
        for bone in skeleton.names[1:]:
            odd = without(skeleton, [bone], [])
            assert len(odd) < 3 or not find_roles(odd, use_names=False).humanoid, bone
