"""What a drag says about what is missed, held or not shown."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import bpy

from ... import bridge
from ...core import Goal, rotation
from ...core.body.anatomy import carrier_of
from ...core.causes import Cause, Explanation, Kind
from ...core.editing.footsteps import feet_but
from ...core.pose import frame_rotations
from .session import DragSession

_DRAGGED: Final = {
    Kind.PINNED: Kind.DRAGGED,
    Kind.STRETCHED_FROM_PINNED: Kind.STRETCHED_FROM_DRAGGED,
    Kind.TOO_FAR_FROM_PINNED: Kind.TOO_FAR_FROM_DRAGGED,
}


def explain(session: DragSession) -> list[str]:
    """Return sentences: driven bones above missed effectors, what stays for want of keys, the solver's reasons.

    None about the finisher of a chain, which always runs if there are no sweeps.
    """
    body, solution, problem = session.body, session.solution, session.problem
    if solution is None:
        return []
    if session.strayed:
        return [f'The rig moves "{session.effectors[0].name}" away from its target, so nothing is changed']
    names = {body.skeleton.names[part]: name for part, name in told_names(session).items()}
    placed = [session.pins.part(pin.bone) for pin in session.pins.holding(session.turning) if pin.position is not None]
    targets = Counter(body.skeleton.names[bone] for bone in [*(one.bone for one in session.effectors), *placed])
    wins = session.wins == "DRAG"  # what is pinned gives way to what is dragged
    dragged = {body.skeleton.names[one.bone] for one in session.effectors if wins}

    stays = [*_staying(session, _missed(session)), *_driven(session, _missed(session))]
    retold = body.held.retold(body.find(), targets)
    rig = body.rig.skeleton
    unlocked = {name for name, locks in zip(rig.names, rig.rotation_locks, strict=True) if not locks.any()}

    def as_seen(cause: Cause) -> Cause:
        cause = retold(cause)
        # nobody can remove a target that the drag has set to keep a control where it is
        held = Kind.BENT if cause.bone in problem.bent else Kind.HELD
        kinds = {} if targets[cause.bone] > 1 else {Kind.ANOTHER_TARGET: held, Kind.HELD: held}
        kinds |= {Kind.FIXED: Kind.UNCHANGED} if stays else {}
        kinds |= {Kind.LOCK: Kind.FIRM} if cause.bone in unlocked else {}  # IK alone locks it, as a hinge
        return cause.seen(names, kinds | (_DRAGGED if cause.bone in dragged else {}))

    tacit, finish = range(problem.asked, len(solution.goals)), solution.explain_finish()
    explained = solution.explain(say_length=partial(_say_length, session), tacit=tacit, names=names, seen=as_seen)
    turns = zip(reversed(problem.yielding), reversed(solution.met()), strict=False)
    yielded = [body.held.explain_yielded(turn) for turn, met in turns if not met]
    said = [*session.fk.said.values(), *_hindered(session, session.pins.asked, _short(session), explained, yielded)]
    said += [*(sentence for sentence in explained if sentence not in finish), *problem.refusals]
    causes = [cause for one in said if isinstance(one, Explanation) for cause in one.causes]
    told = {cause.bone for cause in causes if cause.kind is Kind.AT_LIMIT}
    return [*said, *session.writer.at_limit(told), *session.writer.misfit, *_moved_feet(session)]


def told_names(session: DragSession) -> dict[int, str]:
    """Return the names by which sentences tell bones of the body that are dragged or pinned, by their numbers."""
    pinned = {session.pins.part(target.bone): target.bone for target in session.pins.targets}
    return {one.bone: one.name for one in session.effectors} | pinned


def explain_held(session: DragSession) -> list[str]:
    """Return sentences: what is posed in place of the grabbed, and what missed effectors hang on or what stays."""
    return _hindered(session, _missed(session), [] if session.restless else _short(session))


def _hindered(
    session: DragSession,
    bones: Sequence[int],
    short: list[str],
    explained: Sequence[str] = (),
    more: Sequence[str] = (),
) -> list[str]:
    """Return sentences: what is posed in place of the grabbed, what is locked, driven or stays, `more`, what is short.

    Not what moves bones where `explained` tells that; a bone that is locked is where that has it, and not short.
    """
    body, missed = session.body, _missed(session)
    locked = body.locked if missed or short else []
    driven = [cause.sentence for cause in _driven(session, missed) if not any(cause in s for s in explained)]
    return [*body.notes, *locked, *driven, *_staying(session, bones), *more, *([] if body.locked else short)]


def _missed(session: DragSession) -> list[int]:
    """Return the bones of the effectors that are not where they are wanted."""
    met = [] if session.solution is None else session.solution.met()[: len(session.effectors)]
    return [effector.bone for effector, there in zip(session.effectors, met, strict=False) if not there]


def _short(session: DragSession) -> list[str]:
    """Return sentences about dragged and pinned bones that Blender does not show at their targets, by how much.

    What the solver itself misses it explains. A reason is said where one is known: what stays, or drives the bone.
    """
    said = list[str]()
    body, solution = session.body, session.solution
    if solution is None:
        return said
    context: Any = bpy.context
    context.view_layer.update()
    armature = body.find()
    matrices = bridge.read_matrices(armature)
    asked = [(one.name, one.shown, one.grabbed, place + one.beside + body.beyond(one.shown, one.bone, matrices), None)
             for one, (place, _) in zip(session.effectors, session.targets, strict=True)]  # fmt: skip
    asked += [(pin.bone, pin.bone, pin.point, *pin.in_armature_space(body.world))
              for pin in session.pins.holding(session.turning)]  # fmt: skip
    off = frozenset[int]() if body.controlled is None else body.controlled.idle
    for (name, shown, point, place, turn), goal, met in zip(asked, solution.goals, solution.met(), strict=False):
        if body.rig.skeleton.index(name) in off:  # it does not show where its part is
            continue
        matrix, turned = matrices[body.rig.skeleton.index(shown)], 0.0
        far = 0.0 if place is None else float(rotation.lengths(matrix[:, :3] @ point + matrix[:, 3] - place))
        if turn is not None and isinstance(goal, Goal) and goal.rotation is not None:
            turned = float(rotation.angle_between(frame_rotations(matrix[None, :3, :3])[0], turn))
        away = bridge.say_beside(body.skeleton.size, far, turned, partial(_say_length, session))
        if met and away:
            part = session.pins.part(name)
            stays = [Cause(Kind.UNCHANGED)] if body.held.explain([part]) else []
            causes = stays or _limiting(session, armature, part) or _driven(session, [part])
            said.append(Explanation(f'"{name}" is {away} short of its target', causes))
    return said


def _moved_feet(session: DragSession) -> list[str]:
    """Return a sentence about feet on IK that nobody asked for and that are not where they were."""
    body, (heads, turns), far = session.body, session.frames(), dict[int, float]()
    skeleton, feet = body.skeleton, feet_but(body.skeleton, body.roles, body.held.feet, session.pins.asked)
    stood, *_ = body.held.plant(body.roles, body.start, feet, (), 0)
    for goal in stood:
        foot = skeleton.index(goal.bone)
        far[foot] = float(rotation.lengths(heads[foot] + rotation.rotate(turns[foot], goal.point) - goal.position))
    moved = [bone for bone in far if bridge.say_beside(skeleton.size, far[bone], 0.0, str)]
    if not moved:
        return []
    feet = bridge.listed([f'"{skeleton.names[bone]}" ({_say_length(session, far[bone])})' for bone in moved])
    return [f"Feet that are not pinned moved: {feet}"]


def _limiting(session: DragSession, armature: Any, part: int) -> list[Cause]:
    """Return the limits of the control that moves a part of the body, if they keep it from where it is solved."""
    control = session.writer.stopped.get(part)
    if control is None:
        return []
    limits = bridge.place_limits(armature.pose.bones[control])
    return [Cause(Kind.AT_LIMIT, control, bridge.listed([f'"{limit}"' for limit in limits]))]


def _driven(session: DragSession, bones: Sequence[int]) -> list[Cause]:
    """Return what moves bones of the effectors, or bones above them, in place of the drag."""
    body = session.body
    if not bones or body.locked or body.moves is not None:  # then a body of controls stays, whatever drives those above
        return []
    armature, skeleton, reasons = body.find(), body.skeleton, body.rig.driven
    pinned = [session.pins.part(pin.bone) for pin in session.pins.holding(session.turning)]
    barred = body.held.barred(armature, body.roles_of_rig, bones, pinned)
    if body.controlled is not None:
        return [*body.held.follows(armature, bones).values(), *barred]
    causes = barred or [body.rig.driven_above(bone) for bone in bones]
    if not barred and carrier_of(skeleton, body.roles) is None:  # then the whole body stays in its place
        above = (skeleton.names[one] for hips in body.roles.chain("hips") for one in skeleton.ancestors(hips))
        causes += [Cause(Kind.DRIVEN, name, reasons[name]) for name in above if name in reasons]
    return [*dict.fromkeys(cause for cause in causes if cause)]


def _staying(session: DragSession, bones: Sequence[int]) -> list[str]:
    return session.body.held.explain_above(bones, session.body.roles)


def _say_length(session: DragSession, length: float) -> str:
    return bridge.say_length(bpy.context.scene, float(bridge.length_scale(session.body.world)) * length)
