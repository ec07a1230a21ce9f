"""`fleet jobs list` and `fleet jobs show`: what waits and runs, how far it is, and what it costs.

How far: what CloudWatch has of tokens, and of how busy the tensor engines are.
"""

from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from cli.account import Account
from cli.answers import print_json, say
from cli.figures import dollars, priced, today
from cli.jobs.found import Found, Wanted
from cli.jobs.job_lookup import every, find, nodes_of
from cli.named import Name, answering
from cli.prices.table import newest_or_embedded
from cli.tables import Table, print_table
from environments.fleet_specs import fleet_spec
from environments.model import Environment
from fleet import metrics
from fleet.instances import Price
from fleet.jobs.forecast import Money, NodeRun, Pace, money
from fleet.metrics import MetricSpec
from fleet.prices import price_of
from fleet.prices.age import staleness

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch.type_defs import MetricDataQueryTypeDef, MetricTypeDef


_LATELY: Final = timedelta(minutes=10)
# CloudWatch keeps one-minute figures for 15 days, five-minute ones for 63, hourly ones for 455.
_PERIODS: Final = ((timedelta(days=1), 60), (timedelta(days=30), 300))
_LONGEST_PERIOD: Final = 3600


def pace_of(account: Account, environment: str, found: Found, now: datetime) -> Pace:
    """As the job's nodes reported it; a job that reports nothing has a pace of nothing known.

    Raises:
        AwsError: CloudWatch does not answer.
    """
    end = min(now, found.stopped) if found.stopped else now
    end = end.replace(second=0, microsecond=0) + (timedelta(minutes=1) if found.stopped else timedelta())
    lately = _values(account, environment, found, (end - _LATELY, end), 60)
    done = None
    if found.created is not None and found.created < end:
        period = next((p for longest, p in _PERIODS if end - found.created <= longest), _LONGEST_PERIOD)
        sums = _values(account, environment, found, (found.created, end), period)["tokens"]
        # A rate of each node for each of its minutes.
        done = sum(sums) * metrics.PERIOD_SECONDS if sums else None
    busy = lately["busy"]
    return Pace(tuple(lately["tokens"]), done, sum(busy) / len(busy) if busy else None)


def _values(
    account: Account, environment: str, found: Found, span: tuple[datetime, datetime], period: int
) -> dict[str, list[float]]:
    queries = [
        _query("tokens", metrics.TOKENS_PER_SECOND, "Sum", environment, found, period),
        _query("busy", metrics.TENSOR_ENGINE_UTILIZATION, "Average", environment, found, period),
    ]
    pages = account.cloudwatch.get_paginator("get_metric_data").paginate(
        MetricDataQueries=queries, StartTime=span[0], EndTime=span[1], ScanBy="TimestampAscending"
    )
    values: dict[str, list[float]] = {"tokens": [], "busy": []}
    for page in pages:
        for result in page.get("MetricDataResults", []):
            values[result["Id"]] += result.get("Values", [])
    return values


def _query(
    key: str, metric: MetricSpec, statistic: str, environment: str, found: Found, period: int
) -> "MetricDataQueryTypeDef":
    dimensions = dict(zip(metrics.JOB_DIMENSIONS, (environment, found.fleet.name, found.job_id), strict=True))
    named: MetricTypeDef = {
        "Namespace": metrics.NAMESPACE,
        "MetricName": metric.name,
        "Dimensions": [{"Name": name, "Value": value} for name, value in dimensions.items()],
    }
    return {"Id": key, "MetricStat": {"Metric": named, "Period": period, "Stat": statistic}, "ReturnData": True}


def list_(
    environment: Name,
    ended: Annotated[
        bool, typer.Option("--all", help="Those that ended too, for as long as Batch keeps them.")
    ] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the jobs that wait and run, fleet by fleet."""
    with answering(environment, "reading the jobs") as named:
        found = list(every(Account(named.region), named, ended=ended))
    if json_:
        print_json([_summary(each) for each in found])
        return
    table = Table("job", "fleet", "owner", "nodes", "state", "since (UTC)", "why")
    for each in found:
        since = each.stopped or each.started or each.created
        when = f"{since:%Y-%m-%d %H:%M}" if since else "-"
        table.add_row(each.name, each.fleet.name, each.job.owner, str(each.job.nodes), each.status, when, each.reason)
    print_table(table)


def show(
    environment: Name, job: Wanted, json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False
) -> None:
    """Show one job: its nodes, its pace, its dollars so far and to come."""
    now = datetime.now(UTC)
    with answering(environment, "reading the job") as named:
        account = Account(named.region)
        found = find(account, named, job)
        nodes = nodes_of(account, found)
        pace = pace_of(account, named.name, found, now)
        spec = newest_or_embedded(account, named.name, fleet_spec(named, found.fleet))
    price = price_of(spec)
    costs = money(found.job, spec, nodes, pace, price, found.stopped or now)
    if json_:
        print_json(_content(found, nodes, pace, costs, price, now))
    else:
        _print(named, found, nodes, pace, costs, price, now)


def _summary(found: Found) -> dict[str, Any]:
    return {
        "job_id": found.job_id,
        "job_name": found.name,
        "job": found.job.name,
        "fleet": found.fleet.name,
        "owner": found.job.owner,
        "nodes": found.job.nodes,
        "status": found.status,
        "reason": found.reason,
        "attempts_ended": found.attempts,
        "created": found.created,
        "started": found.started,
        "stopped": found.stopped,
    }


def _content(
    found: Found, nodes: tuple[NodeRun, ...], pace: Pace, costs: Money, price: Price | None, now: datetime
) -> dict[str, Any]:
    left = None if found.is_over else costs.to_come
    return {
        **_summary(found),
        "per_node": [{**asdict(each), "minutes": each.minutes(found.stopped or now)} for each in nodes],
        "tokens_per_second": pace.tokens_per_second,
        "tokens_done": pace.tokens_done,
        "tokens_wanted": found.job.tokens_wanted,
        "tensor_engine_utilization": pace.tensor_engine_percent,
        "node_minutes": costs.node_minutes,
        "usd_so_far": costs.usd_so_far,
        "hours_to_come": left and left.hours,
        "usd_to_come": left and left.usd,
        "price": price and {**asdict(price), "stale": staleness(price, today())},
    }


def _print(  # noqa: PLR0913, PLR0917 - all that is told
    environment: Environment,
    found: Found,
    nodes: tuple[NodeRun, ...],
    pace: Pace,
    costs: Money,
    price: Price | None,
    now: datetime,
) -> None:
    why = f": {found.reason}" if found.reason else ""
    say(f"{found.name} ({found.job_id}) on {environment.name}/{found.fleet.name}, owner {found.job.owner}")
    say(f"{found.status}{why}; {found.attempts} attempts ended")
    table = Table("node", "state", "attempts", "minutes", "exit", "why")
    for each in nodes:
        code = each.attempts[-1].exit_code if each.attempts else None
        said = each.reason or (each.attempts[-1].reason if each.attempts else "")
        minutes = str(each.minutes(found.stopped or now))
        table.add_row(str(each.index), each.status, str(len(each.attempts)), minutes, _known(code), said)
    print_table(table)
    wanted = f" of {found.job.tokens_wanted:.4g}" if found.job.tokens_wanted else ""
    done = "tokens: none reported" if pace.tokens_done is None else f"tokens: {pace.tokens_done:.4g}{wanted}"
    say(f"{done}; {_known(pace.tokens_per_second, ',.0f')} tokens/s")
    say(f"tensor engines: {_known(pace.tensor_engine_percent, '.0f')} %")
    say(f"so far: ${dollars(costs.usd_so_far)} for {costs.node_minutes} node-minutes; {priced(price)}")
    if costs.to_come is not None and not found.is_over:
        say(
            f"to come: {costs.to_come.hours:,.1f} h, ${dollars(costs.to_come.usd)}, at the pace of now; {priced(price)}"
        )


def _known(value: float | None, form: str = "") -> str:
    return "-" if value is None else format(value, form)
