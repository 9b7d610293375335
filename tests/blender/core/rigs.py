"""The rigs whose roles are known, with the answers given by hand."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bridge import read_rig
from core.body import Roles, find_roles
from tests.blender.rigs import FULL, REFUSED, SUFFIXES, load
from tests.paths import DATA, SHARED

ZOO = SHARED / "rigs"
SAMPLE = (
    "real/cesium_man.gltf",
    "real/ozz_pab_walk.fbx",
    "real/quaternius_cat.fbx",
    "real/quaternius_female_casual.fbx",
    "scripted/creature_four_arms_tail_wings.blend",
    "scripted/mpfb_default.blend",
    "scripted/named_mmd_japanese.blend",
    "scripted/odd_disconnected_roots.blend",
    "scripted/odd_inline_twist.blend",
    "scripted/rigify_generated_human.blend",
    "scripted/rigify_metarig_wolf.blend",
)

Found = dict[str, str | list[str]]


@cache
def answers() -> dict[str, dict[str, Any]]:
    """By path under the rigs' folder; the shipped rigs by their file."""
    found = json.loads((DATA / "rigs" / "roles.json").read_text(encoding="utf-8"))
    if (ZOO / "roles.json").is_file():
        found |= json.loads((ZOO / "roles.json").read_text(encoding="utf-8"))
    return found


def files() -> list[Path]:
    shipped = sorted(path for path in (DATA / "rigs").iterdir() if path.suffix in SUFFIXES)
    if FULL and ZOO.is_dir():
        return shipped + sorted(path for path in ZOO.rglob("*") if path.suffix in SUFFIXES and path.name != REFUSED)
    return shipped + [ZOO / name for name in SAMPLE]


def cases(path: Path) -> list[tuple[Any, dict[str, Any]]]:
    """(object, answer) of the armatures of a file that have one."""
    name = path.relative_to(ZOO).as_posix() if path.is_relative_to(ZOO) else path.name
    found = [(ob, answers().get(f"{name}:{ob.name}") or answers().get(name)) for ob in load(path)]
    return [(ob, answer) for ob, answer in found if answer is not None]


def roles_of(ob: Any, use_names: bool) -> tuple[Roles, Found, Found, Found]:
    """The roles, and by bones' names: roles, twist bones, limbs."""
    skeleton = read_rig(ob).skeleton
    deform = np.array([bone.use_deform for bone in ob.data.bones])
    roles = find_roles(skeleton, deform, use_names)

    def named(found: Mapping[str, int | tuple[int, ...]]) -> Found:
        return {key: skeleton.names[bones] if isinstance(bones, int) else [skeleton.names[bone] for bone in bones]
                for key, bones in found.items()}  # fmt: skip

    return roles, named(roles.bones), named(roles.twist), named(roles.limbs)


def right(role: str, found: Found, answer: dict[str, Any]) -> bool:
    """The answer or an alternative; end bones may close a list; no list is as good as an empty one."""

    def core(bones: Any) -> Any:
        if not isinstance(bones, list):
            return bones
        stripped = list(bones)
        while stripped and stripped[-1] in answer.get("ends", ()):
            stripped.pop()
        return stripped or None

    allowed = [answer["roles"].get(role), *answer.get("alternatives", {}).get(role, [])]
    return core(found.get(role)) in [core(bones) for bones in allowed]


def wrong(found: Found, answer: dict[str, Any], scrambled: bool) -> set[str]:
    """Roles that are wrong, missing or too much; those of the mirror image where that is right too."""
    mistakes = {role for role in found.keys() | answer["roles"].keys() if not right(role, found, answer)}
    mirrored_ok = answer.get("mirrored_ok")
    if mistakes and (mirrored_ok is True or (mirrored_ok == "scrambled" and scrambled)):
        mirrored = {role[:-1] + {"L": "R", "R": "L"}[role[-1]] if role[-2:] in (".L", ".R") else role: bones
                    for role, bones in found.items()}  # fmt: skip
        other = {role for role in mirrored.keys() | answer["roles"].keys() if not right(role, mirrored, answer)}
        return min(mistakes, other, key=len)
    return mistakes
