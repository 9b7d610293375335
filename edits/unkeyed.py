"""The values of channels without keys, kept so that the original motion can be restored."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .. import bridge
from ..bridge.channels import CHANNELS, channel_path
from ..bridge.motion import active_curves
from ..core.rotation import Array
from .stored import read_kept

ChannelValues = dict[str, dict[str, list[float]]]  # bone -> channel -> values


def read_unkeyed(armature: Any, action: str) -> ChannelValues:
    """Return the stored values of bones without keys in an action."""
    kept_for, values = read_kept(armature, "poise_still", _checked) or ("", {})
    return values if kept_for == action else {}


def rename_unkeyed(armature: Any, names: Mapping[str, str]) -> None:
    """Store the values with the new names of bones, by the old ones."""
    action, values = read_kept(armature, "poise_still", _checked) or ("", {})
    if values:
        bones = {names.get(bone, bone): own for bone, own in values.items()}
        armature.poise_still = json.dumps({"action": action, "bones": bones})


def _checked(kept: Any) -> tuple[str, ChannelValues]:
    """Return the name of an action and values. Raises an error for what Poise does not write."""
    values: ChannelValues = {}
    for bone, channels in kept["bones"].items():
        values[bone] = {name: np.array(own, float).reshape(CHANNELS[name]).tolist() for name, own in channels.items()}
    return str(kept["action"]), values


def store_unkeyed(armature: Any, action: str, values: ChannelValues, bones: Iterable[str]) -> None:
    """Store the values of some bones, if they are not stored yet."""
    kept = {bone: values[bone] for bone in bones if values.get(bone)} | read_unkeyed(armature, action)
    armature.poise_still = json.dumps({"action": action, "bones": kept}) if kept else ""


def restore_unkeyed(armature: Any, values: ChannelValues) -> None:
    """Set the channels of bones to stored values."""
    if values:
        channels = bridge.read_channels(armature)
        index = {name: place for place, name in enumerate(armature.pose.bones.keys())}
        for bone in values.keys() & index.keys():
            for name, value in values[bone].items():
                channels[name][index[bone]] = value
        bridge.write_channels(armature, channels)


def find_unkeyed(armature: Any) -> ChannelValues:
    """Return the values of all channels of bones without curves in the present action."""
    keyed = {curve.data_path for curve in active_curves(armature)}
    channels: Mapping[str, Array] = bridge.read_channels(armature)
    return {
        bone.name: {
            name: np.asarray(channels[name][place]).tolist()
            for name in CHANNELS
            if channel_path(bone.name, name) not in keyed
        }
        for place, bone in enumerate(armature.pose.bones)
    }
