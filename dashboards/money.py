"""The price of each fleet's node-hour, with its kind and date: it stands above the dollars that are counted at it."""

from dashboards.widgets import Shape, graph, series, text
from environments.fleet_specs import fleet_spec
from environments.model import Environment
from fleet import metrics
from fleet.metrics import Unit
from fleet.prices import price_of
from fleet.prices.wording import UNKNOWN, rate

# For a log table with dollars: the price that the events were counted at, which may be newer than the deployed one.
PRICE_COLUMNS = "latest(price.kind) as price_kind, latest(price.as_of) as price_date"


def price_text(environment: Environment) -> Shape:
    """Every fleet's price as it was deployed. What day it is read on, nobody knows here: StalePrice says it is old."""
    lines = []
    for fleet in environment.fleets:
        price = price_of(fleet_spec(environment, fleet))
        lines.append(f"**{fleet.name}**: {UNKNOWN if price is None else rate(price, None)}")
    told = " · ".join(lines)
    newer = "Nodes count at a newer price once AWS's lists are refreshed; the tables name the kind and date they used."
    return text(f"Dollars, as deployed: {told}. {newer}", height=2 + len(lines) // 3)


def stale_prices(environment: Environment) -> Shape:
    """Which fleets' prices are too old, or not known."""
    lines = [series(metrics.STALE_PRICE, "Maximum", environment.name, fleet.name) for fleet in environment.fleets]
    return graph("Stale prices (1: too old, or not known)", Unit.COUNT, lines)
