"""Draw ghosts into 3D viewports: lines over everything, meshes behind what is nearer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final
from weakref import WeakKeyDictionary

import bpy
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader
from numpy.typing import NDArray

from ..core.rotation import Array
from .draw import THIN
from .strokes import Colour

# A surface is faint where it faces the viewer and clear at its outline, which tells ghosts behind each other apart, and
# a little too far away, so that what has not moved does not flicker through the body.
_VERTEX: Final = """
void main() {
    across = normal;
    towards = viewer.xyz - viewer.w * pos;
    gl_Position = view_to_clip * vec4(pos, 1.0);
    gl_Position.z += 1e-4 * gl_Position.w;
}
"""
_FRAGMENT: Final = """
void main() {
    float facing = abs(dot(normalize(across), normalize(towards)));
    colour = vec4(tint.rgb, tint.a * (1.0 - 0.8 * facing));
}
"""


@dataclass(frozen=True, eq=False)
class GhostMark:
    """A ghost: points (n, 3) in the world, corners (m, 2) of lines or (m, 3) of triangles.

    normals: unit vectors (n, 3) at the points of triangles
    """

    points: Array
    corners: NDArray[np.int32]
    normals: Array

    @property
    def solid(self) -> bool:
        """Whether it is a surface."""
        return self.corners.shape[1] == 3


Find = Callable[[Any], Sequence[tuple[GhostMark, Colour]]]


class GhostDrawing:
    """Draw the ghosts of `find(context)`, in its order, into every 3D viewport until `close`."""

    def __init__(self, find: Find) -> None:
        self._find = find
        self._batches: WeakKeyDictionary[GhostMark, Any] = WeakKeyDictionary()  # data on the GPU
        self._handle: Any = bpy.types.SpaceView3D.draw_handler_add(self._draw, (), "WINDOW", "POST_VIEW")

    def close(self) -> None:
        """Remove the drawing from the viewports. A second call does nothing."""
        if self._handle is not None:
            bpy.types.SpaceView3D.draw_handler_remove(self._handle, "WINDOW")
            self._handle = None

    @cached_property
    def _surface(self) -> Any:
        """The shader of surfaces."""
        types: Any = gpu.types
        between = types.GPUStageInterfaceInfo("poise_ghost")
        between.smooth("VEC3", "across")
        between.smooth("VEC3", "towards")
        made = types.GPUShaderCreateInfo()
        for kind, name in (("MAT4", "view_to_clip"), ("VEC4", "viewer"), ("VEC4", "tint")):
            made.push_constant(kind, name)
        made.vertex_in(0, "VEC3", "pos")
        made.vertex_in(1, "VEC3", "normal")
        made.vertex_out(between)
        made.fragment_out(0, "VEC4", "colour")
        made.vertex_source(_VERTEX)
        made.fragment_source(_FRAGMENT)
        return gpu.shader.create_from_info(made)

    @cached_property
    def _lines(self) -> Any:
        """The shader of lines."""
        return gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")

    def _batch(self, ghost: GhostMark) -> Any:
        batch = self._batches.get(ghost)
        if batch is None:
            points: Any = ghost.points.astype(np.float32)
            if ghost.solid:
                data: dict[str, Any] = {"pos": points, "normal": ghost.normals.astype(np.float32)}
                batch = batch_for_shader(self._surface, "TRIS", data, indices=ghost.corners)
            else:
                batch = batch_for_shader(self._lines, "LINES", {"pos": points[ghost.corners].reshape(-1, 3)})
            self._batches[ghost] = batch
        return batch

    def _draw(self) -> None:
        context: Any = bpy.context
        if not context.space_data.overlay.show_overlays:
            return
        ghosts = [(ghost, colour) for ghost, colour in self._find(context) if len(ghost.corners)]
        if not ghosts:
            return
        gpu.state.blend_set("ALPHA")
        for ghost, colour in ghosts:
            draw = self._draw_surface if ghost.solid else self._draw_lines
            draw(context, ghost, colour)
        gpu.state.depth_test_set("NONE")
        gpu.state.depth_mask_set(False)
        gpu.state.blend_set("NONE")

    def _draw_surface(self, context: Any, ghost: GhostMark, colour: Colour) -> None:
        """Draw the depth first, then the colour of what is nearest: each pixel once."""
        shader, camera, matrices = self._surface, context.region_data.view_matrix.inverted(), gpu.matrix
        seen_from = (*camera.translation, 1.0) if context.region_data.is_perspective else (*camera.col[2][:3], 0.0)
        shader.bind()
        shader.uniform_float("view_to_clip", matrices.get_projection_matrix() @ matrices.get_model_view_matrix())
        shader.uniform_float("viewer", seen_from)
        shader.uniform_float("tint", colour)
        gpu.state.depth_test_set("LESS_EQUAL")
        for depth in (True, False):
            gpu.state.depth_mask_set(depth)
            gpu.state.color_mask_set(not depth, not depth, not depth, not depth)
            self._batch(ghost).draw(shader)

    def _draw_lines(self, context: Any, ghost: GhostMark, colour: Colour) -> None:
        shader, region = self._lines, context.region
        shader.bind()
        shader.uniform_float("color", colour)
        shader.uniform_float("lineWidth", THIN * context.preferences.system.pixel_size)
        shader.uniform_float("viewportSize", (region.width, region.height))
        gpu.state.depth_test_set("NONE")
        self._batch(ghost).draw(shader)
