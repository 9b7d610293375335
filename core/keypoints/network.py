"""Networks from keypoints to rotations: the source's, and a correction of the closed form (S4, CN112037312).

Both are five fully connected layers with three residual connections,
h = act(W0 x); three times h = h + act(Wk h); y = W4 h, and give each part's rotation as 6 numbers. The source's reads
the normalised body in the world. The correction reads it in the frame of the hips with the closed form's own answer,
how far bones are off their lengths, what is seen and how noisy it is; what it says of limbs counts so far as marks are
noisy or missing, and not at all where they are neither.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..rotation import Array
from .body import LANDMARK, LANDMARKS, MIDDLE_LANDMARKS, PARTS, SIDE_LANDMARKS, TREE, sided
from .geometry import frame, least, unit, used_landmarks

WEIGHTS: Final = Path(__file__).parent / "weights"
HALF_NOISE: Final = 0.004  # metres at which half of the correction of a limb counts
_OFF: Final = 0.5  # of a bone's length, by which it may seem off it
_NOISE: Final = 0.02  # metres: unit of noise among the inputs

Floats = NDArray[np.float32]


def _tree() -> tuple[list[str], Array, Array, list[int]]:
    """Bones of the tree: names of their ends, the matrix from landmarks to ways, standard lengths, bones above."""
    names: list[str] = []
    vectors: list[Array] = []
    lengths: list[float] = []
    above: list[int] = []
    for landmark, (before, length) in TREE.items():
        for side in ("",) if landmark in ("chest", "face", *MIDDLE_LANDMARKS) else ("L", "R"):
            name, start = (
                (f"{landmark}.{side}" if side else landmark),
                sided(before, side) if before in SIDE_LANDMARKS else before,
            )
            names.append(name)
            vectors.append(_row(name) - _row(start))
            lengths.append(length)
            above.append(names.index(start) if start in names else -1)
    return names, np.array(vectors), np.array(lengths), above


def _row(name: str) -> Array:
    """Weights (M,) of the landmarks that make a landmark: itself, or the middle of two."""
    pair = {"pelvis": "hip", "chest": "shoulder", "face": "ear"}.get(name)
    row = np.zeros(len(LANDMARKS))
    row[[LANDMARK[f"{pair}.L"], LANDMARK[f"{pair}.R"]] if pair else [LANDMARK[name]]] = 0.5 if pair else 1.0
    return row


BONES, _VECTORS, LENGTHS, ABOVE = _tree()
_USED: Final = used_landmarks(_VECTORS != 0.0)
_CHAINS: Final[Array] = np.zeros((len(BONES), len(BONES)))  # bones on the way from the hips to each landmark
for _bone, _above in enumerate(ABOVE):
    _CHAINS[_bone] = _CHAINS[_above] if _above >= 0 else 0.0
    _CHAINS[_bone, _bone] = 1.0
# which landmarks each part is read from: the gate opens where they are missing
_TRUNK: Final = np.array([part.partition(".")[0] in ("hips", "chest", "neck", "shoulder") for part in PARTS])
_NEEDED: Final = {
    "head": ("ear", "nose"), "upper_arm": ("shoulder", "elbow", "wrist"), "forearm": ("shoulder", "elbow", "wrist"),
    "hand": ("wrist", "index", "pinky"), "thigh": ("hip", "knee", "ankle"), "shin": ("hip", "knee", "ankle"),
    "foot": ("ankle", "ball"),
}  # fmt: skip


def _needed() -> NDArray[np.bool_]:
    result = np.zeros((len(PARTS), len(LANDMARKS)), bool)
    for number, part in enumerate(PARTS):
        base, _, side = part.partition(".")
        for landmark in _NEEDED.get(base, ()):
            for name in (
                [sided(landmark, side)] if side or landmark in MIDDLE_LANDMARKS else [f"{landmark}.L", f"{landmark}.R"]
            ):
                result[number, LANDMARK[name]] = True
    return result


_NEEDS: Final = used_landmarks(_needed())


def bone_vectors(landmarks: Array, weights: Array) -> tuple[Array, Array]:
    """Ways (..., B, 3) along the bones of the tree, and how far each is to be believed (..., B)."""
    landmarks = np.where(weights[..., None] > 0.0, landmarks, 0.0)
    believed = least(weights, _USED)
    return (_VECTORS @ landmarks) * (believed > 0.0)[..., None], believed


def normalised(landmarks: Array, weights: Array) -> Array:
    """Places (..., B, 3) of the landmarks of a body of standard lengths, from the hips: size is gone.

    A landmark that is not seen is where the one before it is.
    """
    vectors, _ = bone_vectors(landmarks, weights)
    return _CHAINS @ (unit(vectors) * LENGTHS[:, None])


def inputs(frames: Array, landmarks: Array, weights: Array, noise: Array, lengths: Array | None) -> Floats:
    """What the correction reads, (..., N), from the closed form's frames (..., P, 3, 3).

    noise (...) in metres; lengths (..., B) of the figure's own bones, None where they are not known.
    """
    vectors, believed = bone_vectors(landmarks, weights)
    size = np.sqrt(np.einsum("...i,...i->...", vectors, vectors))
    hips = frames[..., 0, :, :]
    local = unit(vectors) @ hips
    off = np.zeros(size.shape)
    if lengths is not None:
        known = (lengths > 0.0) & (believed > 0.0)
        off = np.where(known, np.clip(size / np.where(lengths > 0.0, lengths, 1.0) - 1.0, -_OFF, _OFF), 0.0)
    shape = believed.shape[:-1]
    two = np.swapaxes(hips, -1, -2)[..., None, :, :] @ frames[..., :, :, :2]
    noises = np.asarray(noise)[..., None] / _NOISE
    told = np.full((*shape, 1), float(lengths is not None))
    parts = (local.reshape(*shape, -1), 4.0 * off, believed, two.reshape(*shape, -1), noises, told)
    return np.concatenate(parts, axis=-1, dtype=np.float32)


def gates(weights: Array, noise: Array) -> Array:
    """How far the correction counts for each part (..., P)."""
    believed = least(weights, _NEEDS)  # of parts of the trunk anything
    noise = np.asarray(noise)[..., None]
    return np.where(_TRUNK, 1.0, 1.0 - believed * HALF_NOISE / (HALF_NOISE + noise))


@dataclass(frozen=True, eq=False)
class Network:
    """Weights (n, m) and biases (m,) of five layers."""

    layers: tuple[tuple[Floats, Floats], ...]

    @classmethod
    def load(cls, path: Path) -> "Network":
        with np.load(path) as arrays:
            count = len(arrays.files) // 2
            # by rows: by columns numpy with the reference BLAS, which Debian's Blender has, takes four times as long
            return cls(tuple((np.ascontiguousarray(arrays[f"w{k}"], np.float32), arrays[f"b{k}"].astype(np.float32))
                             for k in range(count)))  # fmt: skip

    def __call__(self, x: Floats) -> Floats:
        """(..., n) -> (..., m)."""
        (first, first_bias), *middle, (last, last_bias) = self.layers
        h = np.maximum(x @ first + first_bias, 0.0)
        for matrix, bias in middle:
            h = h + np.maximum(h @ matrix + bias, 0.0)
        return h @ last + last_bias


def correct(
    network: Network, frames: Array, landmarks: Array, weights: Array, noise: Array, lengths: Array | None
) -> Array:
    """The closed form's frames (..., P, 3, 3) corrected."""
    said = network(inputs(frames, landmarks, weights, noise, lengths)).astype(float)
    hips = frames[..., :1, :, :]
    change = said.reshape(*said.shape[:-1], len(PARTS), 3, 2) * gates(weights, noise)[..., None, None]
    two = np.swapaxes(hips, -1, -2) @ frames[..., :2] + change
    return hips @ frame(unit(two[..., 0]), two[..., 1])


def read(network: Network, landmarks: Array, weights: Array) -> Array:
    """The source's network: frames (..., P, 3, 3) from landmarks alone."""
    positions = normalised(landmarks, weights)
    said = network(positions.reshape(*positions.shape[:-2], -1).astype(np.float32)).astype(float)
    two = said.reshape(*said.shape[:-1], len(PARTS), 3, 2)
    return frame(unit(two[..., 0]), two[..., 1])


@cache
def default_network() -> Network:
    return Network.load(WEIGHTS / "correction.npz")


@cache
def source_network() -> Network:
    return Network.load(WEIGHTS / "source.npz")
