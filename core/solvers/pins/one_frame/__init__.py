"""Newton steps of one frame: `objective` says what is minimised, `steps` how.

With 20 joints and 20 rows every array is tiny, and a call costs more than its arithmetic. All that stays from tick to
tick is therefore folded into constants: local frames and own rotations of all joints are one product, forward
kinematics jumps pointers (log2 of the depth products instead of one per level), errors, levers and the order of rows
are constant matrices, and limits cost something only where one is active. Plain Python compares a handful of numbers: a
numpy reduction costs as much as a product. `dot` costs half of `@` for two matrices. `tree.Links` is the reference;
tests compare the two.
"""

from .steps import FrameSolver as FrameSolver
from .steps import Kept as Kept
