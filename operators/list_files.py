"""A chain's list as a JSON file, in the format of `contribute --list`."""

from pathlib import Path
from typing import Any

import bpy

from .. import bridge
from ..core import CoreError
from ..core.formats.chain_list import NUMBERS, Ccd, list_text, read_list_file
from ..edits.chains import bones_from_base, read_actuations, read_numbers, tune, write_actuations, write_numbers
from .chains import ChainTool, ListTool, active_chain
from .json_files import LoadsJson, SavesJson


class POISE_OT_export_list(SavesJson, ChainTool, bpy.types.Operator):
    """Save the contribution list of the chain as JSON, for other chains"""

    bl_idname = "poise.export_list"
    bl_label = "Save List"

    def content(self, context: Any, armature: Any, path: Path) -> tuple[str, str]:
        chain = active_chain(armature)
        return f'the list of "{chain.name}"', list_text(Ccd(actuations=read_actuations(chain), **read_numbers(chain)))


class POISE_OT_import_list(LoadsJson, ListTool, bpy.types.Operator):
    """Replace the contribution list of the chain with that of a JSON file"""

    bl_idname = "poise.import_list"
    bl_label = "Load List"

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        path = self.path
        listed = read_list_file(path)
        chain = active_chain(armature)
        joints = bones_from_base(bridge.read_rig(armature).skeleton, chain)
        strange = next((one.bone for one in listed.actuations if one.bone not in joints), None)
        if strange is not None:
            ends = f'"{chain.base}" and "{chain.effector}"'
            raise CoreError(f'The contribution list of "{path.name}" rotates "{strange}", which is not between {ends}.')
        write_actuations(chain, listed.actuations)
        write_numbers(chain, {name: getattr(listed, name) for name in NUMBERS if name in listed.said})
        tune(context, armature, chain)
        return "INFO", f'Loaded the contribution list of "{chain.name}" from "{path.name}"'
