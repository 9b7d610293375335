"""Chains of joints and their lists for contribution CCD."""

from collections.abc import Callable
from itertools import count
from typing import Any, Final

import bpy
from bpy import props

from .marks import mark, marking
from .overrides import saved

# Called with context, armature and chain when a setting of a chain changes; registration fills it.
CHANGED: Final[list[Callable[..., None]]] = []


def _tune(group: Any, context: Any) -> None:
    """Have the chain solved again, before Blender makes the undo step of the change."""
    armature = group.id_data
    for chain in armature.poise_chains:
        if chain == group or any(entry == group for entry in chain.entries):
            if not chain.quiet:
                for call in CHANGED:
                    call(context, armature, chain)
            return


def _tell_apart(chain: Any, context: Any) -> None:
    """Make the name of a chain unique: tools, jobs and overrides find chains by name."""
    if not chain.name:
        chain.name = chain.effector or "Chain"
        return
    taken = {other.name for other in chain.id_data.poise_chains if other != chain}
    if chain.name in taken:
        name = chain.name
        chain.name = next(some for number in count(1) if (some := f"{name}.{number:03}") not in taken)


class POISE_PG_actuation(bpy.types.PropertyGroup):
    """One axis of a joint, and how much of the rotation it takes"""

    # library overrides identify items by name: names must differ
    name: saved(props.StringProperty, "Name", "Identifier of the entry in the list")
    bone: saved(props.StringProperty, "Bone", "Bone that rotates", update=marking("bone", then=_tune))
    bone_mark: mark()
    axis: saved(
        props.EnumProperty,
        "Axis",
        "Axis of the bone's rest pose, carried along by its parent",
        items=(
            ("X", "X", "Rotate about the X axis of the rest pose"),
            ("Y", "Y", "Twist about the Y axis of the rest pose"),
            ("Z", "Z", "Rotate about the Z axis of the rest pose"),
        ),
        update=_tune,
    )
    fraction: saved(
        props.FloatProperty,
        "Fraction",
        "How much of its full rotation the joint makes. The full rotation moves the effector as near to its target as "
        "this joint alone can",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        precision=2,
        update=_tune,
    )
    angle: saved(
        props.FloatProperty,
        "Angle",
        "Angle that the joint rotates at least or at most, depending on Mode, and never beyond the full rotation",
        default=0.0,
        min=0.0,
        soft_max=3.14159265,
        subtype="ANGLE",
        precision=1,
        update=_tune,
    )


class POISE_PG_turn(bpy.types.PropertyGroup):
    """One bone of a chain: its transform before the first solve and after the last one"""

    name: saved(props.StringProperty, "Bone", "Bone that was rotated", update=marking("name"))
    name_mark: mark()
    start_rotation: saved(
        props.FloatVectorProperty, "Start Rotation", "Rotation before the first solve, as a quaternion", size=4
    )
    start_location: saved(props.FloatVectorProperty, "Start Location", "Location before the first solve", size=3)
    rotation: saved(props.FloatVectorProperty, "Rotation", "Rotation after the last solve, as a quaternion", size=4)
    head: saved(props.FloatVectorProperty, "Head", "Location after the last solve, in armature space", size=3)
    turned: saved(props.FloatProperty, "Rotated", "Angle by which the bone was rotated", subtype="ANGLE")
    share: saved(props.FloatProperty, "Share", "Share of all rotation in the chain", subtype="FACTOR")


class POISE_PG_chain(bpy.types.PropertyGroup):
    """A chain of joints, with the list of how much each of them rotates"""

    name: saved(props.StringProperty, "Name", "Name of the chain", update=_tell_apart)
    base: saved(
        props.StringProperty,
        "Base",
        "First bone of the chain. A base that is no parent of the effector is held in place",
        update=marking("base"),
    )
    base_mark: mark()
    effector: saved(props.StringProperty, "Effector", "Bone that is dragged", update=marking("effector"))
    effector_mark: mark()
    use_drag: saved(
        props.BoolProperty,
        "Use in Drags",
        "When the effector is dragged, rotate only this chain by its list instead of the whole body",
        default=True,
    )
    mode: saved(
        props.EnumProperty,
        "Mode",
        "How Fraction and Angle are combined",
        items=(
            ("LARGER", "Larger", "Use the larger of Fraction and Angle, which reaches the target faster"),
            ("SMALLER", "Smaller", "Use the smaller of Fraction and Angle, which distributes the rotation more finely"),
            ("MIXED", "Mixed", "Use the larger value in the first passes, and the smaller value in the others"),
        ),
        update=_tune,
    )
    share: saved(
        props.FloatProperty, "First Passes", "Share of the passes, rounded up, that use the larger value", default=0.5,
        min=0.0, max=1.0, subtype="FACTOR", update=_tune,
    )  # fmt: skip
    passes: saved(
        props.IntProperty,
        "Passes",
        "Number of times that all joints of the list rotate in a solve",
        default=1,
        min=0,
        max=1000,
        soft_max=10,
        update=_tune,
    )
    sweeps: saved(
        props.IntProperty, "CCD Sweeps",
        "Maximum number of sweeps of plain CCD after the passes. In each, all joints from the tip to the base rotate "
        "as far as they can. At 0, only Finish brings the effector to its target, and a drag jumps less",
        default=0, min=0, max=1000, soft_max=30, update=_tune,
    )  # fmt: skip
    finish: saved(
        props.BoolProperty,
        "Finish",
        "After the passes, move the effector the rest of the way to its target by least squares",
        default=True,
        update=_tune,
    )
    successive: saved(
        props.BoolProperty,
        "Step by Step",
        "Solve each mouse move from the pose of the last one, so that the result depends on the path of the "
        "mouse. If disabled, each solve starts from the pose at the press, and moving the mouse back restores it",
    )
    entries: saved(
        props.CollectionProperty, "List", "Joints in the order in which they rotate", type=POISE_PG_actuation
    )
    active_entry: saved(props.IntProperty, "Active Joint", "Joint selected in the list", options=set())
    turns: saved(
        props.CollectionProperty, "Rotations", "Bones of the chain as the last drag left them", type=POISE_PG_turn
    )
    point: saved(props.FloatVectorProperty, "Point", "Point of the effector that was dragged, in bone space", size=3)
    target: saved(
        props.FloatVectorProperty, "Target", "Target of the last drag, in armature space", size=3, subtype="XYZ"
    )
    reached: saved(
        props.FloatVectorProperty, "Reached", "Position that the last solve reached, in armature space", size=3,
        subtype="XYZ",
    )  # fmt: skip
    problem: saved(
        props.StringProperty, "Problem", "Reason why the chain could not be solved again, or misses its target"
    )
    quiet: saved(props.BoolProperty, "Quiet", "Do not solve again when values change", options={"HIDDEN", "SKIP_SAVE"})


# On every object.
SETTINGS: Final[dict[str, Any]] = {
    "chains": saved(props.CollectionProperty, "Chains", "Chains with a contribution list", type=POISE_PG_chain),
    "active_chain": saved(props.IntProperty, "Active Chain", "Chain selected in the list", options=set()),
}

CLASSES: Final = (POISE_PG_actuation, POISE_PG_turn, POISE_PG_chain)
