"""The errors for an object that Poise cannot or must not change, and for work that is stopped."""

from ..core import CoreError


class BridgeError(CoreError):
    """A refusal; the message is a sentence for the user that says what to do."""


class Stopped(Exception):
    """Esc was pressed."""
