"""Hashes that tell whether an action, or the input of a solve, has changed."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from hashlib import sha256
from typing import Any, Final

import numpy as np

from .. import bridge
from ..bridge.channels import channel_path
from ..bridge.driven import split_path
from ..bridge.points import read_shape

_SHOWN: Final = {"name", "active", "show_expanded", "is_valid"}  # properties of modifiers that do not affect the curve


def digest(*things: Any) -> str:
    """Return a hash of all values in arrays, dataclasses, mappings, sequences and the attributes of objects."""
    found = sha256()

    def feed(thing: Any) -> None:
        if isinstance(thing, np.ndarray):
            found.update(f"{thing.dtype}{thing.shape}".encode() + thing.tobytes())
        elif is_dataclass(thing):
            feed([getattr(thing, field.name) for field in fields(thing)])
        elif isinstance(thing, Mapping):
            feed([*thing.items()])
        elif isinstance(thing, tuple | list):
            for part in thing:
                feed(part)
        elif hasattr(thing, "__dict__"):  # limits, whose repr is their address
            feed([type(thing).__name__, *vars(thing).values()])
        else:
            found.update(repr(thing).encode())

    feed(things)
    return found.hexdigest()


def fingerprint(action: Any, names: Mapping[str, str] | None = None) -> str:
    """Return a hash of all curves of an action: keys, interpolation, modifiers; `names` replaces those of bones."""
    found = sha256()
    for curve in bridge.all_curves(action):
        path, place = curve.data_path, split_path(curve.data_path)
        if names and place is not None and place[0] in names:
            path = channel_path(names[place[0]], place[1])
        found.update(f"{path}{curve.array_index}{curve.mute}{curve.extrapolation}".encode())
        for values in read_shape(curve):
            found.update(values.tobytes())
        for modifier in curve.modifiers:
            found.update(repr(_settings_of(modifier)).encode())
    return found.hexdigest()


def _settings_of(modifier: Any) -> list[Any]:
    """Return the settings of a curve's modifier that affect the curve."""
    found: list[Any] = []
    for known in modifier.bl_rna.properties:
        value = getattr(modifier, known.identifier)
        if known.type == "COLLECTION":  # the control points of an envelope
            found.append([_settings_of(one) for one in value])
        elif known.type != "POINTER" and known.identifier not in _SHOWN:
            found.append(tuple(value) if getattr(known, "is_array", False) else value)
    return found
