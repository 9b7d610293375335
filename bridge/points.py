"""Read and write the keys of an F-curve as arrays, and join new keys to those that stay."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Final

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.editing.bezier import split
from .motion import SAME_FRAME

_FLAT: Final = 1e-6  # of the value: a curve that changes less is flat, in single precision
# properties of a key that apply to the segment up to the next one
SEGMENT: Final = ("interpolation", "easing", "back", "amplitude", "period")
HANDLES: Final = ("co", "handle_left", "handle_right")  # positions of keys and their handles
# all properties of a key, with the number of values and their type
KEY: Final[dict[str, tuple[int, type]]] = {
    **dict.fromkeys(HANDLES, (2, np.float32)),
    **dict.fromkeys(("handle_left_type", "handle_right_type", "interpolation", "easing", "type"), (1, np.intc)),
    **dict.fromkeys(("back", "amplitude", "period"), (1, np.float32)),
    **dict.fromkeys(("select_control_point", "select_left_handle", "select_right_handle"), (1, np.bool_)),
}

Keys = dict[str, NDArray[Any]]  # by KEY's names, (n, size)


def blank_keys(places: NDArray[np.float32]) -> Keys:
    """Return all properties of keys at frames and values (K, 2) with Blender's defaults."""
    blank: Keys = {name: np.zeros((len(places), size), dtype) for name, (size, dtype) in KEY.items()}
    for name in ("handle_left_type", "handle_right_type"):
        blank[name][:] = item(name, "AUTO_CLAMPED")
    return blank | {"co": places, "handle_left": places.copy(), "handle_right": places.copy()}


def read_segments(points: Any) -> Keys:
    """Return positions and segment properties of keys; only the interpolation if all have the same simple one."""
    found = read_keys(points, ("interpolation",))
    ways = found["interpolation"]
    alike = not len(ways) or (ways[0] <= item("interpolation", "BEZIER") and (ways == ways[0]).all())
    return found if alike else read_keys(points, ("co", *SEGMENT))


def read_shape(curve: Any) -> list[NDArray[Any]]:
    """Return the properties that determine a curve's shape. Handles are included only if they are placed by hand.

    Blender recomputes the other handles from the keys.
    """
    points = curve.keyframe_points
    keys = read_segments(points) | read_keys(points, ("co", "handle_left_type", "handle_right_type"))
    bezier = keys["interpolation"][:, 0] == item("interpolation", "BEZIER")
    own = [item("handle_left_type", kind) for kind in ("FREE", "ALIGNED")]
    for side, by_key in (("left", np.append(False, bezier[:-1])), ("right", bezier)):
        placed = by_key & np.isin(keys[f"handle_{side}_type"][:, 0], own)
        if placed.any():
            keys |= {f"handle_{side}": read_keys(points, (f"handle_{side}",))[f"handle_{side}"][placed]}
    return [keys[name] for name in sorted(keys)]


@cache
def item(name: str, identifier: str) -> int:
    """Return the number of an enum item of a key's property."""
    key_type: Any = bpy.types.Keyframe.bl_rna.properties
    return key_type[name].enum_items[identifier].value


def read_keys(points: Any, names: Iterable[str]) -> Keys:
    result: Keys = {}
    for name in names:
        size, dtype = KEY[name]
        values = np.empty(len(points) * size, dtype)
        points.foreach_get(name, values)
        result[name] = values.reshape(-1, size)
    return result


def merge_flat(curve: Any, first: float, last: float) -> None:
    """Leave only the first key of a curve whose keys and handles have one value, if all of them are in a range."""
    keys = read_keys(curve.keyframe_points, HANDLES)
    (begin, end), values = curve.range(), np.concatenate([places[:, 1] for places in keys.values()])
    flat = np.ptp(values) <= _FLAT * np.abs(values).max()
    if len(keys["co"]) > 1 and flat and begin >= first - SAME_FRAME and end <= last + SAME_FRAME:
        one = {name: places[:1] for name, places in read_keys(curve.keyframe_points, KEY).items()}
        write_keys_of(curve, one, dict.fromkeys(HANDLES, np.ones(1, bool)))


def write_keys_of(curve: Any, keys: Keys, held: dict[str, NDArray[np.bool_]]) -> None:
    """Replace all keys of a curve; properties that are not given get Blender's defaults.

    Blender places handles by their types, except those that are `held` (property name -> one flag per key).
    """
    points = curve.keyframe_points
    points.clear()
    points.add(len(keys["co"]))
    for name, values in keys.items():
        points.foreach_set(name, np.ascontiguousarray(values).ravel())
    curve.update()
    for name, mask in held.items():
        if mask.any():
            placed = np.empty_like(keys[name])
            points.foreach_get(name, placed.ravel())
            points.foreach_set(name, np.where(mask[:, None], keys[name], placed).ravel())


def divide(keys: Keys, frame: float, evaluate: Callable[[float], float]) -> Keys:
    """Return all properties of a curve's keys with one more at a frame, with which the curve has the same values.

    Between keys with an easing, such as Bounce, it has not. `evaluate`: the values that the curve has.
    """
    times, place = keys["co"][:, 0], int(np.searchsorted(keys["co"][:, 0], frame))
    inside = 0 < place < len(times)
    owner = place - 1 if inside else min(place, len(times) - 1)
    if len(times):
        one = {name: values[[owner]].copy() for name, values in keys.items()}
    else:
        one = blank_keys(np.zeros((1, 2), np.float32))
        one["interpolation"][:] = item("interpolation", "BEZIER")
    found = {name: np.concatenate([keys[name][:place], one[name], keys[name][place:]]) for name in one}
    bezier = inside and keys["interpolation"][owner, 0] == item("interpolation", "BEZIER")
    if bezier:
        ends = (keys["co"][owner], keys["handle_right"][owner], keys["handle_left"][place], keys["co"][place])
        before, after = split(*ends, frame)
        own = {"handle_left": before[2], "co": before[3], "handle_right": after[1]}
        found["handle_right"][owner], found["handle_left"][place + 1] = before[1], after[2]
        _free(found, owner, "handle_right")
        _free(found, place + 1, "handle_left")
    else:
        near = np.abs(times[[owner, place]] - frame) / 3.0 if inside else np.ones(2)
        at = {"handle_left": frame - near[0], "co": frame, "handle_right": frame + near[1]}
        own = {name: (there, evaluate(there)) for name, there in at.items()}
    for name, spot in own.items():
        found[name][place] = spot
    for name in ("handle_left_type", "handle_right_type"):
        found[name][place] = item(name, "ALIGNED")
    return found


def join(old: Keys, fresh: Keys, before: NDArray[np.bool_], after: NDArray[np.bool_]) -> tuple[bool, bool]:
    """Keep the curve outside the fresh keys as it was, by setting handles in `old` and `fresh` in place.

    Bezier segments that the range cuts are split, so that the remaining part is the same curve. Returns whether the
    first and the last fresh key have an outer handle from such a split.
    """
    was = {name: values.copy() for name, values in old.items()}
    return (
        _join_end(was, old, fresh, 0, int(before.sum()) - 1) if before.any() else False,
        _join_end(was, old, fresh, -1, int(len(after) - after.sum())) if after.any() else False,
    )


def _join_end(was: Keys, old: Keys, fresh: Keys, end: int, neighbour: int) -> bool:
    """Join at the first (0) or last (-1) fresh key, next to the old key `neighbour`."""
    times, frame = was["co"][:, 0], fresh["co"][end, 0]
    step = 1 if end == 0 else -1  # from the neighbour to the range
    inner, outer = ("handle_left", "handle_right") if end == 0 else ("handle_right", "handle_left")
    beyond = neighbour + step
    owner = min(neighbour, beyond) if 0 <= beyond < len(times) else -1  # the key whose properties apply to the segment
    if end == -1 and owner >= 0:
        for name in SEGMENT:
            if name in fresh:
                fresh[name][end] = was[name][owner]
    if owner >= 0 and was["interpolation"][owner] != item("interpolation", "BEZIER"):
        return False
    if owner < 0:  # no segment: the curve is constant beyond its last or first key
        level, third = was["co"][neighbour, 1], (frame - times[neighbour]) / 3.0
        old[outer][neighbour] = times[neighbour] + third, level
        handle, value = np.array([frame - third, level]), level
        _free(old, neighbour, outer)
        if end == -1:
            fresh["interpolation"][end] = item("interpolation", "BEZIER")
        else:
            old["interpolation"][neighbour] = item("interpolation", "BEZIER")
    elif abs(times[beyond] - frame) <= SAME_FRAME:
        handle, value = was[inner][beyond], was["co"][beyond, 1]
    else:
        halves = split(
            was["co"][owner], was["handle_right"][owner], was["handle_left"][owner + 1], was["co"][owner + 1],
            float(frame),
        )  # fmt: skip
        half = halves[0] if end == 0 else halves[1][::-1]  # from the neighbour to the range
        old[outer][neighbour], handle, value = half[1], half[2], half[3, 1]
        _free(old, neighbour, outer)
    fresh[inner][end] = handle[0], handle[1] + fresh["co"][end, 1] - value
    for side in ("handle_left", "handle_right"):
        kind = fresh[f"{side}_type"][end]
        if side == inner or kind == item(f"{side}_type", "ALIGNED"):
            fresh[f"{side}_type"][end] = item(f"{side}_type", "FREE")
    return True


def _free(keys: Keys, number: int, side: str) -> None:
    """Make a handle that was set keep its place, together with the one aligned to it."""
    kinds = {kind: item(f"{side}_type", kind) for kind in ("FREE", "ALIGNED", "VECTOR", "AUTO", "AUTO_CLAMPED")}
    if keys[f"{side}_type"][number] in (kinds["AUTO"], kinds["AUTO_CLAMPED"]):
        for name in ("handle_left_type", "handle_right_type"):
            keys[name][number] = kinds["ALIGNED"]
    elif keys[f"{side}_type"][number] == kinds["VECTOR"]:
        keys[f"{side}_type"][number] = kinds["FREE"]
