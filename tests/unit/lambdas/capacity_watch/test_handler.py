"""A whole look through the handler, with a world in memory: what is written, and what one fleet's trouble costs."""

import socket
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from botocore.config import Config

from fleet import metrics
from fleet.fleet_spec import MarketKind
from fleet.instances import Price, PriceKind
from fleet.metrics import Publisher
from fleet.reserved.observed import Activity, FleetDeployment, Stack
from lambdas.capacity_watch import adapters, events, service
from tests.support.capacity_account import Account, Deploy, Deployed, warning
from tests.support.watched_capacity import (
    NOW,
    batch,
    block,
    block_place,
    endpoint,
    group,
    named,
    nodes,
    on_demand,
    place,
    reservation,
)

ICE = "We currently do not have sufficient trn1.32xlarge capacity in the Availability Zone you requested (us-east-2c)."


def test_a_reservation_that_could_not_be_made_is_written_with_cloudformations_words(deploy: Deploy) -> None:
    deployed = deploy(Account(stack=Stack(exists=True, failure=ICE)), place())

    deployed.invoke()

    event = deployed.capacity["pretrain"]
    assert (event["wanted"], event["reserved"], event["missing"]) == (16, 0, 16)
    assert event["reason"] == f"the reservation could not be made: {ICE}"
    assert "deploy stack neuron-fleet-prod-reservation-pretrain again" in event["action"]
    assert event[metrics.MISSING_NODES.name] == 16
    assert event[metrics.RESERVED_INSTANCES.name] == 0


def test_a_reservation_whose_fleet_is_gone_is_counted(deploy: Deploy) -> None:
    deployed = deploy(Account(made=(("gone", reservation(available=3)), ("pretrain", reservation()))), place())

    (line,) = deployed.invoke()["problems"]
    assert deployed.problems == 1
    assert line == (
        "reservation cr-1 is billed for 16 trn1.32xlarge, 3 of them unused, and fleet gone of prod does not reserve "
        "them any more: delete stack neuron-fleet-prod-reservation-gone"
    )


@pytest.mark.parametrize(
    ("of", "count"),
    [(place(), 0), (named(), 0), (named(reservation_id="cr-2"), 1), (on_demand(), 1), (endpoint(), 1)],
    ids=["made here", "named", "another named", "bought another way", "of another purpose"],
)
def test_a_reservation_belongs_to_the_fleet_that_is_launched_into_it(of: FleetDeployment, count: int) -> None:
    world = Account(made=(("pretrain", reservation()),)).world()

    assert len(service.left_behind(world, "prod", (of,))) == count


@pytest.mark.parametrize("changes", [{"state": "cancelled"}, {"state": "expired"}, {"is_block": True}])
def test_what_is_not_billed_by_the_hour_is_nobodys_problem(changes: dict[str, Any]) -> None:
    assert service.left_behind(Account(made=(("gone", reservation(**changes)),)).world(), "prod", ()) == ()


def test_agents_that_could_not_be_asked_for_are_a_problem_and_the_rest_is_said(deploy: Deploy) -> None:
    account = Account(running={"pretrain": nodes(6, "cr-1")}, broken={"hear pretrain": TimeoutError("CloudWatch")})
    deployed = deploy(account, named())

    deployed.invoke()

    assert deployed.problems == 1
    assert "SilentNodes" not in deployed.capacity["pretrain"]
    assert deployed.capacity["pretrain"]["PresentNodes"] == 6


def test_a_node_that_is_made_ready_for_the_pool_is_none_of_the_fleets(deploy: Deploy) -> None:
    of = endpoint(scales=True, has_warm_pool=True)
    account = Account(
        # The last one runs for half an hour without an agent.
        running={"pretrain": nodes(3)}, scaling={"pretrain": group(2, desired=2)},
        waiting={"pretrain": frozenset({"i-2", "i-9"})}, heard={"pretrain": 2},
    )  # fmt: skip
    deployed = deploy(account, of)

    deployed.invoke()

    event = deployed.capacity["pretrain"]
    assert (event["PresentNodes"], event["SilentNodes"], event["MissingNodes"]) == (2, 0, 0)


def test_reservations_that_cannot_be_listed_are_one_problem_and_no_more(deploy: Deploy) -> None:
    deployed = deploy(Account(broken={"see all of prod": TimeoutError("EC2")}), place())

    deployed.invoke()

    assert deployed.problems == 1
    assert "pretrain" in deployed.capacity


def test_an_event_has_the_shape_that_others_read() -> None:
    look = service.Look(block_place(), (block(available=2),))
    account = Account(
        held={"pretrain": look.reservations}, running={"pretrain": nodes(6, "cr-1")}, heard={"pretrain": 5}
    )
    look = service.look(account.world(), (look.place,), NOW)[0]

    assert events.event(look, NOW) == {
        "_aws": {
            # 2026-11-21T10:03:00Z
            "Timestamp": 1795255380000,
            "CloudWatchMetrics": [
                {
                    "Namespace": "NeuronFleet",
                    "Dimensions": [["Environment", "Fleet"]],
                    "Metrics": [
                        {"Name": "ReservedInstances", "Unit": "Count"},
                        {"Name": "UnusedReservedInstances", "Unit": "Count"},
                        {"Name": "UnusedReservationUsdPerHour", "Unit": "None"},
                        {"Name": "MissingNodes", "Unit": "Count"},
                        {"Name": "StalePrice", "Unit": "Count"},
                        {"Name": "PresentNodes", "Unit": "Count"},
                        {"Name": "SilentNodes", "Unit": "Count"},
                        {"Name": "CapacityBlockMinutesLeft", "Unit": "Count"},
                    ],
                }
            ],
        },
        "Environment": "prod",
        "Fleet": "pretrain",
        "ReservedInstances": 8,
        "UnusedReservedInstances": 2,
        "UnusedReservationUsdPerHour": 71.5216,
        "MissingNodes": 0,
        "StalePrice": 0,
        "PresentNodes": 6,
        "SilentNodes": 1,
        "CapacityBlockMinutesLeft": 2966,
        "schema": 1,
        "kind": "capacity",
        "environment": "prod",
        "fleet": "pretrain",
        "minute": "2026-11-21T10:03:00Z",
        "owner": "foundation-models",
        "instance_type": "trn2.48xlarge",
        "market": "capacity-block",
        "wanted": 8,
        "reserved": 8,
        "used": 6,
        "unused": 2,
        "missing": 0,
        "present": 6,
        "silent": 1,
        "price": {
            "usd_per_hour": 35.7608,
            "kind": "capacity-block",
            "source": "Capacity Blocks price page",
            "as_of": "2026-10-09",
        },
        "unused_usd_per_hour": 71.5216,
        "ends_at": "2026-11-23T11:30:00Z",
        "reservations": [
            {"id": "cr-1", "state": "active", "total": 8, "available": 2, "ends_at": "2026-11-23T11:30:00Z"}
        ],
    }


def test_every_metric_of_the_watch_is_published_by_some_fleet(deploy: Deploy) -> None:
    spot = endpoint(fleet="chat", market=MarketKind.SPOT)
    account = Account(
        held={"frontier": (block(),)},
        scaling={"chat": group(4)},
        tags={"i-9": ("prod", "chat")},
        running={"frontier": nodes(2)},
        apart={"frontier": 31.0},
    )
    deployed = deploy(account, block_place(fleet="frontier"), spot)

    deployed.invoke()
    published = _metrics(deployed)
    deployed.invoke(warning("i-9"))
    published |= _metrics(deployed)

    assert published == {s.name for s in metrics.CATALOGUE.values() if s.publisher is Publisher.CAPACITY_WATCH}


def _metrics(deployed: Deployed) -> set[str]:
    directives = [event["_aws"]["CloudWatchMetrics"][0] for event in deployed.capacity.values()]
    return {metric["Name"] for directive in directives for metric in directive["Metrics"]}


def test_one_fleet_that_cannot_be_seen_is_absent_and_counted_and_the_others_are_seen(deploy: Deploy) -> None:
    account = Account(held={"b": (reservation(),)}, broken={"see a": TimeoutError("EC2 does not answer")})
    deployed = deploy(account, place(fleet="a"), place(fleet="b"))

    answer = deployed.invoke()

    assert set(deployed.capacity) == {"b"}
    assert deployed.problems == 1
    assert answer["problems"] == ["fleet a: TimeoutError: EC2 does not answer"]


def test_what_cannot_be_put_in_order_is_said_all_the_same(deploy: Deploy) -> None:
    account = Account(held={"pretrain": (reservation(),)}, broken={"join pretrain": LookupError("denied")})
    deployed = deploy(account, place())

    deployed.invoke()

    assert deployed.capacity["pretrain"]["missing"] == 0
    assert deployed.problems == 1
    # Nodes that do not find the reservation would be paid for beside it.
    assert account.kept == []


def test_a_look_without_trouble_counts_no_problem(deploy: Deploy) -> None:
    deployed = deploy(Account(held={"pretrain": (reservation(),)}), place())

    deployed.invoke()

    assert deployed.problems == 0


def test_a_reservation_joins_the_group_and_its_nodes_are_kept_only_when_they_are_not(deploy: Deploy) -> None:
    account = Account(held={"pretrain": (reservation(),)})
    deployed = deploy(account, place())
    deployed.invoke()
    account.environments["pretrain"] = batch(minimum_vcpus=2048)
    deployed.invoke()
    account.held["pretrain"] = (reservation(state="expired"),)
    deployed.invoke()

    # 16 x 128 vCPUs, left alone at the second look, let go of at the third.
    assert account.kept == [("pretrain", 2048), ("pretrain", 0)]
    assert account.joined == [("pretrain", ["cr-1"])] * 3


def test_a_block_and_a_named_reservation_join_nothing_and_a_block_is_not_scaled(deploy: Deploy) -> None:
    account = Account(held={"frontier": (block(),)})
    deployed = deploy(account, block_place(fleet="frontier"))

    deployed.invoke()

    assert (account.joined, account.kept) == ([], [])


def test_cloudformation_is_asked_only_about_a_reservation_that_is_lacking(deploy: Deploy) -> None:
    account = Account(held={"whole": (reservation(),), "short": (reservation(total=12),), "changed": (reservation(),)})
    changed = place(fleet="changed", instance_type="trn1n.32xlarge")
    deployed = deploy(account, place(fleet="whole"), place(fleet="short"), changed)

    deployed.invoke()

    assert sorted(account.stacks_asked) == ["changed", "short"]


def test_a_scaling_group_without_capacity_is_quoted(deploy: Deploy) -> None:
    failed = Activity(NOW, is_over=True, has_failed=True, words=ICE)
    deployed = deploy(Account(scaling={"chat": group(1, failed)}), endpoint(fleet="chat"))

    deployed.invoke()

    assert deployed.capacity["chat"]["missing"] == 3
    assert deployed.capacity["chat"]["reason"] == f"Auto Scaling says: {ICE}"
    assert "reserved" not in deployed.capacity["chat"]
    assert metrics.RESERVED_INSTANCES.name not in deployed.capacity["chat"]


def test_two_looks_in_a_minute_say_the_same(deploy: Deploy) -> None:
    account = Account(held={"pretrain": (reservation(available=2),)}, environments={"pretrain": batch()})
    world, fleet = account.world(), place()

    (first,) = service.look(world, (fleet,), NOW)
    (second,) = service.look(world, (fleet,), NOW + timedelta(seconds=30))

    assert events.event(first, NOW) == events.event(second, NOW + timedelta(seconds=30))


def test_the_stacks_that_are_being_changed_are_counted_at_every_whole_look(deploy: Deploy) -> None:
    account = Account(changing=("neuron-fleet-prod-training", "neuron-fleet-prod-capacity"))
    deployed = deploy(account, place())

    deployed.invoke()
    first = deployed.counted("DeploymentsInProgress")
    account.changing = ()
    deployed.invoke()

    assert (first, deployed.counted("DeploymentsInProgress")) == (2, 0)


def test_deployments_that_nobody_can_see_suppress_nothing_and_are_a_problem(deploy: Deploy) -> None:
    deployed = deploy(Account(broken={"deployments of prod": TimeoutError("CloudFormation")}), place())

    answer = deployed.invoke()

    assert deployed.counted("DeploymentsInProgress") is None
    assert answer["problems"] == ["deployments: TimeoutError: CloudFormation"]


def test_a_missing_setting_is_named(deploy: Deploy, monkeypatch: pytest.MonkeyPatch) -> None:
    deployed = deploy(Account(), place())
    monkeypatch.delenv("ENVIRONMENT")

    with pytest.raises(ValueError, match="ENVIRONMENT"):
        deployed.invoke()


def test_calls_give_up_soon_and_are_tried_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-2")
    asked: list[Any] = []
    monkeypatch.setattr(boto3, "client", lambda service, config: asked.append((service, config)))

    adapters.dependencies()

    wanted = ["autoscaling", "batch", "cloudformation", "cloudwatch", "ec2", "resource-groups"]
    assert sorted(service for service, _ in asked) == wanted
    for _, config in asked:
        assert (config.connect_timeout, config.read_timeout) == (2, 5)
        assert config.retries == {"mode": "standard", "total_max_attempts": 2}


def test_an_api_that_never_answers_costs_its_fleet_a_look_and_nobody_else_anything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    impatient = adapters.PATIENT_FOR_A_LOOK.merge(Config(read_timeout=0.2))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setattr(adapters, "PATIENT_FOR_A_LOOK", impatient)
        monkeypatch.setenv("AWS_ENDPOINT_URL_AUTO_SCALING", f"http://127.0.0.1:{silent.getsockname()[1]}")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-2")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        healthy = Account(held={"pretrain": (reservation(),)}).world()
        world = replace(healthy, groups=adapters.dependencies().groups)

        waits, sound = service.look(world, (endpoint(fleet="chat"), place()), NOW)

    assert waits.assessment is None
    assert "ReadTimeoutError" in waits.problems[0]
    assert sound.assessment is not None


def test_the_clock_is_utc() -> None:
    local = datetime(2026, 11, 21, 10, 3, 59, tzinfo=UTC)

    assert events.event(service.look(Account().world(), (place(),), local)[0], local)["minute"] == (  # type: ignore[index]  # it was seen
        "2026-11-21T10:03:00Z"
    )


FRESH = Price(PriceKind.CAPACITY_BLOCK, 40.0, "us-east-2", "2026-11-21", "EC2 Capacity Block offers", "x")


def priced(deploy: Deploy, account: Account, **changes: Any) -> dict[str, Any]:
    held = (block(available=2),)
    account.held, account.running = {"pretrain": held}, {"pretrain": nodes(6, "cr-1")}
    deployed = deploy(account, replace(block_place(), **changes))
    deployed.invoke()
    return deployed.capacity["pretrain"]


def test_dollars_are_counted_at_the_refreshed_price(deploy: Deploy) -> None:
    event = priced(deploy, Account(prices={"trn2.48xlarge": (FRESH,)}))

    assert event["price"] == {
        "usd_per_hour": 40.0, "kind": "capacity-block", "source": "EC2 Capacity Block offers", "as_of": "2026-11-21",
    }  # fmt: skip
    assert (event["UnusedReservationUsdPerHour"], event["StalePrice"]) == (80.0, 0)


def test_a_negotiated_rate_goes_before_the_refreshed_price_and_grows_old_too(deploy: Deploy) -> None:
    agreed = replace(FRESH, kind=PriceKind.NEGOTIATED, usd_per_hour=30.0, source="EDP", as_of="2025-11-01")
    event = priced(deploy, Account(prices={"trn2.48xlarge": (FRESH,)}), price=agreed)

    assert (event["price"]["usd_per_hour"], event["StalePrice"]) == (30.0, 1)
    assert event["price_stale"] == "385 days old, limit 366"


def test_a_table_that_does_not_answer_is_a_problem_and_the_known_price_counts(deploy: Deploy) -> None:
    account = Account(broken={"prices": TimeoutError("DynamoDB")})
    event = priced(deploy, account)

    assert (event["price"]["usd_per_hour"], event["StalePrice"]) == (35.7608, 0)


def test_a_market_without_a_price_is_stale_and_costs_nothing_that_is_written(deploy: Deploy) -> None:
    deployed = deploy(Account(running={"pretrain": nodes(2)}), on_demand(instance_type="trn2.48xlarge"))
    deployed.invoke()
    (event,) = deployed.capacity.values()

    assert (event["StalePrice"], event["price_stale"]) == (1, "no price is known")
    assert "price" not in event
