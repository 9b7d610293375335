"""Keep settings that name bones up to date when bones are renamed, by a number that Blender keeps with each bone.

Next to a setting `bone` there is a setting `bone_mark` with that number. A library override loses the numbers of bones
that the library renames. It stores negative numbers instead, which encode the bone's index and the number of bones.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any, Final

import bpy
from bpy.app.handlers import persistent
from bpy.props import IntProperty

from .overrides import linked_count, new_key, saved

_MOST: Final = 1 << 15  # largest number of bones whose index and count fit into one number
_LARGEST: Final = 2**31 - 1  # that a property takes

# On every pose bone.
MARKS: Final[dict[str, Any]] = {
    "mark": saved(IntProperty, "Number", "Session identifier of the bone, or 0", options={"HIDDEN"})
}


def mark() -> Any:
    """Return the property for the number next to a bone's name."""
    return saved(IntProperty, "Number", "Bone that the name refers to, also after it is renamed", options={"HIDDEN"})


def marking(field: str, then: Callable[[Any, Any], None] | None = None) -> Callable[[Any, Any], None]:
    """Return the update callback of a bone's name, which stores the number of the bone."""

    def update(group: Any, context: Any) -> None:
        bones: Any = group.id_data.pose.bones if group.id_data.pose is not None else {}
        bone = bones.get(getattr(group, field))
        if bone is not None and not bone.poise_mark:
            override = group.id_data.override_library is not None and len(bones) < _MOST
            bone.poise_mark = (
                -(_MOST * len(bones) + bones.find(bone.name)) if override
                else 1 + max(0, *(other.poise_mark for other in bones if other.poise_mark < _LARGEST))
            )  # fmt: skip
        setattr(group, f"{field}_mark", bone.poise_mark if bone is not None else 0)
        if then is not None:
            then(group, context)

    return update


def follow_names_of(armature: Any) -> None:
    """Update the bone names in pins, chains, timed pins and tracks of an armature."""
    bones = armature.pose.bones if armature.pose is not None else {}
    strayed: list[tuple[Any, str, int]] = []
    marks: dict[str, int | None] = {}  # number of each named bone, looked up once; None: there is no such bone
    found: set[str] = set()
    for group, field in _named(armature):
        name, number = getattr(group, field), getattr(group, f"{field}_mark")
        if name not in marks:
            bone = bones.get(name)
            marks[name] = None if bone is None else bone.poise_mark
        if marks[name] in (number, 0):
            found.add(name)
        elif number:
            strayed.append((group, field, number))
    if not strayed:
        return
    # a duplicated bone has the same number: take one that no setting names itself, else the first
    names = {bone.poise_mark: bone.name for bone in reversed(bones) if bone.name not in found}
    for _, _, number in strayed:
        count, place = divmod(-number, _MOST)
        if count == len(bones) and number not in names:
            names[number] = bones[place].name
    for chain in armature.poise_chains:
        chain.quiet = True  # do not solve again
    for group, field, number in strayed:
        if number in names:
            if field == "bone" and getattr(group, "label", "") == group.bone:  # a timed pin that is called as its bone
                group.label = names[number]
            setattr(group, field, names[number])
    for chain in armature.poise_chains:
        chain.quiet = False


def adopt(armature: Any) -> None:
    """Convert entries of older files, in which `name` was the bone or role and overrides lost entries.

    Duplicates that overrides added in their place are removed.
    """
    for collection, field in (("poise_timed_pins", "bone"), ("poise_phases", "part")):
        entries, linked = getattr(armature, collection), linked_count(armature, collection)
        seen, doubled = set[Any](), list[int]()
        for place, entry in enumerate(entries):
            if getattr(entry, field):
                continue
            setattr(entry, field, entry.name)
            if place < linked or armature.library is not None:  # overrides find it by name
                continue
            entry.name = ""
            setattr(entry, field, getattr(entry, field))
            same = (getattr(entry, field), getattr(entry, "label", ""), entry.start, entry.end, entry.frame)
            doubled += [place] if same in seen else []
            seen.add(same)
        for place in reversed(doubled):
            entries.remove(place)
    own = armature.poise_tracks[linked_count(armature, "poise_tracks") :] if armature.library is None else ()
    for track, parts in zip(own, _parts_of_tracks(armature.poise_recipe), strict=False):
        if isinstance(parts, list) and not len(track.parts):
            for part in parts:
                track.parts.add().part = part
            track.name = new_key(track.name)


def _parts_of_tracks(recipe: str) -> list[list[str] | str]:
    """Return the bones or parts of the tracks of a stored recipe; none of one that is damaged."""
    try:
        tracks = json.loads(recipe)["tracks"] if recipe else []
        found = [track.get("bones", track.get("parts")) for track in tracks]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return []
    return [[*map(str, parts)] if isinstance(parts, list) else parts for parts in found]


@persistent
def follow_names(scene: Any, depsgraph: Any) -> None:
    """Update the names of renamed bones in settings; Blender calls this after every change."""
    for update in depsgraph.updates:
        if isinstance(update.id, bpy.types.Object) and update.id.type == "ARMATURE":
            follow_names_of(update.id.original)


@persistent
def follow_names_in_libraries(*_: Any) -> None:
    """Do the same when a file is opened: bones of its libraries may have been renamed meanwhile."""
    armatures: list[Any] = [armature for armature in bpy.data.objects if armature.type == "ARMATURE"]
    for armature in sorted(armatures, key=lambda armature: armature.library is None):  # overrides have linked originals
        adopt(armature)
    for armature in armatures:
        if armature.library is None:
            follow_names_of(armature)


def _named(armature: Any) -> Iterator[tuple[Any, str]]:
    """Yield all settings that name a bone."""
    for pin in armature.poise_pins:
        yield pin, "name"
    for chain in armature.poise_chains:
        yield chain, "base"
        yield chain, "effector"
        for entry in chain.entries:
            yield entry, "bone"
        for turn in chain.turns:
            yield turn, "name"
    for pin in armature.poise_timed_pins:
        yield pin, "bone"
    for phase in armature.poise_phases:
        yield phase, "part"
    for track in armature.poise_tracks:
        for part in track.parts:
            yield part, "part"
