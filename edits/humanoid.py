"""The humanoid method with the settings of an armature's panel."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import bridge
from ..core.formats.humanoid import HumanoidSettings
from ..properties.humanoid import PULLS, RESISTS, SWIVELS


def read_humanoid(armature: Any) -> HumanoidSettings:
    """Return the settings of the humanoid method that are saved with an armature."""

    def those(names: Mapping[str, tuple[str, str]], but: float) -> dict[str, float]:
        values = {known: float(getattr(armature, f"poise_{name}")) for name, (known, _) in names.items()}
        return {known: value for known, value in values.items() if value != but}

    swivels = {name: known for name, known in SWIVELS.items() if getattr(armature, f"poise_use_{name}")}
    shares = {bone.name: bone.poise_share for bone in armature.pose.bones if bone.poise_share != 1.0}
    if shares:  # of bones that are still in the spine or the neck
        roles, names = bridge.read_roles(armature), armature.data.bones.keys()
        columns = {names[bone] for part in ("spine", "neck", "head") for bone in roles.chain(part)}
        shares = {bone: share for bone, share in shares.items() if bone in columns}
    pulls, resists = those(PULLS, 1.0), those(RESISTS, 0.0)
    return HumanoidSettings(pulls, resists, shares, armature.poise_reach, those(swivels, np.inf))
