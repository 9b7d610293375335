"""Chains of joints and their lists for contribution CCD."""

from collections.abc import Callable
from itertools import count
from typing import Any, Final

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    StringProperty,
)

from .marks import mark, marking
from .overrides import OPEN, OPEN_LIST

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


class PoiseActuation(bpy.types.PropertyGroup):
    """A joint about one axis, and its share of the way"""

    # library overrides identify items by name: names must differ
    name: StringProperty(name="Name", description="What tells it from others in the list", override=OPEN)
    bone: StringProperty(
        name="Bone", description="The bone that turns", override=OPEN, update=marking("bone", then=_tune)
    )
    bone_mark: mark()
    axis: EnumProperty(
        name="Axis",
        description="Of the bone's rest frame, carried by its parent",
        items=(
            ("X", "X", "It turns about the X axis of its rest frame"),
            ("Y", "Y", "It turns about the Y axis of its rest frame: it twists"),
            ("Z", "Z", "It turns about the Z axis of its rest frame"),
        ),
        override=OPEN,
        update=_tune,
    )
    fraction: FloatProperty(
        name="Fraction",
        description="Of the rotation that would bring the effector as near to its target as this joint alone can",
        default=1.0, min=0.0, max=1.0, subtype="FACTOR", precision=2, override=OPEN, update=_tune,
    )  # fmt: skip
    angle: FloatProperty(
        name="Angle",
        description="That it turns in any case, or at most: see Mode; never more than the full rotation",
        default=0.0, min=0.0, soft_max=3.14159265, subtype="ANGLE", precision=1, override=OPEN, update=_tune,
    )  # fmt: skip


class PoiseTurn(bpy.types.PropertyGroup):
    """What a chain made of one bone: how it was before its first solve, and how it is after the last one"""

    name: StringProperty(name="Bone", description="The bone that was turned", override=OPEN, update=marking("name"))
    name_mark: mark()
    start_rotation: FloatVectorProperty(
        name="Start Rotation", description="Before the first solve: a quaternion w, x, y, z", size=4, override=OPEN
    )
    start_location: FloatVectorProperty(
        name="Start Location", description="Before the first solve", size=3, override=OPEN
    )
    rotation: FloatVectorProperty(
        name="Rotation", description="After the last solve: a quaternion w, x, y, z", size=4, override=OPEN
    )
    head: FloatVectorProperty(name="Head", description="After the last solve, in armature space", size=3, override=OPEN)
    turned: FloatProperty(name="Turned", description="By how much it was turned", subtype="ANGLE", override=OPEN)
    share: FloatProperty(name="Share", description="Of all that the chain turned", subtype="FACTOR", override=OPEN)


class PoiseChain(bpy.types.PropertyGroup):
    """A chain of joints with the list of who turns how much of the way"""

    name: StringProperty(name="Name", description="What the chain is called", override=OPEN, update=_tell_apart)
    base: StringProperty(
        name="Base", description="The chain's first bone; one that the effector does not hang on is held",
        override=OPEN, update=marking("base"),
    )  # fmt: skip
    base_mark: mark()
    effector: StringProperty(
        name="Effector", description="The bone that is led to a place", override=OPEN, update=marking("effector")
    )
    effector_mark: mark()
    use_drag: BoolProperty(
        name="Use in Drags", description="Drag its effector by this list in place of the whole body", default=True,
        override=OPEN,
    )  # fmt: skip
    mode: EnumProperty(
        name="Mode",
        description="How fraction and angle go together",
        items=(
            ("LARGER", "Larger", "The larger of fraction and angle: gets there faster"),
            ("SMALLER", "Smaller", "The smaller of fraction and angle: divides the work more finely"),
            ("MIXED", "Mixed", "The larger in the first passes, the smaller in the others"),
        ),
        override=OPEN,
        update=_tune,
    )
    share: FloatProperty(
        name="First Passes", description="Share of the passes, rounded up, in which the larger counts",
        default=0.5, min=0.0, max=1.0, subtype="FACTOR", override=OPEN, update=_tune,
    )  # fmt: skip
    passes: IntProperty(
        name="Passes", description="How often it goes through the list", default=1, min=0, max=1000, soft_max=10,
        override=OPEN, update=_tune,
    )  # fmt: skip
    sweeps: IntProperty(
        name="Sweeps",
        description="How often, at most, it then turns all joints from the tip on, each as far as it can (plain CCD); "
        "with none, least squares go the rest of the way, and a drag jumps less",
        default=0, min=0, max=1000, soft_max=30, override=OPEN, update=_tune,
    )  # fmt: skip
    finish: BoolProperty(
        name="Finish", description="Go what is left of the way by least squares", default=True, override=OPEN,
        update=_tune,
    )  # fmt: skip
    successive: BoolProperty(
        name="Step by Step",
        description="Each step of a drag goes on from the last one, and the pose depends on the way that the mouse "
        "took; else each begins from the pose at the press, and a way back leads back",
        override=OPEN,
    )
    entries: CollectionProperty(
        type=PoiseActuation, name="List", description="The joints in the order in which they turn", override=OPEN_LIST
    )
    active_entry: IntProperty(
        name="Active Joint", description="The joint selected in the list", options=set(), override=OPEN
    )
    turns: CollectionProperty(
        type=PoiseTurn, name="Turns", description="What the last drag made of the chain's bones", override=OPEN_LIST
    )
    point: FloatVectorProperty(
        name="Point", description="Which point of the effector was led, in its own frame", size=3, override=OPEN
    )
    target: FloatVectorProperty(
        name="Target", description="Where it was led to, in armature space", size=3, subtype="XYZ", override=OPEN
    )
    reached: FloatVectorProperty(
        name="Reached", description="Where the last solve brought it, in armature space", size=3, subtype="XYZ",
        override=OPEN,
    )  # fmt: skip
    problem: StringProperty(name="Problem", description="Why it could not be solved again", override=OPEN)
    quiet: BoolProperty(
        name="Quiet", description="Changes do not solve again", options={"HIDDEN", "SKIP_SAVE"}, override=OPEN
    )


# On every object.
SETTINGS: Final[dict[str, Any]] = {
    "chains": CollectionProperty(
        type=PoiseChain,
        name="Chains",
        description="Chains with lists of their own",
        override=OPEN_LIST,
    ),
    "active_chain": IntProperty(
        name="Active Chain", description="The chain selected in the list", options=set(), override=OPEN
    ),
}

CLASSES: Final = (PoiseActuation, PoiseTurn, PoiseChain)
