"""The one error that core raises for input it cannot use."""


class CoreError(ValueError):
    """Malformed input; the message is a sentence for the user."""
