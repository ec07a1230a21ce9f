"""A page as an e-mail of plain text, by way of an SNS topic.

SNS and not SES: it needs no verified domain and no leave of a sandbox before the first page, and each reader confirms
and ends the subscription without the platform's help. SNS takes subjects of at most 100 ASCII characters.
"""

from collections.abc import Iterator
from typing import Final

from lambdas.pager import capacity, page_text
from lambdas.pager.outside_text import one_line
from lambdas.pager.page import Page

SUBJECT_LIMIT: Final = 99
LINE_LIMIT: Final = 4000


def subject(page: Page) -> str:
    """The page's title, as far as SNS takes it."""
    return plain_subject(page_text.title(page))


def plain_subject(title: str) -> str:
    """``title`` in printable ASCII, on one line, short enough."""
    text = "".join(letter if " " <= letter <= "~" else "?" for letter in title)[:SUBJECT_LIMIT]
    # SNS wants a letter, a digit or punctuation first.
    return text.strip() or "Neuron Fleet"


def plain_text(body: str) -> str:
    """The body of a notice, line by line, without control and unseen characters."""
    return "\n".join(one_line(line, LINE_LIMIT) for line in body.split("\n"))


def text(page: Page) -> str:
    """What Slack is told, without its marks."""
    return "\n".join([page_text.title(page), "", *_body(page)])


def _body(page: Page) -> Iterator[str]:
    if page.is_resolved:
        yield f"{page_text.what(page)} is over since {page_text.clock(page.change.changed_at)}."
        return
    yield page_text.summary(page)
    for name, fact in page_text.facts(page):
        yield f"{name}: {fact}"
    yield from _listed("Nodes, worst first:", list(page_text.node_lines(page)))
    yield from _listed("Reservations:", capacity.reservations(page.capacity))
    if missing := page_text.missing(page):
        yield from ("", f"There is more to know, and it is missing here: {missing}")
    yield from ("", f"What to do first: {page_text.action(page)}")
    if command := page_text.first_command(page):
        yield from ("", f"    {command}")
    yield ""
    yield f"Runbook: {page.links.runbook}"
    yield f"Dashboard: {page.links.dashboard}"
    if page.links.log_query:
        yield f"Log query: {page.links.log_query}"


def _listed(name: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield from ("", name, *(f"- {line}" for line in lines))
