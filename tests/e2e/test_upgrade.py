"""A released version, deployed to the embedded AWS and in use, and this tree deployed over it as a user would."""

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal

import pytest

from fleet import naming
from local.deployment import ENVIRONMENT
from local.training.bill import events
from tests.support import doctored
from tests.support.embedded_client import client
from tests.support.needs import needs
from tests.support.upgrade import kept, releases
from tests.support.upgrade.data import DATA
from tests.support.upgrade.trial import ALARM, BEFORE, ENDPOINT, FLEET, JOB, TOGETHER, Upgrade, upgraded

pytestmark = [needs("the CDK command line"), pytest.mark.soak]


@pytest.fixture(scope="module", params=releases.RELEASES)
def upgrade(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Upgrade]:
    version: str = request.param
    releases.required(version)
    folder = tmp_path_factory.mktemp("upgrade")
    with doctored.embedded_account(folder) as control:
        yield upgraded(version, folder, control)


def test_cloudformation_would_replace_nothing_that_holds_data(upgrade: Upgrade) -> None:
    assert upgrade.endangered == []


def test_everything_that_holds_data_is_the_same_afterwards(upgrade: Upgrade) -> None:
    with_data = {place: each for place, each in upgrade.before.items() if each.kind in DATA}
    assert {each.kind for each in with_data.values()} >= {
        "AWS::S3::Bucket", "AWS::DynamoDB::Table", "AWS::EFS::FileSystem", "AWS::Logs::LogGroup", "AWS::KMS::Key",
        "AWS::SNS::Topic", "AWS::SNS::Subscription", "AWS::SQS::Queue", "AWS::KinesisFirehose::DeliveryStream",
    }  # fmt: skip
    for now in (upgrade.after, upgrade.back):
        assert {each: now.get(place) for place, each in with_data.items() if now.get(place) != each} == {}


def test_what_was_written_before_is_read_afterwards(upgrade: Upgrade) -> None:
    assert upgrade.lost == []


def test_what_was_written_before_is_read_when_the_released_version_is_back(upgrade: Upgrade) -> None:
    assert kept.lost(upgrade.before) == []


def test_no_alarm_is_lost_and_each_keeps_its_state(upgrade: Upgrade) -> None:
    assert upgrade.alarms_before[ALARM][0] == "ALARM"
    changed = {
        name: (was, upgrade.alarms_after.get(name))
        for name, was in upgrade.alarms_before.items()
        if upgrade.alarms_after.get(name) != was
    }
    assert changed == {}


def test_what_a_rollout_serves_is_served_afterwards(upgrade: Upgrade) -> None:
    name = naming.served_version_parameter(ENVIRONMENT, ENDPOINT)
    cluster = naming.cluster_name(ENVIRONMENT, ENDPOINT)
    ecs = client("ecs")
    (service,) = ecs.describe_services(cluster=cluster, services=ecs.list_services(cluster=cluster)["serviceArns"])[
        "services"
    ]
    assert client("ssm").get_parameter(Name=name)["Parameter"]["Value"] == upgrade.served == service["taskDefinition"]


def test_old_and_new_agents_write_every_minute_of_the_hour(upgrade: Upgrade) -> None:
    found = [event for event in events(ENVIRONMENT) if event.get("fleet") == FLEET and "seq" in event]
    of = {node: {event["agent_version"] for event in found if event["node"] == node} for node in upgrade.old_nodes}
    minutes = Counter(event["node"] for event in found if event["state"] != "BLIND")

    assert list(of.values()) == [{upgrade.version}] * 2
    assert len({event["agent_version"] for event in found if event["node"] in upgrade.new_nodes}) == 1
    assert minutes == {
        **dict.fromkeys(upgrade.old_nodes, BEFORE + TOGETHER), **dict.fromkeys(upgrade.new_nodes, TOGETHER)
    }  # fmt: skip


def test_the_ledger_has_every_minute_of_both_to_the_cent(upgrade: Upgrade) -> None:
    """The released function books the first minutes, the new one goes on with what that one left, and back again."""
    price = next(Decimal(str(event["price"]["usd_per_hour"])) for event in events(ENVIRONMENT) if event.get("price"))
    hour = 2 * BEFORE + 4 * TOGETHER
    for told, minutes in ((upgrade.booked_before, 2 * BEFORE), (upgrade.booked, hour), (upgrade.booked_back, hour)):
        (job,) = (row for row in told["rows"] if row["name"] == JOB)
        assert round(Decimal(job["usd"]), 2) == round(price * minutes / 60, 2)
        assert (round(job["node_hours"] * 60), job["unpriced_node_hours"]) == (minutes, 0)
