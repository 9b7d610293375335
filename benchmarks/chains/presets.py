"""Every preset on three rigs, drawn: `python -m benchmarks.chains.presets IMAGE.png`, with `bpy` and matplotlib.

Rigs of ../shared/data. Elbows, knees and fingers have the limits of their anatomy. A finger is seen from its side.
"""

import sys
from pathlib import Path
from typing import Any, Final

import standalone

standalone.enable()

import bpy  # noqa: E402
import numpy as np  # noqa: E402

import bridge  # noqa: E402
from core import ContributionCCD, Goal, Pose, Skeleton, forward, rotation, solve  # noqa: E402
from core.body import Roles, find_roles  # noqa: E402
from core.body.grip import finger_hinges  # noqa: E402
from core.contribution import preset, with_hinges  # noqa: E402

from .plots import COLOURS, INK, QUIET, pyplot_for  # noqa: E402

RIGS: Final = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "rigs"
BODIES: Final = ("mpfb_mixamo", "named_unreal_apose", "rigify_metarig_human")
OTHERS: Final = {
    "tail": ("rigify_metarig_cat", "rigify_metarig_wolf", "creature_four_arms_tail_wings"),
    "tentacle": ("creature_octopus", "creature_snake60", "rigify_metarig_horse"),
}
# role of the first bone, of the effector, whether its end is led
CHAINS: Final = {
    "arm": ("upper_arm.L", "hand.L", False),
    "leg": ("thigh.L", "foot.L", False),
    "spine": ("spine", "spine", True),
    "neck": ("neck", "head", True),
    "finger": ("index.L", "index.L", True),
}
# targets: the way from the base to the tip turned by degrees, and its length; a trunk bends, but hardly gets shorter
MOVES: Final = ((25.0, 0.85), (-50.0, 0.7), (75.0, 0.95))
TRUNK_MOVES: Final = ((15.0, 0.99), (-30.0, 0.96), (50.0, 0.9))
FINGER_MOVES: Final = ((25.0, 0.97), (45.0, 0.85), (70.0, 0.65))


def load(name: str) -> tuple[Skeleton, Roles]:
    bpy.ops.wm.open_mainfile(filepath=str(RIGS / "scripted" / f"{name}.blend"))
    rig = next(item for item in bpy.data.objects if item.type == "ARMATURE")
    skeleton = bridge.read_rig(rig).skeleton
    return skeleton, find_roles(skeleton)


def ends(name: str, skeleton: Skeleton, roles: Roles) -> tuple[int, int, bool]:
    """First bone, effector, and whether the effector's end is led."""
    if name in CHAINS:
        first, last, tail = CHAINS[name]

        def pick(role: str, place: int) -> int:
            found = roles.bones[role]
            return found if isinstance(found, int) else found[place]

        return pick(first, 0), pick(last, -1), tail
    chain = max(roles.limbs.values(), key=len, default=())
    tails = [bones for role, bones in roles.limbs.items() if role.startswith(name)]
    if name == "tail" and tails:
        chain = tails[0]
    if len(chain) < 3:
        last = max(range(len(skeleton)), key=lambda bone: len(skeleton.ancestors(bone)))
        chain = tuple(skeleton.ancestors(last)[::-1])
    return chain[0], chain[-1], True


def places(skeleton: Skeleton, pose: Pose, chain: list[int], point: np.ndarray) -> np.ndarray:
    """Joints (k, 3) of the chain, and the point of its last bone that is led."""
    heads, turns = forward(skeleton, pose)
    tip = chain[-1]
    if not point.any():
        return heads[chain]
    return np.concatenate([heads[chain], [heads[tip] + rotation.rotate(turns[tip], point)]])


def draw(axes: Any, name: str, rig: str) -> None:
    skeleton, roles = load(rig)
    free, (skeleton, bends) = skeleton, with_hinges(skeleton, roles)
    first, tip, tail = ends(name, skeleton, roles)
    up = skeleton.ancestors(tip)
    chain = up[: up.index(first) + 1][::-1]
    heads, turns = forward(skeleton, Pose.rest(skeleton))
    # where the last bone would end: the bones of some rigs point anywhere
    onward = heads[chain[-1]] - heads[chain[-2]] if tail else np.zeros(3)
    point = rotation.rotate(rotation.inv(turns[tip]), onward)
    rest = places(skeleton, Pose.rest(skeleton), chain, point)
    span = float(np.linalg.norm(rest[-1] - rest[0]))
    along = (rest[-1] - rest[0]) / span
    across = np.eye(3)[0] if abs(along[0]) < 0.7 else np.eye(3)[2]
    if name == "finger":
        across = rotation.rotate(turns[first], finger_hinges(skeleton, roles)[first][0])
    aside = np.cross(across, along)
    aside /= np.linalg.norm(aside)
    entries = preset(name, free, first, tip, roles, with_effector=tail)
    method = ContributionCCD(entries, base=first, sweeps=0, bends=bends)
    flat = np.stack([along, aside], axis=-1)
    axes.plot(*((rest - rest[0]) @ flat).T, "o-", color=QUIET, lw=2.5, ms=3)
    moves = {"spine": TRUNK_MOVES, "neck": TRUNK_MOVES, "finger": FINGER_MOVES}.get(name, MOVES)
    for (angle, share), colour in zip(moves, COLOURS, strict=False):
        way = np.cos(np.radians(angle)) * along + np.sin(np.radians(angle)) * aside
        target = rest[0] + share * span * way
        solution = solve(skeleton, Pose.rest(skeleton), [Goal(tip, target, point=point)], method)
        shown = places(skeleton, solution.pose, chain, point)
        axes.plot(*((shown - rest[0]) @ flat).T, "o-", color=colour, lw=1.4, ms=2.5)
        axes.plot(*((target - rest[0]) @ flat), "x", color=colour, ms=7)
    axes.set_aspect("equal")
    axes.axis("off")
    axes.set_title(f"{name}: {rig}", fontsize=7, color=INK)


def main(file: Path) -> None:
    pyplot = pyplot_for()
    from matplotlib.lines import Line2D  # pyright: ignore[reportMissingImports]

    rows = dict.fromkeys(CHAINS, BODIES) | OTHERS
    figure, table = pyplot.subplots(3, len(rows), figsize=(2.0 * len(rows), 6.0))
    for column, (name, rigs) in enumerate(rows.items()):
        for row, rig in enumerate(rigs):
            draw(table[row, column], name, rig)
    lines = [Line2D([], [], color=QUIET, lw=2.5, marker="o", ms=3, label="at rest")]
    lines += [
        Line2D([], [], color=colour, lw=1.4, marker=marker, ms=size, ls=style, label=label)
        for colour, place in zip(COLOURS, ("first", "second", "third"), strict=False)
        for marker, size, style, label in (("x", 7, "", f"{place} target"), ("o", 2.5, "-", "its pose"))
    ]
    figure.tight_layout(rect=(0.0, 0.05, 1.0, 1.0))
    figure.legend(handles=lines, loc="lower center", ncols=len(lines), frameon=False, fontsize=8, labelcolor=INK)
    figure.savefig(file, dpi=130, metadata={"Software": None})
    print(f"drawn: {file}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
    sys.stdout.flush()
    standalone.leave(0)
