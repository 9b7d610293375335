"""The demo's colours, hexadecimal sRGB, and materials of them."""

from typing import Any, Final

import bpy

SKIN: Final = "EDB592"
HAIR: Final = "4A3228"
CORAL: Final = "EE5D3F"
NAVY: Final = "33435F"
SHOES: Final = "F4F1EA"
INK: Final = "262A38"
SLATE: Final = "5878B4"
GREEN: Final = "12A150"
YELLOW: Final = "FFC01E"
FLOOR: Final = "E9E4DA"
LINES: Final = "D3CCBE"
BACKDROP: Final = "F3F0EA"


def material(name: str, colour: str, alpha: float = 1.0, glow: float = 0.0) -> Any:
    """A plain surface; `alpha` is for the viewport alone, `glow` is the strength of its own light."""
    new: Any = bpy.data.materials.new(name)
    if bpy.app.version < (5, 0, 0):  # from then on they always have nodes
        new.use_nodes = True
    inputs = new.node_tree.nodes["Principled BSDF"].inputs
    inputs["Base Color"].default_value = inputs["Emission Color"].default_value = linear(colour)
    inputs["Roughness"].default_value, inputs["Specular IOR Level"].default_value = 0.6, 0.3
    inputs["Emission Strength"].default_value = glow
    new.diffuse_color = (*linear(colour)[:3], alpha)
    return new


def linear(colour: str) -> tuple[float, float, float, float]:
    """Scene-linear RGBA."""
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in srgb(colour))
    return r, g, b, 1.0


def srgb(colour: str) -> tuple[float, float, float]:
    """RGB, 0 to 1."""
    r, g, b = (int(colour[i : i + 2], 16) / 255.0 for i in (0, 2, 4))
    return r, g, b
