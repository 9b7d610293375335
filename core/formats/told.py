"""What `info`, `contribute --learn`, `learn`, `export-vrma` and `batch` print with `--json`, as tables."""

from typing import Final

from .chain_list import ENTRY
from .report import always
from .table import (
    FLAG,
    FRAMES,
    NAME,
    NULL,
    TEXT,
    UNIT,
    Field,
    Table,
    by_type,
    choice,
    list_of,
    number,
    object_of,
    vector,
    whole,
)

_SOME: Final = by_type({type(None): NULL}, NAME)
_NAMES: Final = object_of(by_type({str: NAME}, list_of(NAME)), "bones by name")
_AXES: Final = object_of(vector(2), "degrees by axis")
BONE: Final = Table(
    always(
        ("name", NAME, "of the bone"),
        ("parent", _SOME, "the bone that it hangs on"),
        ("head", vector(3), "in the armature's space, at rest"),
        ("tail", vector(3), "likewise"),
        ("length", number(0.0), "in the armature's units"),
        ("rotation_mode", NAME, "as Blender has it"),
        ("deform", FLAG, "it deforms meshes"),
        ("limits", by_type({type(None): NULL}, _AXES), "degrees by axis"),
        ("driven", _SOME, "what drives it"),
    )
)
ACTION: Final = Table(
    always(
        ("name", NAME, "of the action"),
        ("frames", vector(2), "the first and the last one"),
        ("active", FLAG, "it is the one that the armature has"),
    )
)
ARMATURE: Final = Table(
    (
        *always(
            ("name", NAME, "of the armature"),
            ("humanoid", FLAG, "it has a human body"),
            ("roles", _NAMES, "the bone, or bones, of each part of a human body"),
            ("twist", _NAMES, "further bones of the segments of limbs"),
            ("limbs", _NAMES, "the bones of each limb of a creature"),
            ("confidence", object_of(UNIT, "numbers by part"), "how sure each part is"),
            ("missing", list_of(NAME), "parts that are not found"),
            ("facing", _SOME, "the axis that it faces"),
            ("up", _SOME, "the axis that is up"),
            ("rest", _SOME, "the kind of rest pose"),
            ("names", TEXT, "whose names its bones have, such as Mixamo; empty where they are nobody's that is known"),
            ("bones", list_of(BONE.kind()), "all bones"),
            ("actions", list_of(ACTION.kind()), "the actions that move its bones"),
        ),
        Field("controls", _NAMES, "the bones to key for each part, where something drives its own"),
    )
)
INFO: Final = Table(always(("armatures", list_of(ARMATURE.kind()), "of the file")))
LEARNED: Final = Table(
    always(
        ("armature", NAME, "whose motion it is learned from"),
        ("frames", FRAMES, "the first and the last one"),
        ("list", list_of(ENTRY.kind()), "the joints with their shares"),
        ("error", number(0.0), "degrees a joint by which the list follows the motion"),
        ("error_by_bone", object_of(number(0.0), "numbers by bone"), "likewise"),
        ("uniform_error", number(0.0), "likewise, if all joints shared alike"),
    )
)
LEARNT: Final = Table(
    always(
        ("armature", NAME, "whose motion it is learnt from"),
        ("what", choice(("limits", "stiffness", "list")), "was learnt"),
        ("bones", list_of(NAME), "that have it, or that turn in the list"),
    )
)
EXPORTED: Final = Table(
    always(
        ("armature", NAME, "whose motion it is"),
        ("frames", FRAMES, "the first and the last one"),
        ("file", NAME, "that was written"),
    )
)
FILE_DONE: Final = Table(
    always(
        ("file", NAME, "its name"),
        ("state", NAME, "`done`, `done, but a goal is not met`, `failed` or `not done`"),
        ("reason", TEXT, "why, in a sentence; empty where there is nothing to say"),
        ("frames", whole(0), "that were keyed"),
        ("seconds", number(0.0), "of work"),
        ("digest", _SOME, "of its curves and its report without times"),
        ("finished_before", FLAG, "an earlier run did it"),
    )
)
BATCH: Final = Table(
    always(
        ("verb", NAME, "what was done with each file"),
        ("files", list_of(FILE_DONE.kind()), "how each went"),
        ("digest", NAME, "of all digests"),
        ("seconds", number(0.0), "in all"),
    )
)
