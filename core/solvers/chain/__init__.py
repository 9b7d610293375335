"""Contribution CCD: a chain reaches a target, and a list says how its joints share the way (CN108090951B)."""
