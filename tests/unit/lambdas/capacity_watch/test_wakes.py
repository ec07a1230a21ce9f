"""Which fleets an event makes the watch look at, and that an interruption is counted for its fleet and once."""

import pytest

from fleet import metrics
from fleet.fleet_spec import MarketKind
from fleet.reserved.observed import FleetDeployment
from lambdas.capacity_watch import handler
from tests.support.capacity_account import Account, Deploy, warning
from tests.support.watched_capacity import endpoint, group, nodes, place


def spot_account() -> Account:
    return Account(
        scaling={"chat": group(4), "other": group(4)},
        running={"chat": nodes(4)},
        tags={"i-1": ("prod", "chat"), "i-2": ("prod", "chat"), "i-3": ("staging", "chat")},
    )


def spot_fleets() -> tuple[FleetDeployment, FleetDeployment]:
    return tuple(endpoint(fleet=name, market=MarketKind.SPOT) for name in ("chat", "other"))  # type: ignore[return-value]  # two names, two places


def test_a_spot_warning_counts_for_its_fleet_only_and_once(deploy: Deploy) -> None:
    deployed = deploy(spot_account(), *spot_fleets())

    first = deployed.invoke(warning("i-1"))
    event = deployed.capacity["chat"]
    again = deployed.invoke(warning("i-1"))
    written_again = deployed.written
    another = deployed.invoke(warning("i-2", "e-2"))

    assert first["looked_at"] == ["chat"]
    assert (event[metrics.SPOT_INTERRUPTIONS.name], event["interrupted"]) == (1, ["i-1"])
    assert event["reason"] == "EC2 takes back i-1 (Spot)"
    assert (again["looked_at"], written_again) == ([], [])
    assert another["looked_at"] == ["chat"]


def test_the_clocks_look_does_not_say_that_there_were_no_interruptions(deploy: Deploy) -> None:
    deployed = deploy(spot_account(), *spot_fleets())

    deployed.invoke()

    assert set(deployed.capacity) == {"chat", "other"}
    assert all(metrics.SPOT_INTERRUPTIONS.name not in event for event in deployed.capacity.values())


def test_the_next_looks_still_name_what_was_taken_back_and_do_not_count_it_again(deploy: Deploy) -> None:
    deployed = deploy(spot_account(), *spot_fleets())
    deployed.invoke(warning("i-1"))

    deployed.invoke()

    chat, other = deployed.capacity["chat"], deployed.capacity["other"]
    assert chat["reason"] == "EC2 takes back i-1 (Spot)"
    assert "reason" not in other
    assert all(metrics.SPOT_INTERRUPTIONS.name not in event for event in (chat, other))


@pytest.mark.parametrize("instance_id", ["i-3", "i-of-somebody-else"])
def test_an_interruption_elsewhere_is_nobodys_business(deploy: Deploy, instance_id: str) -> None:
    deployed = deploy(spot_account(), *spot_fleets())

    assert deployed.invoke(warning(instance_id))["looked_at"] == []


def test_a_warning_whose_instance_cannot_be_looked_up_is_tried_again(deploy: Deploy) -> None:
    account = spot_account()
    account.broken["i-1"] = TimeoutError("EC2 does not answer")
    deployed = deploy(account, *spot_fleets())

    with pytest.raises(TimeoutError):
        deployed.invoke(warning("i-1"))
    account.broken.clear()

    assert deployed.invoke(warning("i-1"))["looked_at"] == ["chat"]


def test_a_warning_whose_fleet_cannot_be_seen_is_tried_again(deploy: Deploy) -> None:
    account = spot_account()
    del account.scaling["chat"]
    deployed = deploy(account, *spot_fleets())

    with pytest.raises(handler.NotSeenError, match="i-1"):
        deployed.invoke(warning("i-1"))


def test_a_blocked_queue_and_a_failed_launch_make_only_their_fleet_be_looked_at(deploy: Deploy) -> None:
    account = Account(scaling={"chat": group(4)})
    deployed = deploy(account, place(fleet="a", queue="queue-a"), place(fleet="b"), endpoint(fleet="chat"))
    blocked = {
        "detail-type": "Batch Job Queue Blocked",
        "source": "aws.batch",
        "resources": ["arn:aws:batch:us-east-2:111122223333:job/1", "queue-a"],
        "detail": {"jobQueue": "queue-a"},
    }
    failed = {
        "detail-type": "EC2 Instance Launch Unsuccessful",
        "source": "aws.autoscaling",
        "detail": {"AutoScalingGroupName": "chat"},
    }

    assert deployed.invoke(blocked)["looked_at"] == ["a"]
    assert deployed.invoke(failed)["looked_at"] == ["chat"]


@pytest.mark.parametrize("instance_id", ["i-1", "i-3"])
def test_a_look_at_one_fleet_or_none_is_no_minute_without_problems(deploy: Deploy, instance_id: str) -> None:
    account = spot_account()
    del account.scaling["other"]
    deployed = deploy(account, *spot_fleets())

    deployed.invoke()
    assert deployed.problems == 1
    deployed.invoke(warning(instance_id))

    assert not [line for line in deployed.written if "CapacityWatchProblems" in line]
