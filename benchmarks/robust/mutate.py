"""Spoil bytes: bits, numbers, cuts, copies, and what a format lets one say that nobody would."""

import io
import json
import re
import struct
import zipfile
from typing import Any

import numpy as np

Rng = np.random.Generator
_VALUES: list[Any] = [
    None, True, "", "a" * 300, "\u0000", "../../x", "/dev/zero", "\x1b[2J", "\ud800", [], {}, 0, -1, 1, 2, 0.5, -0.0,
    1e-300, 1e9, -1e9, 1e30, 1e308, 10**40, float("nan"), float("inf"), 2**31, 2**63, [0, 0, 0],
    [1, 1], ["a"], {"a": 1}, "nan",
]  # fmt: skip
_WORDS = [b"nan", b"inf", b"-1", b"0", b"1e-300", b"1e999", b"1e9", b"999999999999", b"", b" ", b"\0", b"\xff", b"1_0",
          b"\n", b"\t", b",", b"{", b"}", b"[", b"]", b'"', "\u0663".encode(), b"True", b"0x10", b"-" * 50]  # fmt: skip
_NUMBERS = [0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]
_TOKEN = re.compile(rb"-?\d+(?:\.\d+)?(?:e-?\d+)?|[A-Za-z_]+")


def mutate(kind: str, seeds: list[bytes], rng: Rng) -> bytes:
    """Return one of the seeds, spoilt once or a few times."""
    data = seeds[rng.integers(len(seeds))]
    for _ in range(rng.choice([1, 1, 1, 2, 2, 3])):
        data = _once(kind, data, seeds, rng)
    return data


def _once(kind: str, data: bytes, seeds: list[bytes], rng: Rng) -> bytes:
    if data[:2] == b"PK" and rng.random() < 0.8:
        return _inside(data, rng)
    if data[:1] in (b"{", b"[") and rng.random() < 0.6:
        try:
            return _tree(data, rng)
        except (ValueError, RecursionError):
            pass
    if data[:4] == b"glTF" and len(data) >= 20 and rng.random() < 0.8:
        end = 20 + struct.unpack_from("<I", data, 12)[0]
        try:
            text = _tree(data[20:end], rng)
        except (ValueError, RecursionError):
            text = data[20:end]
        size = struct.pack("<II", 20 + len(text) + len(data[end:]), len(text))
        return data[:8] + size + data[16:20] + text + data[end:]
    return _bytes(data, seeds, rng)


def _bytes(data: bytes, seeds: list[bytes], rng: Rng) -> bytes:
    place = int(rng.integers(len(data) + 1))
    more = place + int(rng.integers(1, 65))
    text = data[:200].isascii() and rng.random() < 0.8
    match 9 if text and rng.random() < 0.7 else int(rng.choice([1, 2, 3, 4] if text else range(9))):
        case 0:
            changed = bytearray(data or b"\0")
            changed[place % len(changed)] ^= 1 << int(rng.integers(8))
            return bytes(changed)
        case 1:
            return data[:place]
        case 2:
            return data[:place] + data[more:]
        case 3:
            return data[:more] + data[place:more] * int(rng.integers(1, 50)) + data[more:]
        case 4:
            other = seeds[rng.integers(len(seeds))]
            return data[:place] + other[int(rng.integers(len(other) + 1)) :]
        case 5:
            size, order = [("B", 1), ("H", 2), ("I", 4), ("Q", 8)][rng.integers(4)], "<>"[rng.integers(2)]
            value = _NUMBERS[rng.integers(len(_NUMBERS))] & (256 ** size[1] - 1)
            return data[:place] + struct.pack(order + size[0], value) + data[place + size[1] :]
        case 6:
            return data[:place] + rng.bytes(int(rng.integers(1, 9))) + data[place:]
        case _:
            tokens = list(_TOKEN.finditer(data[:100_000]))
            word = _WORDS[rng.integers(len(_WORDS))]
            if not tokens:
                return data + word
            token = tokens[rng.integers(len(tokens))]
            return data[: token.start()] + word + data[token.end() :]


def _tree(data: bytes, rng: Rng) -> bytes:
    """Change one value of JSON data, leave it out, say it again, or put it inside of others."""
    root = json.loads(data)
    places: list[tuple[Any, Any]] = []
    left = [root]
    while left and len(places) < 2000:
        one = left.pop()
        for key in one if isinstance(one, dict) else range(len(one)):
            places.append((one, key))
            if isinstance(one[key], dict | list):
                left.append(one[key])
    if not places:
        return json.dumps(_VALUES[rng.integers(len(_VALUES))]).encode()
    inside, key = places[rng.integers(len(places))]
    match int(rng.integers(6)):
        case 0:
            del inside[key]
        case 1 if isinstance(inside, list):
            inside.extend([inside[key]] * int(rng.integers(1, 100)))
        case 2:
            other, other_key = places[rng.integers(len(places))]
            inside[key] = json.loads(json.dumps(other[other_key])) if other_key in _keys(other) else None
        case 3:
            wrapped = b"[" * 2000 + b"]" * 2000
            inside[key] = "@deep@"
            return json.dumps(root).encode().replace(b'"@deep@"', wrapped)
        case _:
            inside[key] = _VALUES[rng.integers(len(_VALUES))]
    return json.dumps(root).encode()


def _keys(one: Any) -> Any:
    return one if isinstance(one, dict) else range(len(one))


def _inside(data: bytes, rng: Rng) -> bytes:
    """Spoil one array of an archive, or its header, and pack it again."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except Exception:
        return _bytes(data, [data], rng)
    if not members:
        return data
    name = list(members)[rng.integers(len(members))]
    if rng.random() < 0.3:
        shape = "(" + "".join(f"{_NUMBERS[rng.integers(len(_NUMBERS))]}, " for _ in range(rng.integers(5))) + ")"
        kind = ["<f8", "<f4", "|O", "<U9", "<i2", "<M8[s]", "|V8", "<c16"][rng.integers(8)]
        text = f"{{'descr': '{kind}', 'fortran_order': {rng.random() < 0.5}, 'shape': {shape}, }}\n".encode()
        members[name] = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + rng.bytes(64)
    elif rng.random() < 0.2:
        members[["points", "x", "fps.npy", "time.npy"][rng.integers(4)]] = members.pop(name)
    else:
        members[name] = _bytes(members[name], [members[name]], rng)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return file.getvalue()
