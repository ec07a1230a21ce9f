"""A page as a Slack incoming-webhook message: a header, facts, nodes, what to do, links.

Limits that Slack documents: header 150 characters, a section's text 3,000, a field's 2,000.
"""

from typing import Final, TypedDict

from lambdas.pager import capacity, page_text
from lambdas.pager.messages import Notice
from lambdas.pager.page import Page

HEADER_LIMIT: Final = 150
TEXT_LIMIT: Final = 2900

Block = dict[str, object]


class SlackMessage(TypedDict):
    """``text`` is what a notification and a screen reader get."""

    text: str
    blocks: list[Block]


def message(page: Page) -> SlackMessage:
    """The message of ``page``."""
    title = page_text.title(page)
    blocks: list[Block] = [{"type": "header", "text": {"type": "plain_text", "text": title[:HEADER_LIMIT]}}]
    blocks += [_section(text) for text in _paragraphs(page)]
    blocks.append(_section(_links(page)))
    return {"text": title, "blocks": blocks}


def notice_message(notice: Notice) -> SlackMessage:
    """The message of a notice: its subject, and its body as it is."""
    header: Block = {"type": "header", "text": {"type": "plain_text", "text": notice.subject[:HEADER_LIMIT]}}
    return {"text": notice.subject, "blocks": [header, _section(escape(notice.body))]}


def _paragraphs(page: Page) -> list[str]:
    if page.is_resolved:
        return [f"{escape(page.what)} is over since {page_text.clock(page.change.changed_at)}."]
    paragraphs = [escape(page_text.summary(page)), _facts(page)]
    nodes = "\n".join(f"• {escape(line)}" for line in page_text.node_lines(page))
    if nodes:
        paragraphs.append(f"*Nodes, worst first*\n{nodes}")
    if lines := "\n".join(f"• {escape(line)}" for line in capacity.reservations(page.capacity)):
        paragraphs.append(f"*Reservations*\n{lines}")
    if page.enrichment_problem:
        paragraphs.append(f"_There is more to know, and it is missing here: {escape(page.enrichment_problem)}_")
    paragraphs.append(f"*What to do first*\n{escape(page_text.action(page))}")
    if command := page_text.first_command(page):
        paragraphs.append(f"```{escape(command)}```")
    return [text for text in paragraphs if text]


def _facts(page: Page) -> str:
    return "\n".join(f"*{name}:* {escape(text)}" for name, text in page_text.facts(page))


def _links(page: Page) -> str:
    named = [
        ("Runbook", page.links.runbook),
        ("Dashboard", page.links.dashboard),
        ("Log query", page.links.log_query),
    ]
    # A relative runbook (of an environment without a web server) cannot be a link.
    return " · ".join(f"<{url}|{name}>" if "://" in url else f"{name}: {url}" for name, url in named if url)


def _section(text: str) -> Block:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text[:TEXT_LIMIT]}}


def escape(text: str) -> str:
    """Slack's three control characters; what nodes and alarms say must not mention @channel or forge a link."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
