"""Elbows and knees of real and odd rigs bend as elbows and knees do: relaxed, from straight, and when pulled in.

By default the shipped rigs and a few others; POISE_ZOO=full takes every humanoid of ../shared/data/rigs.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bridge import read_pose, read_rig
from core import Goal, PinAndDrag, Pose, Skeleton, forward, rotation, solve
from core.body import Roles, find_roles
from core.body.anatomy import anatomy, with_anatomy
from core.body.axes import axis_vector
from tests.blender.core.rigs import answers, cases
from tests.blender.rigs import FULL
from tests.paths import DATA, SHARED

ZOO = SHARED / "rigs"
SAMPLE = (
    "real/cesium_man.gltf",
    "real/ozz_pab_walk.fbx",
    "real/quaternius_female_casual.fbx",
    "real/vrm_example.vrm",
    "scripted/mpfb_default.blend",
    "scripted/odd_inline_twist.blend",
    "scripted/odd_random_rolls_apose.blend",
)
LIMBS = {"arm": ("upper_arm", "forearm", "hand"), "leg": ("thigh", "shin", "foot")}
PULLS = (0.1, 0.2, 0.35)
LEAST = 0.02  # of the limb's length: a joint that is so far off the straight line is bent


def files() -> list[Path]:
    names = {key.partition(":")[0] for key, answer in answers().items() if answer["humanoid"]}
    shipped = sorted(path for path in (DATA / "rigs").iterdir() if path.name in names)
    further = sorted(ZOO / name for name in names if (ZOO / name).is_file()) if FULL else [ZOO / n for n in SAMPLE]
    return shipped + further


@dataclass
class Limb:
    """First, second and last bone, and where the joint between goes when it bends, (3,) in the first bone's frame."""

    name: str
    bones: tuple[int, int, int]
    way: np.ndarray


@dataclass
class Rig:
    name: str
    skeleton: Skeleton
    rest: Pose
    roles: Roles
    limbs: list[Limb]

    def bend(self, limb: Limb, pose: Pose) -> float:
        """How far the middle joint is off the line between the others, the right way positive, by the limb's length."""
        heads, frames = forward(self.skeleton, pose)
        first, middle, last = heads[list(limb.bones)]
        line = (last - first) / np.linalg.norm(last - first)
        off = (middle - first) - line * ((middle - first) @ line)
        length = np.linalg.norm(middle - first) + np.linalg.norm(last - middle)
        return float(off @ rotation.rotate(frames[limb.bones[0]], limb.way) / length)

    def straightened(self, limb: Limb) -> Pose:
        """At rest, but the second bone goes on where the first one points."""
        heads, frames = forward(self.skeleton, self.rest)
        first, middle, last = heads[list(limb.bones)]
        one, other = last - middle, middle - first
        one, other = one / np.linalg.norm(one), other / np.linalg.norm(other)
        turn = rotation.normalize(np.append(1.0 + one @ other, np.cross(one, other)))
        bone = limb.bones[1]
        rotations = np.array(self.rest.rotations)
        rotations[bone] = rotation.mul(rotation.inv(frames[bone]), rotation.mul(turn, frames[bone]))
        return Pose(rotations, self.rest.translations, None, self.rest.driven_matrices)


def rigs(path: Path) -> list[Rig]:
    """The humanoids of a file with their undriven limbs; skips the test if there is none."""
    found: list[Rig] = []
    for ob, answer in cases(path):
        if not answer["humanoid"]:
            continue
        read = read_rig(ob)
        skeleton = read.skeleton
        rest = Pose.rest(skeleton)
        if skeleton.driven.any():
            rest = Pose(rest.rotations, rest.translations, None, read_pose(ob, read).driven_matrices)
        deform = np.array([bone.use_deform for bone in ob.data.bones])
        limbs = list(limbs_of(read, answer))
        if limbs:
            found.append(Rig(ob.name, skeleton, rest, find_roles(skeleton, deform), limbs))
    if not found:
        pytest.skip(f"{path.name}: none of its arms and legs is moved by its own bones")
    return found


def limbs_of(rig: Any, answer: dict[str, Any]) -> list[Limb]:
    """By the roles given by hand. A knee goes forwards when it bends; an elbow is left behind by the hand."""
    skeleton, forwards = rig.skeleton, axis_vector(answer["facing"])
    found: list[Limb] = []
    for kind, parts in LIMBS.items():
        for side in "LR":
            roles = [f"{part}.{side}" for part in parts]
            if not all(role in answer["roles"] for role in roles):
                continue
            first, middle, last = (skeleton.index(answer["roles"][role]) for role in roles)
            chain = skeleton.ancestors(last)
            # a hand that hangs on the root is not moved by its arm
            if rig.decided[chain].any() or not {first, middle} <= set(chain):
                continue
            way = (forwards if kind == "leg" else -forwards) @ skeleton.rest_matrices[first, :, :3]
            found.append(Limb(roles[1], (first, middle, last), way))
    return found


@pytest.mark.parametrize("path", files(), ids=lambda path: path.stem)
def test_elbows_and_knees_bend_their_way_relaxed_and_from_straight(path: Path) -> None:
    for rig in rigs(path):
        found = anatomy(rig.skeleton, rig.roles)
        relaxed = Pose(found.reference.rotations, rig.rest.translations, None, rig.rest.driven_matrices)
        for limb in rig.limbs:
            assert rig.bend(limb, relaxed) > LEAST, limb.name
            straight = rig.straightened(limb)
            assert abs(rig.bend(limb, straight)) < 1e-4
            rotations = np.array(straight.rotations)
            bone = limb.bones[1]
            assert np.isclose(np.linalg.norm(found.bends[bone]), 0.1)
            rotations[bone] = rotation.mul(rotations[bone], rotation.exp(found.bends[bone]))
            bent = rig.bend(limb, Pose(rotations, straight.translations, None, straight.driven_matrices))
            assert bent > 0.8 * 0.25 * 0.1, (
                limb.name
            )  # a triangle with halves alike is that high: a quarter of its turn


@pytest.mark.parametrize("start", ["rest", "straight"])
@pytest.mark.parametrize("path", files(), ids=lambda path: path.stem)
def test_a_limb_that_is_pulled_in_bends_its_way(path: Path, start: str) -> None:
    wrong: list[str] = []
    for rig in rigs(path):
        skeleton, method = with_anatomy(rig.skeleton, PinAndDrag(root="fixed"), rig.roles)
        for limb in rig.limbs:
            if skeleton.parents[limb.bones[0]] < 0:  # a root, which is fixed
                continue
            pose = rig.rest if start == "rest" else rig.straightened(limb)
            first, middle, last = forward(skeleton, pose)[0][list(limb.bones)]
            length = np.linalg.norm(middle - first) + np.linalg.norm(last - middle)
            for share in PULLS:
                target = last + share * length * (first - last) / np.linalg.norm(first - last)
                solution = solve(skeleton, pose, [Goal(skeleton.names[limb.bones[2]], target)], method)
                bend = rig.bend(limb, solution.pose)
                if not solution.converged or bend < LEAST:
                    far = solution.position_error[0] / length
                    wrong.append(f"{rig.name} {limb.name} by {share}: bent by {bend:.3f}, {far:.1e} short")
    assert not wrong
