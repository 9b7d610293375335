"""Train the networks of core/keypoints: development only, with PyTorch on one core.

    python -m benchmarks.keypoints.train correction    the correction of the closed form: what Poise uses
    python -m benchmarks.keypoints.train source        the network that the method's source describes

The same seed gives the same weights on the same machine. Motion: the two training packs beside the project, without the
subjects of `LEFT_OUT` and those of `validation.SUBJECTS`, whose loss is printed by subject every `LOOK` steps. The
weights with the least of these go to core/keypoints/weights as half floats.
"""

import argparse
import copy
import time
from itertools import pairwise
from typing import Final

import numpy as np
import torch  # pyright: ignore[reportMissingImports]

from benchmarks.naturalness.motion import Array
from core import rotation
from core.keypoints import bones, network
from core.keypoints.body import LANDMARK, LANDMARKS, PART, PARTS
from core.keypoints.geometry import solve_frames

from . import bank
from .motion import load
from .standard_body import ORIGINS, offset_of, parent_of
from .validation import SUBJECTS, Validation, say

LEFT_OUT: Final = {"cmu_mb_train": (), "cmu_daz_train": ("94",)}
WIDTHS: Final = {"correction": 384, "source": 320}
RATE, BATCH, CLIP, POSITION = 1.2e-3, 512, 1.0, 4.0  # position: weight of a metre of a part's origin
DEEP: Final = 0.15  # share of poses whose noise is larger along one horizontal direction, as a camera's depth is
ROUGH: Final = 0.25  # standard deviation of the logarithm of what is told of the noise
GROUPS: Final = (
    (0.2, ("index", "pinky")), (0.15, ("heel", "ball")), (0.1, ("ear", "nose")), (0.1, ("wrist", "index", "pinky")),
    (0.1, ("ankle", "heel", "ball")), (0.05, ("elbow", "wrist", "index", "pinky")), (0.1, ("heel",)),
)  # fmt: skip
SINGLE: Final = 0.05
LOOK, BATCHES = 200, 4  # steps between two looks at the validation, and batches of each subject there
UNUSED: Final = ("pelvis", "neck", "crown", "knuckle")


def batch(motion: bank.Bank, rng: np.random.Generator) -> tuple[Array, Array, Array, Array, Array | None]:
    """True rotations (n, P, 4), landmarks (n, M, 3), weights (n, M), noise (n,) in metres, lengths (n, B) or None."""
    turns, landmarks, _ = bank.draw(motion, BATCH, rng)
    clean = np.ones(landmarks.shape[:-1])
    lengths = np.linalg.norm(bones.bone_vectors(landmarks, clean)[0], axis=-1)
    lengths *= np.exp(rng.normal(0.0, 0.01, lengths.shape))
    noise = rng.uniform(0.0, bank.LARGEST_NOISE, BATCH) * (rng.random(BATCH) < bank.NOISY)
    error = rng.normal(size=landmarks.shape)
    deep = np.flatnonzero(rng.random(BATCH) < DEEP)
    angle = rng.uniform(0.0, 2.0 * np.pi, len(deep))
    depth = np.stack([np.sin(angle), np.zeros(len(deep)), np.cos(angle)], axis=-1)[:, None]
    error[deep] = 0.7 * error[deep] + rng.normal(size=(len(deep), len(LANDMARKS), 1)) * depth
    landmarks = landmarks + noise[:, None, None] * error
    weights = np.ones(landmarks.shape[:-1])
    for number, landmark in enumerate(LANDMARKS):
        if landmark.partition(".")[0] in UNUSED:
            weights[:, number] = 0.0
    some = rng.random(BATCH) < bank.UNSEEN
    for share, names in GROUPS:
        for side in "LR":
            gone = some & (rng.random(BATCH) < share)
            columns = [LANDMARK[name if name == "nose" else f"{name}.{side}"] for name in names]
            weights[np.ix_(gone, columns)] = 0.0
    gone = some[:, None] & (rng.random(weights.shape) < SINGLE)
    trunk = [LANDMARK[f"{landmark}.{side}"] for landmark in ("hip", "shoulder") for side in "LR"]
    gone[:, trunk] = False
    weights[gone] = 0.0
    told = noise * np.exp(rng.normal(0.0, ROUGH, BATCH))
    return turns, landmarks, weights, told, lengths if rng.random() > bank.UNMEASURED else None


class Layers(torch.nn.Module):
    """Five fully connected layers, three residual connections."""

    def __init__(self, size: int, width: int, out: int) -> None:
        super().__init__()
        sizes = [size, width, width, width, width, out]
        self.layers = torch.nn.ModuleList(torch.nn.Linear(a, b) for a, b in pairwise(sizes))
        torch.nn.init.zeros_(self.layers[-1].weight)
        torch.nn.init.zeros_(self.layers[-1].bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.relu(self.layers[0](x))
        for layer in self.layers[1:-1]:
            h = h + torch.relu(layer(h))
        return self.layers[-1](h)


def gram_schmidt(two: torch.Tensor) -> torch.Tensor:
    first = torch.nn.functional.normalize(two[..., 0], dim=-1)
    second = two[..., 1] - (first * two[..., 1]).sum(-1, keepdim=True) * first
    second = torch.nn.functional.normalize(second, dim=-1)
    return torch.stack([first, second, torch.linalg.cross(first, second)], dim=-1)


def places(frames: torch.Tensor) -> torch.Tensor:
    """Origins (n, P, 3) of the parts of the standard body."""
    result = [torch.zeros_like(frames[:, 0, :, 0])]
    for part in PARTS[1:]:
        _, way = offset_of(part, ORIGINS)
        above = PART[parent_of(part)]
        result.append(result[above] + frames[:, above] @ torch.tensor(way, dtype=frames.dtype))
    return torch.stack(result, dim=1)


def loss_of(found: torch.Tensor, true: torch.Tensor) -> torch.Tensor:
    """Chordal distance, not squared: its mean is what is measured; and where the parts come to be."""
    chord = torch.sqrt(((found - true) ** 2).sum((-1, -2)) + 1e-6).mean()
    return chord + POSITION * torch.linalg.vector_norm(places(found) - places(true), dim=-1).mean()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", choices=WIDTHS)
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--width", type=int)
    parser.add_argument("--output", help="another file than the one in core/keypoints/weights")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    rng = np.random.default_rng(options.seed)
    apart = {pack: (*without, *SUBJECTS) for pack, without in LEFT_OUT.items()}
    motion = bank.bank_of([clip for pack, without in apart.items() for clip in load(pack, without=without)])
    correcting = options.network == "correction"
    width = options.width or WIDTHS[options.network]

    def inputs(
        motion: bank.Bank, rng: np.random.Generator
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        turns, landmarks, weights, noise, lengths = batch(motion, rng)
        true = rotation.to_matrix(turns)
        if not correcting:
            x = bones.normalised(landmarks, weights).reshape(BATCH, -1)
            parts = (x, true, np.zeros((BATCH, len(PARTS), 3, 2)), np.ones((BATCH, len(PARTS))))
        else:
            frames = solve_frames(landmarks, weights, noise)
            x = network.inputs(frames, landmarks, weights, noise, lengths)
            back = np.swapaxes(frames[:, :1], -1, -2)
            parts = (x, back @ true, (back @ frames)[..., :2], network.gates(weights, noise))
        return tuple(torch.tensor(part, dtype=torch.float32) for part in parts)  # pyright: ignore

    def of_subject(subject: str) -> bank.Bank:
        return bank.bank_of([clip for pack in LEFT_OUT for clip in load(pack, subjects=(subject,))])

    seen = {subject: of_subject(subject) for subject in SUBJECTS}
    drawn = np.random.default_rng(options.seed + 1)
    validation: Validation[tuple[torch.Tensor, ...], dict[str, torch.Tensor]] = Validation(
        {subject: [inputs(one, drawn) for _ in range(BATCHES)] for subject, one in seen.items()}
    )
    model = Layers(inputs(motion, rng)[0].shape[1], width, 6 * len(PARTS))

    def loss_on(parts: tuple[torch.Tensor, ...]) -> torch.Tensor:
        x, true, base, gates = parts
        found = gram_schmidt(base + gates[..., None, None] * model(x).reshape(-1, len(PARTS), 3, 2))
        return loss_of(found, true)

    def measure(parts: tuple[torch.Tensor, ...]) -> float:
        with torch.no_grad():
            return float(loss_on(parts))

    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, options.steps)
    begin, mean = time.perf_counter(), 0.0
    for step in range(options.steps):
        if not correcting and step == 0:  # a direction to begin with, by the last bias
            with torch.no_grad():
                model.layers[-1].bias.copy_(torch.eye(3)[:, :2].expand(len(PARTS), 3, 2).reshape(-1))
        loss = loss_on(inputs(motion, rng))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        schedule.step()
        mean += 0.01 * (loss.item() - mean) if step else loss.item()
        if (step + 1) % LOOK == 0 or step + 1 == options.steps:
            losses = validation.look(step + 1, measure, lambda: copy.deepcopy(model.state_dict()))
            print(f"{step + 1:6} {mean:8.4f} {time.perf_counter() - begin:7.0f} s   {say(losses)}", flush=True)
    assert validation.best is not None
    print(f"The weights of step {validation.step} are kept: {validation.least:.4f} in the mean of the subjects.")
    model.load_state_dict(validation.best)
    arrays: dict[str, Array] = {}
    for number, layer in enumerate(model.layers):
        arrays[f"w{number}"] = layer.weight.detach().numpy().T.astype(np.float16)
        arrays[f"b{number}"] = layer.bias.detach().numpy().astype(np.float16)
    np.savez_compressed(options.output or network.WEIGHTS / f"{options.network}.npz", **arrays)  # pyright: ignore[reportArgumentType]


if __name__ == "__main__":
    main()
