"""Name the convention of a skeleton's names, for people: detection reads the words of names, whatever it is."""

import re
from collections.abc import Sequence
from typing import Final

# Convention -> patterns, each of which fits a whole name, without its name space; the first convention counts.
_FAMILIES: Final = {
    "Character Creator": ("CC_Base_Hip",),
    "VRoid": ("J_Bip_C_Hips",),
    "Source": (r"ValveBiped\.Bip01[ _]Pelvis",),
    "3ds Max Biped": (r"Bip\d+[ _]Pelvis",),
    "Rigify": ("DEF-.*",),
    "Auto-Rig Pro": (r"(c_)?thigh_(fk|ik|stretch)\.l",),
    "Unreal": ("upperarm_l", "calf_l"),
    "Daz Genesis 8": ("lShldrBend", "lThighBend"),
    "Poser and Daz": ("lShldr", "lThigh"),
    "CMU": ("LHipJoint",),
    "Perception Neuron": ("LeftInHandIndex",),
    "Rokoko": ("LeftThigh", "LeftShin", "LeftForeArm"),
    "MotionBuilder": ("LeftUpLeg", "LeftForeArm"),
    "Biovision": ("LeftHip", "LeftKnee", "LeftElbow"),
    "Bandai Namco": ("UpperLeg_L", "LowerArm_L"),
    "Kinect": ("SpineBase", "ElbowLeft"),
    "SMPL": ("(?i:l(eft)?_collar)", "(?i:l(eft)?_hip)"),
    "MikuMikuDance": ("上半身",),
}
_MIXAMO: Final = r"mixamorig\d*:.*"


def name_family(names: Sequence[str]) -> str:
    """Return whose names these are, such as "Mixamo"; "" if they are nobody's that is known."""
    if _any_fits(_MIXAMO, "\n".join(names)):
        return "Mixamo"
    plain = "\n".join(name.rpartition(":")[2] for name in names)
    for family, patterns in _FAMILIES.items():
        if all(_any_fits(pattern, plain) for pattern in patterns):
            return family
    return ""


def _any_fits(pattern: str, lines: str) -> bool:
    """Return whether a pattern fits a whole line: one search in all names is quicker than one in each."""
    return re.search(f"^(?:{pattern})$", lines, re.MULTILINE) is not None
