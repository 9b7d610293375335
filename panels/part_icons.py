"""Icons of the states of body parts, each with a shape and a color of its own."""

from typing import Any, Final

import bpy.utils.previews
import numpy as np
from numpy.typing import NDArray

_PIXELS: Final = 32  # on a side
_COLORS: Final = {
    "FOUND": (0.39, 0.66, 0.42),
    "GUESSED": (0.85, 0.73, 0.27),
    "MISSING": (0.88, 0.38, 0.37),
    "SAID": (0.35, 0.66, 0.9),
}

NUMBERS: Final[dict[str, int]] = {}  # of the icons in Blender, by state; registration fills it


def add_icons() -> Any:
    """Add the icons to Blender; return what `remove_icons` takes."""
    icons = bpy.utils.previews.new()
    for state, picture in pictures().items():
        icon: Any = icons.new(state)
        icon.icon_size = picture.shape[:2]
        icon.icon_pixels_float.foreach_set(picture.ravel())
        NUMBERS[state] = icon.icon_id
    return icons


def remove_icons(icons: Any) -> None:
    """Take the icons out of Blender."""
    NUMBERS.clear()
    bpy.utils.previews.remove(icons)


def pictures() -> dict[str, NDArray[np.float32]]:
    """Return the icon of each state as (rows, columns, RGBA), its lowest row first."""
    up, right = np.mgrid[-1.0 : 1.0 : _PIXELS * 1j, -1.0 : 1.0 : _PIXELS * 1j]
    rise, fall = (np.abs(up - right) / np.sqrt(2.0), np.abs(up + right) / np.sqrt(2.0))
    inside = {  # distance from the edge
        "FOUND": 0.75 - np.hypot(up, right),  # disk
        "GUESSED": np.minimum(up + 0.65, 0.4 - 0.5 * up - 0.87 * np.abs(right)),  # triangle
        "MISSING": np.minimum(np.maximum(0.2 - rise, 0.2 - fall), 0.9 - np.maximum(rise, fall)),  # cross
        "SAID": 0.6 - np.maximum(rise, fall),  # diamond
    }
    smooth = {state: np.clip(0.5 + 0.5 * _PIXELS * far, 0.0, 1.0) for state, far in inside.items()}
    return {  # colors are multiplied by alpha, as Blender draws icons
        state: (alpha[..., None] * np.array([*_COLORS[state], 1.0])).astype(np.float32)
        for state, alpha in smooth.items()
    }
