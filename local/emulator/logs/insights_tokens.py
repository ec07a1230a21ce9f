"""Text of a Logs Insights query as tokens: names, numbers, strings, regular expressions and marks.

Source: "Arithmetic operators" and "like" of the Logs Insights query syntax. A field's name may hold a dash, so a minus
between fields needs its spaces.
"""

import re
from typing import Final

from local.emulator.logs.insights_nodes import QueryError

Token = tuple[str, str]
_MARKS: Final = (
    r"|(?P<string>\"[^\"]*\"|'[^']*')|(?P<number>-?\d+(?:\.\d+)?(?![\w.]))"
    r"|(?P<duration>\d+(?:ms|s|m|h|d)\b)|(?P<quoted>`[^`]+`)|(?P<mark>[!<>]=|=~|[=<>(),*/%+\-\[\]|])"
    r"|(?P<name>@?[A-Za-z_][\w.\-]*)|(?P<comment>#[^\n]*))"
)
_TOKEN: Final = re.compile(r"\s*(?:(?!)" + _MARKS)
_TOKEN_OR_REGEX: Final = re.compile(r"\s*(?:(?P<regex>/(?:[^/\\]|\\.)+/)" + _MARKS)


def tokens_of(text: str) -> list[Token]:
    """The tokens in order, each with its kind; raises ``QueryError``."""
    tokens: list[Token] = []
    position = 0
    while text[position:].strip():
        # Everywhere else a slash divides.
        wants_regex = bool(tokens) and tokens[-1][1].lower() in ("like", "=~")
        match = (_TOKEN_OR_REGEX if wants_regex else _TOKEN).match(text, position)
        if match is None or match.lastgroup is None:
            raise QueryError(f"unexpected symbol at {text[position:].strip()[:20]!r}")
        if match.lastgroup != "comment":
            tokens.append((match.lastgroup, match[match.lastgroup]))
        position = match.end()
    return tokens
