"""Where IK cannot show a pose, the dragged limb, or the pinned one, is switched to FK, at the present frame alone.

Ground truth is Blender's own evaluation.
"""

from collections.abc import Callable, Iterator
from typing import Any

import bpy
import numpy as np
import pytest

import bridge
from bridge import Grab
from bridge.channels import channelbag_of, rotation_channel
from core import forward, rotation
from core.pose import frame_rotations
from edits.drag.session import DragSession
from edits.pin_list import set_pins
from tests.blender.control_drags import NEAR, RIGS, STILL, TURNED, key_step, keys, seen, settings, size_of
from tests.blender.rigs import world

context: Any = bpy.context
FRAMES = (19, 20, 21, 1, 40)
HERE = 20
LOOKED_AT = (1, 2, 10, 18, 19, 20, 21, 22, 30, 40)
SWIVEL = (0.0, 0.05, -0.1)  # of a human of 1.7 m: the elbow


def rigify() -> tuple[Any, str, str, tuple[str, str]]:
    rig, parts = RIGS["Rigify on IK"]()
    for side in "LR":
        rig.pose.bones[f"upper_arm_ik.{side}"].lock_rotation = (True, True, True)
    return rig, "DEF-forearm.L", parts["hand.L"], ("upper_arm_parent.L", "IK_FK")


def auto_rig_pro() -> tuple[Any, str, str, tuple[str, str]]:
    rig, parts = RIGS["Auto-Rig Pro on IK"]()
    for side in "lr":
        rig.pose.bones[f"c_arms_pole.{side}"].lock_location = (True, True, True)
    return rig, "forearm_stretch.l", parts["hand.L"], ("c_hand_ik.l", "ik_fk_switch")


def cloud_rig() -> tuple[Any, str, str, tuple[str, str]]:
    rig, parts = RIGS["CloudRig on IK"]()
    for side in "LR":
        rig.pose.bones[f"IK-POLE-UpperArm.{side}"].lock_location = (True, True, True)
    return rig, "DEF-Forearm1.L", parts["hand.L"], ("Properties", "ik_arm")


MADE = {"Rigify": rigify, "Auto-Rig Pro": auto_rig_pro}
Made = tuple[Any, str, str, tuple[str, str]]


@pytest.fixture(autouse=True)
def keying() -> Iterator[Any]:
    """The preferences of keying; auto-keying is on, and any channel may be keyed."""
    edit = context.preferences.edit
    before = edit.use_keyframe_insert_available
    edit.use_keyframe_insert_available = False
    yield edit
    edit.use_keyframe_insert_available = before


def ready(made: Made, keyed: bool = True, auto: bool = True) -> None:
    """A rig, perhaps with keys, whose hand is pinned: its elbow can only go round."""
    rig, _, hand, _ = made
    context.scene.tool_settings.use_keyframe_insert_auto = auto
    if keyed:
        key_step(rig, FRAMES)
        for curve in bridge.motion.active_curves(rig):  # Bezier handles would carry a key into frames further off
            for key in curve.keyframe_points:
                key.interpolation = "LINEAR"
    rig.poise_use_fk_switch, rig.poise_root, rig.poise_balance = True, "FIXED", "OFF"
    set_pins(context, rig, [hand], "BOTH", "WORLD")


@pytest.fixture
def swivel(capfd: Any) -> Callable[[Made], str]:
    """Drag the elbow; return what is reported."""

    def drag(made: Made) -> str:
        rig, elbow, _, _ = made
        capfd.readouterr()
        assert bpy.ops.poise.drag(bone=elbow, shift=tuple(size_of(rig) * np.array(SWIVEL))) == {"FINISHED"}
        return capfd.readouterr().out

    return drag


@pytest.mark.parametrize("name", MADE)
def test_the_dragged_limb_is_switched_at_the_present_frame_alone(name: str, swivel: Any) -> None:
    made = MADE[name]()
    rig, _, _, (bone, prop) = made
    ready(made)
    before = {frame: seen(rig, frame) for frame in LOOKED_AT}
    set_before, keyed_before = settings(rig), keys(rig)
    context.scene.frame_set(HERE)
    said = swivel(made)
    assert f'Switched "{bone}" to FK at frame 20: IK of ' in said
    assert said.splitlines()[-1].startswith(f'Info: Switched "{bone}" to FK at frame 20: IK of ')
    for frame in before.keys() - {HERE}:
        np.testing.assert_allclose(seen(rig, frame), before[frame], atol=1e-5 * size_of(rig), err_msg=str(frame))
    assert settings(rig) == set_before  # at the last of these frames
    path = f'pose.bones["{bone}"]["{prop}"]'
    assert keys(rig)[path, 0] == {19.0: 0.0, 20.0: 1.0, 21.0: 0.0}
    ik = bridge.read_rig(rig)
    body = bridge.find_controlled(rig, ik, bridge.read_roles(rig, ik.skeleton))
    limb = [control for part, control in enumerate(body.controls) if body.ends[part] == body.skeleton.index(made[2])]
    names = {
        rig.pose.bones[number].name for one in limb for number in (one.turns, one.moves, one.begins) if number >= 0
    }
    unchanged = {key: points for key, points in keyed_before.items() if any(f'"{name}"' in key[0] for name in names)}
    assert unchanged
    assert {key: keys(rig)[key] for key in unchanged} == unchanged  # the controls of its IK


@pytest.mark.long
@pytest.mark.parametrize("name", MADE)
def test_fk_shows_the_pose_that_was_solved(name: str) -> None:
    made = MADE[name]()
    rig, elbow, hand, (bone, prop) = made
    ready(made, keyed=False, auto=False)
    before = world(rig, hand)
    session = DragSession(context, rig, [Grab(rig.name, elbow, (0.0, 0.0, 0.0))], live=True)
    for share in np.linspace(0.1, 1.0, 10):
        session.drag(share * size_of(rig) * np.array(SWIVEL), STILL)
    session.finish()
    context.view_layer.update()
    assert rig.pose.bones[bone][prop] == 1.0
    (switch,) = session.fk.switches
    matrices = bridge.read_matrices(rig)[switch.body.frames]
    heads, turns = forward(session.body.skeleton, session.pose)
    off = rotation.lengths(matrices[..., 3] - heads)[switch.limb] / size_of(rig)
    turned = frame_rotations(matrices[..., :3] @ rotation.to_matrix(switch.body.aligned))
    assert off.max() < NEAR
    assert np.degrees(rotation.angle_between(turned, turns)[switch.limb]).max() < TURNED
    np.testing.assert_allclose(world(rig, hand), before, atol=NEAR * size_of(rig))


def test_a_limb_stays_on_ik_unless_the_setting_is_on(swivel: Any) -> None:
    made = auto_rig_pro()
    ready(made)
    made[0].poise_use_fk_switch = False
    before = settings(made[0])
    said = swivel(made)
    assert "misses the solved pose" in said
    assert 'Set ik_fk_switch of "c_hand_ik.l" to 1 or mute its IK' in said
    assert "Switched" not in said
    assert settings(made[0]) == before


def available(made: Made) -> None:
    context.preferences.edit.use_keyframe_insert_available = True


def replacing(made: Made) -> None:
    context.scene.tool_settings.auto_keying_mode = "REPLACE_KEYS"


def keying_set(made: Made) -> None:
    context.scene.keying_sets.active = context.scene.keying_sets_all["Location"]
    context.scene.tool_settings.use_keyframe_insert_keyingset = True


def no_auto(made: Made) -> None:
    context.scene.tool_settings.use_keyframe_insert_auto = False


def moving(made: Made) -> None:
    rig, _, _, (bone, prop) = made
    for frame, value in ((HERE, 0.0), (40, 1.0)):
        rig.pose.bones[bone][prop] = value
        rig.pose.bones[bone].keyframe_insert(f'["{prop}"]', frame=frame)
    context.scene.frame_set(HERE)


def repeating(made: Made) -> None:
    rig, _, _, (bone, prop) = made
    for frame in (1, 40):
        rig.pose.bones[bone].keyframe_insert(f'["{prop}"]', frame=frame)
    path = f'{rig.pose.bones[bone].path_from_id()}["{prop}"]'
    channelbag_of(rig).fcurves.find(path).modifiers.new("CYCLES")


def layered(made: Made) -> None:
    data = made[0].animation_data
    data.nla_tracks.new().strips.new("walk", 1, data.action)
    data.action, data.action_blend_type = bpy.data.actions.new("layer"), "COMBINE"
    context.scene.frame_set(HERE)


FORBIDDEN: dict[str, tuple[Callable[[Made], None], str]] = {
    "available": (available, "its switch has no keys, and Only Insert Available is on"),
    "replace": (replacing, "auto-keying only replaces keys"),
    "keying set": (keying_set, 'the keying set "Location" does not contain its switch'),
    "no auto-keying": (no_auto, "it would also change other frames, since auto-keying is off"),
    "moving": (moving, "its switch is animated at this frame"),
    "repeating": (repeating, "its switch has curves that repeat"),
    "layer": (layered, "its switch would need keys in a layer above NLA strips"),
}


@pytest.mark.parametrize("name", FORBIDDEN)
def test_a_limb_stays_on_ik_where_its_switch_may_not_be_keyed(name: str, swivel: Any) -> None:
    forbid, reason = FORBIDDEN[name]
    made = auto_rig_pro()
    ready(made)
    forbid(made)
    before = settings(made[0])
    assert f"the limb stays in IK: {reason}" in swivel(made)
    assert settings(made[0]) == before
    assert made[0].pose.bones[made[3][0]][made[3][1]] == 0.0


def test_a_switch_that_is_keyed_in_steps_keeps_them(swivel: Any) -> None:
    made = auto_rig_pro()
    rig, _, _, (bone, prop) = made
    ready(made)
    path = f'pose.bones["{bone}"]["{prop}"]'
    for frame, value in ((1, 1.0), (10, 0.0), (21, 1.0)):
        rig.pose.bones[bone][prop] = value
        rig.keyframe_insert(path, frame=frame)
    curve = next(one for one in bridge.motion.active_curves(rig) if one.data_path == path)
    for key in curve.keyframe_points:
        key.interpolation = "CONSTANT"
    before = [curve.evaluate(frame) for frame in range(1, 41)]
    context.scene.frame_set(HERE)
    context.preferences.edit.use_keyframe_insert_available = True
    assert "c_arm_fk.l, c_forearm_fk.l and c_hand_fk.l have no keys, and Only Insert Available is on" in swivel(made)
    for control in ("c_arm_fk.l", "c_forearm_fk.l", "c_hand_fk.l"):
        keyed = rig.pose.bones[control]
        keyed.keyframe_insert(rotation_channel(keyed.rotation_mode), frame=1)
    assert "Switched" in swivel(made)
    curve = next(one for one in bridge.motion.active_curves(rig) if one.data_path == path)
    after = [curve.evaluate(frame) for frame in range(1, 41)]
    before[HERE - 1] = 1.0
    assert after == before


def test_a_switch_of_two_limbs_is_left_alone(swivel: Any) -> None:
    made = cloud_rig()
    ready(made)
    before = settings(made[0])
    said = swivel(made)
    assert "the limb stays in IK, because the rig has no IK/FK switch for this limb alone" in said
    assert settings(made[0]) == before


def test_both_arms_are_switched_by_a_mirrored_drag(swivel: Any) -> None:
    made = auto_rig_pro()
    rig = made[0]
    ready(made)
    set_pins(context, rig, ["hand.l", "hand.r"], "BOTH", "WORLD")
    rig.pose.use_mirror_x = True
    said = swivel(made)
    for side in "lr":
        assert f'Switched "c_hand_ik.{side}" to FK at frame 20' in said
        assert rig.pose.bones[f"c_hand_ik.{side}"]["ik_fk_switch"] == 1.0


def pinned_elbow(made: Made) -> None:
    """Pin an elbow beside its place, as far as the pin of the hand lets it."""
    rig, elbow, _, _ = made
    set_pins(context, rig, [elbow], "POSITION", "WORLD")
    pin = rig.poise_pins[elbow]
    pin.priority = 1
    pin.position = np.add(pin.position, size_of(rig) * np.array(SWIVEL)).tolist()


@pytest.mark.parametrize("name", MADE)
def test_solve_here_switches_a_pinned_limb_at_the_present_frame_alone(name: str, capfd: Any) -> None:
    made = MADE[name]()
    rig, elbow, hand, (bone, prop) = made
    ready(made)
    before = {frame: seen(rig, frame) for frame in LOOKED_AT}
    set_before = settings(rig)
    context.scene.frame_set(HERE)
    set_pins(context, rig, [hand], "BOTH", "WORLD")
    held, was = world(rig, hand), world(rig, elbow)
    pinned_elbow(made)
    capfd.readouterr()
    assert bpy.ops.poise.solve() == {"FINISHED"}
    assert f'Switched "{bone}" to FK at frame 20: IK of ' in capfd.readouterr().out
    context.scene.frame_set(HERE)  # what is keyed shows it
    np.testing.assert_allclose(world(rig, hand), held, atol=NEAR * size_of(rig))
    assert rig.pose.bones[bone][prop] == 1.0
    assert np.linalg.norm(world(rig, elbow) - was) > 0.05 * size_of(rig)
    for frame in before.keys() - {HERE}:
        np.testing.assert_allclose(seen(rig, frame), before[frame], atol=1e-5 * size_of(rig), err_msg=str(frame))
    assert settings(rig) == set_before  # at the last of these frames


def test_solve_here_says_why_a_limb_stays_on_ik(capfd: Any) -> None:
    made = auto_rig_pro()
    ready(made)
    available(made)
    pinned_elbow(made)
    before = settings(made[0])
    bpy.ops.poise.solve()
    told = [line for line in capfd.readouterr().out.splitlines() if "misses the solved pose by up to" in line]
    assert [line.split("; ")[1] for line in told] == [
        "the limb stays in IK: its switch has no keys, and Only Insert Available is on"
    ]
    assert told[0].endswith("more in the Info editor")
    assert settings(made[0]) == before


def test_solve_here_leaves_limbs_on_ik_unless_the_setting_is_on(capfd: Any) -> None:
    made = auto_rig_pro()
    ready(made)
    made[0].poise_use_fk_switch = False
    pinned_elbow(made)
    before = settings(made[0])
    bpy.ops.poise.solve()
    assert "Switched" not in capfd.readouterr().out
    assert settings(made[0]) == before
