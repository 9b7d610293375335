"""Makes docs/examples/walk_keypoints.jsonl: what a camera tracker would say of the walk that is beside it.

MediaPipe's 33 points from the joints of cmu_35_01.bvh, hips at zero, with 5 mm of noise; points that nothing tells
are null.
"""

import json
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.motion.clips import read_clip
from core.body import find_roles
from core.keypoints import find_conversion, find_layout, joint_landmarks
from core.keypoints.body import LANDMARK, PART
from core.keypoints.geometry import solve_frames

EXAMPLES: Final = Path(__file__).resolve().parents[2] / "docs" / "examples"
NOISE: Final = 0.005
HAND: Final = {"index": (0.09, 0.0, 0.035), "pinky": (0.09, 0.0, -0.035)}
HEAD: Final = {"nose": (0.0, 0.06, 0.11), "ear.L": (0.075, 0.06, 0.01), "ear.R": (-0.075, 0.06, 0.01)}


def main() -> None:
    clip = read_clip(EXAMPLES / "cmu_35_01.bvh")
    joints = joint_landmarks(clip.skeleton, find_roles(clip.skeleton), clip.motion.pose)
    landmarks = find_conversion(find_layout("marks"), joints)[0](joints)
    positions = np.where(landmarks.weights[..., None] > 0.0, landmarks.positions, np.nan)
    turns = solve_frames(landmarks.positions, landmarks.weights, np.zeros(len(positions)))
    for name, place in HEAD.items():
        base = positions[:, LANDMARK["crown"]] - turns[:, PART["head"]] @ [0.0, 0.18, 0.0]
        positions[:, LANDMARK[name]] = base + turns[:, PART["head"]] @ np.array(place)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        for name, place in HAND.items():
            way = turns[:, PART[f"hand.{side}"]] @ (np.array(place) * [sign, 1.0, 1.0])
            positions[:, LANDMARK[f"{name}.{side}"]] = positions[:, LANDMARK[f"wrist.{side}"]] + way
        foot = turns[:, PART[f"foot.{side}"]]
        positions[:, LANDMARK[f"heel.{side}"]] = positions[:, LANDMARK[f"ankle.{side}"]] + foot @ np.array(
            [0.0, -0.07, -0.05]
        )
        positions[:, LANDMARK[f"ball.{side}"]] = positions[:, LANDMARK[f"ankle.{side}"]] + foot @ np.array(
            [0.0, -0.07, 0.14]
        )
    positions -= positions[:, [LANDMARK["hip.L"], LANDMARK["hip.R"]]].mean(axis=1, keepdims=True)
    positions += np.random.default_rng(0).normal(0.0, NOISE, positions.shape)
    layout = find_layout("mediapipe")
    lines: list[str] = []
    for frame in positions * [1.0, -1.0, -1.0]:  # MediaPipe's Y is down
        points: list[object] = [None] * len(layout.points)
        for landmark, (point,) in layout.landmarks.items():
            points[layout.points.index(point)] = [*frame[LANDMARK[landmark]].round(4).tolist(), 1.0]
        lines.append(json.dumps({"layout": "mediapipe", "time": round(len(lines) / 30.0, 4), "points": points}))
    (EXAMPLES / "walk_keypoints.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
