"""Which bones of an armature are for posing."""

from typing import Any

import bpy
import numpy as np

from ..core.skeleton import Flags
from .channels import ArmatureObject, flags


def read_for_posing(armature: ArmatureObject) -> Flags:
    """Return which bones (J,) are for posing: shown, or with a custom shape, as controls that an animator hid."""
    shaped = np.array([bone.custom_shape is not None for bone in armature.pose.bones], bool)
    return _read_shown(armature) | shaped


def _read_shown(armature: ArmatureObject) -> Flags:
    """Return which bones (J,) are shown: not hidden, and in a bone collection that is visible, or in none."""
    every, shown = set[str](), set[str]()
    for collection in armature.data.collections_all:
        names = {bone.name for bone in collection.bones}
        every |= names
        shown |= names if collection.is_visible_effectively else set()
    owners: Any = (
        armature.pose.bones if "hide" in bpy.types.PoseBone.bl_rna.properties else armature.data.bones
    )  # Blender 4.5
    seen = np.array([bone.name in shown or bone.name not in every for bone in armature.data.bones])
    return seen & ~flags(owners, "hide", 1)[:, 0]
