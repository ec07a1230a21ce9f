"""What a node of a multi-node job is told to run: its definition's container, with what the submission overrides.

Names are those of the Batch API. What every container of a multi-node job finds in its environment: Batch user guide,
"Multi-node parallel jobs", "Environment variables".
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Content = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Seat:
    """One node's place in an attempt; ``main_address`` is the main node's, where the container learns it."""

    job_id: str
    attempt: int
    index: int
    nodes: int
    main: int
    main_address: str
    queue: str
    environment: str


def container(definition: Content, overrides: Content, seat: Seat) -> dict[str, Any]:
    """The container of one node, for whoever runs it.

    Raises:
        ValueError: no range of the definition holds the node.
    """
    found = _of_node(definition.get("nodeRangeProperties") or (), seat)
    if found is None:
        raise ValueError(f"the job definition has no container for node {seat.index}")
    own: Content = found.get("container") or {}
    over: Content = (_of_node(overrides.get("nodePropertyOverrides") or (), seat) or {}).get("containerOverrides") or {}
    options: Content = (own.get("logConfiguration") or {}).get("options") or {}
    return {
        "image": own.get("image", ""),
        "command": list(over.get("command") or own.get("command") or ()),
        "environment": _pairs(own.get("environment")) | _pairs(over.get("environment")) | told(seat),
        "mounts": list(_mounts(own)),
        "log_group": options.get("awslogs-group", ""),
        "log_prefix": options.get("awslogs-stream-prefix", ""),
    }


def told(seat: Seat) -> dict[str, str]:
    """Batch's own variables. The main node is not told its own address."""
    others = {"AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS": seat.main_address} if seat.index != seat.main else {}
    return {
        "AWS_BATCH_CE_NAME": seat.environment,
        "AWS_BATCH_JQ_NAME": seat.queue,
        "AWS_BATCH_JOB_ID": f"{seat.job_id}#{seat.index}",
        "AWS_BATCH_JOB_ATTEMPT": str(seat.attempt),
        "AWS_BATCH_JOB_NODE_INDEX": str(seat.index),
        "AWS_BATCH_JOB_NUM_NODES": str(seat.nodes),
        "AWS_BATCH_JOB_MAIN_NODE_INDEX": str(seat.main),
        **others,
    }


def _of_node(ranges: Sequence[Content], seat: Seat) -> Content | None:
    return next((each for each in ranges if _holds(str(each["targetNodes"]), seat.index)), None)


def _holds(target: str, index: int) -> bool:
    """``0:``, ``:3``, ``1:3`` or ``2``."""
    first, separator, last = target.partition(":")
    if not separator:
        return int(first) == index
    return int(first or 0) <= index and (not last or index <= int(last))


def _pairs(listed: Sequence[Mapping[str, str]] | None) -> dict[str, str]:
    return {each["name"]: each["value"] for each in listed or ()}


def _mounts(own: Content) -> Iterator[dict[str, Any]]:
    hosts = {each["name"]: (each.get("host") or {}).get("sourcePath", "") for each in own.get("volumes") or ()}
    for each in own.get("mountPoints") or ():
        yield {
            "container": each["containerPath"],
            "host": hosts.get(each["sourceVolume"], ""),
            "read_only": bool(each.get("readOnly")),
        }
