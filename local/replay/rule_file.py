"""Anybody's Prometheus rules as a set of alarms: what their alerts would have told in a scenario.

Rules are evaluated over the series that agents push (docs/prometheus.md), by the engine that evaluates this project's
own rules; what it does not know is refused. The form is that of Prometheus's rule files ("Alerting rules", Prometheus
documentation, read 2026-11-23); groups' intervals count as one minute.
"""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from fleet.alarms import AlarmSettings, Area, ContributorSpec, Severity
from local.alarm_evaluation.promql import PromqlError, parse, selectors_in
from local.replay.living import ENVIRONMENT

NAME: Final = "rules"
# What says that somebody is woken; everything else waits for the morning.
_PAGES: Final = frozenset({"page", "critical"})
_DURATION: Final = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")
_SECONDS: Final = (86_400, 3_600, 60, 1)


class RuleFileError(Exception):
    """What cannot be replayed, and what would be right, in one line."""


def _is_duration(text: str) -> str:
    if not text or not _DURATION.fullmatch(text):
        raise ValueError("a duration such as 5m or 1h30m is needed")
    return text


_Duration = Annotated[str, AfterValidator(_is_duration)]


class _Rule(BaseModel):
    model_config = ConfigDict(extra="forbid")

    alert: Annotated[str, Field(min_length=1)]
    expr: str
    pending: _Duration = Field("0s", alias="for")
    keep_firing_for: _Duration = "0s"
    labels: dict[str, str] = Field(default_factory=dict)
    annotations: dict[str, str] = Field(default_factory=dict)


class _Group(BaseModel):
    name: str
    rules: list[_Rule]


class _RuleFile(BaseModel):
    groups: list[_Group]


class Rules:
    """The alerts of a rule file, as the set of alarms of whichever fleet."""

    def __init__(self, rules: Sequence[_Rule]) -> None:
        self._rules = tuple(rules)
        self._named = Counter(rule.alert for rule in rules)

    def alarms(self, settings: AlarmSettings) -> Sequence[ContributorSpec]:
        """One alarm for each alert. Those of other fleets are told of by the label ``fleet``."""
        return [
            ContributorSpec(
                environment=settings.environment,
                subject=settings.fleet,
                area=Area.HEALTH,
                key=self._key(index, rule),
                title=rule.alert,
                severity=Severity.PAGE if rule.labels.get("severity") in _PAGES else Severity.TICKET,
                summary=rule.annotations.get("summary", rule.alert),
                action="",
                expression=rule.expr,
                contributor=(),
                pending_seconds=_seconds(rule.pending),
                recovery_seconds=_seconds(rule.keep_firing_for),
                reason="",
            )
            for index, rule in enumerate(self._rules)
        ]

    def _key(self, index: int, rule: _Rule) -> str:
        # Prometheus takes several alerts of one name, such as one for each severity.
        return rule.alert if self._named[rule.alert] == 1 else f"{rule.alert}-{index}"


def load(path: Path) -> Rules:
    """The alerts of the rule file ``path``.

    Raises:
        RuleFileError: it cannot be read, is no rule file, or has an expression that is not evaluated here.
    """
    try:
        found = _RuleFile.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError) as error:
        raise RuleFileError(f"{path}: {getattr(error, 'strerror', None) or 'no text in UTF-8'}") from error
    except yaml.YAMLError as error:
        raise RuleFileError(f"{path}: no YAML: {' '.join(str(error).split())}") from error
    except ValidationError as error:
        raise RuleFileError(f"{path}: {_first(error)}") from error
    rules = [rule for group in found.groups for rule in group.rules]
    if not rules:
        raise RuleFileError(f"{path}: there is no alert in it")
    for rule in rules:
        _check(path, rule)
    return Rules(rules)


def _check(path: Path, rule: _Rule) -> None:
    try:
        selectors = [selector for selector, _ in selectors_in(parse(rule.expr))]
    except PromqlError as error:
        raise RuleFileError(f"{path}: {rule.alert}: {error}") from error
    matchers = [matcher for selector in selectors for matcher in selector.matchers]
    other = next((each.value for each in matchers if each.name == "environment" and not each.holds(ENVIRONMENT)), None)
    if other is not None:
        fix = "leave out the matchers of environment and fleet"
        raise RuleFileError(f"{path}: {rule.alert}: scenarios have no environment {other}; {fix}")


def _first(error: ValidationError) -> str:
    found = error.errors(include_url=False)
    first, place = found[0], ".".join(str(part) for part in found[0]["loc"])
    record = "; recording rules are not evaluated" if any("record" in each["loc"] for each in found) else ""
    return f"{place or 'the file'}: {first['msg'][0].lower()}{first['msg'][1:]}{record}"


def _seconds(duration: str) -> int:
    found = _DURATION.fullmatch(duration)
    parts = found.groups() if found else ()
    return sum(int(part or 0) * size for part, size in zip(parts, _SECONDS, strict=True))
