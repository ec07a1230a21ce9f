"""A page as a Slack incoming-webhook message: a header, facts, nodes, what to do, links.

Limits that Slack documents: header 150 characters, a section's text 3,000, a field's 2,000. Text objects are
``verbatim``: Slack then makes no link of a plain URL and no mention of a plain name. The only characters that it has
an escape for are ``&``, ``<`` and ``>``. Source: Slack developer docs, "Formatting message text" and "Text object",
read 2026-11-23.
"""

import re
from collections.abc import Sequence
from typing import Final, TypedDict

from lambdas.pager import capacity, page_text
from lambdas.pager.messages import Notice
from lambdas.pager.outside_text import CUT, own_words
from lambdas.pager.page import Page

HEADER_LIMIT: Final = 150
TEXT_LIMIT: Final = 2900
_BROKEN_ESCAPE: Final = re.compile(r"&[a-z]{0,3}$")

Block = dict[str, object]


class SlackMessage(TypedDict):
    """``text`` is what a notification and a screen reader get."""

    text: str
    blocks: list[Block]


def message(page: Page) -> SlackMessage:
    """The message of ``page``."""
    title = page_text.title(page)
    blocks = [_header(title)]
    blocks += [_section(text) for text in _paragraphs(page)]
    blocks.append(_section(_links(page)))
    return {"text": escape(title), "blocks": blocks}


def notice_message(notice: Notice) -> SlackMessage:
    """The message of a notice: its subject, and its body line by line."""
    subject = own_words(notice.subject)
    lines = [escape(own_words(line, TEXT_LIMIT)) for line in notice.body.split("\n")]
    return {"text": escape(subject), "blocks": [_header(subject), _section("\n".join(within(lines, TEXT_LIMIT)))]}


def _paragraphs(page: Page) -> list[str]:
    if page.is_resolved:
        return [f"{escape(page_text.what(page))} is over since {page_text.clock(page.change.changed_at)}."]
    paragraphs = [escape(page_text.summary(page)), _facts(page)]
    if nodes := list(page_text.node_lines(page)):
        paragraphs.append(_lines("*Nodes, worst first*", *(f"• {line}" for line in map(escape, nodes))))
    if reservations := capacity.reservations(page.capacity):
        paragraphs.append(_lines("*Reservations*", *(f"• {line}" for line in map(escape, reservations))))
    if missing := page_text.missing(page):
        paragraphs.append(f"_There is more to know, and it is missing here: {escape(missing)}_")
    paragraphs.append(f"*What to do first*\n{escape(page_text.action(page))}")
    if command := page_text.first_command(page):
        paragraphs.append(f"```{escape(command)}```")
    return [text for text in paragraphs if text]


def _facts(page: Page) -> str:
    return _lines(*(f"*{name}:* {escape(text)}" for name, text in page_text.facts(page)))


def _lines(*lines: str) -> str:
    return "\n".join(within(lines, TEXT_LIMIT))


def within(lines: Sequence[str], limit: int) -> list[str]:
    """The lines, of which the long ones are cut until all of them fit ``limit`` with their line breaks.

    Each has an equal share, and what a short one leaves goes to the longer ones: none is pushed out by another.
    """
    left, fitted = limit - len(lines) + 1, dict[int, str]()
    for done, (index, line) in enumerate(sorted(enumerate(lines), key=lambda each: len(each[1]))):
        fitted[index] = _cut(line, max(0, left // (len(lines) - done)))
        left -= len(fitted[index])
    return [fitted[index] for index in range(len(lines))]


def _cut(line: str, limit: int) -> str:
    """The line, cut before an escape that would be cut in two."""
    return line if len(line) <= limit else _BROKEN_ESCAPE.sub("", line[: max(0, limit - 1)]) + CUT[:limit]


def _links(page: Page) -> str:
    named = [
        ("Runbook", page.links.runbook),
        ("Dashboard", page.links.dashboard),
        ("Log query", page.links.log_query),
    ]
    # A relative runbook (of an environment without a web server) cannot be a link.
    told = [f"<{url}|{name}>" if "://" in url else f"{name}: {url}" for name, url in named if url]
    # A link that is cut is none: the last ones go first.
    return next((text for end in (3, 2, 1) if len(text := " · ".join(told[:end])) <= TEXT_LIMIT), "")


def _header(title: str) -> Block:
    text = {"type": "plain_text", "text": title[:HEADER_LIMIT], "emoji": False}
    return {"type": "header", "text": text}


def _section(text: str) -> Block:
    return {"type": "section", "text": {"type": "mrkdwn", "text": _cut(text, TEXT_LIMIT), "verbatim": True}}


def escape(text: str) -> str:
    """Slack's three control characters; what nodes and alarms say must not mention @channel or forge a link."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
