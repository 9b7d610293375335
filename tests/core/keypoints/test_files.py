"""Files of keypoints: every format gives the same points back, and what is none is refused with a sentence."""

import io
import json
from collections.abc import Sequence
from contextlib import suppress

import numpy as np
import pytest

from benchmarks.motion import clips
from core.body import find_roles
from core.errors import CoreError
from core.formats.markers import parse_marker_mapping
from core.keypoints import (
    SUFFIXES,
    Conversion,
    Recording,
    estimate_clip,
    find_conversion,
    find_layout,
    frame_times,
    joint_landmarks,
    read_recording,
)
from core.keypoints.body import LANDMARK
from tests.core.keypoints.rigs import COCO, FPS, POINTS, as_c3d
from tests.paths import ROOT

TRUST = np.random.default_rng(1).random((4, 17)).round(3)


def as_json(lines: bool = False) -> bytes:
    frames = [{"time": n / FPS, "points": [[*p, c] for p, c in zip(points.tolist(), trust.tolist(), strict=True)]}
              for n, (points, trust) in enumerate(zip(POINTS, TRUST, strict=True))]  # fmt: skip
    return ("\n".join(map(json.dumps, frames)) if lines else json.dumps({"frames": frames, "fps": FPS})).encode()


def as_csv(order: list[int]) -> bytes:
    names = [f"{COCO.points[n]}_{axis}" for n in order for axis in ("x", "y", "z", "visibility")]
    rows = [",".join(["time", *names])]
    rows += [
        ",".join(map(str, [n / FPS, *(v for k in order for v in (*POINTS[n, k], TRUST[n, k]))]))
        for n in range(len(POINTS))
    ]
    return "\n".join(rows).encode()


def as_tidy_csv() -> bytes:
    """A point a line, the last first."""
    rows = ["timestamp,frame,keypoint,x,y,z"]
    rows += [",".join(map(str, [n / FPS, n + 7, COCO.points[k], *POINTS[n, k]])) for k in range(17) for n in range(4)]
    return "\n".join([rows[0], *rows[:0:-1]]).encode()


def as_plain_csv() -> bytes:
    return "\n".join(
        ",".join(map(str, row)) for row in np.concatenate([POINTS, TRUST[..., None]], -1).reshape(4, -1)
    ).encode()


def as_numpy(**arrays: np.ndarray) -> bytes:
    file = io.BytesIO()
    if len(arrays) == 1:
        np.save(file, arrays["points"])
    else:
        np.savez(file, **arrays)
    return file.getvalue()


def as_trc() -> bytes:
    head = "PathFileType\t4\t(X/Y/Z)\tx.trc\nDataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\n25\t25\t4\t17\tmm\n"
    names = "Frame#\tTime\t" + "".join(f"{name}\t\t\t" for name in COCO.points)
    axes = "\t\t" + "\t".join(f"X{n}\tY{n}\tZ{n}" for n in range(1, 18))
    rows = ["\t".join(map(str, [n + 1, n / FPS, *frame.ravel()])) for n, frame in enumerate(POINTS)]
    return (head + names + "\n" + axes + "\n\n" + "\n".join(rows) + "\n").encode()


FILES = {
    "json": (".json", as_json()),
    "json lines": (".jsonl", as_json(lines=True)),
    "csv": (".csv", as_csv(list(range(17)))),
    "csv in another order": (".csv", as_csv(list(range(16, -1, -1)))),
    "csv without names": (".csv", as_plain_csv()),
    "csv a point a line": (".csv", as_tidy_csv()),
    "npy": (".npy", as_numpy(points=np.concatenate([POINTS, TRUST[..., None]], axis=-1))),
    "npz": (".npz", as_numpy(points=POINTS, confidence=TRUST, fps=np.array(FPS))),
    "trc": (".trc", as_trc()),
    "c3d": (".c3d", as_c3d()),
}


@pytest.mark.parametrize("kind", FILES)
def test_every_format_gives_the_same_points_back(kind: str) -> None:
    suffix, data = FILES[kind]
    found = read_recording(suffix, data, "coco17")
    np.testing.assert_allclose(found.points, POINTS, atol=1e-6 if kind == "c3d" else 1e-9)  # C3D has 32 bits
    if found.confidence is not None:
        np.testing.assert_allclose(found.confidence, TRUST, atol=1e-9)
    else:
        assert kind in ("trc", "c3d", "csv a point a line")
    if kind not in ("csv without names", "npy"):
        frames, times, rate, notes = frame_times(found)
        assert (rate, notes) == (pytest.approx(FPS), ())
        np.testing.assert_allclose(times, np.arange(len(frames.points)) / FPS, atol=1e-9)
    assert found.unit == ("mm" if kind in ("trc", "c3d") else None)


def lines_at(times: Sequence[float | None]) -> bytes:
    return "\n".join(json.dumps({"time": t, "points": POINTS[0].tolist()}) for t in times).encode()


def csv_at(times: Sequence[object]) -> bytes:
    """With a column of text that nobody asks for."""
    header = ",".join(["who", "timestamp", *(f"{name}_{axis}" for name in COCO.points for axis in "xyz")])
    rows = [",".join(map(str, ["an actor", time, *POINTS[0].ravel()])) for time in times]
    return "\n".join([header, *rows]).encode()


GAP = [0.0, 0.1, 0.2, 1.2, 1.3]


@pytest.mark.parametrize(
    ("suffix", "data"),
    [
        (".jsonl", lines_at(GAP)),
        (".csv", csv_at(GAP)),
        (".csv", csv_at([f"2026-01-01T00:00:{time:06.3f}Z" for time in GAP])),
        (".npz", as_numpy(points=np.repeat(POINTS[:1], 5, axis=0), time=np.array(GAP))),
    ],
)
def test_a_gap_in_the_times_of_a_file_stays_a_gap(suffix: str, data: bytes) -> None:
    _, times, rate, notes = frame_times(read_recording(suffix, data, "coco17"))
    np.testing.assert_allclose(times, GAP, atol=1e-6)
    assert (rate, notes) == (pytest.approx(10.0), ())


def test_frames_whose_time_does_not_increase_are_left_out_and_that_is_said() -> None:
    recording = read_recording(".jsonl", lines_at([0.0, 0.1, 0.1, 0.3, 0.2, 0.4, None]), "coco17")
    kept, times, _, notes = frame_times(recording)
    assert times.tolist() == pytest.approx([0.0, 0.1, 0.3, 0.4])
    assert len(kept.points) == 4
    assert notes == ("3 of 7 frames are not later than the one before; they are left out.",)
    assert frame_times(recording, 30.0)[1].tolist() == pytest.approx((np.arange(7) / 30.0).tolist())  # as they come


@pytest.mark.parametrize(
    ("times", "sentence"),
    [
        ([0.0, 33.0, 67.0, 100.0], "give 0.0303 frames per second; times must be in seconds"),
        ([0.0, 1e-9, 2e-9], "frames per second; times must be in seconds"),
        ([3.0, 2.0, 1.0], "do not increase"),
    ],
)
def test_times_that_are_no_seconds_are_refused(times: list[float], sentence: str) -> None:
    recording = read_recording(".jsonl", lines_at(times), "coco17")
    with pytest.raises(CoreError, match=sentence):
        frame_times(recording)
    assert frame_times(recording, 30.0)[2] == 30.0


@pytest.mark.parametrize("fps", [0, -30.0, np.nan, np.inf, "thirty", [30.0, 25.0], 1e-4, 1e9, True])
def test_a_rate_that_is_none_is_refused_wherever_it_is_said(fps: object) -> None:
    sentence = '"fps" must be the number of frames per second'
    with pytest.raises(CoreError, match=sentence):
        read_recording(".npz", as_numpy(points=POINTS, fps=np.array(fps)), "coco17")
    with pytest.raises(CoreError, match=sentence):
        read_recording(".json", json.dumps(json.loads(as_json()) | {"fps": fps}).encode(), "coco17")


def test_a_body_at_the_end_of_the_world_is_refused_by_that() -> None:
    """It was said that hips and shoulders are not seen."""
    far = as_numpy(points=1e9 + np.asarray(POINTS), fps=np.array(30.0))
    with pytest.raises(CoreError, match="All keypoints are farther than 1,000,000 units from the origin"):
        read_recording(".npz", far, "coco17")


@pytest.mark.parametrize("kind", FILES)
def test_cut_and_spoilt_files_are_refused_and_never_crash(kind: str) -> None:
    suffix, data = FILES[kind]
    rng = np.random.default_rng(2)
    for trial in range(60):
        spoilt = bytearray(data[: int(rng.integers(len(data)))] if trial % 2 else data)
        for place in rng.integers(max(len(spoilt), 1), size=3 if trial else 0):
            if spoilt:
                spoilt[place % len(spoilt)] = int(rng.integers(256))
        with suppress(CoreError):
            assert isinstance(read_recording(suffix, bytes(spoilt), "coco17"), Recording)


@pytest.mark.parametrize(
    ("suffix", "data", "layout", "sentence"),
    [
        (".mp4", b"", "coco17", "Keypoint files end in"),
        (".c3d", b"", None, "not a readable C3D file"),
        (".c3d", as_c3d()[:-1536], "coco17", "no frame with markers"),
        (".c3d", as_c3d(), "plugin_gait", 'no "LASI" or "LPSI" for the point "hip.L"'),
        (".c3d", as_c3d(labels=["left_hip"] * 17), "h36m17", 'no point "RHip"'),
        (".json", as_json(), None, "The layout of the keypoints is unknown"),
        (".json", as_json(), "mediapipe", "has 33 points, but a frame has 17"),
        (".json", b"[]", "coco17", "no list of frames"),
        (".json", as_json()[:-1] + b', "up": ["Z"]}', "coco17", '"up" must be one of'),
        (".csv", b"1,2,3\n4,5,6", "coco17", "17 points and needs 51 columns"),
        (".csv", b"nose_x,nose_y,nose_z\n1,2,3", "coco17", 'no point "left_ear"'),
        (".csv", csv_at([0.1, "late"]), "coco17", 'Line 3, column "timestamp": "late" is not a number'),
        (".npz", as_numpy(a=POINTS, b=TRUST), "coco17", 'none of them is called "points"'),
        (".npy", as_numpy(points=POINTS[0]), "coco17", "Points must be numbers by frame"),
        (".trc", b"x", None, "not a TRC file"),
        (".npy", as_numpy(points=np.array([{}])), None, "without running code from it"),
        (".csv", b"nose_x,nose_y,nose_z", None, "no frames of keypoints"),
        (".csv", b"1,2,3", None, "The layout of the keypoints is unknown"),
        (".json", b"\xff\xfe", "coco17", "not a text file"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file_is_said(suffix: str, data: bytes, layout: str | None, sentence: str) -> None:
    with pytest.raises(CoreError) as refusal:
        read_recording(suffix, data, layout)
    assert sentence in str(refusal.value)


def test_markers_stand_for_what_is_below_them_by_name_and_what_a_file_lacks_is_not_seen() -> None:
    gait = find_layout("plugin_gait")
    labels = [f"Somebody:{name}" for name in gait.points if name not in ("LFIN", "RPSI")]
    points = np.random.default_rng(3).normal(0.0, 400.0, (4, len(labels), 3))
    points[1, labels.index("Somebody:LKNE")] = np.nan
    recording = read_recording(".c3d", as_c3d(points, labels), "plugin_gait")
    landmarks = Conversion(recording.layout, 0.001, "+Y")(recording.points)
    at = {name.partition(":")[2]: 0.001 * points[:, number] for number, name in enumerate(labels)}
    np.testing.assert_allclose(landmarks.positions[:, LANDMARK["hip.L"]], 0.5 * (at["LASI"] + at["LPSI"]), atol=1e-6)
    np.testing.assert_allclose(landmarks.positions[:, LANDMARK["hip.R"]], at["RASI"], atol=1e-6)
    assert (landmarks.weights[:, LANDMARK["knuckle.L"]] == 0.0).all()
    assert landmarks.weights[:, LANDMARK["knee.L"]].tolist() == [1.0, 0.0, 1.0, 1.0]


# As freemocap 1.8 and 2.0 write them (DataSaver.save_to_tidy_csv, skellyforge's Actor.create_summary_dataframe)
FREEMOCAP = {
    "1.7": ("{n},,{{}},mediapipe_body,{point},{x},{y},{z}", "{n},,{{}},mediapipe_hand,left_0000,1.0,2.0,3.0",
            "frame,timestamp,timestamp_by_camera,model,keypoint,x,y,z", "mediapipe"),
    "1.8": ('{n},{n}.5,"{{\'a\': 1, \'b\': 2}}",mediapipe_body,{point},{x},{y},{z},0.7',
            "{n},{n}.5,{{}},mediapipe_com,full_body,1.0,2.0,3.0,",
            "frame,timestamp,timestamp_by_camera,model,keypoint,x,y,z,reprojection_error", "mediapipe"),
    "2.0": ("{n},{point},{x},{y},{z},mediapipe.body,3d_xyz,",
            "{n},left_hip,1.0,2.0,3.0,mediapipe.body,rigid_3d_xyz,\n{n},wrist,1,2,3,mediapipe.left_hand,3d_xyz,",
            "frame,keypoint,x,y,z,model,trajectory,reprojection_error", "mediapipe"),
    "2.0 RTMPose": ("{n},{point},{x},{y},{z},rtmpose.body,3d_xyz,",
                    "{n},head_center,1.0,2.0,3.0,rtmpose.body,3d_xyz,",
                    "frame,keypoint,x,y,z,model,trajectory,reprojection_error", "rtmpose"),
    "2.0, one trajectory": ("{n},{point},{x},{y},{z}", "{n},neck_center,1.0,2.0,3.0",
                            "frame,keypoint,x,y,z", "mediapipe"),
}  # fmt: skip
RTMPOSE = (*COCO.points, *(f"{side}_{part}" for side in ("left", "right") for part in ("big_toe", "small_toe", "heel")))


def freemocap_csv(kind: str, skip: Sequence[int] = ()) -> tuple[bytes, np.ndarray]:
    """Five frames, without some of them, and their points in the order of the layout; one is not seen."""
    body, other, header, tracker = FREEMOCAP[kind]
    names = RTMPOSE if tracker == "rtmpose" else find_layout("freemocap").points
    points = np.random.default_rng(4).normal(0.0, 500.0, (5, len(names), 3)).round(3)
    points[2, 3] = np.nan
    rows = [header]
    for n in sorted({*range(5)} - {*skip}):
        rows += [
            body.format(n=n, point=name, **dict(zip("xyz", place, strict=True))).replace("nan", "")
            for name, place in zip(names, points[n].tolist(), strict=True)
        ]
        rows.append(other.format(n=n))
    points[list(skip)] = np.nan
    return "\n".join(rows).encode(), points


@pytest.mark.parametrize("kind", FREEMOCAP)
def test_freemocaps_files_of_a_point_a_line_are_read_the_body_alone_as_it_was_measured(kind: str) -> None:
    data, points = freemocap_csv(kind)
    found = read_recording(".csv", data, "freemocap")
    np.testing.assert_array_equal(found.points, points)
    assert (found.layout.name, found.layout.unit, found.layout.up) == ("freemocap", "mm", "+Z")
    landmarks = Conversion(found.layout, 0.001, "+Z")(found.points)
    assert (landmarks.weights[:, [LANDMARK["ball.L"], LANDMARK["heel.R"], LANDMARK["knee.L"]]] == 1.0).all()
    assert frame_times(found)[2] == (1.0 if kind == "1.8" else 30.0)


def test_frames_that_a_file_of_a_point_a_line_leaves_out_are_not_seen_and_take_their_time() -> None:
    data, points = freemocap_csv("2.0", skip=[1, 2])
    np.testing.assert_array_equal(read_recording(".csv", data, "freemocap").points, points)


def test_columns_of_freemocap_may_say_that_they_are_of_the_body() -> None:
    names = find_layout("freemocap").points
    points = np.random.default_rng(5).normal(0.0, 500.0, (3, len(names), 3)).round(3)
    header = ",".join([f"body_{name}_{axis}" for name in names for axis in "xyz"] + ["right_hand_0000_x"])
    rows = [",".join([*map(str, frame.ravel()), "1.0"]) for frame in points]
    data = "\n".join([header, *rows]).encode()
    np.testing.assert_array_equal(read_recording(".csv", data, "freemocap").points, points)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (["0,nose,1,2,3", "0,nose,1,2,3"], "A frame contains a point twice"),
        (["0.5,nose,1,2,3"], "whole number"),
        (["nan,nose,1,2,3"], "whole number"),
        (["0,nose,1,2,3", "1000000000,nose,1,2,3"], "only 2 of 1000000001 frames"),
        (["0,knee,1,2,3"], 'no point "nose"'),
    ],
)
def test_what_is_wrong_with_a_file_of_a_point_a_line_is_said(rows: list[str], sentence: str) -> None:
    others = [f"0,{name},1,2,3" for name in COCO.points[1:]] if "nose" in rows[0] else []
    with pytest.raises(CoreError, match=sentence):
        read_recording(".csv", "\n".join(["frame,keypoint,x,y,z", *rows, *others]).encode(), "coco17")


def test_two_bodies_in_one_file_are_refused() -> None:
    with pytest.raises(CoreError, match='"nose" exists twice'):
        read_recording(".c3d", as_c3d(labels=["other:nose", *COCO.points[:16]]), "coco17")


@pytest.mark.parametrize(
    ("mapping", "sentence"),
    [
        ([], "A mapping must be an object"),
        ({"marks": {"belly": ["A"]}}, 'no mark "belly"'),
        ({"marks": {"hip.L": "LASI"}}, 'mark "hip.L" needs a list'),
        ({"marks": {"hip.L": ["LASI"]}, "up": "up"}, '"up" must be one of'),
    ],
)
def test_what_is_wrong_with_a_mapping_is_said(mapping: object, sentence: str) -> None:
    with pytest.raises(CoreError) as refusal:
        parse_marker_mapping("markers.json", mapping)
    assert sentence in str(refusal.value)


def test_an_array_that_would_run_code_is_refused() -> None:
    file = io.BytesIO()
    np.save(file, np.array([{"a": 1}], object), allow_pickle=True)
    with pytest.raises(CoreError, match="without running code"):
        read_recording(".npy", file.getvalue(), "coco17")


@pytest.mark.parametrize("file", ["docs/examples/cmu_35_01.bvh", "tests/data/motion/cmu_07_12.bvh"])
def test_joints_of_a_figure_are_a_body_that_walks_upright(file: str) -> None:
    clip = clips.read_clip(ROOT / file)
    points = joint_landmarks(clip.skeleton, find_roles(clip.skeleton), clip.motion.pose)
    conversion, _ = find_conversion(find_layout("marks"), points)
    assert conversion.up == "+Z"
    captured = estimate_clip(conversion(points), np.arange(len(points)) / clip.motion.fps)
    assert captured.subject is not None
    assert captured.subject.noise < 0.002  # bones of a rig keep their lengths
    lowest = captured.landmarks[:, [LANDMARK["ankle.L"], LANDMARK["ankle.R"]], 1].min(axis=1)
    assert (captured.hips[:, 1] - lowest > 0.6).all()


def test_all_formats_are_tried_here() -> None:
    assert {suffix for suffix, _ in FILES.values()} == set(SUFFIXES)


def test_an_empty_array_of_enormous_counts_is_refused() -> None:
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "<f4", "fortran_order": False, "shape": (2**60, 17, 0, 3)})
    with pytest.raises(CoreError):
        read_recording(".npy", head.getvalue(), "coco17")
