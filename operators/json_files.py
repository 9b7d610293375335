"""What tools share that save to a JSON file, or load one; such a class comes before `Tool`."""

from pathlib import Path
from typing import Any

from bpy.props import StringProperty
from bpy_extras.io_utils import ExportHelper, ImportHelper

from ..edits.files import check_writable, write_files
from .tool import chosen_path


class _JsonFile:
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})

    @property
    def path(self) -> Path:
        """The chosen file."""
        operator: Any = self
        return chosen_path(operator.filepath)


class SavesJson(_JsonFile, ExportHelper):
    """A tool that writes a JSON file, and changes nothing in the .blend file."""

    bl_options = {"REGISTER"}
    filename_ext = ".json"

    def content(self, context: Any, armature: Any, path: Path) -> tuple[str, str]:
        """Return what is saved, in words, and the text of the file; raises CoreError."""
        raise NotImplementedError

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        path = self.path
        check_writable(path)
        what, text = self.content(context, armature, path)
        write_files(None, {path: text})
        return "INFO", f'Saved {what} as "{path.name}"'


class LoadsJson(_JsonFile, ImportHelper):
    """A tool that reads a JSON file."""
