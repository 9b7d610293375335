"""The skin of a body as points that go with its bones."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from .. import rotation
from ..rotation import Array, lengths
from ..skeleton import Flags, Indices, Skeleton
from .axes import unit

LEAST: Final = 1e-3  # smaller weights move no skin
_THICK: Final = 0.11  # radius of a finger without skin, of its length
_RINGS: Final = 6  # along a bone without skin, and over its end
_ROUND: Final = 12  # points of a ring


@dataclass(frozen=True, eq=False)
class Skin:
    """Points of the skin at rest: places (V, 3) in armature space, bones (V, K), and their weights (V, K), 1 in sum."""

    places: Array
    bones: Indices
    weights: Array

    def of(self, points: Indices | Flags) -> "Skin":
        """Return some of the points."""
        return Skin(self.places[points], self.bones[points], self.weights[points])

    def in_bones(self, skeleton: Skeleton) -> Array:
        """Return the points (V, K, 3) in the frames of their bones."""
        rest = skeleton.rest_matrices[self.bones]
        return np.linalg.solve(rest[..., :3], (self.places[:, None] - rest[..., 3])[..., None])[..., 0]


def rest_skin(skeleton: Skeleton, matrices: Array, places: Array, bones: Indices, weights: Array) -> Skin:
    """Return the skin of which points are at `places` (V, 3) where its bones have these matrices (J, 3, 4)."""
    rest = skeleton.rest_matrices
    turned = matrices[..., :3] @ np.linalg.inv(rest[..., :3])
    moved = matrices[..., 3] - (turned @ rest[..., 3:])[..., 0]
    blended = (weights[..., None, None] * turned[bones]).sum(axis=1)
    away = places - (weights[..., None] * moved[bones]).sum(axis=1)
    return Skin(np.linalg.solve(blended, away[..., None])[..., 0], bones, weights)


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
    return Skin(np.concatenate(places), np.concatenate([old[0], own]), np.concatenate([old[1], weights]))


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
