"""The overlay in the viewport and in timelines: arrays (marks, strokes, strips) and their drawing."""
