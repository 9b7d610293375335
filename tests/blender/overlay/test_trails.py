"""What a trail looks like."""

import numpy as np

from bridge.view import View
from overlay.marks import Colours, TrailMark
from overlay.trails import KEYED, PRESENT, SMALL, look_of

RED, GREEN, WHITE, GREY = (1.0, 0.0, 0.0, 0.9), (0.0, 1.0, 0.0, 0.9), (1.0, 1.0, 1.0, 0.9), (0.5, 0.5, 0.5, 0.9)
COLOURS = Colours(GREY, WHITE, GREY, GREY, GREY, RED, GREEN, (GREY, GREY, GREY))
VIEW = View(np.diag([1.0, 1.0, -0.1, 1.0]), np.eye(3), (100, 100))
PATH = np.array([[0.1 * number, 0.0, 0.0] for number in range(5)])
NEVER = np.zeros(5, bool)


def mark(**changes: object) -> TrailMark:
    given = {"positions": PATH, "ages": np.arange(5.0) - 2.0, "keyed": NEVER, "bears": NEVER} | changes
    return TrailMark(**given)  # pyright: ignore


def test_dots_are_coloured_before_and_after_the_present_frame() -> None:
    dots = dict(look_of(mark(), VIEW, COLOURS).dots)
    assert dots[SMALL].colours.tolist() == [list(RED), list(RED), list(GREEN), list(GREEN)]
    assert dots[PRESENT].points.tolist() == [[60.0, 50.0]]
    assert dots[PRESENT].colours.tolist() == [list(WHITE)]


def test_frames_with_keys_have_larger_dots() -> None:
    dots = dict(look_of(mark(keyed=np.arange(5) == 4), VIEW, COLOURS).dots)
    assert dots[KEYED].points.tolist() == [[70.0, 50.0]]
    assert KEYED > SMALL


def test_the_line_is_thick_where_the_point_stands() -> None:
    look = look_of(mark(bears=np.array([True, True, True, False, True])), VIEW, COLOURS)
    assert len(look.line) == 4
    np.testing.assert_allclose(look.contacts.points[:, 0, 0], [50.0, 55.0])


def test_what_follows_a_drag_has_its_colour_as_far_as_it_follows() -> None:
    dots = dict(look_of(mark(shares=np.array([0.0, 0.5, 1.0, 0.5, 0.0])), VIEW, COLOURS).dots)
    np.testing.assert_allclose(dots[SMALL].colours[:, 0], [1.0, 1.0, 0.5, 0.0])
    np.testing.assert_allclose(dots[SMALL].colours[:, 1], [0.0, 0.5, 1.0, 1.0])


def test_dots_behind_the_viewer_are_left_out() -> None:
    projection = np.diag([1.0, 1.0, 1.0, 0.0])
    projection[3, 2] = -1.0
    behind = np.add(PATH, [0.0, 0.0, 1.0])
    behind[0, 2] = -1.0
    look = look_of(mark(positions=behind), View(projection, np.eye(3), (100, 100)), COLOURS)
    assert [len(dots.points) for _, dots in look.dots] == [1, 0, 0]
    assert len(look.line) == 0
