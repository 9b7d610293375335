"""Training looks at people it does not learn from, and keeps what is best on them."""

from typing import Any

import pytest

from benchmarks.keypoints.validation import SUBJECTS, Validation, say

MEASURED = {"8", "10", "11", "29", "94"}  # at the end, by python -m benchmarks.keypoints


def test_the_state_with_the_least_mean_of_the_subjects_is_kept() -> None:
    validation: Validation[float, str] = Validation({"few": [1.0], "many": [3.0, 5.0, 7.0]})
    for step, (slope, state) in enumerate([(2.0, "first"), (1.0, "second"), (4.0, "third")], start=1):
        losses = validation.look(step, lambda one, by=slope: by * one, lambda name=state: name)
        assert losses == {"few": slope, "many": 5.0 * slope}
    assert (validation.best, validation.step, validation.least) == ("second", 2, 3.0)


def test_a_subject_counts_as_much_as_one_with_more_frames() -> None:
    validation: Validation[float, str] = Validation({"few": [4.0], "many": [1.0] * 9})
    validation.look(1, float, lambda: "")
    assert validation.least == 2.5


def test_each_subject_is_said_with_its_loss() -> None:
    assert say({"13": 0.12345, "16": 1.0}) == "13: 0.1235  16: 1.0000"


@pytest.mark.parametrize("batches", [{}, {"13": [1.0], "16": []}])
def test_a_subject_without_frames_is_refused(batches: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="No frames of subject"):
        Validation(batches)


def test_nobody_is_validated_on_and_measured_on_at_the_end() -> None:
    assert not MEASURED & {*SUBJECTS}
