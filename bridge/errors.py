"""The error for what Poise cannot or must not do to an object."""

from ..core import CoreError


class BridgeError(CoreError):
    """A refusal; the message is a sentence for the user that says what to do."""
