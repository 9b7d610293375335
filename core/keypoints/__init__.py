"""3-D keypoints of a body, of files and of live trackers, as rotations (S4)."""

from .formats import SUFFIXES, Recording, layout_from, read_frame, read_recording, timed
from .joints import marks_of
from .layouts import AXES, LAYOUTS, UNITS, Layout, Marks, Taking, find_taking, layout_named
from .packets import PointPackets
from .reader import METHODS, Figure, LiveReader, Method, Reading, read_clip, read_frames
from .retarget import Actor, Travel, Walk, bones_of
from .stream import Stream
from .tracker import BoneTracker, PointTracker, Tracker
from .vmc import BonePackets

__all__ = [
    "AXES",
    "LAYOUTS",
    "METHODS",
    "SUFFIXES",
    "UNITS",
    "Actor",
    "BonePackets",
    "BoneTracker",
    "Figure",
    "Layout",
    "LiveReader",
    "Marks",
    "Method",
    "PointPackets",
    "PointTracker",
    "Reading",
    "Recording",
    "Stream",
    "Taking",
    "Tracker",
    "Travel",
    "Walk",
    "bones_of",
    "find_taking",
    "layout_from",
    "layout_named",
    "marks_of",
    "read_clip",
    "read_frame",
    "read_frames",
    "read_recording",
    "timed",
]
