"""`fleet capacity`: search for a Capacity Block, ask for it, and approve or reject what somebody asked for."""

import uuid
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final

import typer

from cli import block_engine
from cli.account import AwsError
from cli.answers import print_json, refuse
from cli.figures import today
from cli.named import Name, fleet_among
from cli.tables import Table, print_table
from environments import loader
from environments.fleets import TrainingFleet
from environments.model import Environment
from fleet.blocks.offering import Offering, Search
from fleet.prices.wording import amount

app = typer.Typer(help="Capacity Blocks: search, request, approve, reject, list.", no_args_is_help=True)
FleetName = Annotated[str, typer.Argument(help="A training fleet whose market is capacity-block.")]
RequestId = Annotated[str, typer.Argument(help="As `fleet capacity list` shows it.")]
Instances = Annotated[int | None, typer.Option(min=1, max=64, help="How many; default: one for each of its nodes.")]
Hours = Annotated[int, typer.Option(min=1, help="How long; whole days are what EC2 mostly sells.")]
Days = Annotated[int, typer.Option(min=1, max=56, help="It is to start within so many days.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask back.")]
_COLUMNS: Final = ("offer", "instances", "zone", "start (UTC)", "end (UTC)", "fee", "$/instance-hour", "$/core-hour")


@app.command()
def search(
    environment: Name,
    fleet: FleetName,
    instances: Instances = None,
    hours: Hours = 24,
    days: Days = 28,
    as_json: AsJson = False,
) -> None:
    """List what EC2 offers in the fleet's zone, the cheapest core-hour first. Nothing is bought."""
    named, of = _fleet(environment, fleet)
    try:
        found = block_engine.search(named, _search(of, instances, hours, days))
    except AwsError as error:
        refuse(error)
    offers = [offer for offer in found if offer.availability_zone == of.availability_zone]
    if as_json:
        print_json([{**asdict(each), "usd_per_core_hour": each.usd_per_core_hour} for each in offers])
        return
    if not offers:
        refuse(f"EC2 offers nothing like that in {of.availability_zone} ({len(found)} offers in other zones)")
    print_table(_offers(offers))


@app.command()
def request(  # noqa: PLR0913, PLR0917 (one for each option)
    environment: Name,
    fleet: FleetName,
    offering_id: Annotated[str, typer.Argument(help="As `fleet capacity search` shows it.")],
    instances: Instances = None,
    hours: Hours = 24,
    days: Days = 28,
    as_json: AsJson = False,
) -> None:
    """Ask for an offer, with the options of the search that found it. Somebody else has to approve it."""
    named, of = _fleet(environment, fleet)
    wanted = _search(of, instances, hours, days)
    wish = {
        "fleet": fleet,
        "offering_id": offering_id,
        "instances": wanted.instances,
        "hours": wanted.hours,
        "earliest": wanted.earliest,
        "latest": wanted.latest,
    }
    _ask(named, "request", uuid.uuid4().hex[:12], as_json, wish)


@app.command()
def approve(environment: Name, request_id: RequestId, yes: Yes = False, as_json: AsJson = False) -> None:
    """Approve a request: it is bought at once, paid in advance, and cannot be cancelled."""
    named = _environment(environment)
    if not yes:
        _confirm(named, request_id)
    _ask(named, "approve", request_id, as_json)


@app.command()
def reject(environment: Name, request_id: RequestId, as_json: AsJson = False) -> None:
    """End a request that was not bought yet."""
    _ask(_environment(environment), "reject", request_id, as_json)


@app.command(name="list")
def list_(environment: Name, as_json: AsJson = False) -> None:
    """List every request and every block that is looked after."""
    try:
        _show(block_engine.everything(_environment(environment)), as_json)
    except AwsError as error:
        refuse(error)


def _environment(name: str) -> Environment:
    try:
        return loader.load(name)
    except loader.EnvironmentFileError as error:
        refuse(error)


def _fleet(environment: str, name: str) -> tuple[Environment, TrainingFleet]:
    named = _environment(environment)
    fleets = {fleet.name: fleet for fleet in named.block_fleets}
    what = f"training fleet of {named.name} whose market is capacity-block"
    return named, fleet_among(name, fleets, what)


def _search(fleet: TrainingFleet, instances: int | None, hours: int, days: int) -> Search:
    now = datetime.now(UTC).replace(microsecond=0)
    return Search(fleet.instance_type, instances or fleet.nodes, hours, now, now + timedelta(days=days))


def _confirm(environment: Environment, request_id: str) -> None:
    try:
        found = [each for each in block_engine.everything(environment) if each["request_id"] == request_id]
    except AwsError as error:
        refuse(error)
    if not found:
        refuse(f"there is no request {request_id}")
    offer = found[0]["offering"]
    typer.confirm(
        f"Buy {offer['instances']} x {offer['instance_type']} for {found[0]['fleet']} from {offer['start']} to "
        f"{offer['end']} for ${amount(offer['fee_usd'])} (Capacity Block fee, as offered {_asked_on(found[0])})? "
        "It cannot be cancelled",
        abort=True,
    )


def _asked_on(request: dict[str, Any]) -> str:
    """The day of the offer."""
    return str(request.get("requested_at", "on a day that is not known"))[:10]


def _ask(
    environment: Environment, action: str, request_id: str, as_json: bool, wish: dict[str, Any] | None = None
) -> None:
    try:
        _show(block_engine.ask(environment, action, request_id, wish), as_json)
    except AwsError as error:
        refuse(error)


def _show(requests: list[Any], as_json: bool) -> None:
    if as_json:
        print_json(requests)
        return
    columns = ("request", "fleet", "status", "block", "start", "end", "Capacity Block fee", "asked by", "approved by")
    table = Table(*columns, "why")
    for each in requests:
        offer = each["offering"]
        fee = "not known" if each["is_adopted"] else f"${amount(offer['fee_usd'])}, {_asked_on(each)}"
        people = (each["requested_by"], each["approved_by"] or "", each["reason"] or "")
        block = each["reservation_id"] or offer["offering_id"]
        table.add_row(
            each["request_id"], each["fleet"], each["status"], block, offer["start"], offer["end"], fee, *people
        )
    print_table(table)


def _offers(offers: list[Offering]) -> Table:
    table = Table(*_COLUMNS, title=f"Capacity Block fees as EC2 offers them, {today()}")
    for each in offers:
        times = (f"{moment:%Y-%m-%d %H:%M}" for moment in (each.start, each.end))
        money = (f"${amount(each.fee_usd)}", amount(each.usd_per_instance_hour), f"{each.usd_per_core_hour:.4f}")
        table.add_row(each.offering_id, str(each.instances), each.availability_zone, *times, *money)
    return table
