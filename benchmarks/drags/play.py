"""Play a drag as the tool does, and measure what Blender then shows.

Lengths are those of a 1.7 m human, angles in degrees. The mouse moves a centimetre a tick. All is read from Blender's
evaluated pose.
"""

from time import thread_time
from typing import Any, Final

import bpy
import numpy as np

import bridge
from bridge import Grab
from core import Skeleton, rotation
from core.body import BODY, Roles
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

Seen = tuple[Array, Array]  # heads (J, 3) and frames (J, 4) as Blender has evaluated them, in armature space


class Rig:
    """An armature in its relaxed pose, a quadruped at rest, that is dragged from there again and again."""

    def __init__(self, armature: Any) -> None:
        self.armature = armature
        self.skeleton: Skeleton = bridge.read_rig(armature).skeleton
        roles = bridge.read_roles(armature, self.skeleton)
        self.four = not roles.humanoid
        if roles.humanoid:
            bpy.ops.poise.take_posture(posture="RELAXED")  # pyright: ignore[reportAttributeAccessIssue]
        self.channels = bridge.read_channels(armature)
        self.heads, self.turns = self.see()
        self.parts = parts_of(self.skeleton, roles)
        self.up = axis_vector(roles.up)
        self.frame = rotation.to_matrix(canonical_frame(roles.up, roles.facing))  # left, up and forward
        self.unit = self.skeleton.size / 100.0  # armature units of a centimetre

    def see(self) -> Seen:
        """What Blender shows now."""
        bpy.context.view_layer.update()  # pyright: ignore[reportOptionalMemberAccess, reportAttributeAccessIssue]
        matrices = bridge.read_matrices(self.armature)
        return matrices[:, :3, 3], frame_rotations(matrices[:, :3, :3])

    def own(self, turns: Array) -> Array:
        """The rotations (..., J, 4) of bones to their parents."""
        parents = self.skeleton.parents
        above = np.where((parents < 0)[:, None], rotation.IDENTITY, turns[..., parents, :])
        return rotation.mul(rotation.inv(above), turns)

    def pinned(self, drag: Drag) -> tuple[list[int], list[int]]:
        """All bones that are pinned, and those that are pinned in rotation, too."""
        four = tuple(f"{end}.{side}" for end in ("hand", "foot") for side in "LR")
        both = [role for role in (four if self.four else drag.pinned) if role != drag.role]
        return [self.parts[role][0] for role in (*both, *drag.placed)], [self.parts[role][0] for role in both]

    def begin(self, drag: Drag, balance: str = "FEET") -> DragSession:
        """A session from the start, with the pins of the drag."""
        bridge.write_channels(self.armature, self.channels)
        self.armature.poise_pins.clear()
        self.armature.poise_balance = balance
        names = self.skeleton.names
        for kind, bones in zip(("POSITION", "BOTH"), self.pinned(drag), strict=True):
            set_pins(bpy.context, self.armature, [names[bone] for bone in bones], kind)
        grab = Grab(self.armature.name, names[self.parts[drag.role][0]], (0.0, 0.0, 0.0))
        return DragSession(bpy.context, self.armature, [grab], live=True)

    def way(self, drag: Drag) -> Array:
        """Places (n, 3) of the grabbed head, tick by tick from the press to the far end, in armature space."""
        here, around = (self.heads[self.parts[role][0]] for role in (drag.role, drag.about or drag.role))
        corners = around + self.unit * np.array(drag.way) @ self.frame.T
        way = points_on(np.concatenate([here[None], corners]), _STEP * self.unit)
        if drag.round is None:
            return way
        centre = self.heads[self.parts[drag.round][0]]
        away = way - centre
        return centre + away * (np.linalg.norm(here - centre) / np.linalg.norm(away, axis=-1, keepdims=True))

    def least(self, drag: Drag, target: Array) -> float:
        """A distance from the target that no pose undercuts: to a pin, less the bones from there to the grabbed one."""
        rest, parents, above = self.skeleton.rest_matrices[:, :, 3], self.skeleton.parents, self.skeleton.ancestors
        short = 0.0
        for bone in self.pinned(drag)[0]:
            between = [*{*above(bone)} ^ {*above(self.parts[drag.role][0])}]
            length = np.linalg.norm(rest[between] - rest[parents[between]], axis=-1).sum()
            short = max(short, float(np.linalg.norm(target - self.heads[bone]) - length))
        return short

    def mm(self, away: Array) -> float:
        """The longest of vectors (..., 3)."""
        return 10.0 * float(np.linalg.norm(away, axis=-1).max()) / self.unit

    def picture(self, drag: Drag, target: Array, moments: list[Seen]) -> dict[str, Any]:
        """Stick figures, their lines (the last one to the top of the head), pins and target; centimetres."""
        head, above = self.parts["head"][0], self.skeleton.ancestors
        drawn = sorted({bone for role, bones in self.parts.items() if self.four or role in BODY for bone in bones})
        chains = [[drawn.index(bone) for bone in above(first) if bone in drawn] for first in drawn]
        top = _HEAD * self.unit * self.frame[:, 2 if self.four else 1]
        top = rotation.rotate(rotation.inv(rest_turn(self.skeleton, head)), top)
        figures = [[*heads[drawn], heads[head] + rotation.rotate(turns[head], top)] for heads, turns in moments]
        places = {"figures": figures, "pins": self.heads[self.pinned(drag)[0]], "target": target}
        return {
            "bones": [*(chain[:2] for chain in chains if len(chain) > 1), [len(drawn), drawn.index(head)]],
            **{name: np.round(np.array(some) @ self.frame / self.unit, 1).tolist() for name, some in places.items()},
        }


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
    there, times = rig.way(drag)[:most], []
    home = rig.heads[rig.parts[drag.role][0]][None]
    way = there if drag.closed else np.concatenate([there, there[-2::-1], home])
    for _ in range(rounds):
        session = rig.begin(drag)
        seconds, steps, seen = _lead(rig, session, way)
        times.append(seconds)
    back = _rest(rig, session)[-1]
    heads, turns = (np.stack(some) for some in zip((rig.heads, rig.turns), *seen, strict=True))
    session = rig.begin(drag)
    _, _, seen = _lead(rig, session, there)
    rests = _rest(rig, session)
    away, target = len(there), there[-1]
    tick, update = 1e3 * np.concatenate(times).T
    miss, least = rig.mm(heads[away, rig.parts[drag.role][0]] - target), 10.0 * rig.least(drag, target) / rig.unit
    found = {
        "ticks": len(way),
        "ms": float(np.median(tick)),
        "ms_99": float(np.quantile(tick, 0.99)),
        "update_ms": float(np.median(update)),
        "steps": float(np.median(steps)),
        "most_steps": max(steps),
        **_motion(rig, drag, heads, turns, away),
        "miss_mm": miss,
        "least_mm": least,
        "over_mm": max(0.0, miss - least),
        "home_rest_degrees": _turned(rig.own(back[1]), rig.own(rig.turns)),
        "rest_degrees": max(_turned(rig.own(seen[-1][1]), rig.own(now[1])) for now in rests),
        "rest_mm": max(rig.mm(seen[-1][0] - now[0]) for now in rests),
        "rests": len(rests) - 1,
    }
    if drag.balance:
        _, _, plain = _lead(rig, rig.begin(drag, "OFF"), there)
        pairs = zip(plain, seen, strict=True)
        found["balance_degrees"] = max(_turned(rig.own(one[1]), rig.own(other[1])) for one, other in pairs)
    moments = [(heads[at], turns[at]) for at in (0, away // 3, 2 * away // 3, away)]
    return found | rig.picture(drag, target, [*moments, rests[-1], (heads[-1], turns[-1])])


def _lead(rig: Rig, session: DragSession, way: Array) -> tuple[Array, list[int], list[Seen]]:
    """Seconds (n, 2) of the thread of each tick and of the update in it, steps, and what is seen after each.

    Threads of Blender that wait beside it count in no tick.
    """
    seconds, steps, seen = [], [], []
    linear, place = session.body.world[:3, :3], session.effectors[0].place
    for target in way:
        begin = thread_time()
        solution = session.drag(linear @ (target - place), rotation.IDENTITY)
        written = thread_time()
        bpy.context.view_layer.update()  # pyright: ignore[reportOptionalMemberAccess, reportAttributeAccessIssue]
        end = thread_time()
        seconds.append((end - begin, end - written))
        steps.append(int(np.max(solution.iterations)))
        seen.append(rig.see())
    return np.array(seconds), steps, seen


def _rest(rig: Rig, session: DragSession) -> list[Seen]:
    """What is seen under a still mouse, tick by tick until the body has come to rest."""
    seen = [rig.see()]
    while session.restless and len(seen) <= _RESTS:
        session.rest()
        seen.append(rig.see())
    return seen


def _motion(rig: Rig, drag: Drag, heads: Array, turns: Array, away: int) -> dict[str, Any]:
    """What moved: in a tick, at most, at the far end, and after coming back."""
    own, parts = rig.own(turns), rig.parts
    steps = np.degrees(rotation.angle_between(own[1:], own[:-1]))
    hips, chest, (pinned, both) = parts["hips"][0], parts["spine"][-1], rig.pinned(drag)
    swing, twist = rotation.swing_twist(rotation.mul(turns[:, hips], rotation.inv(turns[0, hips])), rig.up)
    clavicles = [bone for side in "LR" for bone in parts.get(f"shoulder.{side}", ())]

    def bend(lower: int, upper: list[int]) -> float:
        ends = turns[[0, away]]
        return _turned(*rotation.mul(rotation.inv(ends[:, [lower]]), ends[:, upper]))

    return {
        "step_degrees": float(steps.max()),
        "step_bone": rig.skeleton.names[int(steps.max(axis=0).argmax())],
        "speed_mm": rig.mm(np.diff(heads, axis=0)),
        "tilt_degrees": _turned(swing, swing[0]),
        "yaw_degrees": _turned(twist, twist[0]),
        "spine_degrees": bend(hips, [chest]),
        "neck_degrees": bend(chest, [parts["head"][0]]),
        "clavicle_degrees": bend(chest, clavicles),
        "pin_mm": rig.mm(heads[:, pinned] - heads[0, pinned]),
        "pin_degrees": _turned(turns[:, both], turns[0, both]),
        "home_degrees": _turned(own[-1], own[0]),
    }


def _turned(one: Array, other: Array) -> float:
    """The largest angle between rotations (..., 4)."""
    return float(np.degrees(np.max(rotation.angle_between(one, other), initial=0.0)))
