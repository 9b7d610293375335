"""Neural networks from keypoints to rotations: that of CN112037312, and a correction of the closed form.

Both are five fully connected layers with three residual connections, h = act(W0 x), three times h = h + act(Wk h),
y = W4 h, and give the rotation of each part as 6 numbers. The network of the source reads the normalised body in the
world. The correction reads it in the frame of the hips, with the closed form's own result, the differences of bone
lengths, and the weights and noise of the landmarks. For limbs its result is blended in as far as landmarks are noisy or
missing.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import CoreError
from ..rotation import Array
from .body import LANDMARKS, PARTS, sided
from .bones import bone_vectors, normalised
from .geometry import frame, least, unit, used_landmarks

WEIGHTS: Final = Path(__file__).parent / "weights"
HALF_NOISE: Final = 0.004  # metres at which a limb gets half of the correction
_OFF: Final = 0.5  # largest relative difference of a bone's length
_NOISE: Final = 0.02  # metres: unit of the noise input

Floats = NDArray[np.float32]


# Landmarks that each part is read from: the correction counts more where they are missing
_TRUNK: Final = np.array([part.partition(".")[0] in ("hips", "chest", "neck", "shoulder") for part in PARTS])
_NEEDED: Final = {
    "head": ("ear", "nose"), "upper_arm": ("shoulder", "elbow", "wrist"), "forearm": ("shoulder", "elbow", "wrist"),
    "hand": ("wrist", "index", "pinky"), "thigh": ("hip", "knee", "ankle"), "shin": ("hip", "knee", "ankle"),
    "foot": ("ankle", "ball"),
}  # fmt: skip


def _needed(part: str) -> NDArray[np.bool_]:
    base, _, side = part.partition(".")
    return np.isin(LANDMARKS, [sided(landmark, one) for landmark in _NEEDED.get(base, ()) for one in (side or "LR")])


_NEEDS: Final = used_landmarks(np.array([_needed(part) for part in PARTS]))


def inputs(frames: Array, landmarks: Array, weights: Array, noise: Array, lengths: Array | None) -> Floats:
    """Return the inputs (..., N) of the correction, from the closed form's frames (..., P, 3, 3).

    landmarks (..., M, 3) in metres with weights (..., M); noise (...) in metres; lengths (..., B) of the subject's own
    bones, or None.
    """
    vectors, seen = bone_vectors(landmarks, weights)
    size = np.sqrt(np.einsum("...i,...i->...", vectors, vectors))
    hips = frames[..., 0, :, :]
    local = unit(vectors) @ hips
    off = np.zeros(size.shape)
    if lengths is not None:
        known = (lengths > 0.0) & (seen > 0.0)
        off = np.where(known, np.clip(size / np.where(lengths > 0.0, lengths, 1.0) - 1.0, -_OFF, _OFF), 0.0)
    shape = seen.shape[:-1]
    two = np.swapaxes(hips, -1, -2)[..., None, :, :] @ frames[..., :, :, :2]
    noises = np.asarray(noise)[..., None] / _NOISE
    measured = np.full((*shape, 1), float(lengths is not None))
    parts = (local.reshape(*shape, -1), 4.0 * off, seen, two.reshape(*shape, -1), noises, measured)
    return np.concatenate(parts, axis=-1, dtype=np.float32)


def gates(weights: Array, noise: Array) -> Array:
    """Return the shares (..., P) of the correction in the result of each part."""
    seen = least(weights, _NEEDS)  # not used for the trunk
    noise = np.asarray(noise)[..., None]
    return np.where(_TRUNK, 1.0, 1.0 - seen * HALF_NOISE / (HALF_NOISE + noise))


@dataclass(frozen=True, eq=False)
class Network:
    """A network: weights (n, m) and biases (m,) of five layers."""

    layers: tuple[tuple[Floats, Floats], ...]

    def __call__(self, x: Floats) -> Floats:
        """Return the outputs (..., m) of inputs (..., n)."""
        (first, first_bias), *middle, (last, last_bias) = self.layers
        h = np.maximum(x @ first + first_bias, 0.0)
        for matrix, bias in middle:
            h = h + np.maximum(h @ matrix + bias, 0.0)
        return h @ last + last_bias


def correct(
    network: Network, frames: Array, landmarks: Array, weights: Array, noise: Array, lengths: Array | None
) -> Array:
    """Return the closed form's frames (..., P, 3, 3), corrected by the network; other arguments as in `inputs`."""
    output = network(inputs(frames, landmarks, weights, noise, lengths)).astype(float)
    hips = frames[..., :1, :, :]
    change = output.reshape(*output.shape[:-1], len(PARTS), 3, 2) * gates(weights, noise)[..., None, None]
    two = np.swapaxes(hips, -1, -2) @ frames[..., :2] + change
    return hips @ frame(unit(two[..., 0]), two[..., 1])


def predict_frames(network: Network, landmarks: Array, weights: Array) -> Array:
    """Return frames (..., P, 3, 3) by the network of the source, from landmarks (..., M, 3) with weights (..., M)."""
    positions = normalised(landmarks, weights)
    output = network(positions.reshape(*positions.shape[:-2], -1).astype(np.float32)).astype(float)
    two = output.reshape(*output.shape[:-1], len(PARTS), 3, 2)
    return frame(unit(two[..., 0]), two[..., 1])


@cache
def load_network(name: Literal["correction", "source"]) -> Network:
    """Return the correction of the closed form, or the network of CN112037312: .npz with arrays w0, b0 ... w4, b4.

    The second is there to be compared with: a checkout has it, the extension's zip does not. Raises CoreError then.
    """
    if not (WEIGHTS / f"{name}.npz").is_file():
        raise CoreError(f'This copy of Poise has no network "{name}"; only a checkout has it.')
    with np.load(WEIGHTS / f"{name}.npz") as arrays:
        # contiguous rows: the reference BLAS of Debian's Blender takes four times as long with columns
        return Network(tuple((np.ascontiguousarray(arrays[f"w{k}"], np.float32), arrays[f"b{k}"].astype(np.float32))
                             for k in range(len(arrays.files) // 2)))  # fmt: skip
