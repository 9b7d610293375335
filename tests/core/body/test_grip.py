"""Fingers that close and spread."""

import numpy as np

from core import Pose, forward
from core.body.grip import pose_fingers
from tests.core.body.rigs import HANDS, STRAIGHT, THUMBS, body


def test_a_fist_brings_finger_tips_to_the_palm_and_spread_fingers_part() -> None:
    skeleton, roles = body([*STRAIGHT, *HANDS, *THUMBS], np.random.default_rng(10))
    rest = Pose.rest(skeleton)
    flat, _ = forward(skeleton, rest)
    for side in "LR":
        hand = skeleton.index(f"hand.{side}")
        closed, _ = forward(skeleton, pose_fingers(skeleton, roles, rest, side, 1.0, 0.0))
        for finger in ("index", "middle", "ring", "pinky"):
            first, last = (skeleton.index(f"{finger}{joint}.{side}") for joint in (1, 3))
            assert closed[last, 2] < flat[last, 2] - 0.02  # below, where the palm looks
            assert abs(closed[last, 0] - flat[hand, 0]) < abs(flat[last, 0] - flat[hand, 0])
            assert np.array_equal(closed[first], flat[first])
        thumb = skeleton.index(f"thumb3.{side}")
        assert closed[thumb, 1] > flat[thumb, 1]  # backwards, to the fingers
        spread, _ = forward(skeleton, pose_fingers(skeleton, roles, rest, side, 0.0, 1.0))
        index, pinky = (skeleton.index(f"{finger}3.{side}") for finger in ("index", "pinky"))
        assert np.linalg.norm(spread[index] - spread[pinky]) > np.linalg.norm(flat[index] - flat[pinky]) + 0.015
        assert np.array_equal(closed[skeleton.index(f"index3.{'R' if side == 'L' else 'L'}")],
                              flat[skeleton.index(f"index3.{'R' if side == 'L' else 'L'}")])  # fmt: skip
