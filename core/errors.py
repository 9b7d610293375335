"""The error of core for malformed input."""


class CoreError(ValueError):
    """Malformed input. The message is a sentence for the user."""
