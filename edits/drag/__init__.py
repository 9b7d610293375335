"""Drag sessions: what is grabbed, where the mouse leads it, and what the body makes of it."""
