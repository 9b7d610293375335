"""Hold an object: fingers grip it in one frame, and the hands go along with it over a range, by timed pins.

The feet stay where the motion has them, unless they are pinned already: hands that do not reach so far fall short.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import bridge
from ..core import CoreError, Pose, rotation
from ..core.body.grip import finger_chains
from ..core.editing.timed_pins import share_within
from ..core.rotation import Array
from .body import BodyEdit
from .body_tools import BodyTool, GripObject
from .motion_edit import temporary_value
from .pin_list import remove_or_mute
from .pinned_motion import PinnedMotion
from .timed_pins import add_timed_pin, carrying_bone


@dataclass(frozen=True)
class KeepFingers(BodyTool):
    """Keep fingers as they are in one pose over some frames.

    bones      of the body
    rotations  (k, 4) theirs
    span       the first and the last frame
    ease       frames before and after in which they come and go
    """

    bones: tuple[int, ...]
    rotations: Array
    span: tuple[int, int]
    ease: int

    def apply(self, context: Any, armature: Any, body: bridge.Body) -> Pose:
        share = share_within(np.array([context.scene.frame_current_final]), self.span, self.ease)
        rotations, bones = np.array(body.pose.rotations), [*self.bones]
        rotations[bones] = rotation.slerp(rotations[bones], self.rotations, share)
        return replace(body.pose, rotations=rotations)


class Holding:
    """An object that hands hold from the first of some frames on, where its mesh is in their reach, to the last.

    Write `fingers` first, which keys them into a copy of the motion, then `pinned`: both are edits. Raises CoreError if
    no finger reaches anything in the first frame.
    """

    def __init__(self, context: Any, armature: Any, tool: GripObject, frames: tuple[int, int], ease: int) -> None:
        if frames[1] < frames[0]:
            raise CoreError(f"The range must start before it ends. It starts at {frames[0]} and ends at {frames[1]}.")
        self._frames, self._ease = frames, ease
        first = BodyEdit(context, armature, (frames[0], frames[0]), tool)
        roles, names = first.body.roles, first.body.skeleton.names
        (gripped,) = first.notes
        self.said = gripped.said
        self.held = {names[roles.bone(hand)]: name for hand, name in gripped.held.items()}
        self._feet = [names[roles.bone(foot)] for foot in ("foot.L", "foot.R") if foot in roles.bones]
        chains = [finger_chains(roles, hand[-1]).values() for hand in gripped.held]
        bones = tuple(bone for chain in chains for finger in chain for bone in finger)
        kept = KeepFingers(bones, gripped.pose.rotations[[*bones]], frames, ease)
        self.fingers = BodyEdit(context, armature, (frames[0] - ease, frames[1] + ease), kept)
        self.fingers.missed = first.missed

    def pinned(self, context: Any, armature: Any) -> PinnedMotion:
        """Add the timed pins that hold the hands to what they grip, and return the motion that is solved with them.

        They replace those of the same hands on objects in these frames: the motion has been solved with them. The hand
        that carries the object itself gets none.
        """
        bones, (start, end) = armature.data.bones, self._frames
        with temporary_value(armature, "poise_live_pins", False):  # no change by the user
            earlier = [
                place
                for place, pin in enumerate(armature.poise_timed_pins)
                if pin.held == "OBJECT" and pin.bone in self.held and pin.start <= end and pin.end >= start
            ]
            remove_or_mute(armature, "poise_timed_pins", earlier)
            self._keep_feet(armature)
            for bone, name in self.held.items():
                target = context.scene.objects[name]
                carrier = bones.get(carrying_bone(armature, target) or "")
                if carrier is not None and bone in (carrier.name, *(one.name for one in carrier.parent_recursive)):
                    continue
                pin = add_timed_pin(armature, bone, start, end)
                pin.label, pin.target, pin.held = f"{bone} on {name}", target, "OBJECT"
                pin.use_rotation = True
                pin.ease_in = pin.ease_out = self._ease
        return PinnedMotion(context, armature)

    def _keep_feet(self, armature: Any) -> None:
        """Add timed pins that hold the feet to the motion until the body is as before, or make those longer."""
        around = max(self._ease - 1, 0)
        start, end = self._frames[0] - around, self._frames[1] + around
        for foot in self._feet:
            near = [
                pin for pin in armature.poise_timed_pins if pin.bone == foot and pin.start <= end and pin.end >= start
            ]
            if any(pin.held != "MOTION" for pin in near):
                continue
            pin = near[0] if near else add_timed_pin(armature, foot, start, end)
            pin.start, pin.end = min(pin.start, start), max(pin.end, end)
            if not near:
                pin.held, pin.use_rotation, pin.priority = "MOTION", True, 0  # before the hands
                pin.ease_in = pin.ease_out = 0
