"""The control endpoints under ``/_local``: virtual time, the inbox that receives pages, what is seeded, the status.

Whoever shows what is here posts ``{"after": n}`` to ``/_local/changes`` and is answered when something has changed.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

from local.alarm_evaluation import SeriesKey
from local.alarm_evaluation.statistics import Datum
from local.emulator.capacity.account import Capacity
from local.emulator.capacity.seeding import SEEDERS
from local.emulator.cloudwatch.metric_store import MetricStore
from local.emulator.faults import Fault
from local.emulator.platform import Platform


def store(metrics: MetricStore, namespace: str, datums: Sequence[Mapping[str, Any]]) -> None:
    """Store ``{"name", "timestamp", "unit", "dimensions": {}, "values": [], "counts": []}`` objects.

    Raises:
        ValueError: A field is missing or has another shape.
    """
    try:
        for datum in datums:
            key = SeriesKey(namespace, datum["name"], frozenset(datum["dimensions"].items()))
            values = Datum.of_values(datum["values"], datum.get("counts"))
            metrics.put(key, float(datum["timestamp"]), datum["unit"], values)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"metrics: {error!r}") from error


class Changes:
    """Counts them. Lives on the server's event loop: no other thread may call it."""

    def __init__(self) -> None:
        self._count = 0
        self._next = asyncio.Event()

    def tell(self) -> None:
        """Something changed."""
        self._count += 1
        self._next.set()
        self._next = asyncio.Event()

    async def after(self, count: int, seconds: float) -> int:
        """The count as soon as it is not ``count`` any more, or ``count`` itself after so many seconds."""
        if self._count == count:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._next.wait(), seconds)
        return self._count


CHANNELS = ("slack", "pagerduty", "webhook")
# Short enough that nobody who ends has to wait for it.
LONGEST_WAIT_SECONDS = 3.0
Answer = tuple[int, dict[str, Any]]


class Control:
    """Answers ``/_local/...``; ``count_stacked`` tells how many resources the deployed stacks hold.

    ``resource_types`` are those that a stack can hold.
    """

    def __init__(self, platform: Platform, count_stacked: Callable[[], int], resource_types: Collection[str]) -> None:
        self._platform = platform
        self._count_stacked = count_stacked
        self._resource_types = resource_types
        self._advancing = asyncio.Lock()
        self.changes = Changes()

    async def answer(self, method: str, path: str, body: bytes) -> Answer:
        """The status code and the JSON to answer with."""
        routes: dict[tuple[str, str], Callable[[bytes], Awaitable[Answer]]] = {
            ("GET", "/_local/status"): self._status,
            ("GET", "/_local/inbox"): self._inbox,
            ("POST", "/_local/changes"): self._changed,
            ("POST", "/_local/clock"): self._clock,
            ("POST", "/_local/metrics"): self._metrics,
            **{("POST", f"/_local/{what}"): self._seeder(seed) for what, seed in SEEDERS.items()},
            ("GET", "/_local/faults"): self._injected_faults,
            ("POST", "/_local/faults"): self._faults,
            **{("POST", f"/_local/inbox/{channel}"): self._receiver(channel) for channel in CHANNELS},
        }
        route = routes.get((method, path.rstrip("/")))
        if route is None:
            return 404, {"error": f"{method} {path}: known are " + ", ".join(" ".join(each) for each in routes)}
        try:
            return await route(body)
        except ValueError as error:
            return 400, {"error": str(error)}

    async def _status(self, _body: bytes) -> Answer:
        return 200, {
            "ready": True,
            "now": self._platform.clock.virtual_now,
            "resources": self._count_stacked(),
            "metrics": self._platform.datums(),
        }

    async def _changed(self, body: bytes) -> Answer:
        request = json.loads(body)
        if not isinstance(request, dict) or type(request.get("after")) is not int:
            return 400, {"error": 'changes: the body is not {"after": a count of changes}'}
        return 200, {"changes": await self.changes.after(request["after"], LONGEST_WAIT_SECONDS)}

    async def _inbox(self, _body: bytes) -> Answer:
        return 200, {"messages": self._platform.inbox}

    def _receiver(self, channel: str) -> Callable[[bytes], Awaitable[Answer]]:
        async def receive(body: bytes) -> Answer:
            message = {"channel": channel, "received_at": self._platform.clock.now(), "body": json.loads(body)}
            self._platform.inbox.append(message)
            self.changes.tell()
            return 202, {"status": "success", "message": "Event processed", "dedup_key": _dedup_key(message["body"])}

        return receive

    def _seeder(self, seed: Callable[[Capacity, Any], dict[str, Any]]) -> Callable[[bytes], Awaitable[Answer]]:
        async def seeded(body: bytes) -> Answer:
            return 200, seed(self._platform.capacity, json.loads(body))

        return seeded

    async def _metrics(self, body: bytes) -> Answer:
        request = json.loads(body)
        if not isinstance(request, dict) or set(request) != {"region", "namespace", "datums"}:
            return 400, {"error": "metrics: the body has exactly region, namespace, datums"}
        metrics = self._platform.cloudwatch(request["region"]).metrics
        store(metrics, request["namespace"], request["datums"])
        self.changes.tell()
        return 202, {"datums": len(request["datums"])}

    async def _injected_faults(self, _body: bytes) -> Answer:
        return 200, {"faults": [fault.as_json() for fault in self._platform.faults.all()]}

    async def _faults(self, body: bytes) -> Answer:
        request = json.loads(body)
        if not isinstance(request, dict) or not isinstance(request.get("faults"), list):
            return 400, {"error": 'faults: the body is not {"faults": [fault, …]}'}
        self._platform.faults.replace([Fault.of(each, self._resource_types) for each in request["faults"]])
        return await self._injected_faults(body)

    async def _clock(self, body: bytes) -> Answer:
        request = json.loads(body)
        if not isinstance(request, dict) or type(request.get("now")) not in (int, float):
            return 400, {"error": 'clock: the body is not {"now": unix seconds}'}
        async with self._advancing:
            changes = await asyncio.to_thread(self._platform.advance, float(request["now"]))
        self.changes.tell()
        return 200, {
            "transitions": [
                {
                    "alarm": change.alarm,
                    "from": change.previous.value,
                    "to": change.state.value,
                    "at": change.at,
                    "reason": change.reason,
                }
                for change in changes
            ]
        }


def _dedup_key(body: object) -> str:
    """PagerDuty answers with the key of the event it took."""
    return str(body.get("dedup_key", "")) if isinstance(body, Mapping) else ""
