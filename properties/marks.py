"""Bones that settings name, found again when they are renamed: each has a number that Blender takes along.

A setting `bone` that names one has a setting `bone_mark` beside it. A library override forgets the numbers that it gave
to bones when the library renames these: it gives negative ones, which say at which place among how many the bone is.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any, Final

import bpy
from bpy.app.handlers import persistent
from bpy.props import IntProperty

from .overrides import OPEN, linked_count, new_key

_MOST: Final = 1 << 15  # bones of an armature whose places fit into a number, with how many there are

# On every pose bone.
MARKS: Final[dict[str, Any]] = {
    "mark": IntProperty(
        name="Number", description="By which it is found again, or 0", options={"HIDDEN"}, override=OPEN
    )
}


def mark() -> Any:
    """The setting beside a name."""
    return IntProperty(
        name="Number",
        description="Which bone it is, whatever that is called by now",
        options={"HIDDEN"},
        override=OPEN,
    )


def marking(field: str, then: Callable[[Any, Any], None] | None = None) -> Callable[[Any, Any], None]:
    """What a name that is changed does: note which bone it is."""

    def update(group: Any, context: Any) -> None:
        bones: Any = group.id_data.pose.bones if group.id_data.pose is not None else {}
        bone = bones.get(getattr(group, field))
        if bone is not None and not bone.poise_mark:
            override = group.id_data.override_library is not None and len(bones) < _MOST
            bone.poise_mark = (
                -(_MOST * len(bones) + bones.find(bone.name)) if override
                else 1 + max(0, *(other.poise_mark for other in bones))
            )  # fmt: skip
        setattr(group, f"{field}_mark", bone.poise_mark if bone is not None else 0)
        if then is not None:
            then(group, context)

    return update


def follow_names_of(armature: Any) -> None:
    """Give the pins, chains, timed pins and samples of an armature the present names of their bones."""
    bones = armature.pose.bones if armature.pose is not None else {}
    strayed: list[tuple[Any, str, int]] = []
    marks: dict[str, int | None] = {}  # of the bones that are named, each looked up once; None: it is not there
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
    # a double of a bone has its number, too: it is none that is named itself, else the first
    names = {bone.poise_mark: bone.name for bone in reversed(bones) if bone.name not in found}
    for _, _, number in strayed:
        count, place = divmod(-number, _MOST)
        if count == len(bones) and number not in names:
            names[number] = bones[place].name
    for chain in armature.poise_chains:
        chain.quiet = True  # nothing to be solved again
    for group, field, number in strayed:
        if number in names:
            if field == "bone" and getattr(group, "label", "") == group.bone:  # a timed pin that is called as its bone
                group.label = names[number]
            setattr(group, field, names[number])
    for chain in armature.poise_chains:
        chain.quiet = False


def adopt(armature: Any) -> None:
    """Give what an older file has its names: there `name` was the bone or the part, and overrides lost entries by it.

    What they doubled in place of these is taken out.
    """
    for collection, field in (("poise_timed_pins", "bone"), ("poise_phases", "part")):
        entries, linked = getattr(armature, collection), linked_count(armature, collection)
        seen, doubled = set[Any](), list[int]()
        for place, entry in enumerate(entries):
            if getattr(entry, field):
                continue
            setattr(entry, field, entry.name)
            if place < linked or armature.library is not None:  # by its name the override finds it
                continue
            entry.name = ""
            setattr(entry, field, getattr(entry, field))
            same = (getattr(entry, field), getattr(entry, "label", ""), entry.start, entry.end, entry.frame)
            doubled += [place] if same in seen else []
            seen.add(same)
        for place in reversed(doubled):
            entries.remove(place)
    own = armature.poise_tracks[linked_count(armature, "poise_tracks") :] if armature.library is None else ()
    for track, given in zip(own, json.loads(armature.poise_recipe or "{}").get("tracks", ()), strict=False):
        parts = given.get("bones", given.get("parts"))
        if isinstance(parts, list) and not len(track.parts):
            for part in parts:
                track.parts.add().part = part
            track.name = new_key(track.name)


@persistent
def follow_names(scene: Any, depsgraph: Any) -> None:
    """Give pins and chains the new names of renamed bones; Blender calls this after every change."""
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
    """All settings that name a bone."""
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
