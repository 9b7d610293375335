"""`contribute`: jobs by contribution CCD with a list of their own, and lists learned from an armature's motion."""

from dataclasses import replace
from typing import Any

import numpy as np

from .. import bridge
from ..core import Actuation, ContributionCCD, CoreError, Skeleton
from ..core.contribution import Learned, learn, preset, with_hinges
from ..core.formats.chain_list import Ccd
from ..core.formats.job import Job, on_bones
from ..core.formats.table import FRAMES


def with_list(armature: Any, job: Job, chain: str | None, listed: Ccd | str) -> Job:
    """Return the job with a list, or the preset of that name, for the chain "BASE:EFFECTOR".

    Raises CoreError if the armature has no such chain, or if the job is about another bone.
    """
    skeleton = bridge.read_rig(armature).skeleton
    roles = bridge.read_roles(armature, skeleton, bridge.mapping_to_corrections(armature, job.roles), job.facing)
    job = on_bones(job, roles, skeleton.names)
    base, effector = find_ends(skeleton, chain)
    led = [goal for goal in job.goals if goal.bone == effector]
    if not led:
        raise CoreError(f'--chain ends at "{effector}", but the goal of the job is for "{job.goals[0].bone}".')
    if isinstance(listed, str):
        with_effector = any(goal.point != "head" for goal in led)
        listed = Ccd(actuations=preset(listed, skeleton, base, effector, roles, with_effector))
    return replace(job, ccd=replace((job.ccd or Ccd()).over(listed), base=base, bone=effector))


def learn_chain(armature: Any, chain: str | None, frames: tuple[int, int]) -> Learned:
    """Return the list that fits the motion of a chain "BASE:EFFECTOR" in these frames best."""
    bridge.check(armature)
    rig = bridge.read_rig(armature)
    base, effector = find_ends(rig.skeleton, chain)
    motion, _ = bridge.read_motion(armature, rig, np.arange(frames[0], frames[1] + 1))
    skeleton, bends = with_hinges(rig.skeleton, bridge.read_roles(armature, rig.skeleton), motion.pose, ranges=True)
    method = ContributionCCD((Actuation(effector, "X"),), bends=bends)  # with another list in place of this one
    return learn(skeleton, motion.pose, effector, base, method=method, progress=bridge.check_stopped)


def keyed_part(armature: Any, frames: list[int] | None) -> tuple[int, int]:
    """Return the frames that have keys, of all or of these; all of these if more than one action moves the armature."""
    if frames is None:
        return bridge.keyed_range(armature)
    first, last = FRAMES.read(frames, "--frames")
    data = armature.animation_data
    if data is None or data.action is None or len(data.nla_tracks):
        return first, last
    begin, end = bridge.keyed_range(armature)
    if first > end or last < begin:
        raise CoreError(f'--frames: the action of "{armature.name}" has frames {begin} to {end}.')
    return max(first, begin), min(last, end)


def find_ends(skeleton: Skeleton, chain: str | None) -> tuple[str, str]:
    """Return base and effector of "BASE:EFFECTOR", where names of bones may have colons, too."""
    if chain is None:
        raise CoreError("--chain is missing. Name the first and the last bone of the chain as BASE:EFFECTOR.")
    parts = chain.split(":")
    splits = [(":".join(parts[:i]), ":".join(parts[i:])) for i in range(1, len(parts))]
    found = [ends for ends in splits if ends[0] in skeleton.names and ends[1] in skeleton.names]
    if len(found) == 1:
        return found[0]
    if not splits:
        raise CoreError(f'--chain needs BASE:EFFECTOR, not "{chain}".')
    for end in splits[0] if not found and len(splits) == 1 else ():
        skeleton.index(end)
    raise CoreError(f'--chain: "{chain}" matches {"several chains" if found else "no chain"} of the armature.')
