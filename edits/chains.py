"""The chains that are saved with an armature: their method, their lists, and the result of the last drag."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import count
from typing import Any, Final

import numpy as np

from .. import bridge
from ..bridge import autokey
from ..core import Actuation, ContributionCCD, CoreError, Goal, Pose, Skeleton, Solution, forward, rotation
from ..core.contribution import preset, preset_for, with_hinges
from ..core.formats.chain_list import NUMBERS, Ccd
from ..core.formats.goals import Followed, JobGoal
from ..core.formats.job import Job, Write
from ..core.solvers.chain.path import bones_between, effector_place, find_path
from .motion_edit import temporary_value
from .pins import LIMITS, active_pins, read_active_pin

_LIMB_PRESETS: Final = ("arm", "leg")  # presets that do not turn the effector
_SAME: Final = 1e-3  # radians, or sizes of the skeleton, up to which a pose is the one that a chain was solved to


def quietly(chain: Any) -> AbstractContextManager[None]:
    """Change several settings of a chain inside without solving after each."""
    return temporary_value(chain, "quiet", True)


def read_actuations(chain: Any) -> tuple[Actuation, ...]:
    """Return a chain's list for core."""
    return tuple(Actuation(entry.bone, entry.axis, entry.fraction, entry.angle) for entry in chain.entries)


def write_actuations(chain: Any, actuations: Sequence[Actuation]) -> None:
    """Replace a chain's list."""
    with quietly(chain):
        chain.entries.clear()
        for one in actuations:
            add_actuation(chain, one)
        chain.active_entry = 0


def read_numbers(chain: Any) -> dict[str, Any]:
    """Return a chain's settings for core, by name."""
    return {name: getattr(chain, name) for name in NUMBERS} | {"mode": chain.mode.lower()}


def write_numbers(chain: Any, numbers: Mapping[str, Any]) -> None:
    """Set some of a chain's settings."""
    with quietly(chain):
        for name, value in numbers.items():
            setattr(chain, name, value.upper() if name == "mode" else value)


def add_actuation(chain: Any, actuation: Actuation) -> None:
    """Append an actuation to a chain's list."""
    taken = {entry.name for entry in chain.entries}
    name = f"{actuation.bone} {actuation.axis}"
    entry = chain.entries.add()
    entry.name = next(some for number in count() if (some := f"{name} {number}" if number else name) not in taken)
    entry.bone, entry.axis = str(actuation.bone), actuation.axis
    entry.fraction, entry.angle = actuation.fraction, actuation.angle


def preset_actuations(
    armature: Any, skeleton: Skeleton, base: str, effector: str, name: str | None = None
) -> tuple[str, tuple[Actuation, ...]]:
    """Return the name and the list of a preset for a chain, by default the one that fits its bones."""
    roles = bridge.read_roles(armature, skeleton)
    name = preset_for(skeleton, base, effector, roles, with_effector=True) if name is None else name
    return name, preset(name, skeleton, base, effector, roles, with_effector=name not in _LIMB_PRESETS)


def add_chain(armature: Any, base: str, effector: str, actuations: Sequence[Actuation]) -> None:
    """Add a chain with a list and make it the active one; it has the name of its effector, or of both ends."""
    taken = {chain.name for chain in armature.poise_chains}
    chain = armature.poise_chains.add()
    first, last = (bone.rpartition(":")[2] for bone in (base, effector))  # without the prefix of all bones
    chain.name = last if last not in taken else f"{first} to {last}"
    chain.base, chain.effector = base, effector
    write_actuations(chain, actuations)
    armature.poise_active_chain = len(armature.poise_chains) - 1


def explain_driven(rig: bridge.Rig, base: str, effector: str, turning: set[str]) -> str:
    """Return a sentence about a held bone in a chain, which the joints before it do not move, or "".

    Raises CoreError if no turning joint moves the effector.
    """
    _, along = bones_between(rig.skeleton, base, effector)
    names = [rig.skeleton.names[bone] for bone in along]
    cut = next((rig.skeleton.names[bone] for bone in reversed(along) if rig.skeleton.driven[bone]), None)
    if cut is None:
        return ""
    reason, beyond = f'"{cut}" is driven by {rig.driven[cut]}', names[names.index(cut) :]
    if turning.isdisjoint(beyond):
        raise CoreError(f'{reason}: no joint of this chain moves "{effector}".')
    return "" if turning.issubset(beyond) else f'{reason}: joints before it do not move "{effector}"'


def farthest_bone(skeleton: Skeleton, names: list[str], effector: str) -> str:
    """Return the bone that is most joints away from the effector; raises CoreError if it is not connected to it."""

    def way(name: str) -> int:
        return sum(len(bones) for bones in bones_between(skeleton, name, effector))

    return max((name for name in names if name != effector), key=way)


def find_chain(armature: Any, name: str) -> Any:
    """Return the chain of this name; raises CoreError if there is none, or if bones of it are gone."""
    chain = armature.poise_chains.get(name)
    if chain is None:
        known = ", ".join(f'"{one.name}"' for one in armature.poise_chains)
        raise CoreError(
            f'"{armature.name}" has no chain "{name}"; ' + (f"it has {known}." if known else "it has none.")
        )
    _check_bones(armature, chain)
    return chain


def with_saved_chains(armature: Any, job: Job) -> Job:
    """Return the job with the lists of the saved chains that it names; raises CoreError if they do not fit."""
    if job.ccd is None:
        return job
    parts = tuple(_saved(armature, job, part, where) for where, part in job.ccd.parts.items())
    return replace(job, ccd=replace(job.ccd, chains=parts) if job.ccd.chains else parts[0])


def _saved(armature: Any, job: Job, part: Ccd, where: str) -> Ccd:
    """Return a chain of the job with its list."""
    if part.chain is None:
        return part
    chain = find_chain(armature, part.chain)
    bone = job.goals[job.led_by(chain.effector if part is not job.ccd else None)].bone
    if bone != chain.effector:
        raise CoreError(f'{where}.chain: "{chain.name}" ends at "{chain.effector}", not at "{bone}".')
    return Ccd(bone=bone, actuations=read_actuations(chain), base=chain.base, **read_numbers(chain))


def bake_job(armature: Any, chain: Any, target: str, frames: tuple[int, int], new: bool, pins: bool) -> Job:
    """Return the job in which a chain follows an object, by the point that was dragged last; with the active `pins`."""
    led = JobGoal(chain.effector, point=tuple(chain.point), position=Followed(target))
    held = [read_active_pin(armature, pin).job_goal(None) for pin in active_pins(armature) if pins]
    return Job(
        (led, *(goal for goal in held if goal.bone != chain.effector)),
        frames=frames,
        write=Write(new=new, key=True),
        limits=bool(LIMITS[armature.poise_limits]),
        anatomical_limits=armature.poise_use_anatomy_limits,
        ccd=Ccd(chains=(Ccd(chain=chain.name),)),
    )


def _check_bones(armature: Any, chain: Any) -> None:
    """Raise CoreError for bones that are missing."""
    for bone in named_bones(chain):
        if bone not in armature.data.bones:
            raise CoreError(f'The chain "{chain.name}" uses the bone "{bone}", which "{armature.name}" no longer has.')


def named_bones(chain: Any) -> list[str]:
    """Return the names of a chain's ends and of the bones of its list."""
    return [chain.base, chain.effector, *(entry.bone for entry in chain.entries)]


def chain_method(armature: Any, chain: Any, skeleton: Skeleton, pose: Pose) -> tuple[Skeleton, ContributionCCD]:
    """Return the skeleton with the limits of its anatomy, and the method, to solve from a pose (...).

    The method is not successive: a drag makes the steps itself. Raises CoreError for bones that are missing.
    """
    _check_bones(armature, chain)
    numbers = read_numbers(chain)
    numbers["successive"] = False
    roles, ranges = bridge.read_roles(armature, skeleton), bool(armature.poise_use_anatomy_limits)
    skeleton, bends = with_hinges(skeleton, roles, pose, ranges=ranges)
    limits = bool(LIMITS[armature.poise_limits])
    numbers |= {"base": chain.base, "limits": limits, "bends": bends, "restarts": 0}  # a drag must not jump
    return skeleton, ContributionCCD(read_actuations(chain), **numbers)


def chain_bones(skeleton: Skeleton, chain: Any) -> list[int]:
    """Return the bones that a chain may change: those of its list, and the root if its base is fixed."""
    path = find_path(skeleton, read_actuations(chain), chain.base, chain.effector)
    turning = [bone for bone, axes in zip(path.bones, path.axes, strict=True) if axes]
    return turning if path.held < 0 else [*turning, skeleton.ancestors(path.held)[-1]]


def bones_from_base(skeleton: Skeleton, chain: Any) -> list[str]:
    """Return the names of a chain's bones from its base to its effector."""
    against, along = bones_between(skeleton, chain.base, chain.effector)
    return [skeleton.names[bone] for bone in (*against, *along)]


# -- the result of the last drag --------------------------------------------------------------------------------------


def store_solve(chain: Any, skeleton: Skeleton, bones: Iterable[int], start: Pose, pose: Pose, goal: Goal) -> None:
    """Store with a chain the solved rotations of these bones, the start pose and the target."""
    chain.turns.clear()  # under a library override the linked entries stay
    linked = (skeleton.index(turn.name) for turn in chain.turns if turn.name in skeleton.names)
    bones = list(dict.fromkeys([*bones, *linked]))
    angles = rotation.angle_between(start.rotations[bones], pose.rotations[bones])
    total = max(float(angles.sum()), np.finfo(float).tiny)
    heads, reached = _heads_and_point(skeleton, pose, goal)
    for bone, angle in zip(bones, angles.tolist(), strict=True):
        turn = chain.turns.get(skeleton.names[bone]) or chain.turns.add()
        turn.name, turn.turned, turn.share = skeleton.names[bone], angle, angle / total
        turn.start_rotation, turn.rotation = start.rotations[bone], pose.rotations[bone]
        turn.start_location, turn.head = start.translations[bone], heads[bone]
    chain.point, chain.target, chain.reached = goal.point, goal.position, reached
    chain.problem = ""


def restore_start(chain: Any, skeleton: Skeleton, pose: Pose, goal: Goal) -> Pose:
    """Return the pose before the chain's first solve; raises CoreError if `pose` is not the result of its last one.

    The positions of its bones are compared, too: the target does not follow the chain's ancestors.
    """
    if not all(turn.name in skeleton.names for turn in chain.turns):
        raise CoreError(f'Bones of the chain "{chain.name}" no longer exist. Drag "{chain.effector}" again.')
    bones = [skeleton.index(turn.name) for turn in chain.turns]

    def values(name: str) -> np.ndarray:
        return np.array([getattr(turn, name) for turn in chain.turns])

    turned = rotation.angle_between(rotation.normalize(values("rotation")), pose.rotations[bones])
    heads, reached = _heads_and_point(skeleton, pose, goal)
    moved = np.vstack([values("head") - heads[bones], np.array(chain.reached) - reached]) / skeleton.size
    if max(turned.max(), np.abs(moved).max()) > _SAME:
        raise CoreError(f'The pose has changed since "{chain.effector}" was dragged. Drag it again to tune the list.')
    rotations, translations = pose.rotations.copy(), pose.translations.copy()
    rotations[bones] = rotation.normalize(values("start_rotation"))
    translations[bones] = values("start_location")
    return replace(pose, rotations=rotations, translations=translations)


def _heads_and_point(skeleton: Skeleton, pose: Pose, goal: Goal) -> tuple[np.ndarray, np.ndarray]:
    """Return all heads (J, 3) and the goal's point (3,), in armature space."""
    heads, turns = forward(skeleton, pose)
    return heads, effector_place(skeleton, goal, heads[None], turns[None])[0]


def solve_again(armature: Any, chain: Any, rig: bridge.Rig, pose: Pose) -> tuple[Solution, list[int]]:
    """Solve a chain's present list from the pose before its first solve; return this and the bones it may change.

    Raises CoreError if the chain's bones are missing, or if the pose has changed since the last solve.
    """
    goal = Goal(chain.effector, np.array(chain.target), point=np.array(chain.point))
    start = restore_start(chain, rig.skeleton, pose, goal)
    skeleton, method = chain_method(armature, chain, rig.skeleton, start)
    solution = method.solve(skeleton, start, [goal])
    before = [rig.skeleton.index(turn.name) for turn in chain.turns]
    bones = list(dict.fromkeys([*chain_bones(skeleton, chain), *before]))
    store_solve(chain, skeleton, bones, start, solution.pose, goal)
    return solution, bones


def tune(context: Any, armature: Any, chain: Any) -> str:
    """Solve a chain again if the pose is as its last solve left it, and key it; return what is in the way, or "".

    The panel also shows why the target is missed, as numbers may change nothing then.
    """
    chain.problem = ""
    if not len(chain.turns):
        return ""
    try:
        bridge.check(armature)
        autokey.check(context, armature)
        rig = bridge.find_held(context, armature).lock(bridge.read_rig(armature))
        before = bridge.read_pose(armature, rig)
        solution, bones = solve_again(armature, chain, rig, before)
    except CoreError as error:
        chain.problem = str(error)
        return chain.problem
    channels = bridge.read_channels(armature)
    bridge.write_pose(armature, rig, solution.pose, bones)
    changed, names = bridge.changed_bones(before, solution.pose, rig.skeleton.size), rig.skeleton.names
    autokey.key(context, armature, *(tuple(names[bone] for bone in bones) for bones in changed), before=channels)
    scale = float(bridge.length_scale(bridge.world_matrix(armature)))
    said = solution.explain(say_length=lambda length: bridge.say_length(context.scene, scale * length))
    finish = solution.explain_finish()
    chain.problem = ". ".join(sentence for sentence in said if sentence not in finish)
    return ""
