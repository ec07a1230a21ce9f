"""What the ledger of whatever version this runs on makes of log events, from their arrival in S3 to the day's Parquet.

    python booked.py EVENTS ENVIRONMENT FOLDER

``EVENTS`` is a file with a JSON object on each line, ``FOLDER`` an empty one. It prints {"lines", "unreadable"}.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from lambdas.cost_report import service
from tests.support.ledger_world import LedgerWorld


def booked(events: Sequence[Mapping[str, Any]], environment: str, folder: Path) -> dict[str, Any]:
    """The lines of every day of ``events``, as they are read again from the ledger."""
    folder.mkdir(exist_ok=True)
    world = LedgerWorld(folder)
    last = max(moment(event) for event in events)
    world.arrive(f"{last:%Y-%m-%d-%H}", *events)
    report = service.run(world.world, environment, last + timedelta(hours=1))
    lines = [line for day in days(events) for line in world.lines(day, environment)]
    told = [
        {"fleet": each.fleet, "job": each.job, "owner": each.owner, "category": each.category.value,
         "units": each.units, "amount": each.amount}
        for each in lines
    ]  # fmt: skip
    return {"lines": told, "unreadable": report.unreadable, "problems": report.problems}


def moment(event: Mapping[str, Any]) -> datetime:
    """The minute that an event is of."""
    return datetime.fromisoformat(event["minute"].replace("Z", "+00:00")).astimezone(UTC)


def days(events: Sequence[Mapping[str, Any]]) -> list[date]:
    """The days that they are of."""
    return sorted({moment(event).date() for event in events})


if __name__ == "__main__":
    file, name, scratch = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    given = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    sys.stdout.write(json.dumps(booked(given, name, scratch)))
