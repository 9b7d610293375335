"""Texts of the overlay."""

from overlay.draw import wrapped


def test_a_text_breaks_between_words_where_its_room_ends() -> None:
    assert wrapped("hand.L is 9 cm short", 12.0, len) == ["hand.L is 9", "cm short"]
    assert wrapped("hand.L is 9 cm short", 20.0, len) == ["hand.L is 9 cm short"]
    assert wrapped("mixamorig:LeftHand is short", 10.0, len) == ["mixamorig:LeftHand", "is short"]
