"""Names that were chosen to deceive whoever is woken, word for word as each destination shows them.

After a change that is meant: ``pytest tests/golden --snapshot-update``, and read the difference as one who was asleep.
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from lambdas.pager.destinations import mail, pagerduty, slack, webhook
from lambdas.pager.page import Page
from tests.golden.page_cases import NODES, destinations
from tests.support.pager import ROUTING_KEY, Pager, alarm_change, history

FILES: Final = Path(__file__).parent / "hostile_pages"
FORGED: Final = "*Money:* $0.00 an hour wasted"
NAMES: Final = (
    f"llama\n{FORGED}\n",
    "<!channel> <@U024BE7LH> @here <https://evil.example|Runbook> https://evil.example www.evil.com",
    "\u202egnp.exe \u2066hidden\u2069 \u200bzero\x1b[2J\x00\r\nRunbook: http://evil.example",
    "# *bold* _it_ ~gone~ `code` [Runbook](https://evil.example) <b>b</b> &#8238; :white_check_mark:",
    "x" * 250,
)
PADDED: Final = tuple((name * 20)[:250] for name in NAMES)
MARKS: Final = ("*", "~", "<", ">", "\n", "@", "://")


def page_of(names: tuple[str, ...], elsewhere: str) -> Page:
    """An idle fleet of as many nodes, each with a job, an owner and a reason of that name."""
    made = Pager(environ=destinations())
    for node, name in zip((*NODES, "i-04", "i-05"), names, strict=False):
        state = {"job": name, "job_name": f"{name[:-1]}2", "owner": name, "state_reason": name, "state": "BLIND"}
        price = {"usd_per_hour": 21.5, "kind": name, "source": name, "as_of": "2026-11-01"}
        made.seen(*history(node, {20: {}, 9: {**state, "wasted_usd_per_hour": 18.0, "price": price}}))
    name = "prod/trn1-pretrain/NodeBlind"
    page = made.handle(alarm_change(AlarmName=name, NewStateReason=elsewhere, AlarmDescription=elsewhere)).page
    assert page is not None
    return page


def rendered(page: Page) -> dict[str, str]:
    """What each destination shows."""
    return {
        "slack": "\n".join(str(block["text"]["text"]) for block in _blocks(page)),
        "pagerduty": _json(pagerduty.event(page, ROUTING_KEY)),
        "webhook": _json(webhook.body(page)),
        "email": f"Subject: {mail.subject(page)}\n\n{mail.text(page)}",
    }


def _blocks(page: Page) -> list[dict[str, Any]]:
    return json.loads(json.dumps(slack.message(page)["blocks"]))  # type: ignore[no-any-return]


def _json(body: Mapping[str, object]) -> str:
    return json.dumps(body, indent=2, ensure_ascii=False).replace(ROUTING_KEY, "(the routing key)")


@cache
def hostile() -> dict[str, str]:
    return rendered(page_of(PADDED, NAMES[3] + NAMES[2] + NAMES[0]))


@pytest.mark.parametrize("destination", ["email", "pagerduty", "slack", "webhook"])
def test_hostile_names_read_as_reviewed(destination: str, pytestconfig: pytest.Config) -> None:
    text, file = f"{hostile()[destination]}\n", FILES / f"{destination}.txt"
    if pytestconfig.getoption("update_snapshots"):
        file.write_text(text, encoding="utf-8")

    assert text == file.read_text(encoding="utf-8")


def test_the_dollars_stand_on_one_line_of_their_own_and_none_is_forged() -> None:
    shown = hostile()

    for destination, begins in (("slack", "*Money:* "), ("email", "Money: ")):
        (line,) = [line for line in shown[destination].split("\n") if line.startswith(begins)]
        assert line.startswith(f"{begins}$107.50 an hour unwatched, $")
    for destination in ("pagerduty", "webhook"):
        assert shown[destination].count('"money": "$107.50 an hour unwatched, $') == 1
    assert all("runbooks/NodeBlind.md" in text for text in shown.values())
    assert shown["slack"].count("*Money:*") == 1


def people_read(page: Page) -> Iterator[str]:
    """Each text for people that is not in Slack's notation, by itself."""
    told = webhook.body(page)
    details = pagerduty.details(page)
    yield str(told["title"])
    for name in sorted(details.keys() - {"runbook", "first_command", "what", "do_first"}):
        value = details[name]
        yield from value if isinstance(value, list) else [str(value)]


class Tags(HTMLParser):
    """Remembers every tag and every reference to a character."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.found.append(tag)

    def handle_entityref(self, name: str) -> None:
        self.found.append(name)

    def handle_charref(self, name: str) -> None:
        self.found.append(name)


MARKDOWN: Final = MarkdownIt("commonmark").enable(["strikethrough", "table"])
HARMLESS: Final = {"paragraph_open", "paragraph_close", "inline", "text"}
# A list of one shows the same words.
LISTS: Final = {f"{kind}_{end}" for kind in ("bullet_list", "ordered_list", "list_item") for end in ("open", "close")}


def assert_inert(text: str) -> None:
    tokens = MARKDOWN.parse(text)
    types = {token.type for token in tokens} | {child.type for token in tokens for child in token.children or ()}
    assert types <= HARMLESS | LISTS | {"text_special"}, (text, types)
    parser = Tags()
    parser.feed(text)
    parser.close()
    assert parser.found == []
    assert not any(mark in text for mark in MARKS), text


ANY: Final = st.text(
    st.one_of(st.sampled_from("*_~`<>&#[]()!:/\\|@.-=+ \n\r\t\u202e\u2066\u200b\ufeff1ab;"), st.characters()),
    max_size=300,
)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(ANY, ANY)
def test_whatever_a_name_is_the_page_stays_a_page(name: str, elsewhere: str) -> None:
    page = page_of((name,) * 5, elsewhere)

    for text in people_read(page):
        assert_inert(text)
    shown = rendered(page)
    for text in shown.values():
        seen = {letter for letter in text if unicodedata.category(letter) in {"Cc", "Cf", "Cs", "Zl", "Zp"}}
        assert seen <= {"\n"}, seen
    assert len(re.findall(r"^\*Money:\* \$107\.50 an hour unwatched", shown["slack"], re.MULTILINE)) == 1
    assert shown["slack"].count("*Money:*") == 1
    assert len(re.findall(r"^Money: \$107\.50 an hour unwatched", shown["email"], re.MULTILINE)) == 1
    assert all(0 < len(block["text"]["text"]) <= 3000 for block in _blocks(page))
