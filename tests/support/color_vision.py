"""How far apart two colors are, also for somebody who does not see red and green apart, and their contrast.

Sources: Machado, Oliveira, Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency" (2009),
severity 1.0; CIE 1976 L*a*b*; "contrast ratio" and "relative luminance" of WCAG 2.2.
"""

import math
from collections.abc import Sequence
from typing import Final

_SAME: Final = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
SEEN_BY: Final = {
    "everybody": _SAME,
    "protanopes": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopes": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
}
_XYZ: Final = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
_WHITE: Final = (0.95047, 1.0, 1.08883)


def distance(one: str, other: str) -> float:
    """The least distance in L*a*b* at which any of ``SEEN_BY`` sees the two."""
    return min(math.dist(_lab(one, eyes), _lab(other, eyes)) for eyes in SEEN_BY.values())


def contrast(one: str, other: str) -> float:
    """From 1, no contrast, to 21."""
    dark, light = sorted(_times(_XYZ, _linear(color))[1] for color in (one, other))
    return (light + 0.05) / (dark + 0.05)


def chroma(color: str) -> float:
    """How far from grey."""
    return math.hypot(*_lab(color, _SAME)[1:])


def _linear(color: str) -> list[float]:
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def _times(matrix: Sequence[Sequence[float]], vector: Sequence[float]) -> list[float]:
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def _lab(color: str, eyes: Sequence[Sequence[float]]) -> tuple[float, float, float]:
    seen = [min(1.0, max(0.0, part)) for part in _times(eyes, _linear(color))]
    x, y, z = (_root(part / white) for part, white in zip(_times(_XYZ, seen), _WHITE, strict=True))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def _root(part: float) -> float:
    return math.cbrt(part) if part > 0.008856 else 7.787 * part + 16 / 116
