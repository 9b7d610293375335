"""What tools share that save to a file, or load one, of JSON; such a class comes before `Tool`."""

from pathlib import Path
from typing import Any

from bpy.props import StringProperty
from bpy_extras.io_utils import ExportHelper

from ..edits.files import check_writable, write_files
from .tool import ReadsFile, chosen_path


class _File:
    @property
    def path(self) -> Path:
        """The chosen file."""
        operator: Any = self
        return chosen_path(operator.filepath)


class SavesFile(_File, ExportHelper):
    """A tool that writes a file, and changes nothing in the .blend file."""

    bl_options = {"REGISTER"}
    filename_ext: str

    @property
    def path(self) -> Path:
        """The chosen file, with an extension if it has a name."""
        path = super().path
        return path if path.suffix or not path.name else path.with_suffix(self.filename_ext)

    def content(self, context: Any, armature: Any, path: Path) -> tuple[str, str | bytes]:
        """Return what is saved, in words, and the text or the data of the file; raises CoreError."""
        raise NotImplementedError

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        path = self.path
        check_writable(path)
        what, content = self.content(context, armature, path)
        write_files(None, {path: content})
        return "INFO", f'Saved {what} as "{path.name}"'


class SavesJson(SavesFile):
    """A tool that writes a JSON file."""

    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})
    filename_ext = ".json"


class LoadsJson(_File, ReadsFile):
    """A tool that reads a JSON file."""

    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})
