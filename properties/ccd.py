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
    """A joint about one axis, and its share of the way"""

    # library overrides identify items by name: names must differ
    name: saved(props.StringProperty, "Name", "What tells it from others in the list")
    bone: saved(props.StringProperty, "Bone", "The bone that turns", update=marking("bone", then=_tune))
    bone_mark: mark()
    axis: saved(
        props.EnumProperty,
        "Axis",
        "Of the bone's rest frame, carried by its parent",
        items=(
            ("X", "X", "It turns about the X axis of its rest frame"),
            ("Y", "Y", "It turns about the Y axis of its rest frame: it twists"),
            ("Z", "Z", "It turns about the Z axis of its rest frame"),
        ),
        update=_tune,
    )
    fraction: saved(
        props.FloatProperty, "Fraction",
        "Of the rotation that would bring the effector as near to its target as this joint alone can", default=1.0,
        min=0.0, max=1.0, subtype="FACTOR", precision=2, update=_tune,
    )  # fmt: skip
    angle: saved(
        props.FloatProperty, "Angle",
        "That it turns in any case, or at most: see Mode; never more than the full rotation", default=0.0, min=0.0,
        soft_max=3.14159265, subtype="ANGLE", precision=1, update=_tune,
    )  # fmt: skip


class POISE_PG_turn(bpy.types.PropertyGroup):
    """What a chain made of one bone: how it was before its first solve, and how it is after the last one"""

    name: saved(props.StringProperty, "Bone", "The bone that was turned", update=marking("name"))
    name_mark: mark()
    start_rotation: saved(
        props.FloatVectorProperty, "Start Rotation", "Before the first solve: a quaternion w, x, y, z", size=4
    )
    start_location: saved(props.FloatVectorProperty, "Start Location", "Before the first solve", size=3)
    rotation: saved(props.FloatVectorProperty, "Rotation", "After the last solve: a quaternion w, x, y, z", size=4)
    head: saved(props.FloatVectorProperty, "Head", "After the last solve, in armature space", size=3)
    turned: saved(props.FloatProperty, "Turned", "By how much it was turned", subtype="ANGLE")
    share: saved(props.FloatProperty, "Share", "Of all that the chain turned", subtype="FACTOR")


class POISE_PG_chain(bpy.types.PropertyGroup):
    """A chain of joints with the list of who turns how much of the way"""

    name: saved(props.StringProperty, "Name", "What the chain is called", update=_tell_apart)
    base: saved(
        props.StringProperty, "Base", "The chain's first bone; one that the effector does not hang on is held",
        update=marking("base"),
    )  # fmt: skip
    base_mark: mark()
    effector: saved(props.StringProperty, "Effector", "The bone that is dragged", update=marking("effector"))
    effector_mark: mark()
    use_drag: saved(
        props.BoolProperty, "Use in Drags", "Drag its effector by this list in place of the whole body", default=True
    )
    mode: saved(
        props.EnumProperty,
        "Mode",
        "How fraction and angle go together",
        items=(
            ("LARGER", "Larger", "The larger of fraction and angle: gets there faster"),
            ("SMALLER", "Smaller", "The smaller of fraction and angle: divides the work more finely"),
            ("MIXED", "Mixed", "The larger in the first passes, the smaller in the others"),
        ),
        update=_tune,
    )
    share: saved(
        props.FloatProperty, "First Passes", "Share of the passes, rounded up, in which the larger counts", default=0.5,
        min=0.0, max=1.0, subtype="FACTOR", update=_tune,
    )  # fmt: skip
    passes: saved(
        props.IntProperty, "Passes", "How often it goes through the list", default=1, min=0, max=1000, soft_max=10,
        update=_tune,
    )  # fmt: skip
    sweeps: saved(
        props.IntProperty, "Sweeps",
        "How often, at most, it then turns all joints from the tip on, each as far as it can (plain CCD); "
        "with none, least squares go the rest of the way, and a drag jumps less", default=0, min=0, max=1000,
        soft_max=30, update=_tune,
    )  # fmt: skip
    finish: saved(
        props.BoolProperty, "Finish", "Go what is left of the way by least squares", default=True, update=_tune
    )
    successive: saved(
        props.BoolProperty,
        "Step by Step",
        "Each step of a drag goes on from the last one, and the pose depends on the way that the mouse "
        "took; else each begins from the pose at the press, and a way back leads back",
    )
    entries: saved(
        props.CollectionProperty, "List", "The joints in the order in which they turn", type=POISE_PG_actuation
    )
    active_entry: saved(props.IntProperty, "Active Joint", "The joint selected in the list", options=set())
    turns: saved(props.CollectionProperty, "Turns", "What the last drag made of the chain's bones", type=POISE_PG_turn)
    point: saved(props.FloatVectorProperty, "Point", "Point of the effector that was dragged, in its frame", size=3)
    target: saved(props.FloatVectorProperty, "Target", "Where it was dragged, in armature space", size=3, subtype="XYZ")
    reached: saved(
        props.FloatVectorProperty, "Reached", "Where the last solve moved it, in armature space", size=3,
        subtype="XYZ",
    )  # fmt: skip
    problem: saved(props.StringProperty, "Problem", "Why it could not be solved again")
    quiet: saved(props.BoolProperty, "Quiet", "Changes do not solve again", options={"HIDDEN", "SKIP_SAVE"})


# On every object.
SETTINGS: Final[dict[str, Any]] = {
    "chains": saved(props.CollectionProperty, "Chains", "Chains with lists of their own", type=POISE_PG_chain),
    "active_chain": saved(props.IntProperty, "Active Chain", "The chain selected in the list", options=set()),
}

CLASSES: Final = (POISE_PG_actuation, POISE_PG_turn, POISE_PG_chain)
