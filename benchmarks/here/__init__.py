"""How long Solve Here takes, and what it meets: `python -m benchmarks.here`."""
