"""Numbers that the methods and the body share.

Lengths are in units of the skeleton's size, which makes them metres on a 1.7 m human; angles are in radians.
"""

from typing import Final

import numpy as np

POSITION_TOLERANCE: Final = 1e-4  # length; the default of the methods
ROTATION_TOLERANCE: Final = np.radians(0.05)  # angle; the default of the methods
JOINT_DEVIATION: Final = np.radians(30.0)  # standard deviation of a joint
ROOT_TURN_DEVIATION: Final = np.radians(90.0)  # standard deviation of a root's rotation
REFITS: Final = 24  # largest number of fits of rigid links where scaled bones make the tree not quite rigid
UNIT_LENGTH: Final = 1e-3  # largest error of the length of unit quaternions; smaller ones are normalized
