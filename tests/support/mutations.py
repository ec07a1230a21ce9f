"""Damaged neuron-monitor lines: shapes made in ``samples``, with values swapped, doubled, dropped or cut to bytes.

A shape is rendered once with the place of each value, so that a structural mutation is one splice of bytes and a
million lines take minutes. The same seed gives the same lines.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from tests.support import samples
from tests.support.samples import GIB, Json, RuntimeSpec

# What no tool should print where a figure, a text or a section belongs; raw JSON, or nearly.
FRAGMENTS: Final = (
    *(b"null", b"true", b"false", b"[]", b"{}", b"[[]]", b"[null]", b"[{}]", b"{{}}"),
    *(b"0", b"-1", b"-0.0", b"0.1", b"99.99", b"100.5", b"130", b"1000000000", b"9007199254740993"),
    *(b"18446744073709551616", b"-9223372036854775809", b"1" + b"0" * 400, b"9" * 5000),
    *(b"1e308", b"-1e308", b"1e400", b"5e-324", b"NaN", b"Infinity", b"-Infinity"),
    *(b'""', b'"12"', b'"trn1.32xlarge"', b'"trainium2"', b'"v3d"', b'"' + b"x" * 3000 + b'"'),
    *(b'"\\ud800"', b'"\\u0000\\uffff"', '"\u0663\u202e\U0001f600"'.encode(), b'"\xff\xfe"'),
    *(b"[" * 3000, b"[" * 900 + b"]" * 900, b'{"a":' * 900 + b"1" + b"}" * 900),
    b'{"nc_v3.0":{"neuroncore_utilization":' + b"9" * 400 + b"}}",
)
KEYS: Final = (
    b'"1000000000"',
    b'"-1"',
    b'"007"',
    b'"31"',
    b'"error"',
    b'"' + b"9" * 5000 + b'"',
    b'"\xd9\xa3"',
    b'"v3d"',
)


@dataclass
class Shape:
    """A line and the spans in it: of values, of keys, and of whole members or elements with their comma."""

    text: bytes
    values: list[tuple[int, int]] = field(default_factory=list)
    keys: list[tuple[int, int]] = field(default_factory=list)
    members: list[tuple[int, int]] = field(default_factory=list)


def shapes() -> tuple[Shape, ...]:
    """Every kind of report, small, and one full node."""
    busy = RuntimeSpec(41210, "rank0", {0: 89.4, 1: 12.0}, {0: 34.8e12, 1: 9e12}, {0: GIB, 1: GIB}, 120, 1, 0, 0.04)
    made = (
        samples.report([busy, RuntimeSpec(41377, "1", {}, {}, {1: GIB})], devices=1),
        samples.report([busy], devices=1, ecc={0: {"mem_ecc_uncorrected": 1}}),
        samples.colliding_tags(),
        samples.grouped_cores(),
        samples.idle_first_record(),
        samples.no_driver(),
        samples.no_devices(),
        samples.null_sections(),
    )
    return tuple(rendered(each) for each in made)


def rendered(made: Json) -> Shape:
    """``made`` as one compact line, with its spans."""
    out, shape = bytearray(), Shape(b"")
    _render(made, out, shape)
    shape.text = bytes(out)
    return shape


def mutated(seed: int, known: Sequence[Shape]) -> Iterator[bytes]:
    """Lines without end, each damaged in one to four places."""
    random = Random(seed)  # noqa: S311 - repeatable on purpose
    while True:
        shape = random.choice(known)
        if random.random() < 0.2:
            yield _bytes_damaged(random, shape.text)
        else:
            yield _structure_damaged(random, shape)


def _structure_damaged(random: Random, shape: Shape) -> bytes:
    edits: list[tuple[int, int, bytes]] = []
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        kind = random.random()
        if kind < 0.6:
            start, end = random.choice(shape.values)
            edits.append((start, end, _instead(random, shape)))
        elif kind < 0.75:
            start, end = random.choice(shape.keys)
            edits.append((start, end, random.choice(KEYS)))
        else:
            # Dropped, or there twice: a doubled key, a runtime listed twice.
            start, end = random.choice(shape.members)
            edits.append((start, end, shape.text[start:end] * random.choice((0, 0, 2, 3))))
    text, bound = shape.text, len(shape.text)
    for start, end, new in sorted(edits, reverse=True):
        if end <= bound:
            text, bound = text[:start] + new + text[end:], start
    return text


def _instead(random: Random, shape: Shape) -> bytes:
    if random.random() < 0.7:
        return random.choice(FRAGMENTS)
    start, end = random.choice(shape.values)
    return shape.text[start:end]


def _bytes_damaged(random: Random, text: bytes) -> bytes:
    at = random.randrange(len(text))
    length = random.randrange(1, 40)
    match random.randrange(5):
        case 0:
            return text[:at]
        case 1:
            return text[:at] + random.randbytes(length) + text[at + length :]
        case 2:
            return text[:at] + random.randbytes(1) + text[at + 1 :]
        case 3:
            return text[:at] + text[at + length :]
        case _:
            return text[:at] + text[at : at + length] * 3 + text[at + length :]


def _render(value: Any, out: bytearray, shape: Shape) -> None:
    start = len(out)
    if isinstance(value, dict):
        out += b"{"
        for index, (name, item) in enumerate(value.items()):
            member = len(out)
            out += b"," if index else b""
            shape.keys.append((len(out), len(out) + len(json.dumps(name))))
            out += json.dumps(name).encode() + b":"
            _render(item, out, shape)
            shape.members.append((member, len(out)))
        out += b"}"
    elif isinstance(value, list):
        out += b"["
        for index, item in enumerate(value):
            member = len(out)
            out += b"," if index else b""
            _render(item, out, shape)
            shape.members.append((member, len(out)))
        out += b"]"
    else:
        out += json.dumps(value).encode()
    shape.values.append((start, len(out)))
