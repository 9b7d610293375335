"""Clips: files of motions that Blender imports, or that are converted to such ones."""

import io
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
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
from ..core.keypoints.recordings import DEFAULT_RATE
from ..core.sources import LARGEST_FILE, read_bytes
from .usd import USD, importing_usd

_OPERATORS: Final[Any] = bpy.ops
_CONVERTED: Final = {".bvh": ".bvh", ".npz": ".bvh", ".vrma": ".glb"}  # to what Blender imports
MOTIONS: Final = (".bvh", ".fbx", ".glb", ".gltf", *USD, ".npz", ".vrma")  # files that are read as motions


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
            importing = _importing(clip, alone, clip.suffix.lower() != kind)
            with keep_timing(alone), _silence():
                in_main_thread(importing)
    except OSError as error:
        raise CoreError(f'The file "{error.filename or path}" cannot be read: {error.strerror or error}.') from error
    except CoreError as error:
        raise CoreError(f'"{path.name}" cannot be read; {error}') from error
    except RuntimeError as error:
        bridge.check_stopped()
        said = [line for line in str(error).splitlines() if line and not line.startswith("Location:")]  # in Poise
        if "Traceback" in str(error):  # from an importer in Python
            whole = f"the {kind[1:].upper()} file is damaged or incomplete, or of a kind that Blender does not know"
            raise CoreError(f'"{path.name}" cannot be read; {whole}.') from error
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


def _importing(clip: Path, alone: bool, made: bool) -> Callable[[], object]:
    """Return what imports a clip by Blender; `made`: it is converted."""
    match clip.suffix.lower():
        case ".bvh":
            timing = {"use_fps_scale": not alone, "update_scene_fps": alone, "update_scene_duration": alone}
            turns = "QUATERNION" if made else "NATIVE"
            run = partial(_OPERATORS.import_anim.bvh, rotate_mode=turns, **timing)
        case ".fbx":
            run = _importer("fbx_import")
        case ".glb" | ".gltf":
            run = _OPERATORS.import_scene.gltf
        case _:
            return importing_usd(clip, alone, _importer("usd_import"))
    return partial(run, filepath=str(clip))


def _importer(name: str) -> Any:
    """Return an importer that is part of Blender itself; raises CoreError if it is built without, as some packages."""
    if name not in dir(_OPERATORS.wm):
        raise CoreError("this build of Blender has no importer for it.")
    return getattr(_OPERATORS.wm, name)


@contextmanager
def _silence() -> Iterator[None]:
    """Keep the warnings and tracebacks of an importer from the user, who gets a sentence.

    Blender itself prints what an operator reports, past Python: to the descriptors.
    """
    with ExitStack() as ends, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        null = ends.enter_context(Path(os.devnull).open("wb"))
        for stream, number in ((sys.stdout, 1), (sys.stderr, 2)):
            with suppress(OSError, AttributeError):  # a window without a terminal has none
                stream.flush()
                own = os.dup(number)
                ends.callback(os.close, own)
                ends.callback(os.dup2, own, number)
                os.dup2(null.fileno(), number)
        ends.enter_context(redirect_stderr(io.StringIO()))
        ends.enter_context(redirect_stdout(io.StringIO()))
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
