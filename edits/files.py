"""Files in and out: open them or refuse with a sentence, write them whole or not at all."""

import io
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stdout
from pathlib import Path
from typing import Any, Final

import bpy

from .. import bridge
from ..bridge.turns import update
from ..core import CoreError
from .clips import MOTIONS, import_motion

_LONGEST: Final = 240  # bytes of a file's name: with the number of the process, its temporary file's has the usual 255


def open_blend(path: Path) -> None:
    """Open a .blend file, or import one of MOTIONS into an empty one; raises CoreError for a file that cannot be."""
    if not os.path.isfile(path):
        raise CoreError(f'There is no file "{path}".')
    if path.suffix.lower() in MOTIONS:
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        import_motion(path, alone=True)
        return
    try:
        bpy.ops.wm.open_mainfile(filepath=str(path.resolve()))
    except RuntimeError as error:
        raise CoreError(f'The file "{path}" is not a .blend file that this version of Blender can open.') from error


@contextmanager
def temporary_data(context: Any) -> Iterator[set[Any]]:
    """Remove afterwards all data that was made inside; yield what there was before."""
    before = set(bpy.data.user_map())
    try:
        yield before
    finally:
        bpy.data.batch_remove([block for block in bpy.data.user_map() if block not in before])
        update(context)  # else `view_layer.objects` still lists removed objects


def append(path: Path, kind: str, name: str = "") -> list[Any]:
    """Append data of a kind, such as "actions", from a .blend file: all, or those of this name, if there are some.

    Raises CoreError for a file that is none.
    """
    try:
        loading: Any = bpy.data.libraries.load(str(path), link=False)
        with loading as (there, wanted):
            setattr(wanted, kind, [one for one in getattr(there, kind) if name in ("", one)])
    except OSError as error:
        raise CoreError(f'The file "{path}" cannot be read as a .blend file.') from error
    return [one for one in getattr(wanted, kind) if one is not None]


def present_blend() -> Path | None:
    """Return the path of the open .blend file."""
    return Path(bpy.data.filepath) if bpy.data.filepath else None


def same_file(a: Path, b: Path) -> bool:
    """Return whether two paths are one file, existing or not; links are followed."""
    # os.path: Path.exists() raises in folders without permission
    if os.path.exists(a) and os.path.exists(b):
        return a.samefile(b)
    return a.resolve() == b.resolve()


def check_writable(path: Path) -> None:
    """Raise CoreError if no file can be written there."""
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        return  # a pipe or device
    folder = path.resolve().parent
    if os.path.isdir(path):
        raise CoreError(f'"{path}" is a folder, not a file to write.')
    if not os.path.isdir(folder):
        raise CoreError(f'There is no folder "{folder}" to write "{path.name}" in.')
    if len(os.fsencode(path.name)) > _LONGEST:
        raise CoreError(f'The file name "{path.name}" is too long: the maximum is {_LONGEST} bytes.')
    if not os.access(folder, os.W_OK):
        raise CoreError(f'The folder "{folder}" cannot be written to.')


def write_files(blend: Path | None, texts: Mapping[Path, str | bytes]) -> None:
    """Save a copy of the present file and write texts or data, all or none: temporary files are renamed at the end.

    Raises CoreError if one cannot be written.
    """
    with ExitStack() as undo:
        ready: list[tuple[Path, Path]] = []
        streams: dict[Path, bytes] = {}
        try:
            for path, content in texts.items():
                data = content.encode("utf-8") if isinstance(content, str) else content
                if path.exists() and not path.is_file():  # a pipe or device cannot be replaced
                    streams[path] = data
                    continue
                part = _temporary_name(path, undo)
                part.write_bytes(data)
                ready.append((part, path.resolve()))
            if blend is not None:
                part = _temporary_name(blend, undo)
                with redirect_stdout(io.StringIO()):  # "Saved copy", with a temporary name, of what may not be whole
                    bpy.ops.wm.save_as_mainfile(filepath=str(part), copy=True, check_existing=False)
                if not is_blend(part):
                    raise OSError(f'Blender could not write "{blend}". The disk may be full.')
                ready.append((part, blend.resolve()))
                bridge.check_stopped()
            with bridge.undisturbed():
                for path, data in streams.items():
                    with path.open("wb") as stream:
                        stream.write(data)
                for part, path in ready:
                    part.replace(path)
        except RuntimeError as error:  # Blender's report of a failed write, whose reason may be wrong
            raise CoreError(f'Nothing was written: Blender could not write "{blend}". The disk may be full.') from error
        except OSError as error:
            raise CoreError(f"Nothing was written: {error}") from error


def is_blend(path: Path) -> bool:
    """Return whether a file is a whole .blend file.

    Blender does not always report a full disk (4.5 with compression, 5.2). The catalogue, which is read here, is the
    last block of a file.
    """
    libraries: Any = bpy.data.libraries
    try:
        with libraries.load(str(path)):
            return True
    except OSError:
        return False
    except ValueError:  # raised for the open file
        return True


def _temporary_name(path: Path, undo: ExitStack) -> Path:
    """Return a temporary path in the folder of `path`; a file there is removed when `undo` ends."""
    place = path.resolve()  # replace the target of a link, not the link
    part = place.with_name(f".{place.stem}.{os.getpid()}{place.suffix}")
    undo.callback(part.unlink, missing_ok=True)
    return part
