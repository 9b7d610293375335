"""Find the parts of a body in a skeleton: by names, and by shape where names are unknown or misleading.

`names` reads the bone names; `tree` links the bones that may be parts as a body is linked; `stance` finds what a body
stands on; `shape` finds two legs and two arms by proportions, `incomplete` a body that lacks a limb. `human` combines
names and shape, `trunk` and `fingers` add the other parts, `creature` the limbs of other bodies, `rest_pose` the facing
and the kind of rest pose.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from ...errors import CoreError
from ...skeleton import Flags, Skeleton
from ..axes import axis_vector, nearest_axis
from ..roles import BODY, SEGMENTS, SIDES, Bones, Roles
from .creature import find_creature, find_extras, find_pairs, stands_on_four
from .fingers import named_fingers, shaped_fingers
from .human import BY_NAME, HumanLimbs, complete_limbs, find_limbs, named_limbs
from .incomplete import find_incomplete
from .names import NameReading, read_names
from .rest_pose import is_folded, rest_kind
from .shape import BodyShape, LimbPair, find_shape
from .tree import BodyTree, build_tree
from .trunk import Trunk, find_trunk

_SHORT_HEAD: Final = 0.35  # of the trunk's length: least extent beyond the shoulders of a head without a neck
_HIGH_HIPS: Final = 0.12  # of the trunk's length: largest height above the hip joints of hips that carry no legs
_GUESS: Final = 0.4  # confidence


def find_roles(skeleton: Skeleton, deform: Flags | None = None, use_names: bool = True) -> Roles:
    """Return the roles of the bones of any skeleton.

    `deform` (J,) marks the bones that move skin, None for all. With `use_names` False only the shape counts. Raises
    CoreError if `deform` has another shape.
    """
    flags = np.ones(len(skeleton), bool) if deform is None else np.asarray(deform, bool)
    if flags.shape != (len(skeleton),):
        raise CoreError(f"deform needs one flag for each of the {len(skeleton)} bones, not {flags.shape}.")
    readings = read_names(skeleton.names) if use_names else (NameReading(),) * len(skeleton)
    tree = build_tree(skeleton, flags, readings)
    pairs = find_pairs(tree)
    shape = _human_shape(tree, pairs)
    plain = tuple(NameReading(side=reading.side) for reading in readings)
    if plain != readings and not complete_limbs(tree, named_limbs(tree)):
        # if names form no limb but the shape is a body's, only the sides of the names count
        other = build_tree(skeleton, flags, plain)
        others = find_pairs(other)
        other_shape = _human_shape(other, others)
        if other_shape is not None:
            tree, shape, pairs = other, other_shape, others
    body = find_limbs(tree, shape)
    if complete_limbs(tree, named_limbs(tree)) and is_folded(skeleton):
        return Roles(False, {}, {}, {}, {}, (), "-Y", "+Z", "folded")
    return _creature(tree, pairs) if body is None else _humanoid(skeleton, tree, body)


def _human_shape(tree: BodyTree, pairs: Sequence[LimbPair]) -> BodyShape | None:
    """Return the shape of a human body, which may lack a part, or None."""
    return None if stands_on_four(tree, pairs) else find_shape(tree) or find_incomplete(tree)


def _humanoid(skeleton: Skeleton, tree: BodyTree, body: HumanLimbs) -> Roles:
    """Return the roles of a human body with these limbs."""
    up = body.up()
    trust = min(body.confidence.values())  # of parts without a side
    body.orient(up)
    left = body.left()
    bones: dict[str, Bones] = {}
    confidence: dict[str, float] = {}
    trunk = find_trunk(tree, body, up, left)
    if trunk is not None:
        bones |= {"hips": trunk.hips, "spine": trunk.spine}
        if trunk.head >= 0:
            bones |= {"neck": trunk.neck, "head": trunk.head}
            below = [trunk.hips] if body.upright else [leg[-1] for leg in body.chains("leg")]
            up = tree.heads[trunk.head] - tree.heads[below].mean(axis=0)
        confidence |= dict.fromkeys(bones, trust)
        _doubt(skeleton, tree, body, trunk, confidence)
    up_axis = nearest_axis(up)
    up = axis_vector(up_axis)
    forward = np.cross(left, up)

    bones |= {role: body.limbs[role] for role in BODY if role in body.limbs}
    confidence |= body.confidence
    for side in SIDES:
        for role, found in _fingers(tree, body, side).items():
            bones[role] = found
            confidence[role] = min(body.confidence[f"forearm.{side}"], BY_NAME)
    limbs: dict[str, tuple[int, ...]] = {}
    if trunk is not None and body.of("upper_arm"):
        taken = {bone for found in bones.values() for bone in ((found,) if isinstance(found, int) else found)}
        extras = find_extras(tree, taken, trunk, body.of("upper_arm")[0], (up, forward, left))
        limbs = extras.bones
        confidence |= extras.confidence
    missing = tuple(role for role in BODY if role not in bones)
    rest = rest_kind(up, body.joints("arm", 2), body.joints("leg"))
    return Roles(True, bones, _twists(tree, body), limbs, confidence, missing, nearest_axis(forward), up_axis, rest)


def _doubt(skeleton: Skeleton, tree: BodyTree, body: HumanLimbs, trunk: Trunk, confidence: dict[str, float]) -> None:
    """Lower the confidence of a head that may be a neck without head, and of hips that may be a spine without hips."""
    thighs, arms = body.of("thigh"), body.of("upper_arm")
    if len(thighs) < 2 or not arms:
        return
    legs, shoulders = (tree.heads[bones].mean(axis=0) for bones in (thighs, arms))
    rise = shoulders - legs
    square = max(float(rise @ rise), np.finfo(float).tiny)
    if trunk.head >= 0 and not trunk.neck and tree.readings[trunk.head].part != "head":
        beyond = [bone for bone in tree.members if tree.in_branches(bone, (trunk.head,))]
        if float(np.max((tree.tips[beyond] - shoulders) @ rise)) < _SHORT_HEAD * square:
            confidence["head"] = min(confidence["head"], _GUESS)
    carried = any(trunk.hips in skeleton.ancestors(thigh) for thigh in thighs)
    if not carried and float((tree.heads[trunk.hips] - legs) @ rise) > _HIGH_HIPS * square:
        confidence["hips"] = min(confidence["hips"], _GUESS)


def _twists(tree: BodyTree, body: HumanLimbs) -> dict[str, tuple[int, ...]]:
    """Return the bones between the first bones of two segments, by role of the upper one."""
    found: dict[str, tuple[int, ...]] = {}
    for role, after in SEGMENTS:
        upper, lower = (body.limbs.get(name, -1) for name in (role, after))
        between = tree.path(upper, lower)[:-1] if upper >= 0 and lower >= 0 else []
        if between:
            found[role] = tuple(between)
    return found


def _fingers(tree: BodyTree, body: HumanLimbs, side: str) -> dict[str, Bones]:
    """Return the roles of the fingers and palm bones of one side."""
    forearm = body.limbs.get(f"forearm.{side}", -1)
    hand = body.limbs.get(f"hand.{side}", forearm)
    if hand < 0:
        return {}
    named_side = tree.readings[hand].side or side  # the character's left may be called right
    chains = named_fingers(tree, hand, named_side) or shaped_fingers(tree, hand, forearm)
    return _finger_roles(chains, side)


def _finger_roles(chains: dict[str, tuple[int, ...]], side: str) -> dict[str, Bones]:
    return {f"{part}.{side}": chain[0] if part.startswith("palm") else chain for part, chain in chains.items()}


def _creature(tree: BodyTree, pairs: Sequence[LimbPair]) -> Roles:
    """Return the limbs of a creature, or the named parts of a piece of a body, such as a single hand."""
    bones: dict[str, Bones] = {}
    named = named_limbs(tree)
    for side in SIDES:
        hand = named.get(f"hand.{side}", -1)
        fingers = named_fingers(tree, hand, side) if hand >= 0 and tree.parents[hand] < 0 else {}
        if fingers:
            bones |= {f"hand.{side}": hand} | _finger_roles(fingers, side)
    if bones:
        return Roles(False, bones, {}, {}, dict.fromkeys(bones, BY_NAME), (), "-Y", "+Z", "other")
    limbs = find_creature(tree, pairs)
    return Roles(False, {}, {}, limbs.bones, limbs.confidence, (), limbs.facing, limbs.up, "other")
