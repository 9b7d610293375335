"""USD files: tried in a process of its own first, since those that are broken can end Blender."""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep
from typing import Any, Final

import bpy

from .. import bridge
from ..core import CoreError
from ..core.keypoints.recordings import check_fps
from ..core.sources import MEGABYTE

USD: Final = (".usd", ".usda", ".usdc", ".usdz")
_SKELETONS: Final[dict[str, Any]] = {  # nothing else, as the world of the scene
    f"import_{kind}": False
    for kind in ("cameras", "curves", "lights", "materials", "meshes", "volumes", "shapes", "blendshapes", "points")
} | {"create_world_material": False}
_RATE: Final = 1000.0  # time codes a second
_RETIMED: Final = f"#usda 1.0\n(\n    timeCodesPerSecond = {_RATE}\n    subLayers = [@@@{{path}}@@@]\n)\n"
_SECONDS: Final = 8  # that the importer may take twice, and one more for each megabyte
_TICK: Final = 0.02  # seconds
_TOO_LONG: Final = 1  # the exit code of the trial


def importing_usd(clip: Path, alone: bool, importer: Callable[..., object]) -> Callable[[], object]:
    """Return what imports a USD file by Blender's `importer`: only its armatures, if it is not `alone`.

    The scene takes the file's time codes a second as frame rate. Blender's importer takes time codes as frames (4.5,
    5.2). USD itself converts them where a layer of another rate has the file as its sublayer: the trial imports that,
    too. Raises CoreError for a file that the importer does not survive, and RuntimeError for what it refuses.
    """
    settings = {} if alone else _SKELETONS
    converted, last = _try(clip, settings)
    rate = check_fps(round(_RATE * last / converted, 3)) if min(last, converted) > 0.0 else None  # in single precision

    def importing() -> None:
        importer(filepath=str(clip), **settings)
        if rate is not None:
            context: Any = bpy.context
            render = context.scene.render
            render.fps, render.fps_base = round(rate), round(rate) / rate

    return importing


def _try(clip: Path, settings: Mapping[str, Any]) -> tuple[float, float]:
    """Return the last frame of a file at _RATE, and as the importer takes it, from a process that imports both."""
    seconds = _SECONDS + clip.stat().st_size // MEGABYTE
    with TemporaryDirectory() as folder:
        Path(folder, "retimed.usda").write_text(_RETIMED.format(path=clip.resolve()), encoding="utf-8")
        said = Path(folder, "said.json")
        command = [*_interpreter(), str(clip.resolve()), folder, str(seconds), json.dumps(settings)]
        null = subprocess.DEVNULL
        with subprocess.Popen(command, stdin=null, stdout=null, stderr=null, start_new_session=True) as process:
            try:
                while process.poll() is None:
                    bridge.check_stopped()
                    sleep(_TICK)
            finally:
                process.kill()
        if not said.exists() and process.returncode == _TOO_LONG:
            raise CoreError(f"Blender's importer takes more than {seconds} seconds for it.")
        if not said.exists():
            raise CoreError("it makes Blender's importer crash.")
        found = json.loads(said.read_text(encoding="utf-8"))
    if "refused" in found:
        raise RuntimeError(found["refused"])
    converted, last = found["last"]
    return converted, last


def _interpreter() -> list[str]:
    """Return the command line of a process that runs the trial, but for its arguments."""
    script = str(Path(__file__).with_name("usd_trial.py"))
    if bpy.app.module:
        return [sys.executable, "-P", script]  # modules of Poise are none of Python's
    return [
        bpy.app.binary_path,
        "--background",
        "--factory-startup",
        "--python-exit-code",
        "2",
        "--python",
        script,
        "--",
    ]
