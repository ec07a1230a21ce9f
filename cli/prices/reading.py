"""The newest prices for commands that do without them when AWS does not answer: then they say so, and go on."""

from collections.abc import Mapping
from typing import Final

from cli.account import Account, AwsError, has_no_credentials
from cli.answers import complain, refuse
from cli.prices import table
from environments import loader
from fleet.fleet_spec import FleetSpec
from fleet.instances import Price
from fleet.prices.record import PriceRecordError

PRICES_HELP: Final = "An environment whose refreshed prices lie over the embedded ones. Default: offline."


def newest(account: Account, environment: str, spec: FleetSpec) -> FleetSpec:
    """``spec`` at the newest known price; at the embedded one, with a line about it, when the table is not answered."""
    try:
        return table.newest(account, environment, spec)
    except (AwsError, PriceRecordError) as error:
        if isinstance(error, AwsError) and has_no_credentials(error):
            raise
        complain(f"the refreshed price was not read, the embedded one counts: {error}")
        return spec


def of_environment(name: str | None) -> Mapping[str, tuple[Price, ...]]:
    """All refreshed prices of an environment by instance type; none without a ``name``. An error ends the command."""
    if name is None:
        return {}
    try:
        environment = loader.load(name)
        kept = table.records(Account(environment.region), environment)
    except (AwsError, PriceRecordError, loader.EnvironmentFileError) as error:
        refuse(error)
    if not kept:
        refuse(f"environment {environment.name} has no refreshed prices: fleet prices refresh {name}")
    return table.by_type(kept)
