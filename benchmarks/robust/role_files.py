"""Rigs for `roles` that need Blender: Rigify's metarigs, and the files of ../shared/data.

The answers of Rigify's animals, and of animals in files, are written here by hand after a look at their bones, with {s}
for the side. Those of humans are in ../shared/data/rigs/roles.json, by hand, too.
"""

import io
import json
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, Final

import standalone

standalone.enable()

import addon_utils  # noqa: E402
import bpy  # noqa: E402
import numpy as np  # noqa: E402

import bridge  # noqa: E402

from .beasts import Answer  # noqa: E402

DATA: Final = Path(__file__).parents[2].parent / "shared" / "data" / "rigs"


def _series(name: str, numbers: Sequence[int]) -> str:
    return " ".join(f"{name}.{number:03d}" if number else name for number in numbers)


_WOLF_LEGS: Final = {
    "leg.front.{s}": "shoulder.{s}? front_thigh.{s} front_shin.{s} front_foot.{s} front_toe.{s}",
    "leg.hind.{s}": "thigh.{s} shin.{s} foot.{s} toe.{s}",
    "hips": "spine.004", "spine": _series("spine", [5, 6, 7, 8]), "neck": _series("spine", [9, 10]),
    "head": "spine.011", "tail": _series("spine", [3, 2, 1, 0]),
}  # fmt: skip
_EARS: Final = {"ear.{s}": "ear.{s} ear.{s}.001 ear.{s}.002 ear.{s}.003 ear.{s}.004", "jaw": "jaw"}
METARIGS: Final = {
    "basic_quadruped": _WOLF_LEGS,
    "wolf": _WOLF_LEGS | _EARS,
    "cat": _EARS | {
        "leg.front.{s}": "shoulder.{s}? upper_arm.{s} forearm.{s} hand.{s} f_toe.{s}",
        "leg.hind.{s}": "pelvis.{s}? thigh.{s} shin.{s} foot.{s} r_toe.{s}",
        "hips": "spine", "spine": _series("spine", [1, 2, 3]), "neck": _series("spine", [4, 5]), "head": "spine.006",
        "tail": _series("tail", [1, 2, 3, 4]),
    },
    "horse": {
        "leg.front.{s}": "shoulder.{s}? upper_arm.{s} forearm.{s} forefoot.{s} f_toe.{s} f_hoof.{s}",
        "leg.hind.{s}": "pelvis.{s}? thigh.{s} lower_leg.{s} hind_foot.{s} r_toe.{s} r_hoof.{s}",
        "hips": "spine.001", "spine": _series("spine", [2, 3, 4, 5]),
        "neck": "spine.006 " + _series("neck", [1, 2, 3, 4]), "head": "head", "tail": _series("tail", [1, 2, 3, 4, 5]),
        "ear.{s}": "ear.{s} ear.{s}.001", "jaw": "jaw",
    },
}  # fmt: skip
FILES: Final = {
    "real/mesh2motion_quadruped.glb": {
        "leg.front.{s}": "Front_Leg_Upper.{s} Front_Leg_Lower.{s} Front_Foot.{s} Front_Toes_Tip.{s}",
        "leg.hind.{s}": "Back_Leg_Upper.{s} Back_Leg_Lower.{s} Back_Foot.{s} Back_Toes.{s} Back_Toes_Tip.{s}",
        "hips": "Hips", "spine": _series("Spine", [1, 2]), "neck": _series("Spine", [3, 4]), "head": "Head",
        "tail": "Tail_Base Tail_Mid Tail_Tip Tail_Tip_End",
    },
    "real/mesh2motion_bird.glb": {
        "leg.{s}": "UpperLeg_{s} LowerLeg_{s} Foot_{s} Toes_{s}", "hips": "Hips",
        "wing.{s}": "shoulder_{s}? wing_{s} wing.001_{s} wing.002_{s} wing.003_{s}",
        "spine": "Spine Spine.001", "neck": "Neck Neck.001", "head": "Head", "tail": _series("Spine", [2, 3, 4, 5]),
    },
    "real/quaternius_cat.fbx": {
        "leg.front.L": _series("Bone", [17, 18, 19]), "leg.front.R": _series("Bone", [14, 15, 16]),
        "leg.hind.L": _series("Bone", [8, 9, 10]), "leg.hind.R": _series("Bone", [11, 12, 13]),
        "tail": _series("Bone", [4, 5, 6, 7]), "hips": "Bone", "spine": "Bone.001", "neck": "Bone.002",
        "head": "Bone.003",
    },
    "real/quaternius_frog.fbx": {
        "leg.front.L": "FrontLeg.L? FrontUpLeg.L FrontLowLeg.L FrontFoot.L",
        "leg.front.R": "FrontLeg.L.001? FrontUpLeg.R FrontLowLeg.R FrontFoot.R",
        "leg.hind.{s}": "BackHip.{s}? BackLeg.{s} BackUpLeg.{s} BackLowLeg.{s} BackFoot.{s}", "hips": "Body",
        "spine": "Hips Torso", "neck": "Shoulders? Neck", "head": "Head",
    },
    "real/quaternius_trex.fbx": {
        "leg.{s}": "BackLeg.{s}? BackUpLeg.{s} BackLowLeg.{s} BackFoot.{s}", "hips": "Body",
        "arm.{s}": "FrontLeg.{s}? FrontUpLeg.{s} FrontLowLeg.{s} FrontFoot.{s}", "spine": "Hips Torso Shoulders",
        "neck": "Neck", "head": "Head", "tail": "Back? Tail1 Tail2 Tail3 Tail4 Tail5",
    },
}  # fmt: skip


def answer_of(written: dict[str, str]) -> Answer:
    """Return an answer: a bone with "?" may be left out, and {s} is for each side."""
    found: Answer = {}
    for role, text in written.items():
        for side in "LR" if "{s}" in role else [""]:
            names = text.replace("{s}", side).split()
            all_of_it = [name.rstrip("?") for name in names]
            found[role.replace("{s}", side)] = [all_of_it, [name for name in names if not name.endswith("?")]]
    return found


def files() -> Iterator[tuple[str, str, Any, Any, Answer]]:
    """Yield group, name, skeleton, deforming bones and answer of every rig."""
    addon_utils.enable("rigify", default_set=True)
    for name, written in METARIGS.items():
        folder = "Basic" if name == "basic_quadruped" else "Animals"
        with redirect_stdout(io.StringIO()):
            if bpy.context.object is not None and bpy.context.object.mode != "OBJECT":
                bpy.ops.object.mode_set(mode="OBJECT")
            module = __import__(f"rigify.metarigs.{folder}.{name}", fromlist=["create"])
            data = bpy.data.armatures.new(name)
            rig = bpy.data.objects.new(name, data)
            context: Any = bpy.context
            context.scene.collection.objects.link(rig)
            context.view_layer.objects.active = rig
            module.create(rig)
            if rig.mode != "OBJECT":
                bpy.ops.object.mode_set(mode="OBJECT")
        yield "animals", f"rigify {name}", *_read(rig), answer_of(written)
    for file, written in FILES.items():
        for rig in _load(DATA / file):
            yield "animals", file, *_read(rig), answer_of(written)
    for file, said in json.loads((DATA / "roles.json").read_text(encoding="utf-8")).items():
        path, _, own = file.partition(":")
        if said["humanoid"]:
            alternatives = said.get("alternatives", {})
            answer = {
                role: [_list(one) for one in (bones, *alternatives.get(role, []))]
                for role, bones in said["roles"].items()
            }
            for rig in _load(DATA / path):
                if rig.name == (own or said.get("armature", rig.name)):
                    yield "humans", file, *_read(rig), answer


def _list(bones: Any) -> list[str]:
    return [] if bones is None else [bones] if isinstance(bones, str) else bones


def _load(path: Path) -> list[Any]:
    from tests.blender.rigs import load  # opens or imports a file

    with redirect_stdout(io.StringIO()):
        return load(path)


def _read(rig: Any) -> tuple[Any, Any]:
    """Return the skeleton, and which bones deform."""
    return bridge.read_rig(rig).skeleton, np.array([bone.use_deform for bone in rig.data.bones])
