"""Editing of existing motions (CN1420453): pins over time, foot locking, root paths, retargeting, key reduction."""
