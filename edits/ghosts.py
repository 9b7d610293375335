"""Ghosts: the poses at frames before and after the present one, as arrays in the world."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import bridge
from ..bridge.channels import CHANNELS, flags, gather
from ..bridge.driven import split_path
from ..bridge.motion import SAME_FRAME, active_curves
from ..bridge.other_frames import evaluating_at
from ..bridge.shapes import placed
from ..core.rotation import Array, lengths
from ..core.skeleton import Flags, Indices
from .shown import deforming


@dataclass(frozen=True, eq=False)
class Ghost:
    """The pose at a frame: points (n, 3) in the world, and corners (m, 2) of lines, or (m, 3) of triangles.

    normals: unit vectors (n, 3) at the points of triangles
    """

    frame: float
    points: Array
    corners: NDArray[np.int32]
    normals: Array


def ghost_frames(context: Any, armature: Any) -> list[float]:
    """Return the frames, in order, in which the settings of an armature show ghosts."""
    keys = armature.poise_ghost_frames == "KEYS"
    frames = key_frames(armature, drawn_bones(armature)) if keys else scene_frames(context.scene)
    away, step = frames - context.scene.frame_current_final, armature.poise_ghost_step
    before = frames[away < -SAME_FRAME][::-1][step - 1 :: step][: armature.poise_ghosts_before]
    after = frames[away > SAME_FRAME][step - 1 :: step][: armature.poise_ghosts_after]
    return [*before[::-1].tolist(), *after.tolist()]


def scene_frames(scene: Any) -> Array:
    """Return the frames (F,) of the preview range of a scene, or of its range."""
    if scene.use_preview_range:
        return np.arange(scene.frame_preview_start, scene.frame_preview_end + 1.0)
    return np.arange(scene.frame_start, scene.frame_end + 1.0)


def drawn_bones(armature: Any) -> Flags:
    """Return which bones (J,) the settings of an armature show: the selected ones or, by default, all."""
    if armature.poise_ghost_bones == "ALL":
        return np.ones(len(armature.pose.bones), bool)
    return selected_bones(armature)


def selected_bones(armature: Any) -> Flags:
    """Return which bones (J,) are selected."""
    bones: Any = armature.pose.bones
    owners = bones if len(bones) and hasattr(bones[0], "select") else armature.data.bones  # Blender 5 has moved it
    return flags(owners, "select", 1)[:, 0]


def key_frames(armature: Any, bones: Flags) -> Array:
    """Return the frames (F,), in order, in which some bones (J,) or the armature object itself have keys."""
    names = {bone.name for bone, counts in zip(armature.pose.bones, bones.tolist(), strict=True) if counts}
    frames = [np.zeros(0)]
    for curve in active_curves(armature):
        path = split_path(curve.data_path)
        if (path[0] in names and path[1] in CHANNELS) if path else curve.data_path in CHANNELS:
            frames.append(gather(curve.keyframe_points, "co", 2)[:, 0])
    found = np.unique(np.concatenate(frames))
    return found[np.diff(found, prepend=-np.inf) > SAME_FRAME]


def read_ghosts(context: Any, armature: Any, frames: Sequence[float]) -> list[Ghost]:
    """Return the ghosts at some frames, as lines or meshes; the scene stays at its own frame."""
    deform = flags(armature.data.bones, "use_deform", 1)[:, 0]
    bones = deforming(np.flatnonzero(drawn_bones(armature)), deform)
    meshes = list(_deformed_meshes(context, armature)) if armature.poise_ghost_shape == "MESH" else []
    found: list[Ghost] = []
    for frame, graph in zip(frames, evaluating_at(context, [armature, *meshes], frames), strict=True):
        evaluated = [one.evaluated_get(graph) for one in (armature, *meshes)]
        found.append(
            _read_meshes(frame, evaluated[1:], found[-1] if found else None) if meshes
            else _read_lines(frame, evaluated[0], bones)
        )  # fmt: skip
    return found


def nearest_ghost(ghosts: Sequence[Ghost], view: bridge.View, mouse: tuple[float, float]) -> tuple[float, Ghost] | None:
    """Return how many pixels the nearest ghost's lines or edges are away from a pixel, and that ghost, or None."""
    found: list[tuple[float, Ghost]] = []
    for ghost in ghosts:
        lines = ghost.points[np.stack([ghost.corners, np.roll(ghost.corners, -1, axis=1)], axis=-1)].reshape(-1, 2, 3)
        away = view.to_lines(mouse, lines)[1]
        found.append((float(np.min(away, initial=np.inf, where=~np.isnan(away))), ghost))
    return min(found, key=lambda one: one[0], default=None)


def _deformed_meshes(context: Any, armature: Any) -> Iterator[Any]:
    """Yield the visible meshes that an armature deforms or carries."""
    for one in context.visible_objects:
        bound = any(modifier.type == "ARMATURE" and modifier.object == armature for modifier in one.modifiers)
        if one.type == "MESH" and (bound or one.parent == armature):
            yield one


def _read_lines(frame: float, evaluated: Any, bones: Indices) -> Ghost:
    """Return lines from heads to tails of some bones of an evaluated armature."""
    ends = np.stack([gather(evaluated.pose.bones, end, 3)[bones] for end in ("head", "tail")], axis=1)
    points = placed(bridge.world_matrix(evaluated), ends.reshape(-1, 3))
    return Ghost(frame, points, np.arange(len(points), dtype=np.int32).reshape(-1, 2), np.zeros((0, 3)))


def _read_meshes(frame: float, evaluated: Sequence[Any], last: Ghost | None) -> Ghost:
    """Return the surfaces of evaluated objects; the triangles are those of the last ghost if it has as many points."""
    worlds, meshes = [bridge.world_matrix(one) for one in evaluated], [one.to_mesh() for one in evaluated]
    parts = [placed(world, gather(mesh.vertices, "co", 3)) for mesh, world in zip(meshes, worlds, strict=True)]
    firsts, points = np.cumsum([0, *map(len, parts)]), np.concatenate(parts)
    if last is not None and len(last.points) == firsts[-1]:
        corners = last.corners
    else:  # which takes longest
        corners = np.concatenate([
            gather(mesh.loop_triangles, "vertices", 3).astype(np.int32) + first
            for mesh, first in zip(meshes, firsts[:-1].astype(np.int32), strict=True)
        ])  # fmt: skip
    for one in evaluated:
        one.to_mesh_clear()
    return Ghost(frame, points, corners, _normals(points, corners))


def _normals(points: Array, corners: NDArray[np.int32]) -> Array:
    """Return unit normals (n, 3) of points: Blender takes four times as long for those of its meshes."""
    one, two, three = points[corners.T]
    faces = np.cross(two - one, three - one)
    sums = [np.bincount(corners.ravel(), np.repeat(column, 3), len(points)) for column in faces.T]
    normals = np.stack(sums, axis=1)
    return normals / np.maximum(lengths(normals)[:, None], np.finfo(float).tiny)
