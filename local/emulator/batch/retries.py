"""Whether Batch starts a job again: its retry strategy, as SubmitJob and job definitions state it.

Batch user guide, "Automated job retries": up to five rules; of each all its conditions must hold; the first that holds
counts; where none holds, the job is retried as long as attempts are left. A pattern may end in an asterisk. A job that
was ended for its time-out or by a person is not retried ("Job timeouts", "TerminateJob"): nobody asks here then.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_CONDITIONS = {"onExitCode": "exit_code", "onReason": "reason", "onStatusReason": "status_reason"}


@dataclass(frozen=True, slots=True)
class Ended:
    """How the main node's container ended: ``exit_code`` None where it never ran to an end."""

    exit_code: int | None
    reason: str
    status_reason: str

    def says(self, name: str) -> str:
        """What a condition is held against."""
        value = getattr(self, name)
        return "" if value is None else str(value)


@dataclass(frozen=True, slots=True)
class RetryStrategy:
    """``attempts`` counts the first one; ``rules`` have members as the API names them."""

    attempts: int = 1
    rules: Sequence[Mapping[str, str]] = ()

    def retries(self, attempt: int, ended: Ended) -> bool:
        """Whether another attempt follows the one of this number, which failed."""
        if attempt >= self.attempts:
            return False
        action = next((rule["action"] for rule in self.rules if _holds(rule, ended)), "RETRY")
        return action.upper() == "RETRY"


def strategy(of_definition: Mapping[str, Any] | None, asked: Mapping[str, Any] | None) -> RetryStrategy:
    """What was asked for with the job comes before what its definition says."""
    found = asked or of_definition or {}
    return RetryStrategy(int(found.get("attempts", 1)), tuple(found.get("evaluateOnExit") or ()))


def _holds(rule: Mapping[str, str], ended: Ended) -> bool:
    asked = {name: rule[name] for name in _CONDITIONS if rule.get(name)}
    return bool(asked) and all(_matches(pattern, ended.says(_CONDITIONS[name])) for name, pattern in asked.items())


def _matches(pattern: str, text: str) -> bool:
    return text.startswith(pattern[:-1]) if pattern.endswith("*") else text == pattern
