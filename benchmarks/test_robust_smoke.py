"""That spoilt files and packets are read or refused, soon and in little memory; the fuzzer sees what is not."""

import sys
from pathlib import Path

import pytest

from benchmarks.motion.clips import CLIPS
from benchmarks.robust.corpus import corpus
from benchmarks.robust.fuzz import Child, inputs
from benchmarks.robust.limits import judge, of_clips, of_numbers, of_packets, of_recordings, of_sources
from benchmarks.robust.readers import MEMORY
from benchmarks.smoke import printed_by, start


def test_spoilt_files_and_packets_of_every_kind_are_read_or_refused() -> None:
    done = start("benchmarks.robust.fuzz", "--seconds", "25", OPENBLAS_NUM_THREADS="1")
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_is_at_a_limit_is_taken_and_what_is_beyond_refused(tmp_path: Path) -> None:
    limits = [*of_numbers(), *of_sources(tmp_path), *of_recordings(), *of_clips(), *of_packets()]
    wrong = {limit.name: fault for limit in limits if (fault := judge(limit)[0])}
    assert not wrong


def test_the_same_seed_spoils_in_the_same_way() -> None:
    kinds, seeds = [".npz", "job"], corpus()
    some, same, others = (
        [data for _, data in zip(range(40), inputs(kinds, seeds, seed), strict=False)] for seed in (3, 3, 4)
    )
    assert some == same
    assert some != others


def test_tracebacks_and_memory_are_found(tmp_path: Path) -> None:
    """By readers that are wrong: of a process, as the fuzzer starts it."""
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "import os, time, benchmarks.robust.readers as r\n"
        "r.readers = lambda folder: {'bad': lambda data: 1 / 0, 'large': lambda data: bytes(10**9), 'good': len,\n"
        "                            'slow': lambda data: time.sleep(60), 'dead': lambda data: os._exit(7)}\n"
        "r.main()\n"
    )
    child = Child(False, script=wrong)
    assert child.read("good", b"abc")[0] == "read"
    outcome, words, *_ = child.read("bad", b"")
    assert outcome == "fault"
    assert "ZeroDivisionError" in words
    outcome, words, _, memory = child.read("large", b"")
    assert "MemoryError" in words or memory > MEMORY  # where the system does not hold it to that
    assert child.read("dead", b"")[:2] == ("ended", "the process ended with 7")
    child = Child(False, script=wrong)
    child.seconds = 0.5
    assert child.read("slow", b"")[0] == "slow"


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of a process is read as Linux tells it")
def test_memory_is_measured() -> None:
    assert "bake              30" in printed_by("benchmarks.robust.memory", "--frames", "30", "--verbs", "bake")


@pytest.mark.skipif(not CLIPS.is_dir(), reason="the larger test data (../shared/data) is not here")
def test_feet_are_measured() -> None:
    assert "07_12           drift" in printed_by("benchmarks.robust.skate", "--clips", "07_12", "--ways", "drift")
    rig = "--rigs", "scripted/mpfb_mixamo.blend", "--clips", "07_12"
    assert "retarget: 0 of 1 deeper than 2%" in printed_by("benchmarks.robust.floor", "--parts", "retarget", *rig)
    assert "generate: at most" in printed_by("benchmarks.robust.grounds", "--parts", "generate", *rig)


@pytest.mark.skipif(not CLIPS.is_dir(), reason="the larger test data (../shared/data) is not here")
def test_travel_is_measured() -> None:
    assert "the most" in printed_by("benchmarks.robust.travel", "--clips", "07_12")


def test_parts_of_bodies_are_measured() -> None:
    said = printed_by("benchmarks.robust.roles", "--only", "dog")
    assert "| animals | apart |" in said
    assert "taken for the other kind of body: none" in said


def test_a_walk_is_brought_to_another_animal() -> None:
    said = printed_by("benchmarks.robust.animals", "--rigs", "cat pack")
    assert "| cat pack | 93.9% | 0.07 | 0.0% | 1.000 |" in said
