"""What passes the tap is answered as without it, and what is asked again takes the same way."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from workload.serving.shadow.tap import MOST_BYTES, Exchange, Message, Receive, Send, Tap

TRACE = "1-67891233-abcdef012345678912345678"


class Kept:
    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []

    def offer(self, exchange: Exchange) -> None:
        self.exchanges.append(exchange)


async def echo(scope: Message, receive: Receive, send: Send) -> None:
    """Answers in two parts what it was sent, after two hundredths of a second."""
    body = b""
    while True:
        message = await receive()
        body += message["body"]
        if not message.get("more_body"):
            break
    await asyncio.sleep(0.02)
    status = 500 if body == b"fail" else 200
    await send({"type": "http.response.start", "status": status, "headers": [(b"x-a", b"b")]})
    await send({"type": "http.response.body", "body": body[:3], "more_body": True})
    await send({"type": "http.response.body", "body": body[3:]})


def through(tap: Tap, path: str, body: bytes, **headers: str) -> httpx.Response:
    async def talk() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(tap), base_url="http://server") as talking:
            return await talking.post(path, content=body, headers=headers)

    return asyncio.run(talk())


def tap(percent: float = 100.0) -> tuple[Tap, Kept]:
    made, kept = Tap(echo, percent), Kept()
    made.taker = kept
    return made, kept


def test_an_exchange_is_kept_as_it_passed() -> None:
    made, kept = tap()
    answer = through(made, "/v1/completions", b'{"prompt":"a"}', **{"X-Amzn-Trace-Id": f"Root={TRACE}"})

    assert (answer.status_code, answer.content, answer.headers["x-a"]) == (200, b'{"prompt":"a"}', "b")
    (found,) = kept.exchanges
    assert (found.request_id, found.path, found.status) == (TRACE, "/v1/completions", 200)
    assert found.body == found.answer == b'{"prompt":"a"}'
    assert 0.015 < found.seconds < 2
    assert found.is_whole


def test_a_request_without_an_id_gets_one_of_its_own() -> None:
    made, kept = tap()
    for _ in range(2):
        through(made, "/v1/completions", b"{}", **{"X-Amzn-Trace-Id": "Root=ann@example.com"})

    ids = {each.request_id for each in kept.exchanges}
    assert len(ids) == 2
    assert not any("ann" in each for each in ids)


@pytest.mark.parametrize(
    ("path", "percent"), [("/healthz/ready", 100.0), ("/v1/models", 100.0), ("/v1/completions", 0.0)]
)
def test_what_is_not_compared_or_not_of_the_share_is_not_kept(path: str, percent: float) -> None:
    made, kept = tap(percent)

    assert through(made, path, b"abcdef").content == b"abcdef"
    assert kept.exchanges == []


def test_without_anybody_who_keeps_requests_they_are_counted_only() -> None:
    made, _ = tap()
    made.taker = None

    assert through(made, "/v1/embeddings", b"abcdef").content == b"abcdef"
    assert through(made, "/healthz/live", b"").status_code == 200
    assert made.asked == 1


def test_what_is_too_long_passes_whole_and_is_said_not_to_be() -> None:
    made, kept = tap()
    body = b"a" * (MOST_BYTES + 1)

    assert through(made, "/v1/completions", body).content == body
    assert not kept.exchanges[0].is_whole
    assert len(kept.exchanges[0].answer) <= MOST_BYTES


def test_what_is_asked_again_is_answered_and_counts_as_nobodys_request() -> None:
    made, kept = tap()
    body = json.dumps({"prompt": "a"}).encode()
    found = asyncio.run(made.ask("/v1/completions", body))

    assert (found.status, found.answer) == (200, body)
    assert 0.015 < found.seconds < 2
    assert (made.asked, kept.exchanges) == (0, [])


def test_an_error_of_the_application_is_everybodys_own() -> None:
    async def broken(scope: Message, receive: Receive, send: Send) -> None:
        raise RuntimeError("broken")

    kept, made = Kept(), Tap(broken, 100.0)
    made.taker = kept

    async def send(_: Any) -> None:
        return None

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    scope = {"type": "http", "method": "POST", "path": "/v1/completions", "headers": []}
    with pytest.raises(RuntimeError, match="broken"):
        asyncio.run(made(scope, receive, send))
    assert kept.exchanges == []


def test_what_is_asked_again_finds_what_the_application_put_aside_when_it_started() -> None:
    seen: list[dict[str, Any]] = []

    async def application(scope: Message, receive: Receive, send: Send) -> None:
        seen.append(scope["state"])
        seen[-1]["model"] += " of one request"
        await echo(scope, receive, send)

    made = Tap(application, 100.0)
    made.state = {"model": "m"}
    for _ in range(2):
        assert asyncio.run(made.ask("/v1/completions", b"{}")).status == 200
    assert seen == [{"model": "m of one request"}] * 2
    assert made.state == {"model": "m"}
