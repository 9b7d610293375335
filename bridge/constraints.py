"""How constraints of bones act, as their settings are now."""

from collections.abc import Callable
from typing import Any


def in_force(constraint: Any) -> bool:
    """Return whether a constraint acts now."""
    return not constraint.mute and constraint.influence > 0.0


def aims(constraint: Any) -> bool:
    """Return whether IK turns a bone alone, towards its target."""
    return constraint.type == "IK" and constraint.chain_count == 1


def limits_place(constraint: Any) -> bool:
    """Return whether a bone is where its own channels have it, as far as a constraint allows, and is turned by them."""
    kind = constraint.type
    shrinks = kind == "SHRINKWRAP" and constraint.wrap_mode != "ON_SURFACE" and not constraint.use_track_normal
    floors = kind == "FLOOR" and not constraint.use_rotation
    return constraint.influence == 1.0 and (kind in {"LIMIT_LOCATION", "LIMIT_DISTANCE"} or shrinks or floors)


def place_limits(bone: Any) -> list[str]:
    """Return the names of the constraints that limit where a bone is."""
    return [one.name for one in bone.constraints if in_force(one) and limits_place(one)]


def adds_turn(constraint: Any) -> bool:
    """Return whether a constraint adds a rotation to a bone's own, which acts fully."""
    return constraint.type == "COPY_ROTATION" and constraint.mix_mode != "REPLACE"


def adds_place(constraint: Any) -> bool:
    """Return whether a constraint adds a location to a bone's own, which acts fully."""
    if constraint.type == "TRANSFORM":
        return constraint.map_to == "LOCATION" and constraint.mix_mode == "ADD"
    return constraint.type == "COPY_LOCATION" and constraint.use_offset


def moves_itself(bone: Any) -> bool:
    """Return whether constraints leave a bone's own location to act fully, as those of many faces."""
    free = not (bone.bone.use_connect or any(bone.lock_location))
    return free and _all_act(bone, lambda one: adds_place(one) or adds_turn(one) or one.type == "COPY_SCALE")


def poses_itself(bone: Any, turned: bool) -> bool:
    """Return whether a bone has its own channels on whatever it hangs on by Child Of constraints.

    `turned`: also where constraints add rotations to them.
    """
    return _all_act(bone, lambda one: one.type == "CHILD_OF" or (turned and adds_turn(one)))


def turns_itself(bone: Any) -> bool:
    """Return whether constraints add rotations to a bone's own, which acts fully."""
    return _all_act(bone, adds_turn)


def _all_act(bone: Any, so: Callable[[Any], bool]) -> bool:
    """Return whether constraints act on a bone, and all of them in one way."""
    acting = [one for one in bone.constraints if in_force(one)]
    return bool(acting) and all(map(so, acting))


def copied_axes(bone: Any, name: str) -> tuple[bool, bool, bool] | None:
    """Return about which of its axes a bone turns as another one (name) does before it turns itself; None if not."""
    return next(
        (
            (one.use_x, one.use_y, one.use_z)
            for one in bone.constraints
            if in_force(one) and one.influence == 1.0
            and one.type == "COPY_ROTATION" and one.subtarget == name and one.mix_mode == "BEFORE"
        ),
        None,
    )  # fmt: skip


def turns_in_part(constraint: Any) -> bool:
    """Return whether a bone takes over the rotation of the target but for an axis, or negated about one.

    One without that about Y alone follows the target but for its twist.
    """
    if constraint.type != "COPY_ROTATION" or constraint.mix_mode != "REPLACE":
        return False
    inverted = constraint.invert_x or constraint.invert_y or constraint.invert_z
    return inverted or not (constraint.use_x and constraint.use_z)


def turns_locally(constraint: Any) -> bool:
    """Return whether a bone takes over the rotation of the target's channels, on whatever each of them hangs."""
    return replaces_turn(constraint) and constraint.owner_space == constraint.target_space == "LOCAL"


def replaces(constraint: Any) -> bool:
    """Return whether a bone has the transform of the target alone, whatever is before the constraint."""
    return constraint.type == "COPY_TRANSFORMS" and constraint.mix_mode == "REPLACE" and constraint.influence == 1.0


def replaces_place(constraint: Any) -> bool:
    """Return whether a bone has the place of the target alone."""
    if constraint.type != "COPY_LOCATION" or constraint.use_offset or constraint.invert_x:
        return False
    return constraint.influence == 1.0 and constraint.use_x and constraint.use_y and constraint.use_z


def takes_back(constraint: Any, bone: Any) -> bool:
    """Return whether a bone stays where it is when the location of its parent changes: that is a pivot of rotations."""
    if constraint.type != "COPY_LOCATION" or bone.parent is None or constraint.subtarget != bone.parent.name:
        return False
    local = constraint.owner_space == constraint.target_space == "LOCAL" and constraint.influence == 1.0
    axes = all(getattr(constraint, f"{kind}_{axis}") for kind in ("use", "invert") for axis in "xyz")
    return axes and local and not constraint.mute


def replaces_turn(constraint: Any) -> bool:
    """Return whether a bone has the rotation of the target alone, however constraints before it turn the bone."""
    acts = constraint.type == "COPY_ROTATION" and constraint.mix_mode == "REPLACE" and constraint.influence == 1.0
    return acts and constraint.use_x and constraint.use_y and constraint.use_z
