"""What cfn-lint has against a template. Its rules are loaded once in a test run: they cost more than most templates."""

from functools import cache

from cfnlint import ConfigMixIn
from cfnlint.config import ManualArgs
from cfnlint.decode.decode import decode_str
from cfnlint.match import Match
from cfnlint.runner import Runner, run_template_by_data


@cache
def _runner() -> Runner:
    return Runner(ConfigMixIn(**ManualArgs(regions=["us-east-2"])))


@cache
def _errors(text: str, region: str, ignored: tuple[str, ...]) -> tuple[Match, ...]:
    template, unreadable = decode_str(text)
    if unreadable or template is None:
        return tuple(unreadable)
    # Warnings are nobody's reason to refuse a template, so they are not looked for.
    config = ConfigMixIn(**ManualArgs(regions=[region], ignore_checks=["W", "I", *ignored]))
    found = run_template_by_data(template, config, _runner().rules)
    return tuple(match for match in found if match.rule.severity == "error")


def rules_broken(text: str, region: str = "us-east-2", *ignored: str) -> list[str]:
    """The ids of the rules whose errors the template has."""
    return [match.rule.id for match in _errors(text, region, ignored)]


def errors(text: str, region: str = "us-east-2", *ignored: str) -> list[str]:
    """Why CloudFormation would not accept the template; equal templates are looked at once."""
    return [str(match)[:300] for match in _errors(text, region, ignored)]
