"""A chain's list as a JSON file, in the format of `contribute --list`."""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import StringProperty
from bpy_extras.io_utils import ExportHelper, ImportHelper

from .. import bridge
from ..core import CoreError
from ..core.formats.chain_list import NUMBERS, Ccd, list_text, read_list_file
from ..edits.chains import bones_from_base, read_actuations, read_numbers, tune, write_actuations, write_numbers
from ..edits.files import check_writable, write_files
from .chains import ChainTool, ListTool, active_chain

_FILTER: Any = {"default": "*.json", "options": {"HIDDEN"}}


class POISE_OT_export_list(ChainTool, ExportHelper, bpy.types.Operator):
    """Save the chain's list as JSON, as contribute --list takes it"""

    bl_idname = "poise.export_list"
    bl_label = "Export List"
    bl_options = {"REGISTER"}  # nothing in the .blend file changes
    filename_ext = ".json"
    filter_glob: StringProperty(**_FILTER)

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        path = _path(self)
        check_writable(path)
        chain = active_chain(armature)
        write_files(None, {path: list_text(Ccd(actuations=read_actuations(chain), **read_numbers(chain)))})
        return "INFO", f'Saved the list of "{chain.name}" as "{path.name}"'


class POISE_OT_import_list(ListTool, ImportHelper, bpy.types.Operator):
    """Give the chain the list of a JSON file in place of its own"""

    bl_idname = "poise.import_list"
    bl_label = "Import List"
    filter_glob: StringProperty(**_FILTER)

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        path = _path(self)
        listed = read_list_file(path)
        chain = active_chain(armature)
        joints = bones_from_base(bridge.read_rig(armature).skeleton, chain)
        strange = next((one.bone for one in listed.actuations if one.bone not in joints), None)
        if strange is not None:
            ends = f'"{chain.base}" and "{chain.effector}"'
            raise CoreError(f'The list of "{path.name}" turns "{strange}", which is not between {ends}.')
        write_actuations(chain, listed.actuations)
        write_numbers(chain, {name: getattr(listed, name) for name in NUMBERS if name in listed.said})
        tune(context, armature, chain)
        return "INFO", f'"{chain.name}" has the list of "{path.name}"'


def _path(operator: Any) -> Path:
    """Return the chosen file; // is the folder of the .blend file."""
    return Path(bpy.path.abspath(operator.filepath))
