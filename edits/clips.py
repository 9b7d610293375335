"""Clips: files of motions that Blender imports, or that are converted to such ones."""

import io
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import bpy
import numpy as np

from .. import bridge
from ..bridge.turns import in_main_thread
from ..core import CoreError
from ..core.formats.bvh import bvh_text
from ..core.formats.clips import LARGEST_CLIP, check_clip, plain_bvh
from ..core.formats.smpl import lacks_rate, read_model, read_smpl
from ..core.formats.vrma import skinned
from ..core.keypoints import UNITS
from ..core.keypoints.recordings import DEFAULT_RATE, check_fps
from ..core.sources import LARGEST_FILE, read_bytes

_OPERATORS: Final[Any] = bpy.ops
_USD: Final = (".usd", ".usda", ".usdc", ".usdz")
_CONVERTED: Final = {".bvh": ".bvh", ".npz": ".bvh", ".vrma": ".glb"}  # to what Blender imports
MOTIONS: Final = (".bvh", ".fbx", ".glb", ".gltf", *_USD, ".npz", ".vrma")  # files that are read as motions
_SKELETONS: Final[dict[str, Any]] = {  # of USD: nothing else, as the world of the scene
    f"import_{kind}": False
    for kind in ("cameras", "curves", "lights", "materials", "meshes", "volumes", "shapes", "blendshapes", "points")
} | {"create_world_material": False}
_RATE: Final = 1000.0  # time codes a second
_RETIMED: Final = f"#usda 1.0\n(\n    timeCodesPerSecond = {_RATE}\n    subLayers = [@@@{{path}}@@@]\n)\n"


@dataclass(frozen=True)
class ClipOptions:
    """What is to be known of a clip of SMPL.

    up          the axis that is up, found if None
    body_model  the file of a body model, if there is one
    unit        that of the way of the body, one of UNITS; metres if None
    """

    up: str | None = None
    body_model: Path | None = None
    unit: str | None = None


def import_motion(path: Path, alone: bool = False, options: ClipOptions | None = None) -> None:
    """Import one of MOTIONS into the present file; if it is `alone` there, the scene takes its frame rate.

    Raises CoreError for a file that is missing or cannot be read.
    """
    kind, options = path.suffix.lower(), options or ClipOptions()
    if not os.path.isfile(path):
        raise CoreError(f'There is no file "{path}".')
    if kind not in MOTIONS:
        raise CoreError(f'"{path.name}" is not a motion file. Supported types are {", ".join(MOTIONS)}.')
    model = _read_model(options.body_model) if options.body_model is not None and kind == ".npz" else None
    try:
        with _as_imported(path, options, model) as clip:
            check_clip(clip)
            with keep_timing(alone), _silence():
                in_main_thread(partial(_import, clip, alone, clip.suffix.lower() != kind))
    except OSError as error:
        raise CoreError(f'The file "{error.filename or path}" cannot be read: {error.strerror or error}.') from error
    except CoreError as error:
        raise CoreError(f'"{path.name}" cannot be read; {error}') from error
    except RuntimeError as error:
        bridge.check_stopped()
        said = [line for line in str(error).splitlines() if line and not line.startswith("Location:")]  # in Poise
        if "Traceback" in str(error):  # from an importer in Python
            whole = f"the {kind[1:].upper()} file is incomplete, or of a kind that Blender does not know"
            raise CoreError(f'"{path.name}" cannot be read; {whole} ({said[-1]}).') from error
        raise CoreError(f'"{path.name}" cannot be read: {said[-1]}') from error


def assumed(path: Path, options: ClipOptions | None = None) -> list[str]:
    """Return what is taken for granted of a motion file that could be read, as sentences without a full stop."""
    if path.suffix.lower() != ".npz":
        given = options is not None and options != ClipOptions()
        return ["The file is not an SMPL motion; its own axes and units are used"] if given else []
    if not lacks_rate(read_bytes(path)):
        return []
    return [f"The file has no frame rate; {DEFAULT_RATE:g} frames per second are assumed"]


def _read_model(path: Path) -> Mapping[str, Any]:
    try:
        return read_model(read_bytes(path))
    except OSError as error:
        raise CoreError(f'The body model "{path}" cannot be read: {error.strerror or error}.') from error
    except CoreError as error:
        raise CoreError(f'"{path.name}" is not a body model; {error}') from error


@contextmanager
def _as_imported(path: Path, options: ClipOptions, model: Mapping[str, Any] | None) -> Iterator[Path]:
    """Yield the path of a clip as Blender imports it, of a temporary file if it is converted."""
    kind = path.suffix.lower()
    if kind not in _CONVERTED:
        yield path
        return
    data = read_bytes(path, LARGEST_CLIP if kind == ".bvh" else LARGEST_FILE)
    if kind == ".bvh":
        made = plain_bvh(data)
        if made is data:
            yield path
            return
    elif kind == ".npz":
        made = bvh_text(*read_smpl(data, options.up, model, UNITS[options.unit or "m"])).encode()
    else:
        made = skinned(data)
    with TemporaryDirectory() as folder:
        clip = Path(folder, path.stem + _CONVERTED[kind])
        clip.write_bytes(made)
        yield clip


def _import(clip: Path, alone: bool, made: bool) -> None:
    """Import a clip by Blender; `made`: it is converted."""
    match clip.suffix.lower():
        case ".bvh":
            timing = {"use_fps_scale": not alone, "update_scene_fps": alone, "update_scene_duration": alone}
            turns = "QUATERNION" if made else "NATIVE"
            _OPERATORS.import_anim.bvh(filepath=str(clip), rotate_mode=turns, **timing)
        case ".fbx":
            _importer("fbx_import")(filepath=str(clip))
        case ".glb" | ".gltf":
            _OPERATORS.import_scene.gltf(filepath=str(clip))
        case _:
            _import_usd(clip, {} if alone else _SKELETONS)


def _importer(name: str) -> Any:
    """Return an importer that is part of Blender itself; raises CoreError if it is built without, as some packages."""
    if name not in dir(_OPERATORS.wm):
        raise CoreError("this build of Blender has no importer for it.")
    return getattr(_OPERATORS.wm, name)


def _import_usd(clip: Path, settings: dict[str, Any]) -> None:
    """Import a USD file; the scene takes its time codes a second as frame rate.

    Blender's importer takes time codes as frames (4.5, 5.2). USD itself converts them where a layer of another rate has
    the file as its sublayer; that is imported first, and removed again.
    """
    context: Any = bpy.context
    render, before = context.scene.render, set(bpy.data.user_map())
    importer = _importer("usd_import")
    with TemporaryDirectory() as folder:
        retimed = Path(folder, "retimed.usda")
        retimed.write_text(_RETIMED.format(path=clip.resolve()), encoding="utf-8")
        importer(filepath=str(retimed), **_SKELETONS)
    converted = _last_key(before)
    bpy.data.batch_remove([block for block in bpy.data.user_map() if block not in before])
    importer(filepath=str(clip), **settings)
    last = _last_key(before)
    rate = check_fps(round(_RATE * last / converted, 3)) if min(last, converted) > 0.0 else None  # in single precision
    if rate is not None:
        render.fps, render.fps_base = round(rate), round(rate) / rate


def _last_key(before: set[Any]) -> float:
    """Return the last frame of the actions that are new."""
    return max((action.frame_range[1] for action in bpy.data.actions if action not in before), default=0.0)


@contextmanager
def _silence() -> Iterator[None]:
    """Keep the warnings and tracebacks of an importer from the user, who gets a sentence."""
    with warnings.catch_warnings(), redirect_stderr(io.StringIO()), redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


@contextmanager
def keep_timing(change: bool = False) -> Iterator[None]:
    """Restore the scene's frame, range and frame rate afterwards, unless they may `change`.

    Actions that are made inside at another rate, as by the FBX importer, are scaled to the scene's.
    """
    context: Any = bpy.context
    scene, render = context.scene, context.scene.render
    kept = {name: getattr(scene, name) for name in ("frame_start", "frame_end")}
    rate = render.fps, render.fps_base
    frame, subframe, actions = scene.frame_current, scene.frame_subframe, set(bpy.data.actions)
    try:
        yield
    finally:
        if not change:
            scale = rate[0] / rate[1] / (render.fps / render.fps_base)
            render.fps, render.fps_base = rate
            for name, value in kept.items():
                setattr(scene, name, value)
            scene.frame_set(frame, subframe=subframe)
            for action in set(bpy.data.actions) - actions if scale != 1.0 else ():
                _stretch(action, scale)


def _stretch(action: Any, scale: float) -> None:
    """Scale the times of all keys of an action, from frame 1 on."""
    for curve in bridge.all_curves(action):
        points = curve.keyframe_points
        places = np.empty((len(points), 2), np.float32)
        for name in ("co", "handle_left", "handle_right"):
            points.foreach_get(name, places.ravel())
            places[:, 0] = 1.0 + scale * (places[:, 0] - 1.0)
            points.foreach_set(name, places.ravel())
        curve.update()
