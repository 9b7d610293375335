"""Numbers of the pins solver that several files share; others lie in their file, or in `core.defaults`.

Lengths are in units of the skeleton's size, which makes them metres on a 1.7 m human; angles are in radians.
"""

from typing import Final

import numpy as np

from ...defaults import JOINT_DEVIATION as JOINT_DEVIATION
from ...defaults import POSITION_TOLERANCE as POSITION_TOLERANCE
from ...defaults import REFITS as REFITS
from ...defaults import ROOT_TURN_DEVIATION as ROOT_TURN_DEVIATION
from ...defaults import ROTATION_TOLERANCE as ROTATION_TOLERANCE

# goals
ROTATION_LENGTH: Final = 0.3  # length that weighs as much as a radian
FAR: Final = 2.0  # length; the root moves first if all targets are further away
CENTIMETRE: Final = (
    1e-2  # length; a joint may turn by `turn` for each; nearer points have no direction, and frames are near
)

# steps
ROUNDS: Final = 6  # largest number of the same step with other active limits and levels; half of them may release
DAMPING: Final = 1e-8  # D; also what counts as zero: beyond a bound, and as a share of the merit
NEARLY: Final = 1e-4  # whose square counts as zero: what an active bound may be off between steps, a slope to no side
CLOSE: Final = np.radians(2.0)  # largest change in a step after which what is left, its square, is not seen

# restarts
RESTARTS: Final = 12  # number of restarts, unless the method says otherwise

# Newton steps
NEWTON_STEPS: Final = 300  # largest number of steps
NEWTON_RESTS: Final = np.radians(0.001)  # largest change in a step that counts as rest
# places and weights of a first derivative by central differences of fourth order
STENCIL: Final = (
    1e-3 * np.array([2.0, 1.0, -1.0, -2.0]),
    1e3 / 12.0 * np.array([-1.0, 8.0, -8.0, 1.0]),
)
