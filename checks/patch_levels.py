"""What came into the standard library with a patch release: no linter knows these, and the oldest Pythons lack them.

First versions from memory of the notes in docs.python.org [UNVERIFIED]. Interpreters bound the first: 3.11.2 has no
``filter``, 3.11.7 has it.
"""

import ast
from collections.abc import Iterator
from typing import Final

from checks.pythons import Version

# Names that mean nothing else.
NAMES: Final[dict[str, Version]] = {
    **dict.fromkeys(
        (
            "data_filter", "tar_filter", "fully_trusted_filter", "extraction_filter", "FilterError",
            "AbsolutePathError", "OutsideDestinationError", "SpecialFileError", "AbsoluteLinkError",
            "LinkOutsideDestinationError",
        ),
        (3, 11, 4),
    ),
    "LinkFallbackError": (3, 11, 13),
    "ALLOW_MISSING": (3, 11, 13),
    "SetReparseDeferralEnabled": (3, 11, 9),
    "GetReparseDeferralEnabled": (3, 11, 9),
}  # fmt: skip
# Arguments by their function.
ARGUMENTS: Final[dict[tuple[str, str], Version]] = {
    ("extract", "filter"): (3, 11, 4),
    ("extractall", "filter"): (3, 11, 4),
    ("unpack_archive", "filter"): (3, 11, 4),
    ("getaddresses", "strict"): (3, 11, 10),
    ("parseaddr", "strict"): (3, 11, 10),
}


def too_new(source: str, floor: Version) -> Iterator[tuple[int, str, Version]]:
    """Line, name and first version of whatever ``floor`` lacks."""
    for node in ast.walk(ast.parse(source)):
        for name, first in _used(node):
            if floor < first:
                yield getattr(node, "lineno", 0), name, first


def _used(node: ast.AST) -> Iterator[tuple[str, Version]]:
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name) | ast.alias(name=name) if name in NAMES:
            yield name, NAMES[name]
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            for argument in node.keywords:
                if (name, argument.arg) in ARGUMENTS:
                    yield f"{name}({argument.arg}=...)", ARGUMENTS[name, argument.arg or ""]
