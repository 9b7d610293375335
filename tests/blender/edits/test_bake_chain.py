"""A chain follows an object over a range of frames, by its list, and pins hold meanwhile."""

from typing import Any

import bpy
import numpy as np
import pytest

from edits.chains import bake_job
from edits.job import JobEdit
from tests.blender.rigs import choose, contents, context, curves, make_armature, world

pytestmark = pytest.mark.usefixtures("empty_file")


@pytest.fixture
def rig() -> Any:
    """A body in Pose Mode with a chain from the chest to the left hand."""
    body = make_armature()
    choose(body, "chest", "upper_arm.L", "forearm.L", "hand.L")
    bpy.ops.poise.add_chain()
    return body


def a_moving_cup(rig: Any, first: Any, last: Any) -> Any:
    """An object on a straight way from frame 1 to frame 10, in world space."""
    cup = bpy.data.objects.new("Cup", None)
    bpy.context.scene.collection.objects.link(cup)
    for frame, place in ((1, first), (10, last)):
        cup.location = place
        cup.keyframe_insert("location", frame=frame)
    return cup


@pytest.mark.parametrize("pinned", [False, True])
def test_a_baked_chain_follows_an_object_and_pins_hold(rig: Any, pinned: bool) -> None:
    a_moving_cup(rig, (0.45, -0.25, 1.35), (0.3, -0.4, 1.15))
    held = world(rig, "hand.R")
    if pinned:
        choose(rig, "hand.R")
        bpy.ops.poise.pin()
    assert bpy.ops.poise.bake_chain(target="Cup", frame_start=1, frame_end=10) == {"FINISHED"}
    keyed = {path.split('"')[1] for path, _ in curves(rig.animation_data.action, rig)}
    listed = {entry.bone for entry in rig.poise_chains[0].entries}
    assert keyed <= listed | ({"spine", "upper_arm.R", "forearm.R", "hand.R"} if pinned else set())
    off = []
    for frame in range(1, 11):
        bpy.context.scene.frame_set(frame)
        np.testing.assert_allclose(world(rig, "hand.L"), bpy.data.objects["Cup"].matrix_world.translation, atol=1e-3)
        off.append(np.linalg.norm(world(rig, "hand.R") - held))
    assert (max(off) < 1e-3) == pinned


def test_a_bake_that_cannot_be_is_refused_and_nothing_changes(rig: Any) -> None:
    before = contents()
    for options, sentence in (
        ({"target": ""}, "Choose the object"),
        ({"target": "Cup"}, 'No object "Cup"'),
        ({"target": "rig"}, "is the armature itself"),
        ({"target": "Cup", "frame_start": 9, "frame_end": 3}, "frames"),
    ):
        with pytest.raises(RuntimeError, match=sentence):
            bpy.ops.poise.bake_chain(**options)
    assert contents() == before


class Escape(Exception):
    """Esc was pressed."""


@pytest.mark.parametrize("kind", ["pins", "step by step", "least squares"])
def test_the_progress_goes_on_while_it_is_solved_and_esc_is_heard(rig: Any, kind: str) -> None:
    far = (0.1, -1.5, 0.2) if kind == "least squares" else (0.3, -0.4, 1.15)  # out of reach
    a_moving_cup(rig, (0.45, -0.25, 1.35), far)
    rig.poise_chains[0].successive = kind == "step by step"
    if kind == "pins":
        choose(rig, "hand.R")
        bpy.ops.poise.pin()
    job = bake_job(rig, rig.poise_chains[0], "Cup", (1, 1500 if kind == "least squares" else 40), True, True)
    shares: list[float] = []
    JobEdit(context, rig, job).solve(shares.append)
    assert shares == sorted(shares)
    assert len({*shares}) >= 4
    assert shares[0] >= 0.0
    assert 0.5 < shares[-1] <= 1.0
    edit, before = JobEdit(context, rig, job), contents()

    def escape(share: float) -> None:
        if share >= 0.5:
            raise Escape

    with pytest.raises(Escape):
        edit.solve(escape)
    assert contents() == before
