"""Which feet are held, and how far steps go along with the path of the body."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from benchmarks.motion.clips import Clip, read_clip
from core.body import Roles, find_roles
from core.editing.contacts import find_contacts, foot_points, runs
from core.editing.footsteps import feet_of, hold_feet, other_feet, shares_of_steps
from core.editing.timed_pins import pin_errors, share_within
from tests.paths import DATA


@pytest.fixture(scope="module")
def walk() -> Clip:
    return read_clip(DATA / "motion" / "cmu_07_12.bvh")


@pytest.fixture(scope="module")
def roles(walk: Clip) -> Roles:
    return find_roles(walk.skeleton)


def test_feet_are_held_where_the_motion_has_them_and_as_far_beside_as_said(walk: Clip, roles: Roles) -> None:
    feet, motion = feet_of(walk.skeleton, roles), walk.motion
    ways = np.random.default_rng(1).normal(size=(len(feet), len(motion), 3))
    for pin, way in zip(hold_feet(walk.skeleton, motion, feet, (10.0, 20.0), ways), ways, strict=True):
        gaps, turns = pin_errors(walk.skeleton, motion, pin)
        np.testing.assert_allclose(gaps, -way[slice(*pin.span(motion))], atol=1e-9)
        np.testing.assert_allclose(turns, 0.0, atol=1e-9)


def test_the_foot_of_a_dragged_leg_is_not_held(walk: Clip, roles: Roles) -> None:
    def names(role: str) -> list[str]:
        return [foot.name for foot in other_feet(walk.skeleton, roles, roles.bone(role))]

    assert names("hand.L") == names("hips") == ["foot.L", "foot.R"]
    for part in ("thigh", "shin", "foot", "toe"):
        assert names(f"{part}.L") == ["foot.R"]


def test_feet_go_along_as_one_while_they_stand_and_between_them_from_one_to_the_next(walk: Clip, roles: Roles) -> None:
    feet, motion = feet_of(walk.skeleton, roles), walk.motion
    body = share_within(motion.frames, (32.0, 32.0), 24.0)
    touching = find_contacts(walk.skeleton, motion, foot_points(walk.skeleton, roles), drifts=False)
    found = shares_of_steps(roles, feet, touching, body)
    assert found.max() > 0.8
    assert not found[:, body == 0.0].any()
    for foot, shares in zip(feet, found, strict=True):
        own = [point.name.endswith(foot.name[-1]) for point in touching.points]
        stands = runs(touching.touching[:, own].any(axis=1))
        levels = [(shares[first], np.ptp(shares[first : last + 1])) for first, last in stands]
        assert len(levels) > 1
        assert max(change for _, change in levels) < 1e-12
        for (first, last), (level, _) in zip(stands, levels, strict=True):
            inside = body[first : last + 1]
            assert level == pytest.approx(inside.mean() if inside.all() else 0.0)
        for (_, before), (after, _) in pairwise(stands):
            ahead = (shares - body)[before : after + 1]
            ends = sorted((ahead[0], ahead[-1]))
            assert ends[0] - 1e-12 <= ahead.min() <= ahead.max() <= ends[1] + 1e-12


def test_where_the_body_stays_steps_stay(walk: Clip, roles: Roles) -> None:
    feet = feet_of(walk.skeleton, roles)
    touching = find_contacts(walk.skeleton, walk.motion, foot_points(walk.skeleton, roles), drifts=False)
    assert not shares_of_steps(roles, feet, touching, np.zeros(len(walk.motion))).any()


def test_feet_that_never_stand_go_along_with_the_body(walk: Clip, roles: Roles) -> None:
    feet, motion = feet_of(walk.skeleton, roles), walk.motion
    touching = find_contacts(walk.skeleton, motion, foot_points(walk.skeleton, roles), drifts=False)
    flying = replace(touching, touching=np.zeros_like(touching.touching))
    body = share_within(motion.frames, (32.0, 32.0), 24.0)
    np.testing.assert_allclose(shares_of_steps(roles, feet, flying, body), [body] * len(feet), atol=1e-12)
