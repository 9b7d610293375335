"""The numbers of the pins solver, in one place for its batch and its single-frame form."""

from typing import Final

import numpy as np

# Lengths are in units of the skeleton's size, so that these numbers mean metres on a 1.7 m human.
JOINT_DEVIATION: Final = np.radians(30.0)
ROOT_TURN_DEVIATION: Final = np.radians(90.0)
ROOT_SHIFT_DEVIATION: Final = 0.5
HINGE_STIFF: Final = 0.1  # share of the deviation that a hinge has across its axis
PULLED_ROOT: Final = 0.03  # share of these deviations for a root that is carried by pull only
STRETCH_DEVIATION: Final = 0.03  # of the logarithm of a bone's length that stretches fully
LIMIT_SOFTNESS: Final = np.radians(5.0)  # standard deviation of soft limits
ROTATION_LENGTH: Final = 0.3  # a radian weighs as much as this length
DAMPING: Final = 1e-8  # D
LEVEL_DAMPING: Final = 1e-4  # damping of the first of two levels, as a share of the second's
CUT: Final = 1e-9
NEAREST: Final = 1e-2  # an eye that is nearer to what it looks at sees as from here
ERROR_CLAMP: Final = 0.5  # largest distance or angle in a level; the level's other errors are cut by the same factor
DRAG_GAIN: Final = 0.05  # share of the way to the reference in a step of a drag: more costs a second step in every tick
FAR: Final = 2.0  # all targets further away than this: the root is first brought along
STEP_CLAMP: Final = 0.6  # Euclidean norm of a whole step
SETTLED: Final = np.radians(0.01)  # largest change of a joint in a step that counts as rest in a drag
STRIDE: Final = np.radians(2.0)  # frames in time do not end with a step that turns a joint by more
NEARLY_SETTLED: Final = np.radians(0.5)  # and where Newton steps follow
POSITION_TOLERANCE: Final = 1e-4  # of the size, unless the method says otherwise
UNIT: Final = 2e-3  # by which the square of a unit quaternion's length may be off
ROTATION_TOLERANCE: Final = np.radians(0.05)
FINAL_STEPS: Final = 20  # at most, in each of the phases that serve the goals only
LAST_STEPS: Final = 40  # and where no Newton steps follow
CALM: Final = 2  # steps in a row without movement after which a frame is done, and with damped steps
CALM_DAMPED: Final = 6
LM_START: Final = 1e3
LM_GROWTH: Final = 8.0
LM_LIMIT: Final = 1e9
NEWTON_DAMPING: Final = 3e-7  # D where goals are out of reach
SHARPEST: Final = 1e2  # times as much goals weigh at most that are nearly met
STIFFLY: Final = 1.5  # tolerances: what is still further off then is held back by stiff joints, or out of reach
BUCKLED: Final = np.radians(20.0)  # between the two ways of a joint that are worth a rest each
NEWTON_LEVEL: Final = 1e-8  # damping of the first of two levels there, as a share of the second's
LEVEL_RANGE: Final = 1e-8  # at most so far apart are the dampings of more levels: the rest drowns in rounding
LEVEL_APART: Final = 1e-6  # and those of levels out of reach: their aims go further, see `Levels`
NEWTON_LOST: Final = 1e-10  # standard deviations: where no longer step leads down none does
LEVEL_ROUNDS: Final = 4  # at most, through all levels
LEVEL_TURNS: Final = 3  # of the method of multipliers, for a level
LEVEL_HELD: Final = 2e-5  # distance or angle by which an upper level may be moved without a further one
LEVEL_FURTHER: Final = 20.0  # times as far as before that the aim of a level out of reach goes at most
LEVEL_GIVES: Final = 5e-5  # and by which without a further one in a tick
LEVEL_AIM: Final = 5e-3  # how far beyond its target the aim of a level goes in a drag
LEVEL_MET: Final = 1e-4  # errors up to which a level is firm for those below it
SURFACE_STEPS: Final = 6  # at most, back to the poses that serve all levels as well
ON_SURFACE: Final = (
    1e-12  # standard deviations off them that are none: what is free beside firm rows is clear only there
)
OFF_SURFACE: Final = 1e-6  # and where a step along them was too long
NEWTON_UPPER: Final = 0.03  # share of D while a level rests that has others below it: nothing else may count
NEWTON_RADIUS: Final = 1.0  # standard deviations that a first step may have, and any step
NEWTON_WIDEST: Final = 4.0
NEWTON_TRUST: Final = 0.25  # share of the expected gain that must come for the radius to stay
NEWTON_NOISE: Final = 1e-13  # share of F that is rounding
NEWTON_TOLD: Final = 0.9  # share of the expected gain below which a step is first taken back to the valley's floor
NEWTON_MENDS: Final = 3  # at most so often
NEWTON_FLAT: Final = 1e-14  # share of the greatest curvature that is rounding
NEWTON_STEEP: Final = 30.0  # curvature, in that of the prior, from which a direction is a wall and no valley floor
TINY_TURN: Final = 1e-5  # radians: a derivative by differences
HALVINGS: Final = 40
NEWTON_STEPS: Final = 150
NEWTON_TORN: Final = 0.1  # of its length a step keeps that crosses a bound which let go
NEWTON_TICK: Final = 6  # steps in a tick of a drag that is out of reach
NEWTON_TICK_RADIUS: Final = 0.2
NEWTON_TICK_RESTS: Final = np.radians(0.02)  # the next tick goes on from there
STAYS: Final = np.radians(0.005)  # a body out of reach that a rest turns by less is there already
NEWTON_CHUNK: Final = 64
NEARLY: Final = 2e-2  # errors up to which goals are tried to be met exactly
NEARLY_PULLED: Final = 0.1  # and where the root is stiff
NEWTON_RESTS: Final = np.radians(0.001)
ACTIVE_SET_ROUNDS: Final = 4
NEWTON_ROUNDS: Final = 10  # of the active set in a model: the last ones only add to it
RESTARTS: Final = 12
ASTRAY: Final = np.radians(90.0)  # from the reference
RESTART_BATCH: Final = 8  # frames times starts that are tried together
RESTART_STEPS: Final = 70
WORTH_RESTART: Final = 0.98  # share of the merit that makes another answer better, where both miss a goal
HEAVIEST: Final = 1e13  # of firm rows where some of them are one
REFITS: Final = 24  # new rigid links where scaled bones make the tree not quite rigid
REFITS_OF_DRAG: Final = 3  # and in a tick: the next one goes on
REFITTED: Final = 1e-6  # errors that new links change by less are as they are
# Steps of a chunk before its unfinished frames are put together with those of the other chunks.
SWEEPS: Final = (3, 6, None)
CHUNK: Final = 1024  # frames solved together
# of a coherent batch every 6th frame is solved first, and each finer one starts from its neighbours
STRIDES: Final = (6, 2, 1)
FIRST_WAVE: Final = 8  # steps that these frames have at most, and those between them
WAVE: Final = 3
STRAGGLERS: Final = 8  # part of a wave that is left to the next one
# phases: near the reference; only the goals; only the first level, if others are out of reach
NATURAL, EXACT, TOP_LEVEL = range(3)
LIMIT_SLACK: Final = 1e-9  # radians beyond a bound that are no crossing
LIMIT_DRIFT: Final = 1e-4  # radians that an active bound may be off between steps; the end brings it in
SAME_BOUND: Final = 1e-14  # share of the forces on two bounds that are one, lost so that they can be told apart
STENCIL: Final = (
    1e-3 * np.array([2.0, 1.0, -1.0, -2.0]),
    1e3 / 12.0 * np.array([-1.0, 8.0, -8.0, 1.0]),
)  # of a derivative
LIMIT_NEAR: Final = 1e-3  # radians within which an active bound stays active
RELEASE: Final = 1e-6  # a bound that pulls instead of pushing by more than this is let go
NEAR_HALF_TURN: Final = -0.99  # cosine of a rotation whose vector needs the longer formula
MERIT: Final = 1e-5  # squared length that counts as one squared standard deviation in the merit: see LEVEL_WEIGHT
LEVEL_WEIGHT: Final = 1e2  # of a level against the next, in the merit that steps are judged by
NO_PULL: Final = 0.03  # share of its leverage below which the pull of a goal turns nothing
LIGHT: Final = 0.1  # square root of a weight under which joints' reference may outweigh a goal
WORTH_SAYING: Final = 0.1  # share of a pull that something holds against
RIDGE: Final = 1e-9  # of a table of forces, against those that cannot be told apart
STRETCHED: Final = 0.999  # share of a chain's length at which it counts as straight
