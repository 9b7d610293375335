"""How well Poise solves, judged by arithmetic that is not its own: `python -m benchmarks.quality`."""
