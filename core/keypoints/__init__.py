"""3-D keypoints of a body, from files and live trackers, as joint rotations."""

from .character import Character, RootFromFeet, RootFromHips
from .conversion import Conversion, Landmarks, find_conversion
from .estimate import METHODS, CapturedMotion, LiveEstimator, Method, Subject, estimate_clip, estimate_rotations
from .hands import joint_hands
from .joints import joint_landmarks
from .layouts import AXES, LAYOUTS, UNITS, Layout, find_layout
from .packets import PointPackets
from .recordings import SUFFIXES, Recording, frame_times, read_frame, read_recording
from .stream import Stream
from .tracker import BoneTracker, PointTracker, Tracker
from .vmc import BonePackets

__all__ = [
    "AXES", "LAYOUTS", "METHODS", "SUFFIXES", "UNITS", "BonePackets", "BoneTracker", "CapturedMotion", "Character",
    "Conversion", "Landmarks", "Layout", "LiveEstimator", "Method", "PointPackets", "PointTracker", "Recording",
    "RootFromFeet", "RootFromHips", "Stream", "Subject", "Tracker", "estimate_clip", "estimate_rotations",
    "find_conversion", "find_layout", "frame_times", "joint_hands", "joint_landmarks", "read_frame", "read_recording",
]  # fmt: skip
