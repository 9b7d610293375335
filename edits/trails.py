"""Trails: where points of a body are at other frames, as arrays in the world."""

from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Final

import numpy as np

from .. import bridge
from ..bridge.armature import read_bones
from ..bridge.motion import SAME_FRAME
from ..bridge.other_frames import evaluating_at
from ..core import CoreError, Motion, Pose, Skeleton
from ..core.body import SIDES, Roles
from ..core.editing.contacts import BodyPoint, find_contacts_at, foot_points
from ..core.editing.footsteps import feet_of, same_foot
from ..core.rotation import Array, lengths
from ..core.skeleton import Flags
from .ghosts import key_frames, scene_frames, selected_bones

_JOINTS: Final[dict[str, tuple[str, ...]]] = {
    "HIPS": ("hips",),
    "HEAD": ("head",),
    "HANDS": tuple(f"hand.{side}" for side in SIDES),
}
_LIMBS: Final = {"HIPS": "hips", "HEAD": "head"}  # of animals
_JOINT: Final = (0.0, 0.0, 0.0)
_TIE: Final = 1.5  # pixels within which dots count as one place on screen


@dataclass(frozen=True, eq=False)
class Traced:
    """Points of a body that are traced.

    points   (T,) which have a trail
    soles    (P,) which may bear on the ground
    bears    (T, P) whether a point stands where one of the soles bears
    size     of the skeleton
    """

    points: tuple[BodyPoint, ...]
    soles: tuple[BodyPoint, ...]
    bears: Flags
    size: float


@dataclass(frozen=True, eq=False)
class Trail:
    """The positions (F, 3) of a point of a bone in the world at `frames` (F,).

    keyed  (F,) whether bones, or the armature object, have keys there
    bears  (F,) whether the point stands on the ground
    """

    bone: str
    point: tuple[float, float, float]
    frames: Array
    positions: Array
    keyed: Flags
    bears: Flags


def trail_frames(context: Any, armature: Any) -> list[float]:
    """Return the frames, in order, in which the settings of an armature show trails: those that have keys around."""
    frames, now = scene_frames(context.scene), context.scene.frame_current_final
    with suppress(CoreError):  # constraints alone may move it
        first, last = bridge.keyed_range(armature)
        frames = frames[(frames >= first) & (frames <= last)]
    if armature.poise_trail_range == "AROUND":
        frames = frames[np.abs(frames - now) <= armature.poise_trail_around]
    return frames.tolist()


def find_traced(armature: Any) -> Traced:
    """Return the points that the settings of an armature trace. Raises CoreError for contradictory roles."""
    skeleton = Skeleton(**read_bones(armature))
    roles = bridge.read_roles(armature, skeleton)
    if armature.poise_trail_bones == "SELECTED":
        bones = np.flatnonzero(selected_bones(armature)).tolist()
        return _with_soles(skeleton, roles, [BodyPoint(skeleton.names[bone], bone, _JOINT) for bone in bones])
    found = {part: _joints(skeleton, roles, part) for part in _JOINTS} | {"FEET": feet_of(skeleton, roles)}
    if not any(found.values()):
        found = _ends(skeleton)
    parts = armature.poise_trail_parts
    return _with_soles(skeleton, roles, [point for part, points in found.items() if part in parts for point in points])


def read_trail(context: Any, armature: Any, bone: str, point: Sequence[float] = _JOINT) -> Trail:
    """Return the trail of a point of a bone over all frames in which the armature has keys. Raises CoreError."""
    skeleton, (first, last) = Skeleton(**read_bones(armature)), bridge.keyed_range(armature)
    x, y, z = point
    traced = _with_soles(
        skeleton, bridge.read_roles(armature, skeleton), [BodyPoint(bone, skeleton.index(bone), (x, y, z))]
    )
    known = read_positions(context, armature, traced, np.arange(first, last + 1.0).tolist())
    return make_trails(context, armature, traced, known)[0]


def _with_soles(skeleton: Skeleton, roles: Roles, points: Sequence[BodyPoint]) -> Traced:
    """Return points to be traced with the soles that tell where they stand."""
    feet = foot_points(skeleton, roles)
    soles = tuple(sole for sole in feet if any(same_foot(roles, point, sole) for point in points))
    bears = np.array([[same_foot(roles, point, sole) for sole in soles] for point in points], bool)
    return Traced(tuple(points), soles, bears.reshape(len(points), len(soles)), skeleton.size)


def _joints(skeleton: Skeleton, roles: Roles, part: str) -> list[BodyPoint]:
    """Return the joints of a part of the body."""
    found = {name: roles.bone(name) for name in _JOINTS[part]}
    if not roles.humanoid:
        limb = roles.limbs.get(_LIMBS.get(part, ""), ())
        found = {part.lower(): bone for bone in limb[:1]}
    return [BodyPoint(name, bone, _JOINT) for name, bone in found.items() if bone >= 0]


def _ends(skeleton: Skeleton) -> dict[str, list[BodyPoint]]:
    """Return what stands for hips and feet of a body without known parts: the roots, and the tips of chains."""
    tips = np.setdiff1d(np.arange(len(skeleton)), skeleton.parents).tolist()
    return {
        "HIPS": [
            BodyPoint(skeleton.names[bone], bone, _JOINT) for bone in np.flatnonzero(skeleton.parents < 0).tolist()
        ],
        "FEET": [BodyPoint(skeleton.names[bone], bone, (0.0, float(skeleton.lengths[bone]), 0.0)) for bone in tips],
    }


def read_positions(
    context: Any, armature: Any, traced: Traced, frames: Sequence[float], seconds: float = np.inf
) -> dict[float, Array]:
    """Return the positions (T + P, 3) in the world of points and soles by frame; the scene stays at its own frame.

    Frames for which `seconds` do not suffice are left out, but not the first one.
    """
    points = [*traced.points, *traced.soles]
    bones = np.array([point.bone for point in points], int)
    local = np.array([(*point.position, 1.0) for point in points]).reshape(len(points), 4)
    found: dict[float, Array] = {}
    until = perf_counter() + seconds
    with closing(evaluating_at(context, [armature], frames)) as graphs:
        for frame, graph in zip(frames, graphs, strict=True):
            evaluated = armature.evaluated_get(graph)
            own = (bridge.read_matrices(evaluated)[bones] @ local[..., None])[..., 0]
            found[frame] = bridge.armature_to_world(bridge.world_matrix(evaluated), own)[0]
            if perf_counter() > until:
                break
    return found


def make_trails(context: Any, armature: Any, traced: Traced, known: dict[float, Array]) -> list[Trail]:
    """Return the trails of points, and their contacts, in the frames in which it is known where they are."""
    render, count, at = context.scene.render, len(traced.points), np.array(sorted(known))
    positions = np.array([known[frame] for frame in at.tolist()]).reshape(len(at), count + len(traced.soles), 3)
    bears = np.zeros((len(at), count), bool)
    if bears.size and len(traced.soles):
        empty = Pose(np.zeros((len(at), 0, 4)), np.zeros((len(at), 0, 3)))
        motion = Motion(empty, at, render.fps / render.fps_base)
        size = traced.size * float(bridge.length_scale(bridge.world_matrix(armature)))
        touching = find_contacts_at(positions[:, count:], motion, traced.soles, size).touching
        bears = (touching[:, None] & traced.bears).any(axis=-1)
    keys = key_frames(armature, np.ones(len(armature.pose.bones), bool))
    keyed = np.abs(at[:, None] - keys).min(axis=1, initial=np.inf) < SAME_FRAME
    names = armature.pose.bones.keys()
    return [
        Trail(names[point.bone], point.position, at, positions[:, place], keyed, bears[:, place])
        for place, point in enumerate(traced.points)
    ]


def nearest_dot(
    trails: Sequence[Trail], view: bridge.View, mouse: tuple[float, float], now: float
) -> tuple[float, Trail, int] | None:
    """Return how many pixels the nearest dot of trails is away from a pixel, its trail and its place there, or None.

    Of dots in one place on screen, that nearest to the present frame is returned.
    """
    dots = [(trail, place) for trail in trails for place in range(len(trail.frames))]
    if not dots:
        return None
    away = lengths(view.pixels(np.concatenate([trail.positions for trail in trails])) - np.array(mouse))
    away[np.isnan(away)] = np.inf  # behind the viewer
    age = np.abs(np.concatenate([trail.frames for trail in trails]) - now)
    chosen = int(np.argmin(np.where(away <= away.min() + _TIE, age, np.inf)))
    return (float(away[chosen]), *dots[chosen])
