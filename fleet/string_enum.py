"""Words of a closed set that are strings: what ``enum.StrEnum`` is, which Python 3.10 has not.

A training container may have Python 3.10, so whatever is imported there takes this one.
"""

from enum import Enum


class StringEnum(str, Enum):
    """``str()`` and ``format()`` give the value; of ``auto()`` nothing is promised."""

    __str__ = str.__str__
    __format__ = str.__format__  # type: ignore[assignment]  # the same but for its argument's name
