"""`generate`: a motion from two key poses, by a recipe."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any, Final

import bpy
import numpy as np

from .. import bridge
from ..bridge.motion import iterate_frames, preserve_channels
from ..core import CoreError, Motion, PinAndDrag, Pose, Skeleton, rotation
from ..core.body.anatomy import anatomy, carrier_of
from ..core.body.axes import axis_vector
from ..core.body.ground import ground_at_rest
from ..core.body.posture import body_axes, leg_length
from ..core.editing.contacts import Ground, find_contacts, foot_points, level_under, point_positions
from ..core.editing.floor import Floor, lowest_sole
from ..core.editing.path import move_roots
from ..core.editing.timed_pins import WHOLE_BODY, TimedPin, hold_pin
from ..core.formats.recipe import Angles, Moment, Named, RecipeFile, Support, bones_named, bones_of, path_of, track_of
from ..core.generate import Recipe, Track, key_pose
from ..core.generate.recipe import ALL, moved_roots
from ..core.motion import forward_of, shifted
from ..core.rotation import Array
from ..core.skeleton import Flags, frozen
from .held_motion import HeldMotion
from .level import level_under_feet
from .motion_edit import Progress

TURNED: Final = 1e-6  # radians between the key poses up to which a bone does not move
PUSH, GIVE = 0.2, 0.25  # seconds in which legs push off before a flight, and give after it
EASE: Final = 0.1  # seconds in which the contact of a support begins and ends


class Generated(HeldMotion):
    """The motion of a recipe from the frame `start` on, between the key poses `low` and `high`."""

    method = "recipe"
    makes_motion = True

    def __init__(self, context: Any, armature: Any, recipe: RecipeFile, start: int) -> None:
        render = context.scene.render
        fps = render.fps / render.fps_base
        recipe = recipe.at_frames(fps)
        last = start + round(recipe.seconds * fps)
        super().__init__(context, armature, (start, last))
        names = self.skeleton.names
        named = (bones_named(self.roles, names, of) if isinstance(of, Named) else of for of, _ in recipe.tracks)
        tracks = tuple((parts, samples) for parts, (_, samples) in zip(named, recipe.tracks, strict=True))
        self.recipe = recipe = replace(recipe, tracks=tracks)
        up = bridge.world_up(self.worlds[0])
        self._up = up / np.linalg.norm(up)
        self._located: list[Array] = []
        self.low, self.high = (self._pose(context, armature, given) for given in (recipe.low, recipe.high))
        self._root, self._feet = carrier_of(self.skeleton, self.roles), foot_points(self.skeleton, self.roles)
        made, self.always_keyed = self._made(recipe)
        self._check_driven()
        self.after = made.motion(self.skeleton, self.low, self.high, self.before.frames, self.before.fps)
        self.floor = self._floor(made)
        self.level = None if self.surface is not None else level_under_feet(self.skeleton, self.roles, self.floor)
        self.pins = [self._pin(support) for support in recipe.supports]
        if self.pins and recipe.flights:  # of which the root has the speed: legs yield in its place
            heads = forward_of(self.skeleton, self.after.pose, [self._root or 0])[0][:, 0]
            self.pins.append(TimedPin(self._root or 0, start, last, heads))

    def _floor(self, made: Recipe) -> Floor | None:
        """Return the level floor on which the key poses and the path have the feet of a human body."""
        if not self.roles.humanoid or not self._feet:
            return None
        poses = self.low, self.high
        lowest = min(float(lowest_sole(self.skeleton, pose, self._feet, self._up)) for pose in poses)
        sunk = 0.0 if made.path is None else float((made.path.shifts @ self._up).min())
        return Floor(self._up, lowest + min(sunk, 0.0), levels=False)

    def compute(self, progress: Progress) -> None:
        """Make the motion on its level floor, and then plant what touches that on the meshes of the ground."""
        super().compute(progress)
        if self.surface is None or self.floor is None:
            return
        level = Ground(self._up, float(self.floor.height))
        contacts = find_contacts(self.skeleton, self.after, self._feet, level, drifts=False)
        feet = {point.bone for point in self._feet}
        others = [pin for pin in self.pins if pin.bone != self._root and self.skeleton.index(pin.bone) not in feet]
        onto = replace(level, surface=self.surface)
        self.pins = [*self.plant(self.after, contacts), *(_raised(pin, level, onto) for pin in others)]
        super().compute(progress)

    def settings(self, motion: Motion) -> tuple[Skeleton, PinAndDrag]:
        if self.floor is not None and self.floor.surface is not None:
            return super().settings(motion)
        return self.skeleton, replace(WHOLE_BODY, root_bone=self._root)

    def pose_of_frame(self, frame: int) -> Pose:
        """Return the pose of one frame, or of the nearest one, without solving the others."""
        place = int(np.abs(self.after.frames - frame).argmin())
        here = np.array([place])
        alone = self.hold(self.after[here], [pin.within(here) for pin in self.pins])
        if self.surface is not None and self.floor is not None and self._root is not None:
            feet = point_positions(self.skeleton, alone.pose, self._feet)[0]
            rise = level_under(self.surface, feet, self.floor.height).mean() - self.floor.height
            return shifted(self.skeleton, alone.pose, self._root, rise * self._up)[0]
        return alone.pose[0]

    def _made(self, recipe: RecipeFile) -> tuple[Recipe, Flags]:
        """Return the recipe for this skeleton, and the bones (J,) that it moves."""
        skeleton = self.skeleton
        tracks: list[Track] = []
        decided, axes = np.zeros(len(skeleton), bool), anatomy(skeleton, self.roles).axes
        for parts, samples in recipe.tracks:
            if isinstance(parts, str):
                tracks.append(replace(track_of(samples, ALL, recipe.stay), frame=axes))
                decided[:] = True
                continue
            bones = [bone for part in parts for bone in self._bones(part)]
            frame = None if all(part in skeleton.names for part in parts) else axes  # named bones have their own
            tracks.append(replace(track_of(samples, tuple(bones), recipe.stay), frame=frame))
            decided[bones] = True
        path = None
        if recipe.path is not None:
            axes = rotation.rotate(self._upright(), body_axes(self.roles))
            path = path_of(recipe.path, leg_length(skeleton, self.roles) * axes, recipe.stay)
            decided[moved_roots(skeleton, self._root)] = True
        x, y, z = self._up.tolist()
        push, give = (PUSH, GIVE) if recipe.supports else (0.0, 0.0)  # without one the feet would sink
        return Recipe(tracks, path, recipe.flights, (x, y, z), root=self._root, push=push, give=give), decided

    def _bones(self, part: str) -> list[int]:
        """Return the bone of that name, or those of that part of the body."""
        names = self.skeleton.names
        return [names.index(part)] if part in names else bones_of(self.roles, part)

    def _check_driven(self) -> None:
        """Raise CoreError if a driven bone differs between the key poses."""
        if self.controlled is not None:
            return
        moves = rotation.angle_between(self.low.rotations, self.high.rotations) > TURNED
        for name, reason in self.rig.driven.items():
            bone = self.skeleton.index(name)
            if self.always_keyed[bone] and moves[bone]:
                raise CoreError(f'"{name}" is driven by {reason}; no motion can be generated for it.')

    def _pose(self, context: Any, armature: Any, given: Angles | Moment) -> Pose:
        if isinstance(given, Angles):
            return self._standing(key_pose(self.skeleton, self.roles, given.degrees))
        with posed_at(context, armature, given):
            own = bridge.read_pose(armature, self.rig)
            self._located.append(own.translations)
            if self.controlled is None:
                return own
            return bridge.read_controlled(self.controlled.now, bridge.read_matrices(armature))

    @property
    def located(self) -> Array:
        return np.stack(self._located) if self._located else super().located

    def _upright(self) -> Array:
        """Return the rotation (4,) from the body's own upward axis to the world's."""
        return rotation.shortest(axis_vector(self.roles.up), self._up)

    def _standing(self, pose: Pose) -> Pose:
        """Return the pose of a body that may lie at rest, turned so that it stands, with its soles where they were."""
        skeleton, own = self.skeleton, axis_vector(self.roles.up)
        hips = skeleton.rest_matrices[self.roles.require("hips")[0], :, 3]
        soles = hips + (ground_at_rest(skeleton, self.roles) - hips @ own) * own
        alone = Motion(pose[None], self.before.frames[:1], self.before.fps)
        return move_roots(skeleton, alone, soles, self._upright(), soles)[0]

    def _pin(self, support: Support) -> TimedPin:
        """Return the pin of a support: where the motion has it, but its soles not below the floor."""
        (bone, *_) = self._bones(support.role)
        start, fps = self.before.frames[0], self.before.fps
        first, last, at = (start + round(fps * seconds) for seconds in (support.start, support.end, support.at))
        pin = hold_pin(self.skeleton, self.after, bone, first, last, at, EASE * fps, rotates=True)
        soles = [point for point in self._feet if bone in self.skeleton.ancestors(point.bone)]
        if self.floor is None or not soles or pin.position is None:
            return pin
        low = lowest_sole(self.skeleton, self.after.pose[round(at - start)], soles, self._up)
        return replace(pin, position=pin.position + max(float(self.floor.height - low), 0.0) * self._up)


def _raised(pin: TimedPin, level: Ground, onto: Ground) -> TimedPin:
    """Return a pin of a place as high above another ground."""
    if pin.position is None:
        return pin
    return replace(pin, position=frozen(pin.position + (onto.under(pin.position) - level.height)[..., None] * level.up))


@contextmanager
def posed_at(context: Any, armature: Any, moment: Moment) -> Iterator[None]:
    """Give an armature the pose of a moment inside. Raises CoreError if there is no such action."""
    if moment.action is None and moment.frame is None:
        yield
    elif moment.action is None:
        with preserve_channels(context, armature), closing(iterate_frames(context, np.array([moment.frame]))) as places:
            next(places)
            yield
    else:
        action = bpy.data.actions.get(moment.action)
        if action is None:
            raise CoreError(f'There is no action "{moment.action}" to take a pose from.')
        frame = action.frame_range[0] if moment.frame is None else moment.frame
        with bridge.posed_by(context, armature, action, frame):
            yield
