"""Feet as points that stand and swing: which of them are held, and how far steps go along with the body's path."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from .. import rotation
from ..body import SIDES, Roles
from ..body.anatomy import carrier_of
from ..goals import AnyGoal, Bone, Goal
from ..motion import Motion, forward_of
from ..pose import Pose
from ..rotation import Array
from ..skeleton import Skeleton
from .contacts import BodyPoint, Contacts, foot_points, runs
from .timed_pins import TimedPin, smootherstep

_JOINT: Final = (0.0, 0.0, 0.0)
_STANDS: Final = 1e-3  # of the size of the body: a foot that moves further in a motion does not stand in all of it


def feet_of(skeleton: Skeleton, roles: Roles) -> list[BodyPoint]:
    """Return the ankles of a human, the tips of the legs of an animal."""
    ankles = {name: roles.bone(name) for name in (f"foot.{side}" for side in SIDES)}
    found = [BodyPoint(name, bone, _JOINT) for name, bone in ankles.items() if bone >= 0]
    return found or list(foot_points(skeleton, roles))


def same_foot(roles: Roles, point: BodyPoint, sole: BodyPoint) -> bool:
    """Return whether a point stands where a point of the sole bears: it is of that foot, or of that bone."""
    side = sole.name[-2:]
    own = {roles.bone(f"foot{side}"), roles.bone(f"toe{side}")} if roles.humanoid else set[int]()
    return point.bone == sole.bone or point.bone in own


def other_feet(skeleton: Skeleton, roles: Roles, bone: int) -> list[BodyPoint]:
    """Return the feet but that of the leg that a bone is of."""
    feet = feet_of(skeleton, roles)
    below = [foot.bone for foot in feet if bone in skeleton.ancestors(foot.bone)]
    return [foot for foot in feet if below != [foot.bone] and foot.bone not in skeleton.ancestors(bone)]


def feet_but(skeleton: Skeleton, roles: Roles, ends: Iterable[int], asked: Iterable[Bone]) -> list[int]:
    """Return which `ends` are ends of legs, but none that is one of the bones `asked` for, or above one."""
    above = {bone for one in asked for bone in skeleton.ancestors(skeleton.index(one))}
    legs = {bone for foot in feet_of(skeleton, roles) for bone in skeleton.ancestors(foot.bone)}
    return [end for end in ends if end in legs - above]


def free_ankles(
    skeleton: Skeleton, roles: Roles, ends: Iterable[int], goals: Sequence[AnyGoal | TimedPin]
) -> list[int]:
    """Return the feet whose ankles have no limit, and `ends` are without one anyway, as under Blender's G.

    Where a goal places the body itself also feet with a place and a rotation that do not come before it: a limit there
    could only throw knees aside, or have both goals missed. And feet that a motion swings: a limit that holds in some
    frames and not in others would throw the body about.
    """
    carrier, feet = carrier_of(skeleton, roles), [foot.bone for foot in feet_of(skeleton, roles)]
    placed = [(_fixed_to(skeleton, goal.bone), goal) for goal in goals if _has(goal, "position")]
    first = min((goal.priority for bone, goal in placed if bone == carrier), default=np.inf)
    turned = [(bone, goal) for bone, goal in placed if _has(goal, "rotation")]
    free = {bone for bone, goal in turned if goal.priority >= first or _moved(goal) > _STANDS * skeleton.size}
    return [*ends, *free.intersection(feet)]


def _fixed_to(skeleton: Skeleton, bone: Bone) -> int:
    """Return the bone with whose turns a bone goes: itself, or of what does not turn the first above it that does."""
    above = skeleton.ancestors(skeleton.index(bone))
    return next((one for one in above if skeleton.movable[one]), above[0])


def _moved(goal: Any) -> float:
    """Return how far the place of a goal moves over the frames, along an axis."""
    return float(np.ptp(np.reshape(np.asarray(goal.position, float), (-1, 3)), axis=0).max())


def _has(goal: AnyGoal | TimedPin, what: str) -> bool:
    return getattr(goal, what, None) is not None


def plant_others(
    skeleton: Skeleton, roles: Roles, pose: Pose, ends: Mapping[int, Array], goals: Sequence[AnyGoal], priority: int
) -> list[Goal]:
    """Return goals that keep ends of legs where a pose (...) has them, in what no goal asks of them.

    With `ends` on IK, each with the point (3,) of it at its control, that is where Blender's G leaves feet while the
    body, a knee or a thigh moves. A foot that has a goal for its rotation alone, as one whose control has no keys of
    that, keeps the place of its point.
    """
    placed = [goal.bone for goal in goals if not (isinstance(goal, Goal) and goal.position is None)]
    stay = feet_but(skeleton, roles, ends, placed)
    unturned = feet_but(skeleton, roles, stay, [goal.bone for goal in goals])
    heads, turns = forward_of(skeleton, pose, stay)
    places = {end: heads[..., at, :] + rotation.rotate(turns[..., at, :], ends[end]) for at, end in enumerate(stay)}
    return [
        Goal(end, place, turns[..., at, :] if end in unturned else None, ends[end], priority=priority)
        for at, (end, place) in enumerate(places.items())
    ]


def hold_feet(
    skeleton: Skeleton, motion: Motion, feet: Sequence[BodyPoint], span: tuple[float, float], ways: Array
) -> list[TimedPin]:
    """Return pins that hold feet (n,) as the motion has them, moved by `ways` (n, F, 3), from a frame to a frame."""
    found: list[TimedPin] = []
    for foot, way in zip(feet, ways, strict=True):
        head, turn = (part[:, 0] for part in forward_of(skeleton, motion.pose, [foot.bone]))
        place = head + rotation.rotate(turn, foot.position) + way
        found.append(TimedPin(foot.bone, *span, place, turn, point=foot.position))
    return found


def shares_of_steps(roles: Roles, feet: Sequence[BodyPoint], contacts: Contacts, shares: Array) -> Array:
    """Return how far feet go along (n, F), where the body goes along by shares (F,): as one while they stand.

    That is as far as the body does meanwhile, on average; feet that also stand in frames without a share stay. What
    they are ahead of the body or behind it goes over to that of the next step while they swing. `contacts` are those
    of the soles.
    """
    soles, touching = contacts.points, contacts.touching
    ahead, places = np.zeros((len(feet), len(shares))), np.arange(-1, len(shares) + 1)
    for foot, found in zip(feet, ahead, strict=True):
        stands = touching[:, [same_foot(roles, foot, sole) for sole in soles]].any(axis=1)
        for first, last in runs(stands):
            meanwhile = shares[first : last + 1]
            found[first : last + 1] = (meanwhile.mean() if meanwhile.all() else 0.0) - meanwhile
        known = np.concatenate([[True], stands | (shares == 0.0), [True]])
        knots, values = places[known], np.concatenate([[0.0], found, [0.0]])[known]
        at = np.interp(places[1:-1], knots, np.arange(len(knots)))
        before = np.minimum(at.astype(int), len(knots) - 2)
        found[:] = values[before] + (values[before + 1] - values[before]) * smootherstep(at - before)
    return shares + ahead
