"""3-D keypoints of a body, of files and of live trackers, as rotations (S4)."""

from .formats import SUFFIXES, Recording, read_frame, read_recording
from .layouts import AXES, LAYOUTS, UNITS, Layout, Marks, Taking, find_taking, layout_from, layout_named
from .reader import METHODS, Figure, LiveReader, Method, Reading, read_clip, read_frames
from .retarget import Puppet, Walk, bones_of

__all__ = [
    "AXES",
    "LAYOUTS",
    "METHODS",
    "SUFFIXES",
    "UNITS",
    "Figure",
    "Layout",
    "LiveReader",
    "Marks",
    "Method",
    "Puppet",
    "Reading",
    "Recording",
    "Taking",
    "Walk",
    "bones_of",
    "find_taking",
    "layout_from",
    "layout_named",
    "read_clip",
    "read_frame",
    "read_frames",
    "read_recording",
]
