"""Motions that are edited, measured on captured clips: `python -m benchmarks.motion`."""
