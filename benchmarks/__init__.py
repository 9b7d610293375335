"""Poise measured beside other solvers: `python -m benchmarks`. Nothing in here ships with the extension."""

import os

# One thread for everybody, set before numpy is imported: two make the peers half again as slow and Poise no faster.
for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{_library}_NUM_THREADS"] = "1"
