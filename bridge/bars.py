"""What curves have for which a key would not show, or would change other frames, and what helps."""

from enum import Enum


class Bar(Enum):
    """A kind of `Cause`: what bars a key on channels of bones, and what helps."""

    BELOW = "NLA motion that a key here would change at all frames", "Set Action Blending to Combine to change it"
    BELOW_MOTION = "NLA motion that a key here would change at all frames", "Bake the entire motion first"
    EXTRAPOLATED = (
        "curves with linear extrapolation, and a key here would change the frames beyond their keys",
        "Go to a frame with two keys on each side, or set Extrapolation Mode to Constant Extrapolation",
    )
    LOCKED = "locked curves", "Unlock them in the Graph Editor"
    MODIFIED = "curves with modifiers", "Mute their modifiers in the Graph Editor"
    MUTED = "muted curves", "Unmute them in the Graph Editor"
    NO_KEYS = "no keys, and {}", "Insert a keyframe first"
    REPEATED = "curves that repeat, and Cycle-Aware Keying is off", "Turn Cycle-Aware Keying on"
    REPEATED_IN_PART = (
        "curves that repeat only in part, or differently before and after their keys",
        "Mute their modifiers in the Graph Editor",
    )
    SAMPLED = "samples instead of keys", "Use Samples to Keys in the Graph Editor"
    SOME_KEYS = "keys on {} only, and {}", "Insert a keyframe first"
    UNUSED = "an action that the NLA editor does not use", "Raise its influence and turn off Solo in the NLA editor"
    UNUSED_HERE = "an action that the NLA editor does not use at this frame", "Set Action Extrapolation to Hold"


class Lost(Enum):
    """A kind of `Cause`: why auto-keying does not keep a change, and what helps."""

    BARRED = "their F-curves are locked, or have modifiers", "Unlock the F-curves and mute the modifiers"
    NOT_KEYED = "auto-keying is off", "Insert a keyframe to keep the change"
    NOT_IN_SET = 'the keying set "{}" does not contain their channels', "Add them to the keying set"
    REPLACED = "auto-keying only replaces keys", "Insert a keyframe to keep the change"
