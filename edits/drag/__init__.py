"""Drag sessions: a body or a chain whose grabbed points follow the mouse."""
