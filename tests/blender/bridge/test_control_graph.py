"""Which controls lead which parts of a driven body."""

from typing import Any

from edits.info import describe


def test_the_controls_are_those_that_an_animator_keys(human: Any) -> None:
    controls = describe(human)["controls"]
    assert controls["hips"] == "torso"
    assert controls["head"] == "head"
    for side in "LR":
        for part in ("upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe"):
            assert controls[f"{part}.{side}"] == f"{part}_fk.{side}"
        assert controls[f"shoulder.{side}"] == f"shoulder.{side}"
        assert controls[f"index.{side}"] == [f"f_index.0{joint}.{side}" for joint in (1, 2, 3)]
