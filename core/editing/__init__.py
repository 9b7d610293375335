"""Motions that are there already, changed with as little loss as can be (S5 of the methods: CN1420453)."""
