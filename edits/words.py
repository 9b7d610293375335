"""Words of sentences to the user."""


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: "1 bone", "3 bones"."""
    return f"{number} {noun}" + ("" if number == 1 else "s")
