"""What Poise does to a scene: read, solve, write, measure. Operators, commands and scripts share it."""
