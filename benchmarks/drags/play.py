"""Play a drag as the tool does, and measure what Blender then shows.

Lengths are those of a 1.7 m human, angles in degrees. The mouse moves a centimetre a tick. All is read from Blender's
evaluated pose.
"""

from collections.abc import Sequence
from time import process_time
from typing import Any, Final

import bpy
import numpy as np

import bridge
from bridge import Grab
from core import CoreError, Skeleton, rotation
from core.body import Roles
from core.body.axes import axis_vector, canonical_frame
from core.body.posture import rest_turn
from core.pose import frame_rotations
from edits.drag.session import DragSession
from edits.pin_list import set_pins

from ..work import Array
from .drags import Drag, points_on

_STEP: Final = 1.0  # centimetres a tick
_HEAD: Final = 18.0  # centimetres of the head in pictures: upwards, of a quadruped forward
_RESTS: Final = 200  # ticks with a still mouse, at most


class Rig:
    """An armature that takes its relaxed pose, if it has the parts for that, and is dragged by them again and again."""

    def __init__(self, armature: Any) -> None:
        self.armature = armature
        self.rig = bridge.read_rig(armature)
        self.skeleton: Skeleton = self.rig.skeleton
        roles = bridge.read_roles(armature, self.skeleton)
        if roles.humanoid:
            bpy.ops.poise.take_posture(posture="RELAXED")  # pyright: ignore[reportAttributeAccessIssue]
        self.parts = parts_of(self.skeleton, roles)
        self.four = not roles.humanoid
        self.up = axis_vector(roles.up)
        self.frame = rotation.to_matrix(canonical_frame(roles.up, roles.facing))
        self.unit = self.skeleton.size / 100.0  # armature units of a centimetre
        self.channels = bridge.read_channels(armature)

    def update(self) -> None:
        bpy.context.view_layer.update()  # pyright: ignore[reportOptionalMemberAccess]

    def see(self) -> tuple[Array, Array]:
        """Heads (J, 3) and frames (J, 4) as Blender has evaluated them, in armature space."""
        matrices = bridge.read_matrices(self.armature)
        return matrices[:, :3, 3], frame_rotations(matrices[:, :3, :3])

    def own(self, turns: Array) -> Array:
        """The rotations (..., J, 4) of bones to their parents."""
        parents = self.skeleton.parents
        above = np.where((parents < 0)[:, None], rotation.IDENTITY, turns[..., parents, :])
        return rotation.mul(rotation.inv(above), turns)

    def begin(self, drag: Drag, balance: bool) -> DragSession:
        """A session from the relaxed pose, with the pins of the drag."""
        bridge.write_channels(self.armature, self.channels)
        self.armature.poise_pins.clear()
        self.armature.poise_use_balance = balance
        for kind, bones in self.pins(drag).items():
            set_pins(bpy.context, self.armature, [self.skeleton.names[bone] for bone in bones], kind)
        grab = Grab(self.armature.name, self.skeleton.names[self.parts[drag.role][0]], (0.0, 0.0, 0.0))
        return DragSession(bpy.context, self.armature, [grab])

    def pins(self, drag: Drag) -> dict[str, list[int]]:
        """The bones that are pinned, by the kind of their pins."""
        pinned = [f"{end}.{side}" for end in ("hand", "foot") for side in "LR"] if self.four else drag.pinned
        kinds = {"BOTH": pinned, "POSITION": drag.placed}
        return {kind: [self.parts[role][0] for role in roles if role != drag.role] for kind, roles in kinds.items()}

    def way(self, drag: Drag) -> Array:
        """Places (n, 3) of the grabbed head, tick by tick from the press to the far end, in armature space."""
        heads, _ = self.see()
        here = heads[self.parts[drag.role][0]]
        around = here if drag.about is None else heads[self.parts[drag.about][0]]
        corners = around + self.unit * np.array(drag.way) @ self.frame.T
        way = points_on(np.concatenate([here[None], corners]), _STEP * self.unit)
        if drag.round is None:
            return way
        centre = heads[self.parts[drag.round][0]]
        away = way - centre
        return centre + away * (np.linalg.norm(here - centre) / np.linalg.norm(away, axis=-1, keepdims=True))

    def least(self, drag: Drag, target: Array, heads: Array) -> float:
        """A distance from the target that no pose can undercut: the bones from a pin to the grabbed head, stretched."""
        grabbed, short = self.parts[drag.role][0], 0.0
        for bone in [bone for bones in self.pins(drag).values() for bone in bones]:
            short = max(short, float(np.linalg.norm(target - heads[bone])) - self._between(bone, grabbed))
        return short

    def _between(self, one: int, other: int) -> float:
        """The length of the way along the bones from one head to another."""
        paths = [self.skeleton.ancestors(bone) for bone in (one, other)]
        rest, parents = self.skeleton.rest_matrices[:, :, 3], self.skeleton.parents
        edges = set(paths[0]) ^ set(paths[1])
        return sum(float(np.linalg.norm(rest[bone] - rest[parents[bone]])) for bone in edges)


def parts_of(skeleton: Skeleton, roles: Roles) -> dict[str, tuple[int, ...]]:
    """The bones by role; a quadruped stands with the last but one bone of each leg."""
    if roles.humanoid:
        return {role: roles.chain(role) for role in roles.bones}
    found = {name: roles.limbs[name] for name in ("spine", "neck", "head")}
    for side in "LR":
        front, hind = (roles.limbs[f"leg.{end}.{side}"] for end in ("front", "hind"))
        found |= {f"upper_arm.{side}": front[:-2], f"hand.{side}": front[-2:]}
        found |= {f"thigh.{side}": hind[:-2], f"foot.{side}": hind[-2:]}
    carriers = skeleton.ancestors(found["thigh.L"][0])
    return found | {"hips": tuple(bone for bone in skeleton.ancestors(found["spine"][0]) if bone in carriers)[:1]}


def play(rig: Rig, drag: Drag, rounds: int, most: int | None = None) -> dict[str, Any]:
    """Play a drag there and back, then once more there; each time the mouse stops. `most`: ticks there, then back."""
    if rig.four and not drag.four:
        raise CoreError("Not on four legs.")
    seconds: list[Array] = []
    for _ in range(rounds):
        session = rig.begin(drag, drag.balance)
        start, there = rig.see(), rig.way(drag)[:most]
        way = (
            there if drag.closed else np.concatenate([there, there[-2::-1], start[0][session.effectors[0].bone][None]])
        )
        times, steps, seen = _lead(rig, session, way)
        seconds.append(times)
    heads, turns = (np.stack([first, *rest]) for first, rest in zip(start, zip(*seen, strict=True), strict=True))
    away = len(there)
    found = {
        "ticks": len(way),
        **_times(np.concatenate(seconds)),
        "steps": float(np.median(steps)),
        "most_steps": int(np.max(steps)),
        **_motion(rig, drag, heads, turns, away),
        "miss_mm": _mm(rig, heads[away, rig.parts[drag.role][0]] - way[away - 1]),
        "least_mm": 10.0 * rig.least(drag, way[away - 1], start[0]) / rig.unit,
    }
    home, _ = _rest(rig, session)
    session = rig.begin(drag, drag.balance)
    *_, seen = _lead(rig, session, there)
    rested, rests = _rest(rig, session)
    found |= {
        "home_rest_degrees": _turned(rig.own(home[1]), rig.own(start[1])),
        "rest_degrees": _turned(rig.own(seen[-1][1]), rig.own(rested[1])),
        "rest_mm": _mm(rig, seen[-1][0] - rested[0]),
        "rests": rests,
    }
    if drag.balance:
        *_, plain = _lead(rig, rig.begin(drag, False), there)
        pairs = zip(plain, seen, strict=True)
        found["balance_degrees"] = max(_turned(rig.own(one[1]), rig.own(other[1])) for one, other in pairs)
    moments = [0, away // 3, 2 * away // 3, away]
    shown = [*zip(heads[moments], turns[moments], strict=True), rested, (heads[-1], turns[-1])]
    return found | {"figures": _figures(rig, shown), "bones": _bones(rig), **_marks(rig, drag, way[away - 1], start[0])}


def _rest(rig: Rig, session: DragSession) -> tuple[tuple[Array, Array], int]:
    """What is seen when the body has come to rest under a still mouse, and the ticks that it took."""
    rests = 0
    while session.restless and rests < _RESTS:
        session.rest()
        rests += 1
    rig.update()
    return rig.see(), rests


def _lead(rig: Rig, session: DragSession, way: Array) -> tuple[Array, list[int], list[tuple[Array, Array]]]:
    """Seconds (n, 2) of the processor of each tick and of the update in it, steps, and what is seen after each."""
    seconds, steps, seen = [], [], []
    linear, place = session.body.world[:3, :3], session.effectors[0].place
    for target in way:
        begin = process_time()
        solution = session.drag(linear @ (target - place), rotation.IDENTITY)
        written = process_time()
        rig.update()
        end = process_time()
        seconds.append((end - begin, end - written))
        steps.append(int(np.max(solution.iterations)))
        seen.append(rig.see())
    return np.array(seconds), steps, seen


def _times(seconds: Array) -> dict[str, float]:
    tick, update = 1e3 * seconds.T
    quantiles = {"ms": np.median(tick), "ms_99": np.quantile(tick, 0.99), "update_ms": np.median(update)}
    return {name: float(value) for name, value in quantiles.items()}


def _motion(rig: Rig, drag: Drag, heads: Array, turns: Array, away: int) -> dict[str, Any]:
    """What moved: in a tick, at most, at the far end, and after coming back."""
    own, parts = rig.own(turns), rig.parts
    steps = np.degrees(rotation.angle_between(own[1:], own[:-1]))
    speeds = np.linalg.norm(np.diff(heads, axis=0), axis=-1)
    hips = turns[:, parts["hips"][0]]
    swing, twist = rotation.swing_twist(rotation.mul(hips, rotation.inv(hips[0])), rig.up)
    tilts, yaws = (np.degrees(rotation.angle_between(way, np.array(rotation.IDENTITY))) for way in (swing, twist))
    chest = parts["spine"][-1]
    across = {"spine": (parts["hips"][0], chest), "neck": (chest, parts["head"][0])}
    across |= {
        f"shoulder.{side}": (chest, parts[f"shoulder.{side}"][0]) for side in "LR" if f"shoulder.{side}" in parts
    }
    bends = {name: _bend(turns[[0, away]], *pair) for name, pair in across.items()}
    pins = rig.pins(drag)
    placed = [bone for bones in pins.values() for bone in bones]
    off = turns[:, pins["BOTH"]]
    return {
        "step_degrees": float(steps.max()),
        "step_bone": rig.skeleton.names[int(steps.max(axis=0).argmax())],
        "speed_mm": 10.0 * float(speeds.max()) / rig.unit,
        "tilt_degrees": float(tilts.max()),
        "yaw_degrees": float(yaws.max()),
        "spine_degrees": bends["spine"],
        "neck_degrees": bends["neck"],
        "clavicle_degrees": max(bends.get("shoulder.L", 0.0), bends.get("shoulder.R", 0.0)),
        "pin_mm": _mm(rig, heads[:, placed] - heads[0, placed]),
        "pin_degrees": _turned(off, off[:1]),
        "home_degrees": _turned(own[-1], own[0]),
    }


def _bend(turns: Array, lower: int, upper: int) -> float:
    """By how much the upper bone has turned to the lower one between two moments (2, J, 4)."""
    between = rotation.mul(rotation.inv(turns[:, lower]), turns[:, upper])
    return _turned(between[0], between[1])


def _turned(one: Array, other: Array) -> float:
    return float(np.degrees(np.max(rotation.angle_between(one, other), initial=0.0)))


def _mm(rig: Rig, away: Array) -> float:
    return 10.0 * float(np.linalg.norm(away, axis=-1).max()) / rig.unit


# -- for the pictures ------------------------------------------------------------------------------------------------


def _drawn(rig: Rig) -> list[int]:
    """The bones of a stick figure: those of parts, fingers apart."""
    fingers = ("thumb", "index", "middle", "ring", "pinky", "palm")
    return sorted({bone for role, bones in rig.parts.items() if not role.startswith(fingers) for bone in bones})


def _bones(rig: Rig) -> list[tuple[int, int]]:
    """Lines of the stick figure: places in it of bones and of the next drawn bones above; last the top of the head."""
    drawn = _drawn(rig)
    chains = [[drawn.index(above) for above in rig.skeleton.ancestors(bone) if above in drawn] for bone in drawn]
    return [
        *((chain[0], chain[1]) for chain in chains if len(chain) > 1),
        (len(drawn), drawn.index(rig.parts["head"][0])),
    ]


def _figures(rig: Rig, moments: Sequence[tuple[Array, Array]]) -> list[Any]:
    """Stick figures of some moments, in centimetres to the left, up and forward."""
    head = rig.parts["head"][0]
    top = rotation.rotate(
        rotation.inv(rest_turn(rig.skeleton, head)), _HEAD * rig.unit * rig.frame[:, 2 if rig.four else 1]
    )
    return [
        _seen(rig, np.concatenate([heads[_drawn(rig)], [heads[head] + rotation.rotate(turns[head], top)]]))
        for heads, turns in moments
    ]


def _marks(rig: Rig, drag: Drag, target: Array, heads: Array) -> dict[str, Any]:
    pins = [bone for bones in rig.pins(drag).values() for bone in bones]
    return {"pins": _seen(rig, heads[pins]), "target": _seen(rig, target)}


def _seen(rig: Rig, places: Array) -> Any:
    return np.round(places @ rig.frame / rig.unit, 1).tolist()
