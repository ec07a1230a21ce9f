"""What came into the standard library with a patch release: no linter knows these, and the oldest Pythons lack them.

First versions are those of CPython's release notes (Misc/NEWS.d/3.11.4.rst, 3.11.9, 3.11.10 and 3.11.16, read in
2026-11), and where these do not name the thing:

- ``LinkFallbackError`` and ``ALLOW_MISSING`` came with gh-135034, which 3.11.13's notes list; its sources have both.
- ``HeaderWriteError`` came with ``verify_generated_headers``, gh-121650.
- ``SetAllocTracker...``, gh-90949, and ``scripting``, gh-137836, are listed by the commit "Python 3.11.15".
- ``pickle_by_...`` is in 3.11.7 and not in 3.11.2: the first version may be one between.

For what came between these two, 118 modules of theirs were compared, not the notes. ``TarInfo.replace`` is new as well,
and says too little as a name, like the ``flush`` of XML parsers in 3.11.9. The notes of 3.11.8, 3.11.9, 3.11.14 and
3.11.15 were not read whole.

Versions are of 3.11 alone: later minor releases got some of this with patch releases of their own. Distributions add
some to older ones: Debian 12's 3.11.2 has ``strict``, and no ``filter``.
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
    **dict.fromkeys(("pickle_by_enum_name", "pickle_by_global_name"), (3, 11, 7)),
    **dict.fromkeys(("SetReparseDeferralEnabled", "GetReparseDeferralEnabled"), (3, 11, 9)),
    **dict.fromkeys(("supports_strict_parsing", "verify_generated_headers", "HeaderWriteError"), (3, 11, 10)),
    **dict.fromkeys(("LinkFallbackError", "ALLOW_MISSING"), (3, 11, 13)),
    **dict.fromkeys(("SetAllocTrackerActivationThreshold", "SetAllocTrackerMaximumAmplification"), (3, 11, 15)),
    **dict.fromkeys(
        (
            "SetBillionLaughsAttackProtectionActivationThreshold",
            "SetBillionLaughsAttackProtectionMaximumAmplification",
        ),
        (3, 11, 16),
    ),
}  # fmt: skip
# Arguments by their function.
ARGUMENTS: Final[dict[tuple[str, str], Version]] = {
    ("extract", "filter"): (3, 11, 4),
    ("extractall", "filter"): (3, 11, 4),
    ("unpack_archive", "filter"): (3, 11, 4),
    ("getaddresses", "strict"): (3, 11, 10),
    ("parseaddr", "strict"): (3, 11, 10),
    ("clone", "verify_generated_headers"): (3, 11, 10),
    ("HTMLParser", "scripting"): (3, 11, 15),
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
