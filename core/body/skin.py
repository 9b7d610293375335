"""The skin of a body as points that go with its bones."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from .. import rotation
from ..rotation import Array, lengths
from ..skeleton import Indices, Skeleton
from .axes import unit

LEAST: Final = 1e-3  # smaller weights move no skin
_THICK: Final = 0.11  # radius of a finger without skin, of its length
_RINGS: Final = 24  # along a bone without skin, and over its end
_ROUND: Final = 48  # points of a ring


@dataclass(frozen=True, eq=False)
class Skin:
    """Points of the skin at rest: places (V, 3) in armature space, bones (V, K), and their weights (V, K), 1 in sum.

    triangles (m, 3) are those between points
    """

    places: Array
    bones: Indices
    weights: Array
    triangles: Indices = field(default_factory=lambda: np.zeros((0, 3), int))

    def filled(self, skeleton: Skeleton, step: float) -> tuple[Array, Indices, Array]:
        """Return the points, and others in the triangles, so that none is much further than `step` from the next.

        Where they are in the frames of their bones (n, K, 3), these bones (n, K), and their weights (n, K). The
        triangles stay flat in all poses, as Blender shows them.
        """
        rest = skeleton.rest_matrices[self.bones]
        local = np.linalg.solve(rest[..., :3], (self.places[:, None] - rest[..., 3])[..., None])[..., 0]
        sides = self.places[self.triangles] - self.places[self.triangles[:, (1, 2, 0)]]
        counts = np.ceil(lengths(sides).max(axis=1, initial=0.0) / step).astype(int)
        corners, shares = [np.repeat(np.arange(len(self.places))[:, None], 3, axis=1)], [np.eye(3)[[0] * len(local)]]
        for count in np.unique(counts).tolist():
            cells = np.argwhere(np.tri(count, dtype=bool)[::-1])  # two of their numbers have a sum below the count
            inside = (np.concatenate([cells, count - 1 - cells.sum(axis=1, keepdims=True)], axis=1) + 1.0 / 3.0) / count
            own = self.triangles[counts == count]
            corners.append(np.repeat(own, len(inside), axis=0))
            shares.append(np.tile(inside, (len(own), 1)))
        corner = np.concatenate(corners)
        weights: Array = np.concatenate(shares)[..., None] * self.weights[corner]
        flat = len(corner), -1
        return _joined(local[corner].reshape(*flat, 3), self.bones[corner].reshape(flat), weights.reshape(flat))


def _joined(local: Array, bones: Indices, weights: Array) -> tuple[Array, Indices, Array]:
    """Return points (n, K, 3) in the frames of bones (n, K) with weights (n, K), with each bone once a point."""
    bones = np.where(weights > 0.0, bones, bones[np.arange(len(bones)), weights.argmax(axis=1)][:, None])
    order = np.argsort(bones, axis=1, kind="stable")
    bones, weights = np.take_along_axis(bones, order, axis=1), np.take_along_axis(weights, order, axis=1)
    local = np.take_along_axis(local, order[..., None], axis=1)
    place = np.cumsum(np.diff(bones, axis=1, prepend=bones[:, :1]) != 0, axis=1)
    rows, width = np.arange(len(bones))[:, None], int(place.max(initial=0)) + 1
    whole, found = np.zeros((len(bones), width)), np.zeros((len(bones), width, 3))
    own = np.zeros((len(bones), width), int)
    np.add.at(whole, (rows, place), weights)
    np.add.at(found, (rows, place), weights[..., None] * local)
    own[rows, place] = bones
    return found / np.maximum(whole, np.finfo(float).tiny)[..., None], own, whole


def rest_skin(
    skeleton: Skeleton, matrices: Array, places: Array, bones: Indices, weights: Array, triangles: Indices
) -> Skin:
    """Return the skin of which points are at `places` (V, 3) where its bones have these matrices (J, 3, 4)."""
    rest = skeleton.rest_matrices
    turned = matrices[..., :3] @ np.linalg.inv(rest[..., :3])
    moved = matrices[..., 3] - (turned @ rest[..., 3:])[..., 0]
    blended = (weights[..., None, None] * turned[bones]).sum(axis=1)
    away = places - (weights[..., None] * moved[bones]).sum(axis=1)
    return Skin(np.linalg.solve(blended, away[..., None])[..., 0], bones, weights, triangles)


def with_round_fingers(skeleton: Skeleton, chains: Iterable[Sequence[int]], skin: Skin) -> Skin:
    """Return the skin with points round the bones of those fingers (chains of bones) that have none."""
    skinned = {*skin.bones[skin.weights > LEAST].tolist()}
    places, bones = [skin.places], list[int]()
    angles = np.linspace(0.0, 2.0 * np.pi, _ROUND, endpoint=False)[:, None]
    for chain in chains:
        if skinned.intersection(chain):
            continue
        heads = skeleton.rest_matrices[list(chain), :, 3]
        ways = np.diff(heads, axis=0)
        # tails may point anywhere: the last bone goes on as the one before
        tip = 0.8 * ways[-1] if len(ways) else skeleton.rest_matrices[chain[0], :, 1] * skeleton.lengths[chain[0]]
        ways = np.concatenate([ways, tip[None]])
        radius = _THICK * float(lengths(ways).sum())
        for bone, head, way in zip(chain, heads, ways, strict=True):
            along = unit(way)
            across = unit(rotation.cross(along, np.eye(3)[int(np.argmin(np.abs(along).round(3)))]))
            circle: Array = radius * (np.cos(angles) * across + np.sin(angles) * rotation.cross(along, across))
            rings = [head + share * way + circle for share in np.linspace(0.0, 1.0, _RINGS)]
            if bone == chain[-1]:
                ups = np.linspace(0.0, np.pi / 2.0, _RINGS)[1:]
                rings += [head + way + np.cos(up) * circle + radius * np.sin(up) * along for up in ups]
            places += rings
            bones += [bone] * _ROUND * len(rings)
    width = max(skin.bones.shape[1], 1)
    own, weights = np.zeros((len(bones), width), int), np.zeros((len(bones), width))
    own[:, 0], weights[:, 0] = bones, 1.0
    old = skin.bones.reshape(-1, width), skin.weights.reshape(-1, width)
    both = np.concatenate([old[0], own]), np.concatenate([old[1], weights])
    return Skin(np.concatenate(places), *both, skin.triangles)


def round_bones(heads: Array, places: Array, bones: Indices) -> tuple[Array, Array, Array]:
    """Return starts and ends (n, 3) and radii (n,) of capsules that are as thick as the skin round a chain of bones.

    heads (n, 3) are those of the chain; `bones` (V,) of the chain are the last ones to move places (V, 3) of its skin.
    Bones without skin have a radius of 0.
    """
    ways = np.diff(heads, axis=0, append=heads[-1:])
    ways[-1] = ways[-2] if len(ways) > 1 else places.mean(axis=0) - heads[0]
    ways /= np.maximum(lengths(ways), np.finfo(float).tiny)[:, None]
    away = places - heads[bones]
    along = (away * ways[bones]).sum(axis=-1)
    thick = lengths(away - along[:, None] * ways[bones])
    radii = np.array([np.median(thick[bones == bone]) if (bones == bone).any() else 0.0 for bone in range(len(heads))])
    tip = max(float(along[bones == len(heads) - 1].max(initial=0.0)) - float(radii[-1]), 0.0)
    return heads, np.concatenate([heads[1:], heads[-1:] + tip * ways[-1:]]), radii


def capsule_distances(points: Array, starts: Array, ends: Array, radii: Array) -> tuple[Array, Array]:
    """Return the distances (k,) of points (k, 3) from capsules (n), negative inside, and the directions away (k, 3)."""
    ways = ends - starts
    whole = np.maximum((ways * ways).sum(axis=-1), np.finfo(float).tiny)
    share = np.clip(((points[:, None] - starts) * ways).sum(axis=-1) / whole, 0.0, 1.0)
    away = points[:, None] - starts - share[..., None] * ways
    far = lengths(away)
    nearest = (far - radii).argmin(axis=1)
    rows = np.arange(len(points))
    found = far[rows, nearest]
    return found - radii[nearest], away[rows, nearest] / np.maximum(found, np.finfo(float).tiny)[:, None]
