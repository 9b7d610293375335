"""Writes poise.drag.dat, the icon of the tool, in Blender's format of triangles: `python panels/icons/make.py`.

Bytes: "VCO", version 0, width, height, x, y; then x and y of every corner; then red, green, blue, opacity of each
(source/blender/blenkernel/intern/icons.cc). Three links of a limb, the last one pulled away by an arrow.
"""

from collections.abc import Iterable
from itertools import pairwise
from math import cos, pi, sin
from pathlib import Path

Point = tuple[float, float]
Colour = tuple[int, int, int, int]
Triangle = tuple[tuple[Point, Point, Point], Colour]

BONE: Colour = (230, 230, 230, 255)
JOINT: Colour = (80, 200, 255, 255)
PULL: Colour = (255, 160, 41, 255)


def disc(centre: Point, radius: float, colour: Colour, corners: int = 20) -> list[Triangle]:
    rim = [
        (centre[0] + radius * cos(2.0 * pi * i / corners), centre[1] + radius * sin(2.0 * pi * i / corners))
        for i in range(corners + 1)
    ]
    return [((centre, a, b), colour) for a, b in pairwise(rim)]


def bar(start: Point, end: Point, width: float, colour: Colour) -> list[Triangle]:
    x, y = end[0] - start[0], end[1] - start[1]
    length = (x * x + y * y) ** 0.5
    nx, ny = -0.5 * width * y / length, 0.5 * width * x / length
    a, b = (start[0] + nx, start[1] + ny), (start[0] - nx, start[1] - ny)
    c, d = (end[0] - nx, end[1] - ny), (end[0] + nx, end[1] + ny)
    return [((a, b, c), colour), ((a, c, d), colour)]


def icon() -> Iterable[Triangle]:
    hip, knee, foot = (66.0, 44.0), (72.0, 128.0), (134.0, 170.0)
    yield from bar(hip, knee, 22.0, BONE)
    yield from bar(knee, foot, 22.0, BONE)
    yield from bar(foot, (196.0, 200.0), 12.0, PULL)
    yield ((186.0, 224.0), (236.0, 219.0), (208.0, 178.0)), PULL
    for place in (hip, knee):
        yield from disc(place, 20.0, JOINT)
    yield from disc(foot, 26.0, PULL)


def data(triangles: list[Triangle]) -> bytes:
    corners = bytes(round(value) for points, _ in triangles for point in points for value in point)
    colours = bytes(value for _, colour in triangles for _ in range(3) for value in colour)
    return b"VCO\x00" + bytes((255, 255, 0, 0)) + corners + colours


if __name__ == "__main__":
    Path(__file__).with_name("poise.drag.dat").write_bytes(data(list(icon())))
