"""Work that takes turns with Blender: between its turns everything else goes on, and it ends where it is told to."""

from typing import Any

import bpy
import numpy as np
import pytest

from bridge import Stopped, check_stopped, undisturbed
from bridge.motion import iterate_frames
from bridge.turns import Turns, beside_blender, in_main_thread
from tests.blender.rigs import context

pytestmark = pytest.mark.usefixtures("empty_file")
COUNT = 20


def frames() -> list[int]:
    """Go through some frames; where they were."""
    return [context.scene.frame_current for _ in iterate_frames(context, np.arange(1.0, COUNT + 1.0))]


def run(turns: Turns, seconds: float = 0.0) -> int:
    """Give it all the turns that it takes; how many."""
    count = 0
    while not turns.over:
        turns.go_on(seconds)
        count += 1
    return count


def test_it_hands_over_in_each_frame_where_there_is_no_time() -> None:
    turns = Turns(frames)
    assert run(turns) == COUNT + 1
    assert turns.result == list(range(1, COUNT + 1))
    assert turns.share == (COUNT - 1) / COUNT


def test_with_time_it_takes_one_turn() -> None:
    assert run(Turns(frames), 60.0) == 1


def test_it_stops_where_it_looks_and_what_it_changed_is_as_before() -> None:
    context.scene.frame_set(7)
    turns = Turns(frames)
    for _ in range(5):
        turns.go_on(0.0)
    assert context.scene.frame_current != 7
    turns.stop()
    run(turns)
    assert isinstance(turns.error, Stopped)
    assert context.scene.frame_current == 7


def test_stopping_waits_while_it_is_not_to_be_disturbed() -> None:
    done: list[str] = []

    def work() -> None:
        with undisturbed():
            check_stopped()
            done.append("written")
        check_stopped()
        done.append("measured")

    turns = Turns(work)
    turns.go_on(0.0)
    turns.stop()
    run(turns)
    assert done == ["written"]
    assert isinstance(turns.error, Stopped)


@pytest.mark.parametrize("stops", [False, True])
def test_blender_goes_on_beside_what_does_not_need_it(stops: bool) -> None:
    from threading import Event

    solving = Event()

    def work() -> int:
        with beside_blender():
            solving.wait(10.0)
            check_stopped(0.5)
        return context.scene.frame_current

    turns = Turns(work)
    turns.go_on(60.0)
    assert turns.beside
    context.scene.frame_set(3)
    if stops:
        turns.stop()
    solving.set()
    run(turns)
    assert (turns.result, turns.share) == (None if stops else 3, 0.5)
    assert isinstance(turns.error, Stopped) == stops


def test_ended_beside_blender_it_never_calls_it_again() -> None:
    from threading import Event

    solving, called = Event(), list[int]()

    def work() -> None:
        with beside_blender():
            solving.wait(10.0)
        called.append(context.scene.frame_current)

    turns = Turns(work)
    turns.go_on(60.0)
    turns.end()
    solving.set()
    turns.join(10.0)
    assert turns.over
    assert not called


def test_errors_of_what_is_done_in_the_main_thread_come_back() -> None:
    from threading import current_thread, main_thread

    where: list[Any] = []

    def fail() -> None:
        where.append(current_thread())
        raise ValueError("no")

    turns = Turns(lambda: in_main_thread(fail))
    run(turns)
    assert where == [main_thread()]
    assert isinstance(turns.error, ValueError)


def test_outside_of_it_nothing_is_handed_over() -> None:
    in_main_thread(lambda: bpy.context.scene.frame_set(2))
    with beside_blender():
        check_stopped()
    assert context.scene.frame_current == 2
