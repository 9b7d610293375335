"""The languages of the interface: a file for each, which has the translation of every text.

Blender looks up labels and tooltips itself. What is put together first, such as a report, goes through `translated`.
"""

from .book import LANGUAGES

__all__ = ["LANGUAGES"]
