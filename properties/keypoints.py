"""Settings and state of live keypoints."""

from typing import Any, Final

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty

from .overrides import saved

LAYOUTS: Final = (
    ("mediapipe", "MediaPipe Pose", "33 world landmarks"),
    ("mediapipe_hands", "MediaPipe, with Hands", "33 world landmarks, and 21 of each hand, the left one first"),
    ("coco17", "COCO", "17 points"),
    ("h36m17", "Human3.6M", "17 joints"),
    ("body25", "OpenPose BODY-25", "25 points"),
    ("smpl22", "SMPL, 22 joints", "Without hands"),
    ("smpl24", "SMPL, 24 joints", "With hands"),
    ("freemocap", "FreeMoCap", "Its 33 body points, in millimetres, and in arrays of numbers those of its hands"),
    ("marks", "Poise", "Poise's own marks"),
    ("marks_hands", "Poise, with Hands", "Poise's own marks, and 21 of each hand"),
)
SAID: Final = ("auto", "Automatic", "As the file says")
VMC: Final = ("vmc", "VMC", "Bones of Unity's humanoid, over OSC, as they turn")
MARKERS: Final = ("plugin_gait", "Plug-in Gait", "Vicon's markers of the whole body")
UNITS: Final = (
    ("auto", "Automatic", "As the layout has them, or told from the points"),
    ("m", "Metres", "A body is nearly 2 tall"),
    ("cm", "Centimetres", "A body is nearly 200 tall"),
    ("mm", "Millimetres", "A body is nearly 2000 tall"),
)
UPS: Final = (
    ("auto", "Automatic", "As the layout has it, or told from the points"),
    *((axis, axis, f"{axis} is up") for axis in ("+X", "-X", "+Y", "-Y", "+Z", "-Z")),
)
TRAVELS: Final = (
    (
        "FEET",
        "By Feet",
        "The body moves so that the foot on the ground does not slide; for trackers that put the hips at zero",
    ),
    ("HIPS", "By Hips", "The body goes where its hips are"),
    ("NONE", "In Place", "The root is not moved"),
)

SETTINGS: Final[dict[str, Any]] = {
    "live_layout": saved(EnumProperty, "Layout", "What the tracker sends", items=(*LAYOUTS, VMC)),
    "live_unit": saved(EnumProperty, "Unit", "Unit of the points", items=UNITS),
    "live_up": saved(EnumProperty, "Up", "The axis of the points that is up", items=UPS),
    "live_travel": saved(EnumProperty, "Travel", "What says where the body goes", items=TRAVELS),
    "live_port": saved(IntProperty, "Port", "UDP port to listen on", default=39539, min=1024, max=65535),
    "live_delay": saved(
        IntProperty, "Delay", "Frames that the pose waits for later ones: more are smoother", default=2, min=0, max=10
    ),
    "live_exchange": saved(BoolProperty, "Exchange Sides", "The tracker's left is the body's right"),
    "live_limits": saved(BoolProperty, "Joint Limits", "Joints stay within their limits", default=True),
    "live_remote": saved(
        BoolProperty,
        "From Other Machines",
        "Listen on the network, not only on this machine; anyone there can move the armature",
    ),
    "live_record": saved(BoolProperty, "Record", "Key what comes in a new action when listening stops"),
}


class POISE_PG_live(bpy.types.PropertyGroup):
    """How live keypoints go"""

    owner: IntProperty(name="Armature", description="The number that the armature has in this session; 0: none listens")
    stop: BoolProperty(name="Stop", description="Listening is to end")
    status: StringProperty(name="Status", description="What happens")
    rate: FloatProperty(name="Rate", description="Packets a second")
    latency: FloatProperty(
        name="Latency", description="Milliseconds from looking at packets to the pose, in the middle"
    )
    wait: FloatProperty(name="Wait", description="Milliseconds that packets wait for Blender, in the middle")
    held: FloatProperty(name="Filter", description="Milliseconds that the filter waits for later packets (Delay)")
    received: IntProperty(name="Received", description="Packets that came")
    applied: IntProperty(name="Applied", description="Packets that the armature was posed by")
    used: IntProperty(
        name="Followed", description="Packets that a newer one posed in place of, or that told unit and axes"
    )
    parts: IntProperty(name="Parts", description="Packets with a part of a frame, whose last one counts as a whole one")
    refused: IntProperty(name="Refused", description="Packets that are no frame of the layout")
    late: IntProperty(name="Late", description="Packets that came after later ones")
    skipped: IntProperty(name="Skipped", description="Packets that were too many to look at")
    lost: IntProperty(name="Lost", description="Packets that never came")
    recorded: IntProperty(name="Recorded", description="Poses that will be keyed")
    action: StringProperty(name="Action", description="What was recorded last")


# On the window manager, which is neither saved with the file nor undone.
SHOWN: Final[dict[str, Any]] = {
    "live": PointerProperty(type=POISE_PG_live, name="Live Keypoints", description="How live keypoints go")
}

CLASSES: Final = (POISE_PG_live,)
