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
        ("parent", _SOME, "its parent"),
        ("head", vector(3), "in armature space, in the rest pose"),
        ("tail", vector(3), "likewise"),
        ("length", number(0.0), "in units of the armature"),
        ("rotation_mode", NAME, "rotation mode in Blender"),
        ("deform", FLAG, "it deforms meshes"),
        ("limits", by_type({type(None): NULL}, _AXES), "degrees by axis"),
        ("driven", _SOME, "what drives it"),
    )
)
ACTION: Final = Table(
    always(
        ("name", NAME, "of the action"),
        ("frames", vector(2), "first and last frame"),
        ("active", FLAG, "it is the active action of the armature"),
    )
)
ARMATURE: Final = Table(
    (
        *always(
            ("name", NAME, "of the armature"),
            ("humanoid", FLAG, "it has a human body"),
            ("roles", _NAMES, "bone, or bones, of each part of a human body"),
            ("twist", _NAMES, "further bones in the segments of limbs"),
            ("limbs", _NAMES, "bones of each limb of a creature"),
            ("confidence", object_of(UNIT, "numbers by part"), "confidence of each part"),
            ("missing", list_of(NAME), "parts that were not found"),
            ("facing", _SOME, "axis that it faces"),
            ("up", _SOME, "the axis that is up"),
            ("rest", _SOME, "kind of rest pose"),
            ("names", TEXT, "naming scheme of its bones, such as Mixamo; empty if it is unknown"),
            ("bones", list_of(BONE.kind()), "all bones"),
            ("actions", list_of(ACTION.kind()), "actions that move its bones"),
        ),
        Field("controls", _NAMES, "bones to key for each part whose own bones are driven"),
    )
)
INFO: Final = Table(always(("armatures", list_of(ARMATURE.kind()), "of the file")))
LEARNED_LIST: Final = Table(
    always(
        ("armature", NAME, "armature whose motion it is learned from"),
        ("frames", FRAMES, "first and last frame"),
        ("list", list_of(ENTRY.kind()), "joints with their shares"),
        ("error", number(0.0), "error in degrees per joint with which the list follows the motion"),
        ("error_by_bone", object_of(number(0.0), "numbers by bone"), "likewise"),
        ("uniform_error", number(0.0), "the same with equal shares of all joints"),
    )
)
LEARNED: Final = Table(
    always(
        ("armature", NAME, "armature whose motion it is learned from"),
        ("what", choice(("limits", "stiffness", "list")), "what was learned"),
        ("bones", list_of(NAME), "bones that have it, or that rotate in the list"),
    )
)
EXPORTED: Final = Table(
    always(
        ("armature", NAME, "armature with the motion"),
        ("frames", FRAMES, "first and last frame"),
        ("file", NAME, "file that was written"),
    )
)
FILE_DONE: Final = Table(
    always(
        ("file", NAME, "name of the file"),
        ("state", NAME, "`done`, `done, but a goal is not met`, `failed` or `not done`"),
        ("reason", TEXT, "reason, in a sentence; empty if there is none"),
        ("frames", whole(0), "number of frames that were keyed"),
        ("seconds", number(0.0), "seconds of work"),
        ("digest", _SOME, "digest of its curves and its report without times"),
        ("finished_before", FLAG, "it was done in an earlier run"),
    )
)
BATCH: Final = Table(
    always(
        ("verb", NAME, "what was done with each file"),
        ("files", list_of(FILE_DONE.kind()), "result of each file"),
        ("digest", NAME, "digest of all digests"),
        ("seconds", number(0.0), "seconds in all"),
    )
)
