"""Text from outside, made fit for a page: names of jobs, owners and nodes, an alarm's reason, what AWS answered. Pure.

Whoever starts a job chooses its name, and the page is read by somebody who was just woken and believes it. So such a
text is one line of visible characters, short, and no destination makes markup, a link or a mention of it. A destination
still escapes what it is given by its own rules; a text is cut before that, so that no escape is cut in two.

Letters that are markup somewhere are replaced by their likes and not escaped: Slack has no escape for ``*``, and what
shows a webhook's or a mail's text is not known here.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

LINE: Final = 600
NAME: Final = 64
CUT: Final = "…"
_SPACES: Final = frozenset({"Cc", "Zl", "Zp", "Zs"})
# Format characters turn or hide text; private, unassigned and half characters show as anything.
_UNSEEN: Final = frozenset({"Cf", "Cn", "Co", "Cs"})
# Letters and marks that show nothing: fillers, joiners, the empty Braille cell, selectors of variants.
_BLANK: Final = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef]")
# More marks on one letter run into the lines above and below.
_MARKS: Final = 3
# Asterisk and tilde operator, single angle quotation marks.
_LIKES: Final = str.maketrans({"*": "\u2217", "~": "\u223c", "`": "'", "<": "\u2039", ">": "\u203a"})
# Within a word it is no markup, neither in Slack nor in CommonMark.
_EDGE_UNDERSCORE: Final = re.compile(r"(?<![^\W_])_+|_+(?![^\W_])")
_ENTITY: Final = re.compile(r"&(?=[#\w])")
_EMOJI: Final = re.compile(r":(?=[\w+'-]*[^\W\d][\w+'-]*:)")
_BRACKETS: Final = re.compile(r"\](?=[\[(:])")
_QUOTE: Final = re.compile(r"^\s*\u203a[\u203a\s]*")
_HEADING: Final = re.compile(r"#(?=[#\s]|$)")
_RULE: Final = re.compile(r"(?:^|(?<=\s))(?:[-=]\s*){3,}$")
_CODE: Final = re.compile(r"(?<!`)(`[^`]+`)(?!`)")
_SCHEME: Final = re.compile(r"(?<=[^\W_]):(?=//)")
# What looks like a domain; types of instances and names within a VPC end in what is none.
_DOMAIN_DOT: Final = re.compile(
    r"(?<=\w)[.\u3002\uff0e\uff61](?=[^\W\d_]{2})(?!(?:xlarge|metal|(?:[\w-]+\.)*internal)\b)"
)


def one_line(text: str, limit: int = LINE) -> str:
    """``text`` without line breaks, control and unseen characters, and at most ``limit`` characters long."""
    line = " ".join("".join(_visible(text[: 8 * limit])).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + CUT


def inert(text: str, limit: int = LINE) -> str:
    """``text`` on one line of at most ``limit`` characters, of which nothing makes markup, a link or a mention.

    What is put in the place of such characters may make it longer again.
    """
    line = _DOMAIN_DOT.sub("[.]", _SCHEME.sub(": ", one_line(text, limit))).replace("@", "(at)")
    return _unmarked(line).strip()


def own_words(text: str, limit: int = 2 * LINE) -> str:
    """As ``inert``, of what is deployed or set by the account's operators: their links and code in backticks stay."""
    parts = _CODE.split(one_line(text, limit))
    return "".join(part if _CODE.fullmatch(part) else _unmarked(part) for part in parts).strip()


def _unmarked(line: str) -> str:
    line = _EDGE_UNDERSCORE.sub(lambda match: "\u2017" * len(match[0]), line.translate(_LIKES))
    line = _BRACKETS.sub("] ", _EMOJI.sub("\u2236", _ENTITY.sub("& ", line)))
    return _RULE.sub("", _HEADING.sub("\u266f", _QUOTE.sub("", line)))


def _visible(text: str) -> Iterator[str]:
    marks = 0
    for letter in _BLANK.sub("", text):
        category = unicodedata.category(letter)
        if category in _UNSEEN:
            continue
        marks = marks + 1 if category in {"Mn", "Me"} else 0
        if marks <= _MARKS:
            yield " " if category in _SPACES else letter
