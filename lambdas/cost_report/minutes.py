"""An hour's log events as rows of node-minutes, in one file for each day that they are of."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import IO, Any

from fleet.ledger import (
    Category,
    NodeMinute,
    ReservedMinute,
    UnreadableEventError,
    read_node_minute,
    read_reserved_minute,
)
from fleet.ledger.reading import KIND


@dataclass(slots=True)
class Sorted:
    """Lines of JSON by day below ``folder``: ``nodes-DAY`` and ``reserved-DAY``. ``unreadable`` are in none."""

    folder: Path
    environment: str
    unreadable: int = 0
    problems: list[str] = field(default_factory=list)
    jobs: set[tuple[str, str]] = field(default_factory=set)
    """Fleet and job of every part: each has metric series of its own."""
    _files: dict[tuple[str, date], IO[str]] = field(default_factory=dict)

    def take(self, events: Iterable[Mapping[str, Any] | str]) -> None:
        """Sort ``events`` in."""
        for event in events:
            try:
                self._take(event)
            except UnreadableEventError as error:
                self._say(str(error))

    def close(self) -> Mapping[tuple[str, date], Path]:
        """The files, by what they hold and the day."""
        for file in self._files.values():
            file.close()
        return {key: self._path(*key) for key in self._files}

    def _take(self, event: Mapping[str, Any] | str) -> None:
        if isinstance(event, str):
            self._say(event)
        elif event.get("kind") == KIND:
            look = read_reserved_minute(event)
            if look is not None:
                self._write("reserved", look.environment, look.minute, _reserved(look))
        elif "level" not in event or "seq" in event:
            # What a function says of itself in the same log group has a level, and is no minute.
            minute = read_node_minute(event)
            self._write("nodes", minute.environment, minute.minute, _node(minute))
            self.jobs.update((minute.fleet, part.job) for part in minute.parts if part.job)

    def _write(self, kind: str, environment: str, minute: int, row: Mapping[str, Any]) -> None:
        if environment != self.environment:
            self._say(f"an event is of environment {environment}, and this is the ledger of {self.environment}")
            return
        key = (kind, datetime.fromtimestamp(minute, tz=UTC).date())
        if key not in self._files:
            self._files[key] = self._path(*key).open("w", encoding="utf-8")
        self._files[key].write(json.dumps(row, separators=(",", ":")) + "\n")

    def _path(self, kind: str, day: date) -> Path:
        return self.folder / f"{kind}-{day.isoformat()}.jsonl"

    def _say(self, problem: str) -> None:
        self.unreadable += 1
        if len(self.problems) < 5:
            self.problems.append(problem)


def _node(minute: NodeMinute) -> dict[str, Any]:
    return {
        "node": minute.node,
        "minute": minute.minute,
        "boot_id": minute.boot_id,
        "seq": minute.seq,
        "unseen": minute.category is Category.UNSEEN,
        "recovered": minute.recovered,
        "fleet": minute.fleet,
        "instance_type": minute.instance_type,
        "category": minute.category.value,
        **_price(minute),
        "parts": [
            {
                "job": part.job,
                "owner": part.owner,
                "units": part.units,
                "amount": part.amount,
                "wasted": part.wasted,
                "core_minutes": part.cores,
                "busy_core_minutes": part.busy_cores,
                "useful_core_minutes": part.useful_cores,
                "tokens": part.tokens,
                "samples": part.samples,
                "step": part.step,
            }
            for part in minute.parts
        ],
    }


def _reserved(look: ReservedMinute) -> dict[str, Any]:
    return {
        "fleet": look.fleet,
        "minute": look.minute,
        "owner": look.owner,
        "instance_type": look.instance_type,
        "unused": look.unused,
        "amount": look.amount,
        **_price(look),
    }


def _price(of: NodeMinute | ReservedMinute) -> dict[str, Any]:
    # Without an amount there is no dollar that the price would be of.
    price = None if isinstance(of, ReservedMinute) and of.amount is None else of.price
    return {
        "price_kind": price.kind if price else None,
        "price_source": price.source if price else None,
        "price_as_of": price.as_of if price else None,
        "price_micro_usd_per_hour": price.rate if price else None,
    }
