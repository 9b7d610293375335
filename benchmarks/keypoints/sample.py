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
from core.keypoints import find_taking, layout_named, marks_of
from core.keypoints.body import MARK, PART
from core.keypoints.geometry import solve_frames

EXAMPLES: Final = Path(__file__).resolve().parents[2] / "docs" / "examples"
NOISE: Final = 0.005
HAND: Final = {"index": (0.09, 0.0, 0.035), "pinky": (0.09, 0.0, -0.035)}
HEAD: Final = {"nose": (0.0, 0.06, 0.11), "ear.L": (0.075, 0.06, 0.01), "ear.R": (-0.075, 0.06, 0.01)}


def main() -> None:
    clip = read_clip(EXAMPLES / "cmu_35_01.bvh")
    joints = marks_of(clip.skeleton, find_roles(clip.skeleton), clip.motion.pose)
    marks = find_taking(layout_named("marks"), joints)[0](joints)
    places = np.where(marks.weights[..., None] > 0.0, marks.places, np.nan)
    turns = solve_frames(marks.places, marks.weights, np.zeros(len(places)))
    for name, place in HEAD.items():
        base = places[:, MARK["crown"]] - turns[:, PART["head"]] @ [0.0, 0.18, 0.0]
        places[:, MARK[name]] = base + turns[:, PART["head"]] @ np.array(place)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        for name, place in HAND.items():
            way = turns[:, PART[f"hand.{side}"]] @ (np.array(place) * [sign, 1.0, 1.0])
            places[:, MARK[f"{name}.{side}"]] = places[:, MARK[f"wrist.{side}"]] + way
        foot = turns[:, PART[f"foot.{side}"]]
        places[:, MARK[f"heel.{side}"]] = places[:, MARK[f"ankle.{side}"]] + foot @ np.array([0.0, -0.07, -0.05])
        places[:, MARK[f"ball.{side}"]] = places[:, MARK[f"ankle.{side}"]] + foot @ np.array([0.0, -0.07, 0.14])
    places -= places[:, [MARK["hip.L"], MARK["hip.R"]]].mean(axis=1, keepdims=True)
    places += np.random.default_rng(0).normal(0.0, NOISE, places.shape)
    layout = layout_named("mediapipe")
    lines: list[str] = []
    for frame in places * [1.0, -1.0, -1.0]:  # MediaPipe's Y is down
        points: list[object] = [None] * len(layout.points)
        for mark, (point,) in layout.marks.items():
            points[layout.points.index(point)] = [*frame[MARK[mark]].round(4).tolist(), 1.0]
        lines.append(json.dumps({"layout": "mediapipe", "time": round(len(lines) / 30.0, 4), "points": points}))
    (EXAMPLES / "walk_keypoints.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
