"""Settings and state of live keypoints."""

from typing import Any, Final

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty

from .overrides import saved

LAYOUTS: Final = (
    ("mediapipe", "MediaPipe Pose", "33 world landmarks"),
    (
        "mediapipe_hands",
        "MediaPipe, with Hands",
        "33 world landmarks, followed by 21 points of the left hand and 21 of the right",
    ),
    ("coco17", "COCO", "17 points"),
    ("h36m17", "Human3.6M", "17 joints"),
    ("body25", "OpenPose BODY-25", "25 points"),
    ("smpl22", "SMPL, 22 joints", "Without hands"),
    ("smpl24", "SMPL, 24 joints", "With hands"),
    ("freemocap", "FreeMoCap", "33 body points in millimeters; arrays also have the points of the hands"),
    ("marks", "Poise", "Body points as Poise names them"),
    ("marks_hands", "Poise, with Hands", "Body points as Poise names them, and 21 points of each hand"),
)
SAID: Final = ("auto", "Automatic", "Use the layout that the file names")
VMC: Final = ("vmc", "VMC", "Rotations of the bones of a humanoid avatar, received over OSC")
MARKERS: Final = ("plugin_gait", "Plug-in Gait", "Full-body marker set of Vicon")
UNITS: Final = (
    ("auto", "Automatic", "Use the unit of the layout, or detect it from the points"),
    ("m", "Meters", "A body is about 1.7 units tall"),
    ("cm", "Centimeters", "A body is about 170 units tall"),
    ("mm", "Millimeters", "A body is about 1700 units tall"),
)
UPS: Final = (
    ("auto", "Automatic", "Use the axis of the layout, or detect it from the points"),
    *((axis, axis, "This axis points up") for axis in ("+X", "-X", "+Y", "-Y", "+Z", "-Z")),
)
TRAVELS: Final = (
    (
        "FEET",
        "By Feet",
        "Move the body so that the foot on the ground does not slide, for trackers that keep the hips at the origin",
    ),
    ("HIPS", "By Hips", "Move the body to where the tracked hips are"),
    ("NONE", "In Place", "Do not move the root"),
)

SETTINGS: Final[dict[str, Any]] = {
    "live_layout": saved(
        EnumProperty, "Layout", "Which points the tracker sends, and in which order", items=(*LAYOUTS, VMC)
    ),
    "live_unit": saved(EnumProperty, "Unit", "Unit of the points", items=UNITS),
    "live_up": saved(EnumProperty, "Up", "Axis of the points that points up", items=UPS),
    "live_travel": saved(EnumProperty, "Travel", "How the location of the body is found", items=TRAVELS),
    "live_port": saved(
        IntProperty, "Port", "UDP port on which packets are received", default=39539, min=1024, max=65535
    ),
    "live_delay": saved(
        IntProperty,
        "Delay",
        "Number of later frames to wait for: more frames give a smoother pose",
        default=2,
        min=0,
        max=10,
    ),
    "live_exchange": saved(BoolProperty, "Swap Sides", "Swap left and right, as for a mirrored camera picture"),
    "live_limits": saved(BoolProperty, "Joint Limits", "Keep joints within their limits", default=True),
    "live_remote": saved(
        BoolProperty,
        "Other Machines",
        "Accept packets from the network. Anyone on it can move the armature",
    ),
    "live_record": saved(
        BoolProperty, "Record", "Record the received poses, and key them in a new action when listening stops"
    ),
}


class POISE_PG_live(bpy.types.PropertyGroup):
    """State of the live keypoints"""

    owner: IntProperty(name="Armature", description="Session identifier of the armature that listens, or 0")
    stop: BoolProperty(name="Stop", description="Listening is about to end")
    status: StringProperty(name="Status", description="What is happening now")
    rate: FloatProperty(name="Rate", description="Packets per second")
    latency: FloatProperty(name="Latency", description="Median time in milliseconds from reading a packet to the pose")
    wait: FloatProperty(name="Wait", description="Median time in milliseconds that a packet waits for Blender")
    held: FloatProperty(
        name="Filter", description="Time in milliseconds that the filter waits for later packets (Delay)"
    )
    received: IntProperty(name="Received", description="Number of packets received")
    applied: IntProperty(name="Applied", description="Number of packets that posed the armature")
    used: IntProperty(
        name="Replaced", description="Number of packets replaced by newer ones, or used to detect unit and axes"
    )
    parts: IntProperty(
        name="Parts", description="Number of packets with a part of a frame, apart from the last one of each frame"
    )
    refused: IntProperty(name="Refused", description="Number of packets that do not fit the layout")
    late: IntProperty(name="Late", description="Number of packets that arrived out of order")
    skipped: IntProperty(name="Skipped", description="Number of packets dropped because too many arrived")
    lost: IntProperty(name="Lost", description="Number of packets lost on the way")
    recorded: IntProperty(name="Recorded", description="Number of poses that will be keyed")
    action: StringProperty(name="Action", description="Last recording")


# On the window manager, which is neither saved with the file nor undone.
SHOWN: Final[dict[str, Any]] = {
    "live": PointerProperty(type=POISE_PG_live, name="Live Keypoints", description="State of the live keypoints")
}

CLASSES: Final = (POISE_PG_live,)
