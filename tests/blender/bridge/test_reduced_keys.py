"""Reduced keys, evaluated by Blender itself."""

import bpy
import numpy as np

from core.editing.bezier import Keys


def blender_values(keys: Keys, column: int, at: np.ndarray) -> np.ndarray:
    """What an F-curve with these keys is at frames (S,)."""
    object = bpy.data.objects.new("curve", None)
    action = bpy.data.actions.new("curve")
    object.animation_data_create().action = action
    curve = action.fcurve_ensure_for_datablock(object, "location", index=0)
    points = curve.keyframe_points
    points.add(len(keys.frames))
    for name, kind in (("handle_left_type", "FREE"), ("handle_right_type", "FREE"), ("interpolation", "BEZIER")):
        for point in points:
            setattr(point, name, kind)
    points.foreach_set("co", np.stack([keys.frames, keys.values[:, column]], -1).astype(np.float32).ravel())
    points.foreach_set("handle_left", keys.left[:, column].astype(np.float32).ravel())
    points.foreach_set("handle_right", keys.right[:, column].astype(np.float32).ravel())
    curve.update()
    values = np.array([curve.evaluate(float(frame)) for frame in at])
    bpy.data.objects.remove(object)
    bpy.data.actions.remove(action)
    return values


def random_keys(rng: np.random.Generator) -> Keys:
    """Keys with handles of all lengths, some so long that they cross."""
    frames = np.cumsum(rng.integers(1, 12, 9)).astype(float)
    values = rng.normal(size=(9, 2))
    own = np.stack(np.broadcast_arrays(frames[:, None], values), axis=-1)
    left, right = (rng.uniform([0.0, -2.0], [7.0, 2.0], (9, 2, 2)) for _ in range(2))
    return Keys(frames, values, own - left, own + right)


def test_keys_are_evaluated_as_blender_does() -> None:
    rng = np.random.default_rng(5)
    for _ in range(6):
        keys = random_keys(rng)
        at = np.arange(keys.frames[0] - 3.0, keys.frames[-1] + 3.0, 0.25)
        values = keys.evaluate(at)
        for column in range(2):
            np.testing.assert_allclose(values[:, column], blender_values(keys, column, at), atol=2e-4)


def test_keys_of_slopes_are_cubics_of_the_frame_in_blender_too() -> None:
    rng = np.random.default_rng(6)
    frames = np.array([1.0, 4.0, 11.0, 12.0, 30.0])
    keys = Keys.of_slopes(frames, rng.normal(size=(5, 1)), rng.normal(size=(5, 1)))
    at = np.arange(1.0, 30.01, 0.25)
    np.testing.assert_allclose(keys.evaluate(at)[:, 0], blender_values(keys, 0, at), atol=5e-5)
