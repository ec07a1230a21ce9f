"""A hardware error that some source saw on this node."""

from collections.abc import Iterable
from dataclasses import dataclass

from fleet.hardware_errors import Action, HardwareError


@dataclass(frozen=True, slots=True)
class SeenError:
    """``count`` new errors of one kind; ``device`` is None where the source does not name it."""

    error: HardwareError
    device: int | None
    count: int


def worst(errors: Iterable[SeenError]) -> str | None:
    """The error with the strongest action, in words; None when none asks for an action."""
    acute = [seen for seen in errors if seen.error.action is not Action.NONE]
    if not acute:
        return None
    seen = max(acute, key=lambda each: tuple(Action).index(each.error.action))
    where = "" if seen.device is None else f" on device {seen.device}"
    return f"{seen.error.kind}{where}: {seen.error.meaning}; {seen.error.action.value}"
