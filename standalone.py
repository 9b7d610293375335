"""Enable Poise as an extension of the bpy module from PyPI, for scripts, tests and the demo. Not part of the zip.

    import standalone

    standalone.enable()
    from core import Skeleton  # one module with bl_ext.user_default.poise.core

`python standalone.py VERB ...` is `blender --background --command poise VERB ...` without Blender's program.
"""

_asked: list[object] = []  # to stop: Blender prints what is raised while an extension is enabled, and goes on
if __name__ == "__main__":
    import _signal  # pyright: ignore[reportMissingImports]  # built in; the imports below take 0.2 s

    _signal.signal(_signal.SIGINT, lambda *_: _asked.append(True))

# ruff: noqa: E402
import atexit
import importlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Sequence
from contextlib import ExitStack
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent
MODULE = "bl_ext.user_default.poise"
SHORT_NAMES = (
    "bridge",
    "commands",
    "core",
    "edits",
    "keymaps",
    "languages",
    "operators",
    "overlay",
    "panels",
    "preferences",
    "properties",
    "registration",
)

_clean_up = ExitStack()
atexit.register(_clean_up.close)


def enable() -> None:
    """Enable this checkout as an extension of the `bpy` module, with its own preferences. A second call does nothing.

    Raises RuntimeError after the first `import bpy`, because Blender reads its user folder only then.
    """
    if MODULE in sys.modules:
        return
    if "bpy" in sys.modules:
        raise RuntimeError("standalone.enable() has to be called before the first `import bpy`.")

    resources = Path(tempfile.mkdtemp(prefix="poise-"))
    _clean_up.callback(shutil.rmtree, resources, ignore_errors=True)
    link_extension(resources)
    os.environ["BLENDER_USER_RESOURCES"] = str(resources)
    # The threads of numpy's library wait for each other longer than such small matrices take: on a machine that does
    # much else a solve with them took ten times as long. Read when numpy is imported first.
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    sys.meta_path.insert(0, _OneCopy())

    import bpy

    if bpy.ops.preferences.addon_enable(module=MODULE) != {"FINISHED"}:
        raise RuntimeError("Blender did not enable Poise; what it printed above says why.")


def link_extension(resources: Path) -> None:
    """Make this checkout the extension `poise` of a Blender whose BLENDER_USER_RESOURCES is `resources`."""
    link = resources / "extensions" / "user_default" / "poise"
    link.parent.mkdir(parents=True)
    try:
        link.symlink_to(ROOT, target_is_directory=True)
    except OSError:  # Windows lets only administrators and developers make symbolic links, but anybody a junction.
        subprocess.run(["cmd", "/c", "mklink", "/J", str(link), str(ROOT)], check=True, stdout=subprocess.DEVNULL)


class _OneCopy(MetaPathFinder, Loader):
    """Make `core.x` and `bl_ext.user_default.poise.core.x` one module, whichever name is imported first.

    With two copies of a class, `isinstance` and `except` would fail.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        short = fullname.removeprefix(MODULE + ".")
        if short.partition(".")[0] not in SHORT_NAMES:
            return None
        if fullname == short:
            twin = importlib.import_module(f"{MODULE}.{short}")
        elif short in sys.modules:
            twin = sys.modules[short]
        else:
            return None  # the first of the two: found in the extension's folder, as in Blender
        return ModuleSpec(fullname, self, loader_state=twin.__spec__)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return sys.modules[spec.loader_state.name]

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state  # importlib has just put the alias's spec there


def leave(code: int) -> None:
    """End the process with this exit code, without Blender's clean-up, which can hang in the bpy module."""
    _clean_up.close()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def main(argv: list[str]) -> int:
    """Run one verb of `blender --command poise`; return its exit code, 3 for a fault of Poise itself."""
    try:
        signal.signal(signal.SIGINT, lambda *_: _asked.append(True))
        enable()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if _asked:
            raise KeyboardInterrupt
        return importlib.import_module(f"{MODULE}.commands").run(argv)
    except KeyboardInterrupt:  # before the verb
        print("Stopped.", file=sys.stderr)
        return 130
    except Exception:
        traceback.print_exc()
        return 3


if __name__ == "__main__":
    leave(main(sys.argv[1:]))
