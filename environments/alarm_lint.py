"""The alarms of an environment's file, judged before anything is synthesized. `fleet validate` says what is found."""

from collections.abc import Iterator
from typing import Final

from environments.alarm_linter import Around, lint, of_specs
from environments.alarms import environment_alarms, machinery_alarms
from environments.documents import RUNBOOKS
from environments.model import Environment
from environments.types_and_zones import can_be_planned
from fleet.diagnostics import Diagnostic
from fleet.load_balancer import EndpointNames

# Nothing that is judged depends on what they are called.
_ANY_BALANCER: Final = EndpointNames("app/any/0", "targetgroup/any/0")
_ANY_PIPELINE: Final = "arn"


def around(environment: Environment) -> Around:
    """What the linter needs to know of an environment. Reads which runbooks there are."""
    return Around(
        environment=environment.name,
        fleets=tuple(fleet.name for fleet in environment.fleets),
        runbooks=frozenset(path.stem for path in RUNBOOKS.glob("*.md") if path.stem != "README"),
        cloudwatch_usd_per_month=environment.monitoring.cloudwatch_usd_per_month,
    )


def lint_alarms(environment: Environment) -> Iterator[Diagnostic]:
    """Findings about the alarms that the file will have; dashboards are judged at synthesis."""
    # A fleet of a type that there is not, or in no zone of the network, has a diagnostic of its own.
    if not can_be_planned(environment):
        return
    endpoints = {fleet.name: _ANY_BALANCER for fleet in environment.inference_fleets}
    specs = [spec for of_fleet in environment_alarms(environment, endpoints).values() for spec in of_fleet]
    yield from lint(of_specs([*specs, *machinery_alarms(environment, _ANY_PIPELINE)]), around(environment))
