"""The error for an object that Poise cannot or must not change."""

from ..core import CoreError


class BridgeError(CoreError):
    """A refusal; the message is a sentence for the user that says what to do."""
