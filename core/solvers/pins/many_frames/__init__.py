"""Many frames at once, as in a bake: least-squares steps with the frames last in memory.

A step multiplies 3 x 3 matrices of some twenty joints. With the frames first in memory each product is a call of its
own inside numpy; with the frames last, the products of a chunk are nine long sums. Rows are kept by branches: joints
that move the same goals share a dense block of the Jacobian, and the zeros beside them, two thirds of it, are neither
stored nor multiplied. Columns are in standard deviations: S is the identity, and a projector under active limits.

Limits cost only joints near a bound: where a step crosses a bound, or a bound is to be released, the next step is the
same once more with another active set.
"""

from .steps import FramesSolver as FramesSolver
