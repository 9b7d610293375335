"""Draw marks into 3D viewports. The only module that uses the GPU."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import blf
import bpy
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader
from mathutils import Matrix
from numpy.typing import NDArray

from ..core.rotation import Array
from ..languages.lines import wrapped
from ..preferences import preferences_of
from .marks import Camera, Colours, Marks, strokes_of
from .strokes import Strokes
from .trails import Dots, look_of

THIN: Final = 1.6  # pixels at a scale of 1
_THICK: Final = 3.5
_CONTACT: Final = 5.0
_TEXT: Final = 12.0
_MARGIN: Final = 20.0
_GAP: Final = 10.0  # pixels between a panel and the text
_BUTTONS: Final = 38.0  # of the buttons to turn and move the view, at a scale of 1
_OPACITY: Final = 0.9  # of the text

Find = Callable[[Any], Marks | None]
See = Callable[[Any, Any], Camera]


class Drawing:
    """Draw the marks of `find(context)` into every 3D viewport until `close`; `see(region, region_data)` is the view.

    Draw handlers refer to this object, never to an operator, because Blender frees operators at any time.
    """

    def __init__(self, find: Find, see: See) -> None:
        self._find, self._see = find, see
        self._handle: Any = bpy.types.SpaceView3D.draw_handler_add(self._draw, (), "WINDOW", "POST_PIXEL")

    def close(self) -> None:
        """Remove the drawing from the viewports. A second call does nothing."""
        if self._handle is not None:
            bpy.types.SpaceView3D.draw_handler_remove(self._handle, "WINDOW")
            self._handle = None

    def _draw(self) -> None:
        context: Any = bpy.context
        if not context.space_data.overlay.show_overlays:
            return
        marks = self._find(context)
        if marks is not None:
            *_, last = (region for region in context.area.regions if region.type == "WINDOW")
            if context.region != last:  # of the four views of Quad View one has the text
                marks = replace(marks, text=[])
            draw_marks(context, marks, self._see(context.region, context.region_data))


def draw_marks(context: Any, marks: Marks, view: Camera) -> None:
    """Draw marks into the region of the context, in pixels whatever the current projection is."""
    region, system = context.region, context.preferences.system
    scale = ui_scale(context)
    size_of_marks = scale * preferences_of(context).mark_size
    colours = theme_colours(context)
    thin, thick = strokes_of(marks, view, colours, size_of_marks)
    trails = [look_of(trail, view, colours) for trail in marks.trails]
    matrices: Any = gpu.matrix
    with matrices.push_pop(), matrices.push_pop_projection():
        gpu.matrix.load_identity()
        gpu.matrix.load_projection_matrix(_pixels_to_clip(region.width, region.height))
        gpu.state.blend_set("ALPHA")
        gpu.state.depth_test_set("NONE")
        for look in trails:
            stroke(look.contacts, _CONTACT * system.pixel_size, region)
            stroke(look.line, THIN * system.pixel_size, region)
            for size, dots in look.dots:
                draw_dots(dots, size * size_of_marks)
        stroke(thick, _THICK * system.pixel_size, region)
        stroke(thin, THIN * system.pixel_size, region)
        _write(context, marks.text, scale)
        gpu.state.blend_set("NONE")


def _pixels_to_clip(width: int, height: int) -> Matrix:
    return Matrix(
        ((2.0 / width, 0.0, 0.0, -1.0), (0.0, 2.0 / height, 0.0, -1.0), (0.0, 0.0, -1.0, 0.0), (0.0, 0.0, 0.0, 1.0))
    )


def ui_scale(context: Any) -> float:
    """Return the scale of the interface; Blender reports 0 without a window."""
    return float(context.preferences.system.ui_scale) or 1.0


def theme_colours(context: Any) -> Colours:
    """Return the colours of the user's theme, with the opacity of the preferences."""
    usual = float(preferences_of(context).mark_opacity)
    theme = context.preferences.themes[0]
    view, interface = theme.view_3d, theme.user_interface

    def colour(value: Any) -> tuple[float, float, float, float]:
        red, green, blue = tuple(value)[:3]
        return (red, green, blue, usual)

    return Colours(
        pin=colour(view.bone_pose),
        dragged=colour(view.bone_pose_active),
        unmet=colour(view.object_active),
        limit=colour(view.bone_locked_weight),
        hover=colour(interface.gizmo_hi),
        before=colour(view.before_current_frame),
        after=colour(view.after_current_frame),
        axes=(colour(interface.axis_x), colour(interface.axis_y), colour(interface.axis_z)),
    )


def stroke(strokes: Strokes, width: float, region: Any) -> None:
    """Draw lines of a width in pixels, at pixels of the region."""
    if not len(strokes):
        return
    shader = gpu.shader.from_builtin("POLYLINE_SMOOTH_COLOR")
    data: dict[str, Any] = {
        "pos": _flat(strokes.points.reshape(-1, 2)),
        "color": strokes.colours.reshape(-1, 4).astype(np.float32),
    }
    batch = batch_for_shader(shader, "LINES", data)
    shader.bind()
    shader.uniform_float("lineWidth", width)
    shader.uniform_float("viewportSize", (region.width, region.height))
    batch.draw(shader)


def draw_dots(dots: Dots, size: float) -> None:
    """Draw dots of a size in pixels, at pixels of the region."""
    if not len(dots.points):
        return
    shader = gpu.shader.from_builtin("POINT_FLAT_COLOR")
    data: dict[str, Any] = {"pos": _flat(dots.points), "color": dots.colours.astype(np.float32)}
    batch = batch_for_shader(shader, "POINTS", data)
    gpu.state.point_size_set(size)
    shader.bind()
    batch.draw(shader)


def _flat(points: Array) -> NDArray[np.float32]:
    """Return pixels (n, 2) with a depth of 0, (n, 3)."""
    return np.pad(points, ((0, 0), (0, 1))).astype(np.float32)


def _write(context: Any, lines: list[str], scale: float) -> None:
    """Write lines above the middle of the lower edge, because Blender uses the corners."""
    if not lines:
        return
    font, middle, bottom = 0, 0.5 * context.region.width, _MARGIN * scale
    blf.size(font, _TEXT * scale)
    blf.color(font, 1.0, 1.0, 1.0, _OPACITY)
    blf.enable(font, blf.SHADOW)
    blf.shadow(font, 3, 0.0, 0.0, 0.0, 0.8)

    def measure(line: str) -> float:
        return blf.dimensions(font, line)[0]

    left, right, _ = _room(context, {"TOOLS", "UI", "HUD"})
    if max(map(measure, lines)) > right - left:  # above the panel of the last operation, if not beside it
        _, _, top = _room(context, {"HUD"})
        left, right, _ = _room(context, {"TOOLS", "UI"})
        bottom += top
    parts = [part for line in lines for part in wrapped(line, right - left, measure)]
    half = 0.5 * max(map(measure, parts))
    middle = max(min(middle, right - half), left + half)
    for number, line in enumerate(reversed(parts)):
        blf.position(font, middle - 0.5 * measure(line), bottom + 1.5 * number * _TEXT * scale, 0.0)
        blf.draw(font, line)
    blf.disable(font, blf.SHADOW)


def _room(context: Any, kinds: set[str]) -> tuple[float, float, float]:
    """Return the left and right pixel between which regions of these kinds leave room, and the height they cover."""
    region = context.region
    left, right, top = _GAP, float(region.width), 0.0
    for other in context.area.regions:
        x, y = other.x - region.x, other.y + other.height - region.y
        if other.type not in kinds or other.width <= 1 or y <= 0:
            continue
        top = max(top, y)
        if x + 0.5 * other.width < 0.5 * region.width:
            left = max(left, x + other.width + _GAP)
        else:
            right = min(right, x)
    space = context.space_data
    buttons = _BUTTONS * ui_scale(context) if space.show_gizmo and space.show_gizmo_navigate else 0.0
    return left, right - buttons - _GAP, top
