"""The stream that tells a browser of changes."""

from collections.abc import Iterator
from dataclasses import replace
from urllib.request import urlopen

from local.dashboards_page.app import create_app
from local.dashboards_page.server import serving
from tests.support.dashboards import fake_cloud


def stream(*counts: int | None) -> str:
    answers: Iterator[int | None] = iter([*counts, None])
    cloud = replace(fake_cloud(), changed=lambda _: next(answers))
    with serving(create_app(cloud, "local"), 0) as url, urlopen(f"{url}api/changes", timeout=30) as answer:  # noqa: S310 the page's own
        return str(answer.read(), "utf-8")


def test_where_nobody_tells_the_page_is_sent_to_look_by_itself() -> None:
    assert stream() == "event: silent\ndata: nobody tells\n\n"


def test_each_change_is_told_once() -> None:
    lines = [line for line in stream(3, 3, 4, 4, 6).splitlines() if line.startswith("data:")]

    assert lines == ["data: 4", "data: 6", "data: nobody tells"]
