"""The common work: one rig, the targets of W1 and W2, and the judge.

Nothing here belongs to a solver. Every solver hands in local rotations and root positions, and the judge puts them
through its own forward kinematics on the rig's JSON: no solver's word is taken for what it reached. Lengths in
metres, angles in radians, armature space (z up, the figure faces -y).
"""

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

DATA: Final = Path(__file__).parent / "data"
KINDS: Final = {"body": 72, "full": 198}  # rig -> degrees of freedom
DRAGGED: Final = "hand.R"
EFFECTORS: Final = ("foot.L", "foot.R", "hand.L", "spine.006", DRAGGED)  # spine.006 is the head
TURNED: Final = np.array([True, True, False, False, False])  # the feet have an orientation, too
POSITION_TOLERANCE: Final = 1e-3
ROTATION_TOLERANCE: Final = np.radians(0.1)
LIMIT_TOLERANCE: Final = np.radians(0.1)
TURNED_TRACE: Final = 1.0 + 2.0 * np.cos(ROTATION_TOLERANCE)  # trace of a rotation by just the tolerance
ROUNDING: Final = 1e-6  # the files' own digits differ by about 1e-8; a solver may stop exactly at a tolerance
FPS: Final = 30
W1_TARGETS: Final = 200
W2_FRAMES: Final = 2000


def tolerances() -> dict[str, float]:
    """Within which a target counts as solved, for the JSON."""
    return {
        "position_mm": 1e3 * POSITION_TOLERANCE,
        "rotation_degrees": float(np.degrees(ROTATION_TOLERANCE)),
        "limit_degrees": float(np.degrees(LIMIT_TOLERANCE)),
    }


@dataclass(frozen=True)
class Rig:
    """J bones, parents first, the free root is bone 0."""

    kind: str
    names: tuple[str, ...]
    parents: NDArray[np.int64]
    offsets: Array  # (J, 3) head in the parent's rest frame
    rest: Array  # (J, 3, 3) rest frame in the parent's
    frames: Array  # (J, 3, 3) rest frame in armature space
    heads: Array  # (J, 3) in armature space
    lengths: Array  # (J,)
    limits: Array  # (J, 3, 2) of the angles a, b, c in Rx(a) Ry(b) Rz(c)

    def index(self, name: str) -> int:
        return self.names.index(name)


@cache
def load_rig(kind: str) -> Rig:
    bones: dict[str, dict[str, Any]] = {b["name"]: b for b in json.loads((DATA / "rig_full.json").read_text())}
    robot = ElementTree.parse(DATA / f"rig_{kind}.urdf").getroot()
    bounds: dict[str, list[tuple[float, float]]] = {}
    for joint in robot.iter("joint"):
        limit = joint.find("limit")
        assert limit is not None
        name = joint.attrib["name"].rpartition("_j")[0]
        bounds.setdefault(name, []).append((float(limit.attrib["lower"]), float(limit.attrib["upper"])))
    names = tuple(name for name, bone in bones.items() if name in bounds or bone["parent"] is None)
    parents = np.array([names.index(bones[n]["parent"]) if bones[n]["parent"] else -1 for n in names])
    world = np.array([bones[n]["mat"] for n in names])
    u, _, vt = np.linalg.svd(world[:, :3, :3])  # float32 in the file: made orthonormal in float64
    world[:, :3, :3] = u @ vt
    local = np.array([np.linalg.inv(world[p]) @ m if p >= 0 else m for p, m in zip(parents, world, strict=True)])
    free = [(-np.inf, np.inf)] * 3
    return Rig(
        kind=kind,
        names=names,
        parents=parents,
        offsets=local[:, :3, 3],
        rest=local[:, :3, :3],
        frames=world[:, :3, :3],
        heads=world[:, :3, 3],
        lengths=np.array([bones[n]["length"] for n in names]),
        limits=np.array([bounds.get(n, free) for n in names]),
    )


@dataclass(frozen=True)
class Work:
    """F targets in a row for E effectors: heads (F, E, 3), frames (F, E, 3, 3), `turned` (E,) where frames count."""

    name: str
    rig: Rig
    effectors: tuple[str, ...]
    positions: Array
    frames: Array
    turned: NDArray[np.bool_]

    @property
    def bones(self) -> list[int]:
        return [self.rig.index(name) for name in self.effectors]

    @property
    def moving(self) -> NDArray[np.bool_]:
        """(E,) effectors whose target is not the same all the time."""
        return np.ptp(self.positions, axis=0).any(axis=-1) | np.ptp(self.frames, axis=0).any(axis=(-2, -1))


def drag(kind: str, count: int) -> Work:
    """W1: feet pinned, left hand and head held in position, the right hand dragged along up to 200 targets."""
    rig = load_rig(kind)
    targets: Array = np.load(DATA / "w1_targets.npy")[:count]
    bones = [rig.index(name) for name in EFFECTORS]
    positions = np.repeat(rig.heads[None, bones], len(targets), axis=0)
    positions[:, EFFECTORS.index(DRAGGED)] = targets
    frames = np.repeat(rig.frames[None, bones], len(targets), axis=0)
    return Work("W1", rig, EFFECTORS, positions, frames, TURNED)


def walk(kind: str, count: int) -> Work:
    """W2: a walk on a treadmill. It leaves the rest pose in the first second, so that nobody needs a cold start.

    A step cycle lasts 1.2 s: the foot stands flat for 60 % of it and slides back with the belt, then swings forward,
    lifted and pitched. Hands come down from the rest pose and swing against the legs, the head bobs and sways. All
    amplitudes and the step frequency wander slowly, so that no two cycles are the same. The hips are for the solver
    to find.
    """
    rig = load_rig(kind)
    bones = [rig.index(name) for name in EFFECTORS]
    time = np.arange(count) / FPS
    eased = np.clip(time, 0.0, 1.0)
    onset = eased * eased * (3.0 - 2.0 * eased)
    amplitude = onset * (1.0 + 0.15 * np.sin(0.37 * time))
    phase = time / 1.2 + 0.1 * np.sin(0.23 * time)  # cycles
    positions = np.repeat(rig.heads[None, bones], count, axis=0)
    frames = np.repeat(rig.frames[None, bones], count, axis=0)
    up, forward, left = np.array([0.0, 0.0, 1.0]), np.array([0.0, -1.0, 0.0]), np.array([1.0, 0.0, 0.0])
    for side, sign, shift in (("L", 1.0, 0.0), ("R", -1.0, 0.5)):
        cycle = (phase + shift) % 1.0
        swing = np.clip((cycle - 0.6) / 0.4, 0.0, 1.0)
        eased = swing * swing * (3.0 - 2.0 * swing)
        along = np.where(cycle < 0.6, 0.5 - cycle / 0.6, eased - 0.5)
        lift = np.sin(np.pi * swing) ** 2
        pitch = np.radians(25.0) * amplitude * np.sin(2.0 * np.pi * swing) * swing * (1.0 - swing) * 4.0
        foot = EFFECTORS.index(f"foot.{side}")
        positions[:, foot] += amplitude[:, None] * (0.45 * along[:, None] * forward + 0.1 * lift[:, None] * up)
        frames[:, foot] = _about_x(pitch) @ frames[:, foot]
        hand = EFFECTORS.index(f"hand.{side}")
        back = np.sin(2.0 * np.pi * (phase + shift) - 0.6)
        lowered = onset[:, None] * np.array([-0.22 * sign, -0.05, -0.3])
        positions[:, hand] += lowered + (amplitude * 0.16 * back)[:, None] * forward
        positions[:, hand] += (amplitude * 0.05 * (1.0 + np.sin(0.61 * time + sign)))[:, None] * (up + sign * left)
    head = EFFECTORS.index("spine.006")
    bob = -0.035 + 0.02 * np.cos(4.0 * np.pi * phase)
    positions[:, head] += amplitude[:, None] * (
        bob[:, None] * up + (0.03 * np.sin(2.0 * np.pi * phase))[:, None] * left
    )
    return Work("W2", rig, EFFECTORS, positions, frames, TURNED)


def _about_x(angle: Array) -> Array:
    zero, one, c, s = np.zeros_like(angle), np.ones_like(angle), np.cos(angle), np.sin(angle)
    return np.stack([one, zero, zero, zero, c, -s, zero, s, c], axis=-1).reshape(*angle.shape, 3, 3)


@dataclass(frozen=True)
class Answer:
    """What a solver found: own rotations (F, J, 3, 3) after the rest frame, root heads (F, 3), iterations in all."""

    rotations: Array
    roots: Array
    iterations: int


@dataclass(frozen=True)
class Verdict:
    """Share of the targets with all effectors within tolerance and all joints within limits; the worst errors."""

    solved: float
    position: float
    rotation: float
    limit: float

    def worse(self, other: "Verdict") -> "Verdict":
        return Verdict(
            min(self.solved, other.solved),
            max(self.position, other.position),
            max(self.rotation, other.rotation),
            max(self.limit, other.limit),
        )


def judge(work: Work, answer: Answer) -> Verdict:
    heads, frames = forward(work.rig, answer.rotations, answer.roots)
    position = np.linalg.norm(heads[:, work.bones] - work.positions, axis=-1).max(axis=-1)
    rotation = angle_between(frames[:, work.bones], work.frames)[:, work.turned].max(axis=-1)
    angles = hinge_angles(answer.rotations)
    lower, upper = work.rig.limits[..., 0], work.rig.limits[..., 1]
    outside = np.maximum(np.maximum(lower - angles, angles - upper), 0.0).max(axis=(-2, -1))
    solved = (
        (position < POSITION_TOLERANCE + ROUNDING)
        & (rotation < ROTATION_TOLERANCE + ROUNDING)
        & (outside < LIMIT_TOLERANCE)
    )
    return Verdict(float(solved.mean()), float(position.max()), float(rotation.max()), float(outside.max()))


def forward(rig: Rig, rotations: Array, roots: Array) -> tuple[Array, Array]:
    """Heads (F, J, 3) and frames (F, J, 3, 3) in armature space."""
    heads, frames = np.empty((*rotations.shape[:2], 3)), np.empty_like(rotations)
    for bone, parent in enumerate(rig.parents):
        turned = rig.rest[bone] @ rotations[:, bone]
        if parent < 0:
            heads[:, bone], frames[:, bone] = roots, turned
        else:
            heads[:, bone] = heads[:, parent] + frames[:, parent] @ rig.offsets[bone]
            frames[:, bone] = frames[:, parent] @ turned
    return heads, frames


def angle_between(a: Array, b: Array) -> Array:
    """The angle of the rotation from one frame (..., 3, 3) to another; exact for small angles, too."""
    chord = np.linalg.norm(a - b, axis=(-2, -1)) / np.sqrt(8.0)
    return 2.0 * np.arcsin(np.clip(chord, 0.0, 1.0))


def from_hinges(rig: Rig, angles: Array, roots: Array, root_turns: Array, iterations: int) -> Answer:
    """The answer of a robotics solver: hinge angles (F, J - 1, 3), the root's head (F, 3) and frame (F, 4) wxyz."""
    root = rig.frames[0].T @ quaternion_matrices(root_turns)
    return Answer(np.concatenate([root[:, None], hinge_matrices(angles)], axis=1), roots.copy(), iterations)


def hinge_matrices(angles: Array) -> Array:
    """Rx(a) Ry(b) Rz(c) for angles (..., 3)."""
    c, s = np.moveaxis(np.cos(angles), -1, 0), np.moveaxis(np.sin(angles), -1, 0)
    rows = [
        [c[1] * c[2], -c[1] * s[2], s[1]],
        [c[0] * s[2] + s[0] * s[1] * c[2], c[0] * c[2] - s[0] * s[1] * s[2], -s[0] * c[1]],
        [s[0] * s[2] - c[0] * s[1] * c[2], s[0] * c[2] + c[0] * s[1] * s[2], c[0] * c[1]],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def hinge_angles(matrices: Array) -> Array:
    """The inverse of `hinge_matrices`, with b in [-90, 90] degrees: all limits on b lie inside."""
    m = matrices
    a = np.arctan2(-m[..., 1, 2], m[..., 2, 2])
    b = np.arcsin(np.clip(m[..., 0, 2], -1.0, 1.0))
    c = np.arctan2(-m[..., 0, 1], m[..., 0, 0])
    return np.stack([a, b, c], axis=-1)


def quaternion_matrices(quaternions: Array) -> Array:
    """Matrices (..., 3, 3) of unit quaternions (..., 4) wxyz."""
    w, x, y, z = np.moveaxis(quaternions, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
