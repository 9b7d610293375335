"""Add chains, and change their lists."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import bpy
from bpy.props import BoolProperty, EnumProperty

from .. import bridge
from ..core import Actuation, CoreError
from ..core.contribution import PRESETS
from ..core.formats.chain_list import NUMBERS
from ..core.solvers.chain.actuations import AXES, Axis
from ..edits.chains import (
    add_actuation,
    add_chain,
    bones_from_base,
    explain_driven,
    farthest_bone,
    preset_actuations,
    quietly,
    tune,
    write_actuations,
)
from ..properties.overrides import linked_count
from .tool import Tool, selected_bones

_SUITED: Final = "SUITED"
_CALLED: Final = {
    "arm": "Arm", "leg": "Leg", "finger": "Finger", "spine": "Spine", "neck": "Neck", "tail": "Animal Tail",
    "tentacle": "Tentacle",
}  # fmt: skip
_ITEMS: Final = (
    (_SUITED, "Automatic", "Choose by the body parts of the chain, or else by its shape"),
    *((name.upper(), _CALLED[name], "Use the settings for a chain of this kind") for name in PRESETS),
)
_PRESET: Final[dict[str, Any]] = {
    "name": "Preset",
    "description": "Preset of the contribution list",
    "items": _ITEMS,
    "options": {"SKIP_SAVE"},
}
_ORDER: Final = "XZY"  # of the axes of a joint that is added: the twist comes last


def active_chain(armature: Any) -> Any:
    """Return the chain chosen in the list; raises CoreError if there is none."""
    if not len(armature.poise_chains):
        raise CoreError(f'"{armature.name}" has no chains. Select the bones of one, and add it.')
    return armature.poise_chains[max(0, min(armature.poise_active_chain, len(armature.poise_chains) - 1))]


def is_linked(armature: Any, chain: Any) -> bool:
    """Return whether a chain comes from the linked file of a library override, where its joints cannot be changed."""
    return any(chain == other for other in armature.poise_chains[: linked_count(armature, "poise_chains")])


class ChainTool(Tool):
    """A tool for the chain chosen in the list."""

    @classmethod
    def need(cls, context: Any, armature: Any) -> None:
        active_chain(armature)


class ListTool(ChainTool):
    """A tool that changes which joints are in its list, or their order."""

    @classmethod
    def need(cls, context: Any, armature: Any) -> None:
        chain = active_chain(armature)
        if is_linked(armature, chain):
            raise CoreError(
                f'The list of "{chain.name}" belongs to the linked file. Only its numbers can be changed here.'
            )

    @staticmethod
    @contextmanager
    def changing(context: Any, armature: Any) -> Iterator[Any]:
        """Change the list of the active chain inside, and solve it again afterwards."""
        chain = active_chain(armature)
        with quietly(chain):
            yield chain
        tune(context, armature, chain)


class EntryTool(ListTool):
    """A tool for the joint chosen in its list."""

    @classmethod
    def need(cls, context: Any, armature: Any) -> None:
        super().need(context, armature)
        chain = active_chain(armature)
        if not 0 <= chain.active_entry < len(chain.entries):
            raise CoreError(f'No joint is selected in the list of "{chain.name}".')


class POISE_OT_add_chain(Tool, bpy.types.Operator):
    """Add a chain with a contribution list that suits it, from the farthest selected bone to the active one"""

    bl_idname = "poise.add_chain"
    bl_label = "Add Chain"

    inverted: BoolProperty(
        name="Reverse",
        description="Use the active bone as the base, and the farthest one as the effector",
        options={"SKIP_SAVE"},
    )
    preset: EnumProperty(**_PRESET)

    @classmethod
    def need(cls, context: Any, armature: Any) -> None:
        names, active = selected_bones(context), context.active_pose_bone
        if active is None or active.name not in names or len(names) < 2:
            raise CoreError("Select the base of a chain and then, to make it the active bone, its effector.")

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        rig = bridge.read_rig(armature)
        skeleton, effector = rig.skeleton, context.active_pose_bone.name
        base = farthest_bone(skeleton, selected_bones(context), effector)
        if self.inverted:
            base, effector = effector, base
        if any((chain.base, chain.effector) == (base, effector) for chain in armature.poise_chains):
            raise CoreError(f'There is a chain from "{base}" to "{effector}" already.')
        name, actuations = preset_actuations(armature, skeleton, base, effector, _preset(self.preset))
        cut = explain_driven(rig, base, effector, {str(one.bone) for one in actuations})
        add_chain(armature, base, effector, actuations)
        held = skeleton.index(base) not in skeleton.ancestors(skeleton.index(effector))
        made = (
            f'Added a chain from "{base}"{", which is held in place," if held else ""} to "{effector}" '
            f"with the preset {name}"
        )
        return ("WARNING", f"{made}. {cut}") if cut else ("INFO", made)


class POISE_OT_remove_chain(ChainTool, bpy.types.Operator):
    """Remove the chain selected in the list. The pose does not change"""

    bl_idname = "poise.remove_chain"
    bl_label = "Remove Chain"

    @classmethod
    def need(cls, context: Any, armature: Any) -> None:
        chain = active_chain(armature)
        if is_linked(armature, chain):
            raise CoreError(f'The chain "{chain.name}" belongs to the linked file. Turn off its use in drags instead.')

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        name, chains = active_chain(armature).name, armature.poise_chains
        place = next(place for place, chain in enumerate(chains) if chain == active_chain(armature))
        chains.remove(place)
        armature.poise_active_chain = max(0, place - 1)
        return "INFO", f'Removed the chain "{name}"'


class POISE_OT_reset_list(ListTool, bpy.types.Operator):
    """Replace the contribution list of the chain with a preset"""

    bl_idname = "poise.reset_list"
    bl_label = "Use Preset"

    preset: EnumProperty(**_PRESET)

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        skeleton = bridge.read_rig(armature).skeleton
        chain = active_chain(armature)
        name, actuations = preset_actuations(armature, skeleton, chain.base, chain.effector, _preset(self.preset))
        write_actuations(chain, actuations)
        for number in NUMBERS:
            chain.property_unset(number)
        tune(context, armature, chain)
        return "INFO", f'Replaced the contribution list of "{chain.name}" with the preset {name}'


class POISE_OT_add_joint(ListTool, bpy.types.Operator):
    """Add the selected bones to the contribution list of the chain, each about the axis that is least used"""

    bl_idname = "poise.add_joint"
    bl_label = "Add Joint"

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        chain = active_chain(armature)
        joints = bones_from_base(bridge.read_rig(armature).skeleton, chain)
        bones = [bone for bone in selected_bones(context) if bone in joints]
        if not bones:
            raise CoreError(f'None of the selected bones is between "{chain.base}" and "{chain.effector}".')
        taken = Counter((entry.bone, entry.axis) for entry in chain.entries)
        new: list[tuple[str, Axis]] = [
            (bone, min(sorted(AXES, key=_ORDER.index), key=lambda axis: taken[bone, axis])) for bone in bones
        ]
        with self.changing(context, armature) as chain:
            for bone, axis in new:
                add_actuation(chain, Actuation(bone, axis, 1.0 / len(joints)))
            chain.active_entry = len(chain.entries) - 1
        return "INFO", "Added " + ", ".join(f"{bone} about {axis}" for bone, axis in new)


class POISE_OT_remove_joint(EntryTool, bpy.types.Operator):
    """Remove the joint selected in the list, so that it no longer rotates"""

    bl_idname = "poise.remove_joint"
    bl_label = "Remove Joint"

    @classmethod
    def need(cls, context: Any, armature: Any) -> None:
        super().need(context, armature)
        if len(active_chain(armature).entries) == 1:
            raise CoreError("A chain needs at least one joint. Add another one first.")

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        with self.changing(context, armature) as chain:
            place = chain.active_entry
            name = chain.entries[place].bone
            chain.entries.remove(place)
            chain.active_entry = min(place, len(chain.entries) - 1)
        return "INFO", f"Removed {name} from the list"


class POISE_OT_move_joint(EntryTool, bpy.types.Operator):
    """Move the joint selected in the list, so that it rotates earlier or later"""

    bl_idname = "poise.move_joint"
    bl_label = "Move Joint"

    direction: EnumProperty(
        name="Direction",
        description="Direction of the move",
        items=(("UP", "Up", "Rotate earlier"), ("DOWN", "Down", "Rotate later")),
        options={"SKIP_SAVE"},
    )

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        chain = active_chain(armature)
        place = chain.active_entry
        other = place + (1 if self.direction == "DOWN" else -1)
        if not 0 <= other < len(chain.entries):
            raise CoreError(f"The joint is the {'first' if other < 0 else 'last'} one already.")
        with self.changing(context, armature) as chain:
            chain.entries.move(place, other)
            chain.active_entry = other
        return "INFO", f"Moved {chain.entries[other].bone} to line {other + 1} of the contribution list"


def _preset(item: str) -> str | None:
    return None if item == _SUITED else item.lower()
