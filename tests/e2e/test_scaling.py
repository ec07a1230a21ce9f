"""An endpoint that scales in the embedded AWS, as deployed: load rises and falls, it sleeps, and a request wakes it.

In virtual time, minute by minute. What a node's agent and the load balancer would publish is published here; alarms,
policies, groups and nodes are the embedded AWS's.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import TypeAdapter

from environments import loader
from environments.fleets import InferenceFleet
from environments.model import Environment
from fleet import load_balancer, metrics, naming
from fleet.load_balancer import EndpointNames
from fleet.rollout.facts import RolloutPlace
from local.control import EmulatorControl
from local.deployment import ENVIRONMENT
from tests.support import doctored
from tests.support.embedded_client import client
from tests.support.needs import needs
from tests.support.scaled_endpoint import endpoint_fleet

START = datetime(2026, 11, 23, 8, 0, tzinfo=UTC).timestamp()
SCALING = {
    "min_nodes": 0,
    "targets": {"requests_in_flight_per_core": 4, "queue_seconds": 0.5},
    "warm_up_minutes": 20,
    "scale_to_zero_after_minutes": 60,
    # It is deployed, and whoever looks at it finds no node in it: the embedded AWS stops none.
    "warm_pool": {"nodes": 2},
}

pytestmark = needs("the CDK command line")


def environment() -> Environment:
    """The local endpoint and nothing else, with up to four nodes."""
    local = loader.load(ENVIRONMENT)
    (fleet,) = (each for each in local.fleets if isinstance(each, InferenceFleet))
    one = fleet.model_dump(mode="json") | {"nodes": 4}
    one["endpoint"] |= {"scaling": SCALING}
    return Environment.model_validate({**local.model_dump(mode="json"), "fleets": [one]})


@dataclass
class Load:
    """What a minute has: requests in flight on all nodes' cores together, answers, and refusals."""

    per_core: float = 0.0
    requests: int = 0
    refused: int = 0


@dataclass
class Endpoint:
    control: EmulatorControl
    fleet: InferenceFleet
    names: EndpointNames
    now: float = START
    history: list[int] = field(default_factory=list)

    def nodes(self) -> tuple[int, int]:
        """Asked for, and there."""
        group = self.group()
        return group["DesiredCapacity"], len(group["Instances"])

    def group(self) -> dict[str, Any]:
        groups = client("autoscaling").describe_auto_scaling_groups(AutoScalingGroupNames=[self.names.node_group])
        (found,) = groups["AutoScalingGroups"]
        return dict(found)

    def minutes(self, count: int, load: Load) -> int:
        """Let time pass under a load, which the nodes share; the answer is how many are asked for then."""
        for _ in range(count):
            self._publish(load)
            self.now += 60
            self.control.set_clock(self.now)
            self.history.append(self.nodes()[0])
        return self.history[-1]

    def _publish(self, load: Load) -> None:
        at = datetime.fromtimestamp(self.now, UTC)
        _, there = self.nodes()
        if there:
            dimensions = [
                {"Name": metrics.ENVIRONMENT, "Value": ENVIRONMENT}, {"Name": metrics.FLEET, "Value": self.fleet.name},
            ]  # fmt: skip
            values = {metrics.REQUESTS_IN_FLIGHT_PER_CORE.name: load.per_core / there}
            if load.requests:
                values[metrics.QUEUE_SECONDS.name] = 0.01
            data = [
                {"MetricName": name, "Dimensions": dimensions, "Timestamp": at, "Value": value}
                for name, value in values.items()
            ]
            client("cloudwatch").put_metric_data(Namespace=metrics.NAMESPACE, MetricData=data)
        counted = {load_balancer.REQUEST_COUNT: load.requests, load_balancer.BALANCER_503: load.refused}
        # The load balancer reports what is not zero.
        datums = [
            {"name": name, "timestamp": self.now, "unit": "Count", "values": [count],
             "dimensions": dict(self.names.dimensions(name))}
            for name, count in counted.items() if count
        ]  # fmt: skip
        if datums:
            self.control.put_service_metrics("us-east-2", load_balancer.NAMESPACE, datums)


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    folder = tmp_path_factory.mktemp("scaling")
    with doctored.embedded_account(folder) as control:
        control.set_clock(START)
        scaled = environment()
        doctored.deploy(scaled, folder)
        fleet = endpoint_fleet(scaled)
        yield Endpoint(control, fleet, _names(fleet.name))


def _names(fleet: str) -> EndpointNames:
    """As rollouts know the stable side."""
    parameter = naming.rollout_place_parameter(ENVIRONMENT, fleet)
    found = client("ssm").get_parameter(Name=parameter)["Parameter"]["Value"]
    place = TypeAdapter(RolloutPlace).validate_json(found)
    assert place.scales
    return replace(place.stable.names, node_group=place.stable.group)


NOBODY, REFUSED = Load(), Load(refused=7)


def test_the_day_of_an_endpoint(endpoint: Endpoint) -> None:
    pool = client("autoscaling").describe_warm_pool(AutoScalingGroupName=endpoint.names.node_group)
    assert pool["Instances"] == []
    # As deployed it has no node, and nothing changes that.
    assert endpoint.minutes(10, NOBODY) == 0
    # A refused request wakes it, and others that are refused meanwhile ask for no second node.
    assert endpoint.minutes(2, REFUSED) == 1
    assert endpoint.minutes(20, REFUSED) == 1
    assert endpoint.nodes() == (1, 1)
    # A load that four nodes would take at their target of 4: 1 x 14 / 4, rounded up.
    assert endpoint.minutes(4, Load(per_core=14, requests=900)) == 4
    # Twice as much: there are no more nodes.
    assert endpoint.minutes(22, Load(per_core=30, requests=900)) == 4
    assert endpoint.nodes() == (4, 4)
    # It falls: one node at a time, and never the one that is needed.
    falling = len(endpoint.history)
    assert endpoint.minutes(50, Load(per_core=5, requests=300)) == 2
    steps = endpoint.history[falling:]
    assert sorted(set(steps), reverse=True) == [4, 3, 2]
    assert steps.count(3) >= 15
    # A trickle is enough for one node, and for that one for ever.
    assert endpoint.minutes(40, Load(per_core=0.01, requests=1)) == 1
    # Nobody for an hour: asleep, and it stays so.
    assert endpoint.minutes(58, NOBODY) == 1
    assert endpoint.minutes(6, NOBODY) == 0
    assert endpoint.minutes(10, NOBODY) == 0
    assert endpoint.nodes() == (0, 0)
    # And up again.
    assert endpoint.minutes(2, REFUSED) == 1
    assert endpoint.minutes(10, NOBODY) == 1


def test_during_a_rollout_nodes_neither_come_nor_go(endpoint: Endpoint) -> None:
    groups, name = client("autoscaling"), endpoint.names.node_group
    endpoint.minutes(25, Load(per_core=1, requests=50))
    groups.suspend_processes(AutoScalingGroupName=name, ScalingProcesses=["AlarmNotification"])

    assert [each["ProcessName"] for each in endpoint.group()["SuspendedProcesses"]] == ["AlarmNotification"]
    before = endpoint.nodes()[0]
    assert endpoint.minutes(15, Load(per_core=40, requests=900)) == before
    assert endpoint.minutes(70, NOBODY) == before

    groups.resume_processes(AutoScalingGroupName=name, ScalingProcesses=["AlarmNotification"])
    assert endpoint.group()["SuspendedProcesses"] == []
    assert endpoint.minutes(2, NOBODY) == 0
