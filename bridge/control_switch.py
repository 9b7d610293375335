"""The property that switches a limb from IK to FK: it is found by what it changes, not by its name."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import bpy
import numpy as np

from ..core.body import Roles
from ..core.skeleton import Flags
from .armature import Rig
from .channels import ArmatureObject
from .control_bodies import find_bodies
from .control_graph import Graph, reach
from .controlled_body import ControlledBody
from .driven import split_path

_ENDS: Final = (1.0, 0.0)  # values of a switch


@dataclass(frozen=True, eq=False)
class Switch:
    """A custom property of a bone that switches one limb from IK to FK.

    bone, name   the property's
    ik, fk       its values
    limb (N,)    the parts of the body that its IK bends, and the part at its end
    body         with what poses it on FK; its parts and its skeleton are those of the body on IK
    """

    bone: str
    name: str
    ik: float
    fk: float
    limb: Flags
    body: ControlledBody

    @property
    def path(self) -> str:
        """The property's data path from the armature object."""
        return _path(self.bone, self.name)

    def use_fk(self, armature: ArmatureObject, on: bool) -> None:
        """Set the property, and have Blender evaluate the rig."""
        _set(armature, self.bone, self.name, self.fk if on else self.ik)


def find_switch(
    armature: ArmatureObject, rig: Rig, roles: Roles, body: ControlledBody, end: int, besides: Sequence[int] = ()
) -> Switch | None:
    """Return what switches the limb that ends with a part of a body to FK, and nothing else; None if nothing does.

    The properties that drive constraints which the limb depends on are tried, the nearest first, and restored.
    """
    graph = Graph(armature, rig)
    for bone, name in _driving(armature, graph, body.bones[body.ends == end].tolist()):
        now = armature.pose.bones[bone][name]
        for value in _ENDS:
            if value == now:
                continue
            _set(armature, bone, name, value)
            try:
                found = find_bodies(rig, roles, [graph, Graph(armature, rig)], besides)
            finally:
                _set(armature, bone, name, now)
            name_of_end = body.skeleton.names[end]
            if not found or name_of_end not in found[0].skeleton.names:  # the limb is beside the body
                continue
            limb = found[0].ends == found[0].skeleton.index(name_of_end)
            if _switches(found[0], found[1], limb):
                return Switch(bone, name, now, value, limb, found[1])
    return None


def _driving(armature: ArmatureObject, graph: Graph, parts: Sequence[int]) -> Iterator[tuple[str, str]]:
    """Yield bone and name of numbers that drive constraints of what parts depend on, the nearest first."""
    steps: dict[int, int] = {}
    for part in parts:
        for bone, count in {part: 0, **reach(graph.ever, part)}.items():
            steps[bone] = min(count, steps.get(bone, count))
    found: dict[tuple[str, str], int] = {}
    for curve in armature.animation_data.drivers if armature.animation_data else ():
        bone, path = split_path(curve.data_path) or ("", "")
        away = steps.get(graph.place_of.get(bone, -1))
        if away is None or not path.startswith("constraints["):
            continue
        for variable in curve.driver.variables:
            for target in variable.targets:
                owner, prop = split_path(target.data_path) or ("", "")
                name = bpy.utils.unescape_identifier(prop[2:-2])
                there = target.id == armature and prop == f'["{prop[2:-2]}"]' and owner in graph.place_of
                if there and isinstance(armature.pose.bones[owner].get(name), int | float):
                    found[owner, name] = min(away, found.get((owner, name), away))
    yield from sorted(found, key=lambda one: found[one])


def _switches(before: ControlledBody, after: ControlledBody, limb: Flags) -> bool:
    """Return whether a limb is on FK after, and what poses all other parts is as it was; its poles do nothing then."""
    places, poles = np.arange(len(limb)), [pole for pole, first in before.poles.items() if limb[first]]
    changed = np.array([one != other for one, other in zip(before.controls, after.controls, strict=True)])
    changed |= before.ends != after.ends
    below = np.array([limb[before.skeleton.ancestors(part)].any() for part in range(len(limb))])
    below |= np.isin(places, poles)
    on_fk = (after.bones_that("turns") >= 0) & (after.ends == places)
    return bool(on_fk[limb].all() and not changed[~below].any())


def _path(bone: str, name: str) -> str:
    return f'pose.bones["{bpy.utils.escape_identifier(bone)}"]["{bpy.utils.escape_identifier(name)}"]'


def _set(armature: ArmatureObject, bone: str, name: str, value: float) -> None:
    """Set a custom property, and have Blender evaluate the rig."""
    context: Any = bpy.context
    owner = armature.pose.bones[bone]
    owner[name] = type(owner[name])(value)
    armature.update_tag()
    context.view_layer.update()
