"""The rule language of composite alarms: ``ALARM("a") AND NOT (OK(b) OR FALSE)``, parsed once and evaluated on states.

Sources: PutCompositeAlarm, parameter AlarmRule; "Composite alarms" in the CloudWatch User Guide for ``AT_LEAST``.
NOT binds tightest, then AND, then OR.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from local.alarm_evaluation.states import State

_TOKEN = re.compile(r'\s*(?:(?P<quoted>"(?:[^"\\]|\\.)*")|(?P<mark>[()])|(?P<word>[^\s()"]+))')
_AT_LEAST = re.compile(r'\s*\(\s*"?(\d+)(%?)"?\s*,\s*(NOT\s+)?(ALARM|OK|INSUFFICIENT_DATA)\s*,\s*\(')
_OPERAND = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[^\s()",]+)\s*(,|\)\s*\))')
_NAME_IN_ARN = re.compile(r"^arn:[^:]+:cloudwatch:[^:]*:[^:]*:alarm:(.+)$")


class RuleError(ValueError):
    """An alarm rule that CloudWatch would refuse."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A parsed rule: the alarms it names, in the rule's order, and its truth for given states."""

    alarms: tuple[str, ...]
    holds: Callable[[Callable[[str], State | None]], bool]


Truth = Callable[[Callable[[str], State | None]], bool]


def parse_rule(text: str) -> Rule:
    """Parse an alarm rule; raises ``RuleError`` that shows the part that is wrong."""
    parser = _Parser(text)
    truth = parser.disjunction()
    parser.expect_end()
    return Rule(tuple(dict.fromkeys(parser.alarms)), truth)


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self.alarms: list[str] = []

    def _peek(self) -> str:
        match = _TOKEN.match(self._text, self._position)
        return match.group(match.lastgroup or 0) if match else ""

    def _take(self, expected: str | None = None) -> str:
        match = _TOKEN.match(self._text, self._position)
        token = match.group(match.lastgroup or 0) if match else ""
        if match is None or (expected is not None and token != expected):
            wanted = f", expected {expected!r}" if expected else ""
            raise RuleError(f"alarm rule at character {self._position}: {self._text[self._position :][:20]!r}{wanted}")
        self._position = match.end()
        return token

    def expect_end(self) -> None:
        if self._text[self._position :].strip():
            raise RuleError(f"alarm rule: nothing can follow character {self._position}: {self._peek()!r}")

    def disjunction(self) -> Truth:
        parts = [self._conjunction()]
        while self._peek() == "OR":
            self._take()
            parts.append(self._conjunction())
        return parts[0] if len(parts) == 1 else lambda states: any(part(states) for part in parts)

    def _conjunction(self) -> Truth:
        parts = [self._operand()]
        while self._peek() == "AND":
            self._take()
            parts.append(self._operand())
        return parts[0] if len(parts) == 1 else lambda states: all(part(states) for part in parts)

    def _operand(self) -> Truth:
        word = self._take()
        if word == "NOT":
            inner = self._operand()
            return lambda states: not inner(states)
        if word == "(":
            inner = self.disjunction()
            self._take(")")
            return inner
        if word in ("TRUE", "FALSE"):
            return lambda _states: word == "TRUE"
        if word in State.__members__:
            return self._state_of_alarm(State(word))
        if word == "AT_LEAST":
            return self._at_least()
        raise RuleError(f"alarm rule: {word!r} is not ALARM, OK, INSUFFICIENT_DATA, AT_LEAST, TRUE, FALSE, NOT or '('")

    def _state_of_alarm(self, state: State) -> Truth:
        self._take("(")
        alarm = self._named(self._take())
        self._take(")")
        return lambda states: states(alarm) is state

    def _named(self, token: str) -> str:
        """The alarm that a bare name, a quoted name or an ARN means."""
        name = re.sub(r"\\(.)", r"\1", token[1:-1]) if token.startswith('"') else token
        match = _NAME_IN_ARN.match(name)
        alarm = match[1] if match else name
        self.alarms.append(alarm)
        return alarm

    def _at_least(self) -> Truth:
        """So many of the alarms, or so many percent of them, are in the state, or with NOT in another."""
        head = self._matched(_AT_LEAST)
        number, is_percent, negated, state = int(head[1]), bool(head[2]), bool(head[3]), State(head[4])
        alarms: list[str] = []
        closing = ","
        while closing == ",":
            operand = self._matched(_OPERAND)
            alarms.append(self._named(operand[1]))
            closing = operand[2]
        if not 1 <= number <= (100 if is_percent else len(alarms)):
            raise RuleError(
                f"alarm rule: AT_LEAST {number}{head[2]} of {len(alarms)} alarms can never be, or always is"
            )
        needed = number * len(alarms) if is_percent else number * 100
        return lambda states: 100 * sum((states(each) is state) is not negated for each in alarms) >= needed

    def _matched(self, pattern: re.Pattern[str]) -> re.Match[str]:
        match = pattern.match(self._text, self._position)
        if match is None:
            wanted = "AT_LEAST(number or percentage, state, (alarm, …))"
            raise RuleError(
                f"alarm rule at character {self._position}: {self._text[self._position :][:20]!r}: {wanted}"
            )
        self._position = match.end()
        return match
