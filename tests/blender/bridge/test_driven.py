"""What drives bones: constraints, drivers, and what they leave alone."""

from typing import Any

import bpy
import numpy as np
import pytest

from bridge import read_matrices, read_pose, read_rig
from core import Pose, forward_matrices, rotation
from core.skeleton import INHERIT_SCALE_MODES
from tests.blender.bridge.rigs import CLOSE, error, evaluate
from tests.blender.rigs import build, chain, context, make_empty, set_random_pose


def ik(ob: Any, bone: str, count: int, **values: Any) -> Any:
    target = bpy.data.objects.new("target", None)
    target.location = (1.0, 2.0, 3.0)
    context.scene.collection.objects.link(target)
    constraint = ob.pose.bones[bone].constraints.new("IK")
    constraint.target, constraint.chain_count = target, count
    for name, value in values.items():
        setattr(constraint, name, value)
    return constraint


@pytest.mark.parametrize(
    ("count", "use_tail", "driven"),
    [
        (2, True, {"bone2", "bone3"}),
        (0, True, {"bone0", "bone1", "bone2", "bone3"}),
        (2, False, {"bone1", "bone2"}),
        (0, False, {"bone0", "bone1", "bone2"}),
    ],
)
def test_an_ik_constraint_drives_its_chain(count: int, use_tail: bool, driven: set[str]) -> None:
    ob = chain(5)
    ik(ob, "bone3", count, use_tail=use_tail)
    rig = read_rig(ob)
    assert set(rig.driven) == driven
    assert set(rig.driven.values()) == {'constraint "IK" on "bone3" (Inverse Kinematics)'}
    assert rig.skeleton.driven.tolist() == [name in driven for name in rig.skeleton.names]
    rng = np.random.default_rng(8)
    for _ in range(10):
        set_random_pose(ob, rng, 1.0)
        assert error(ob) < CLOSE


def test_children_of_a_driven_bone_stand_on_it() -> None:
    ob = chain(5)
    ik(ob, "bone2", 2)
    rng = np.random.default_rng(9)
    set_random_pose(ob, rng, 1.0, "any")
    rig = read_rig(ob)
    pose = read_pose(ob, rig)
    assert error(ob) < CLOSE
    moved = np.array(pose.rotations)
    moved[[1, 2]] = rotation.IDENTITY  # what the channels of driven bones say changes nothing
    same = Pose(moved, pose.translations, pose.scales, pose.driven_matrices)
    assert np.array_equal(forward_matrices(rig.skeleton, same), forward_matrices(rig.skeleton, pose))


def test_a_spline_ik_drives_its_chain() -> None:
    ob = chain(4)
    curve = bpy.data.curves.new("curve", "CURVE")
    curve.dimensions = "3D"
    spline = curve.splines.new("POLY")
    spline.points.add(3)
    for i, point in enumerate(spline.points):
        point.co = (0.3 * i, 0.5, i, 1.0)
    target = bpy.data.objects.new("curve", curve)
    context.scene.collection.objects.link(target)
    constraint = ob.pose.bones["bone3"].constraints.new("SPLINE_IK")
    constraint.target, constraint.chain_count = target, 2
    assert set(read_rig(ob).driven) == {"bone2", "bone3"}
    set_random_pose(ob, np.random.default_rng(10), 1.0)
    assert error(ob) < CLOSE


@pytest.mark.parametrize("change", [{"mute": True}, {"influence": 0.0}, {"target": None}])
def test_a_constraint_that_does_nothing_drives_nothing(change: dict[str, Any]) -> None:
    ob = chain(3)
    ik(ob, "bone2", 2, **change)
    assert not read_rig(ob).driven
    set_random_pose(ob, np.random.default_rng(11), 1.0)
    assert error(ob) < CLOSE


@pytest.mark.parametrize("how", ["driver", "key", "strip"])
def test_a_constraint_that_may_come_on_drives_its_bones(how: str) -> None:
    ob = chain(3)
    constraint = ik(ob, "bone2", 1, influence=0.0)
    if how == "driver":
        constraint.driver_add("influence").driver.expression = "0.0"
    else:
        constraint.keyframe_insert("influence", frame=1)
    if how == "strip":
        data = ob.animation_data
        action, data.action = data.action, None
        data.nla_tracks.new().strips.new("strip", 1, action)
    context.view_layer.update()
    assert set(read_rig(ob).driven) == {"bone2"}


def test_a_driver_on_a_channel_drives_the_bone() -> None:
    ob = chain(3)
    curve = ob.pose.bones["bone1"].driver_add("rotation_quaternion", 1)
    curve.driver.expression = "0.25"
    evaluate(ob)
    assert read_rig(ob).driven == {"bone1": 'driver on rotation_quaternion of "bone1"'}
    curve.mute = True
    assert not read_rig(ob).driven


def source(ob: Any, kind: str, **values: Any) -> Any:
    """Let bone2 follow the bone "other", or an empty where `outside`."""
    outside = values.pop("outside", False)
    if kind == "driver":
        curve = ob.pose.bones["bone2"].driver_add("rotation_quaternion", 1)
        curve.driver.expression = "0.25"
        return curve
    constraint = ob.pose.bones["bone2"].constraints.new(kind)
    constraint.target = make_empty("target", (3.0, 1.0, 2.0)) if outside else ob
    if outside:
        constraint.target.rotation_euler = (0.4, 0.3, -0.5)
    else:
        constraint.subtarget = "other"
    for name, value in values.items():
        setattr(constraint, name, value)
    return constraint


LOCAL = {"owner_space": "LOCAL", "target_space": "LOCAL"}


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("driver", {}),
        ("COPY_ROTATION", {}),
        ("COPY_ROTATION", LOCAL),
        ("COPY_ROTATION", {"outside": True}),
        ("COPY_TRANSFORMS", LOCAL),
        ("COPY_TRANSFORMS", {}),
        ("COPY_LOCATION", LOCAL),
        ("COPY_LOCATION", {}),
        ("COPY_LOCATION", {"outside": True}),
        ("TRANSFORM", {"map_to": "ROTATION"}),
        ("DAMPED_TRACK", {"outside": True}),
        ("TRACK_TO", {"outside": True}),
        ("LOCKED_TRACK", {"outside": True}),
    ],
)
def test_a_driven_bone_is_carried_where_its_head_goes_along_with_its_parent(kind: str, values: dict[str, Any]) -> None:
    rows = [(f"bone{i}", f"bone{i - 1}" if i else None, (0.1 * i, 0.0, i), (0.1 * i, 0.0, i + 0.8)) for i in range(4)]
    ob = build([*rows, ("other", None, (2.0, 0.0, 1.0), (2.0, 1.0, 1.0))])
    source(ob, kind, **values)
    rng = np.random.default_rng(14)
    set_random_pose(ob, rng, 1.0)
    rig, before = read_rig(ob), read_matrices(ob)
    ob.pose.bones["bone0"].location = (0.3, 0.1, -0.2)
    evaluate(ob)
    moved = (read_matrices(ob) - before)[..., 3]
    along = bool(np.allclose(moved[2], moved[1], atol=CLOSE))
    assert ("bone2" in rig.driven, rig.carried.tolist()) == (True, [2] if along else [])
    for scale in ("none", "uniform"):
        for _ in range(5):
            set_random_pose(ob, rng, 1.0, scale)
            assert error(ob) < CLOSE


@pytest.mark.parametrize("mode", INHERIT_SCALE_MODES)
def test_a_carried_bone_is_read_whatever_it_inherits(mode: str) -> None:
    for rotates in (True, False):
        ob = chain(4)
        source(ob, "COPY_ROTATION", **LOCAL, subtarget="bone0")
        bone = ob.data.bones["bone2"]
        bone.inherit_scale, bone.use_inherit_rotation = mode, rotates
        set_random_pose(ob, np.random.default_rng(15), 1.0, "uniform")
        assert read_rig(ob).carried.tolist() == [2]
        assert error(ob) < CLOSE


def test_names_with_quotes_are_found_in_paths() -> None:
    ob = build([('a "b" [0].location', None, (0, 0, 0), (0, 0, 1))])
    ob.pose.bones[0].driver_add("location", 0).driver.expression = "1.0"
    evaluate(ob)
    assert list(read_rig(ob).driven) == ['a "b" [0].location']
