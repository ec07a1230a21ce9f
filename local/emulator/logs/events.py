"""A stored log event, as Logs Insights sees it: system fields, and fields discovered in a JSON message."""

import json
from dataclasses import dataclass, field

from local.emulator.logs.insights_nodes import Json


@dataclass(slots=True)
class Event:
    """One stored log event; ``timestamp`` in milliseconds."""

    timestamp: int
    message: str
    group: str
    stream: str
    pointer: str = ""
    _parsed: Json = field(default=None, repr=False)

    def value(self, name: str) -> Json:
        """A system field, or the value at a dotted path of the JSON message; ``None`` when there is none."""
        system: dict[str, Json] = {
            "@timestamp": self.timestamp,
            "@message": self.message,
            "@log": self.group,
            "@logStream": self.stream,
            "@ptr": self.pointer,
        }
        if name in system:
            return system[name]
        if self._parsed is None:
            self._parsed = _parsed(self.message)
        return at_path(self._parsed, name)


def _parsed(message: str) -> dict[str, object]:
    try:
        content = json.loads(message)
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def at_path(value: Json, path: str) -> Json:
    """The value at ``a.b.0``; a key that holds the dots itself comes first."""
    found: object = value
    if isinstance(value, dict) and path in value:
        path, found = "", value[path]
    for part in filter(None, path.split(".")):
        if isinstance(found, dict):
            found = found.get(part)
        elif isinstance(found, list) and part.isdigit() and int(part) < len(found):
            found = found[int(part)]
        else:
            return None
    return found if isinstance(found, dict | list | str | int | float) else None
