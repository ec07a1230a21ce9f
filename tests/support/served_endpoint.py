"""An endpoint on this machine, over the embedded AWS: what ECS, EC2 and the load balancer would do.

``Tasks`` keeps one server process for every node of a side, of the version that the side's service is told, and makes
the healthy ones targets. ``Proxy`` shares requests out by the weights that it reads from the listener's rule, and
writes what a load balancer measures. Both read AWS as it is; nobody tells them of a rollout.
"""

import http.client
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from fleet import load_balancer, metrics
from fleet.rollout.facts import RolloutPlace, SidePlace
from local.control import EmulatorControl
from local.processes import stop
from tests.support.embedded_client import client
from tests.support.kept_connections import Address, KeptConnections, ask, connected

SERVER = Path(__file__).with_name("standin_server.py")
STABLE_NODES = 2
_HOSTS = count(2)
_PAUSE = 0.8
# Longer than the proxy takes to see that a target is gone.
_DRAIN = 1.6


@dataclass
class Task:
    version: str
    process: "subprocess.Popen[bytes]"
    at: Address
    is_target: bool = False

    def is_healthy(self) -> bool:
        with suppress(OSError, http.client.HTTPException), connected(self.at) as connection:
            return ask(connection, "/health")[0] == 200
        return False


class Tasks:
    """One side's."""

    def __init__(self, side: SidePlace, container: str, nodes: int | None) -> None:
        self._side, self._container, self._nodes = side, container, nodes
        self._running: list[Task] = []
        self._ecs, self._elb, self._groups = client("ecs"), client("elbv2"), client("autoscaling")
        self._versions: dict[str, str] = {}

    def settle(self) -> None:
        """One step towards what the service and the group say: a task is replaced at a time, and drained first."""
        version, wanted = self._version(), self._wanted()
        for task in [each for each in self._running if each.version != version][:1] or self._running[wanted:]:
            self._stop(task)
        if len(self._running) < wanted:
            self._start(version)
        if all(task.version == version for task in self._running):
            self._let_old_tasks_go()
        for task in self._running:
            if not task.is_target and task.is_healthy():
                self._elb.register_targets(TargetGroupArn=self._side.target_group, Targets=[_target(task)])
                task.is_target = True

    def _let_old_tasks_go(self) -> None:
        """The embedded ECS keeps one task of a service without any process, and replaces it when it has stopped."""
        where = {"cluster": self._side.cluster}
        found = self._ecs.describe_services(**where, services=[self._side.service])["services"][0]
        arns = self._ecs.list_tasks(**where, serviceName=self._side.service)["taskArns"]
        for task in self._ecs.describe_tasks(**where, tasks=arns)["tasks"] if arns else ():
            if task["taskDefinitionArn"] != found["taskDefinition"]:
                self._ecs.stop_task(**where, task=task["taskArn"])
                # It looks at a service when that is updated, with whatever.
                self._ecs.update_service(**where, service=self._side.service)

    def stop(self) -> None:
        for task in self._running:
            stop(task.process)

    def _version(self) -> str:
        """The image's name after the last slash, without its digest: what the stand-in does."""
        found = self._ecs.describe_services(cluster=self._side.cluster, services=[self._side.service])["services"][0]
        # A revision never changes.
        revision = found["taskDefinition"]
        if revision not in self._versions:
            definition = self._ecs.describe_task_definition(taskDefinition=revision)["taskDefinition"]
            (image,) = (each["image"] for each in definition["containerDefinitions"] if each["name"] == self._container)
            self._versions[revision] = str(image).partition("@")[0].partition(":")[0].rpartition("/")[2]
        return self._versions[revision]

    def _wanted(self) -> int:
        if self._nodes is not None:
            return self._nodes
        (group,) = self._groups.describe_auto_scaling_groups(AutoScalingGroupNames=[self._side.group])[
            "AutoScalingGroups"
        ]
        return int(group["DesiredCapacity"])

    def _start(self, version: str) -> None:
        # An address of this machine for each, as a task has one of the VPC: targets are told apart by it.
        host = f"127.0.{next(_HOSTS)}.1"
        process = subprocess.Popen([sys.executable, str(SERVER), version, host], stdout=subprocess.PIPE)
        assert process.stdout is not None
        self._running.append(Task(version, process, (host, int(process.stdout.readline()))))

    def _stop(self, task: Task) -> None:
        if task.is_target:
            self._elb.deregister_targets(TargetGroupArn=self._side.target_group, Targets=[_target(task)])
            time.sleep(_DRAIN)
        stop(task.process)
        self._running.remove(task)


def _target(task: Task) -> dict[str, Any]:
    return {"Id": task.at[0], "Port": task.at[1]}


@dataclass
class Counted:
    """What the client saw: answers by version and status, and requests that nobody answered."""

    answers: Counter[tuple[str, int]] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)
    weights: list[tuple[int, int]] = field(default_factory=list)


class Proxy:
    """The listener. ``counted`` is the client's own count."""

    def __init__(self, place: RolloutPlace, control: EmulatorControl, region: str) -> None:
        self._place, self._control, self._region = place, control, region
        self._elb = client("elbv2")
        self._weights = (100, 0)
        self._targets: dict[str, list[Address]] = {"stable": [], "candidate": []}
        self._turn = Counter[str]()
        self._measured: dict[str, list[tuple[float, int, float]]] = {"stable": [], "candidate": []}
        self.counted = Counted()
        self._connections = KeptConnections()
        self._has_served = False
        self.look()

    @property
    def has_targets(self) -> bool:
        """Whether all nodes of the stable side are targets."""
        return len(self._targets["stable"]) == STABLE_NODES

    def look(self) -> None:
        """Read weights and targets."""
        (rule,) = self._elb.describe_rules(RuleArns=[self._place.rule])["Rules"]
        groups = rule["Actions"][0]["ForwardConfig"]["TargetGroups"]
        weights = {group["TargetGroupArn"]: group["Weight"] for group in groups}
        found = (weights[self._place.stable.target_group], weights[self._place.candidate.target_group])
        targets: dict[str, list[Address]] = {}
        for name, side in self._sides():
            health = self._elb.describe_target_health(TargetGroupArn=side.target_group)["TargetHealthDescriptions"]
            targets[name] = [(each["Target"]["Id"], each["Target"]["Port"]) for each in health]
        self._targets, self._weights = targets, found
        if self.counted.weights[-1:] != [found]:
            self.counted.weights.append(found)

    def request(self) -> None:
        """One request of the client: to a side by the weights, in turns, and there to its targets in turns."""
        self._turn["all"] += 1
        stable, candidate = self._weights
        name = "candidate" if (self._turn["all"] * candidate) % (stable + candidate) < candidate else "stable"
        targets = self._targets[name]
        if not targets:
            self.counted.lost.append(f"{name} has no target at {self._weights}")
            return
        self._turn[name] += 1
        try:
            status, version, seconds = ask(self._connections.to(targets[self._turn[name] % len(targets)]), "/")
        except (OSError, http.client.HTTPException) as error:
            self.counted.lost.append(f"{name}: {error!r}")
            return
        self.counted.answers[version, status] += 1
        self._measured[name].append((time.time(), status, seconds))

    def close(self) -> None:
        self._connections.close()

    def publish(self) -> None:
        """What CloudWatch is told of the requests since the last time."""
        self._has_served = self._has_served or self.has_targets
        if not self._has_served:
            # The minute in which it comes up is none without a healthy target, for the alarm that looks at that.
            return
        datums: list[dict[str, Any]] = []
        for name, side in self._sides():
            found, self._measured[name] = self._measured[name], []
            # An answer counts in the minute in which it was given, and not in that in which it is told of.
            at = found[0][0] if found else time.time()
            errors = sum(status >= 500 for _, status, _ in found)
            times = Counter(seconds for _, _, seconds in found)
            for metric, values, counts, unit in (
                (load_balancer.HEALTHY_HOST_COUNT, [float(len(self._targets[name]))], [1], "Count"),
                (load_balancer.REQUEST_COUNT, [1.0], [len(found)], "Count"),
                (load_balancer.TARGET_5XX, [1.0], [errors], "Count"),
                (load_balancer.TARGET_RESPONSE_TIME, list(times), list(times.values()), "Seconds"),
            ):
                if any(counts):
                    dimensions = dict(side.names.dimensions(metric))
                    datums.append(
                        {"name": metric, "timestamp": at, "dimensions": dimensions, "unit": unit,
                         "values": values, "counts": counts}
                    )  # fmt: skip
        self._control.put_service_metrics(self._region, load_balancer.NAMESPACE, datums)

    def _sides(self) -> tuple[tuple[str, SidePlace], tuple[str, SidePlace]]:
        return ("stable", self._place.stable), ("candidate", self._place.candidate)


class Agents:
    """What the agents on the candidate's nodes report of its tasks: executions, none of which failed."""

    def __init__(self, place: RolloutPlace) -> None:
        self._place, self._ecs, self._cloudwatch = place, client("ecs"), client("cloudwatch")

    def report(self) -> None:
        side = self._place.candidate
        for arn in self._ecs.list_tasks(cluster=side.cluster, serviceName=side.service)["taskArns"]:
            of = {
                metrics.ENVIRONMENT: self._place.environment, metrics.FLEET: self._place.fleet,
                metrics.JOB_ID: arn.rpartition("/")[2],
            }  # fmt: skip
            dimensions = [{"Name": name, "Value": value} for name, value in of.items()]
            datum = {"MetricName": metrics.EXECUTION_ERRORS.name, "Dimensions": dimensions, "Value": 0.0}
            self._cloudwatch.put_metric_data(Namespace=metrics.NAMESPACE, MetricData=[datum])


@dataclass
class Served:
    """The endpoint as it runs. ``has_traffic`` turns the client on and off."""

    proxy: Any
    has_traffic: threading.Event


@dataclass
class Turning:
    """What is done again and again; a failure is kept for the test, which runs in another thread."""

    done: threading.Event = field(default_factory=threading.Event)
    failures: list[Exception] = field(default_factory=list)

    def every(self, seconds: float, step: Callable[[], None]) -> None:
        try:
            while not self.done.wait(seconds):
                step()
        except Exception as error:
            self.failures.append(error)
            raise


@contextmanager
def served(place: RolloutPlace, control: EmulatorControl, region: str, per_second: float) -> Iterator[Served]:
    """Serve ``place``, with a client that asks so many times a second."""
    proxy, agents, traffic = Proxy(place, control, region), Agents(place), threading.Event()
    sides = [Tasks(place.stable, place.container, STABLE_NODES), Tasks(place.candidate, place.container, None)]
    turning = Turning()

    def request() -> None:
        if traffic.is_set():
            proxy.request()

    turns = [(_PAUSE, side.settle) for side in sides] + [(_PAUSE, proxy.look), (1.0, proxy.publish)]
    turns += [(1.0, agents.report), (1 / per_second, request)]
    threads = [threading.Thread(target=turning.every, args=turn) for turn in turns]
    with ExitStack() as stack:
        stack.callback(proxy.close)
        for side in sides:
            stack.callback(side.stop)
        for thread in threads:
            thread.start()
            stack.callback(thread.join)
        stack.callback(turning.done.set)
        yield Served(proxy, traffic)
    assert not turning.failures, turning.failures
