"""How many nodes are missing, with the reason and what a person should do about it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shortage:
    """``nodes`` may be 0: then ``reason`` is a remark, of something that people should know and nothing lacks by."""

    nodes: int
    reason: str | None = None
    action: str | None = None


NOTHING = Shortage(0)


def worst(*shortages: Shortage) -> Shortage:
    """The greatest; of equal ones the first that gives a reason. So the root cause goes first."""
    most = max(shortage.nodes for shortage in shortages)
    return next(
        (each for each in shortages if each.nodes == most and each.reason),
        Shortage(most),
    )


def one_line(words: str, limit: int = 400) -> str:
    """AWS's own words on one line, cut where they go on and on."""
    line = " ".join(words.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
