"""What a user says about the parts of a body."""

import pytest

from core import CoreError
from core.body import find_roles
from core.body.corrections import correct_roles, turn_roles
from tests.core.body.rigs import STRAIGHT, body
from tests.core.rigs import skeleton_of


@pytest.mark.parametrize("chest", ["said", "found"])
def test_arms_and_legs_that_are_swapped_in_a_mapping_are_refused(chest: str) -> None:
    skeleton, roles = body()
    other = dict(zip(("thigh", "shin", "foot", "upper_arm", "forearm", "hand"),
                     ("upper_arm", "forearm", "hand", "thigh", "shin", "foot"), strict=True))  # fmt: skip
    limbs = {skeleton.index(f"{part}.{side}"): f"{role}.{side}" for part, role in other.items() for side in "LR"}
    trunk = {skeleton.index(name): "spine" for name in ("spine", "chest")} if chest == "said" else {}
    with pytest.raises(CoreError, match=r'"upper_arm.L" cannot be "thigh.L": it is parented to "chest".* swapped'):
        correct_roles(skeleton, roles, {skeleton.index("hips"): "hips", **trunk, **limbs})
    right = {bone: skeleton.names[bone] for bone in limbs}
    assert correct_roles(skeleton, roles, right).bones == roles.bones


def test_odd_trees_that_are_whole_may_be_mapped() -> None:
    # legs that hang on what hangs on the chest, the root: hips come last
    rows = [("chest", None, (0, 0, 1.25), (0, 0, 1.06)), ("spine", "chest", (0, 0, 1.06), (0, 0, 0.95)),
            ("hips", "spine", (0, 0, 0.95), (0, 0, 0.9))]  # fmt: skip
    rows += [row for row in STRAIGHT if row[0] not in ("chest", "spine", "hips")]
    skeleton = skeleton_of(rows)
    said = {bone: name.replace("clavicle", "shoulder") for bone, name in enumerate(skeleton.names)}
    said[skeleton.index("chest")] = "spine"
    assert correct_roles(skeleton, find_roles(skeleton), said).bone("thigh.L") == skeleton.index("thigh.L")


def test_said_parts_make_a_body_where_none_was_found() -> None:
    _, roles = body()
    lost = skeleton_of(STRAIGHT)
    nothing = find_roles(skeleton_of([("a", None, (0, 0, 0), (0, 0, 1))]))
    said = {lost.index(name): name.replace("clavicle", "shoulder") for name in lost.names if name != "chest"}
    said[lost.index("chest")] = "spine"
    found = correct_roles(lost, nothing, said)
    assert (found.humanoid, found.facing, found.up, found.rest) == (True, "-Y", "+Z", "T")
    assert found.bones == roles.bones
    assert found.missing == roles.missing


def test_a_body_that_is_said_to_look_the_other_way_has_its_sides_swapped() -> None:
    skeleton, roles = body()
    turned = turn_roles(roles, "+Y")
    assert (turned.facing, turned.up) == ("+Y", roles.up)
    assert turned.bone("hand.L") == skeleton.index("hand.R")
    assert turned.chain("spine") == roles.chain("spine")
    assert set(turned.confidence) == set(roles.confidence)
    assert turn_roles(turned, "-Y").bones == roles.bones
    assert turn_roles(roles, roles.facing).bones == roles.bones
    aside = turn_roles(roles, "+X")  # what is neither is another direction of the same body
    assert (aside.facing, aside.bones) == ("+X", roles.bones)
    with pytest.raises(CoreError, match=r'head points to \+Z cannot look along "-Z"'):
        turn_roles(roles, "-Z")
