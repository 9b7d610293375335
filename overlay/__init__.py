"""What the viewport shows: arrays (marks, strokes) and their drawing."""
