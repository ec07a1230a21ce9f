"""AWS's schema of embedded metric format documents, transcribed: what it demands, without its titles and examples.

Source: Amazon CloudWatch User Guide, "Specification: Embedded metric format", section "Embedded metric format example
and JSON schema". The list of metric directives has no least length there, so a document may have none.
"""

from typing import Any, Final

_UNITS: Final = (
    "Seconds|Microseconds|Milliseconds|Bytes|Kilobytes|Megabytes|Gigabytes|Terabytes|Bits|Kilobits|Megabits|Gigabits|"
    "Terabits|Percent|Count|Bytes\\/Second|Kilobytes\\/Second|Megabytes\\/Second|Gigabytes\\/Second|Terabytes\\/Second|"
    "Bits\\/Second|Kilobits\\/Second|Megabits\\/Second|Gigabits\\/Second|Terabits\\/Second|Count\\/Second|None"
)


def _text(longest: int) -> dict[str, Any]:
    return {"type": "string", "pattern": "^(.*)$", "minLength": 1, "maxLength": longest}


_METRIC: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["Name"],
    "properties": {
        "Name": _text(1024),
        "Unit": {"type": "string", "pattern": f"^({_UNITS})$"},
        "StorageResolution": {"type": "integer"},
    },
}
_DIRECTIVE: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["Namespace", "Dimensions", "Metrics"],
    "properties": {
        "Namespace": _text(1024),
        "Dimensions": {
            "type": "array",
            "minItems": 1,
            "items": {"type": "array", "minItems": 0, "maxItems": 30, "items": _text(250)},
        },
        "Metrics": {"type": "array", "items": _METRIC},
    },
}
EMF_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["_aws"],
    "properties": {
        "_aws": {
            "type": "object",
            "required": ["Timestamp", "CloudWatchMetrics"],
            "properties": {
                "Timestamp": {"type": "integer"},
                "CloudWatchMetrics": {"type": "array", "items": _DIRECTIVE},
            },
        }
    },
}
