"""3-D keypoints of a body, from files and live trackers, as joint rotations."""

from .character import Character, RootFromFeet, RootFromHips, bones_of
from .estimate import METHODS, CapturedMotion, LiveEstimator, Method, Subject, estimate_clip, estimate_rotations
from .formats import SUFFIXES, Recording, frame_times, layout_from, read_frame, read_recording
from .joints import joint_landmarks
from .layouts import AXES, LAYOUTS, UNITS, Conversion, Landmarks, Layout, find_conversion, find_layout
from .packets import PointPackets
from .stream import Stream
from .tracker import BoneTracker, PointTracker, Tracker
from .vmc import BonePackets

__all__ = [
    "AXES",
    "LAYOUTS",
    "METHODS",
    "SUFFIXES",
    "UNITS",
    "BonePackets",
    "BoneTracker",
    "CapturedMotion",
    "Character",
    "Conversion",
    "Landmarks",
    "Layout",
    "LiveEstimator",
    "Method",
    "PointPackets",
    "PointTracker",
    "Recording",
    "RootFromFeet",
    "RootFromHips",
    "Stream",
    "Subject",
    "Tracker",
    "bones_of",
    "estimate_clip",
    "estimate_rotations",
    "find_conversion",
    "find_layout",
    "frame_times",
    "joint_landmarks",
    "layout_from",
    "read_frame",
    "read_recording",
]
