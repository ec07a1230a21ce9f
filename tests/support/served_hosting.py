"""A SageMaker endpoint on this machine, over the embedded AWS: what the variants' instances and their router would do.

``Instances`` keeps one server process for each variant, of the version that its model's image is called; ``Router``
shares requests out by the weights that it reads from DescribeEndpoint, and writes what SageMaker measures, latencies in
microseconds. Both read AWS as it is; nobody tells them of a rollout.
"""

import http.client
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any

from fleet.hosting import variants
from fleet.hosting.variants import CANDIDATE, STABLE, VariantNames
from fleet.rollout.facts import HostedPlace
from local.control import EmulatorControl
from local.processes import stop
from tests.support.embedded_client import client
from tests.support.kept_connections import Address, KeptConnections, ask
from tests.support.served_endpoint import SERVER, Counted, Served, Turning

_PAUSE = 0.8


class Router:
    """SageMaker's. A model's process is there as soon as a variant is to run it, before it has a request."""

    def __init__(self, hosted: HostedPlace, control: EmulatorControl, region: str) -> None:
        self._hosted, self._control, self._region = hosted, control, region
        self._sagemaker = client("sagemaker")
        self._processes: dict[str, tuple[subprocess.Popen[bytes], Address]] = {}
        self._serves: dict[str, tuple[float, str, int]] = {}
        self._turn = Counter[str]()
        self._measured: dict[str, list[tuple[int, float]]] = {STABLE: [], CANDIDATE: []}
        self.counted = Counted()
        self._connections = KeptConnections()
        self._models = cache(self._models_of)
        self.look()

    def look(self) -> None:
        """Read variants, models and weights; start what is coming."""
        found = self._sagemaker.describe_endpoint(EndpointName=self._hosted.endpoint)
        models = self._models(found["EndpointConfigName"])
        pending = found.get("PendingDeploymentSummary", {}).get("EndpointConfigName")
        for model in {*models.values(), *(self._models(pending).values() if pending else ())}:
            self._start(model)
        self._serves = {
            each["VariantName"]: (each["CurrentWeight"], models[each["VariantName"]], each["CurrentInstanceCount"])
            for each in found["ProductionVariants"]
        }
        weights = (self._weight(STABLE), self._weight(CANDIDATE))
        if self._serves and self.counted.weights[-1:] != [weights]:
            self.counted.weights.append(weights)

    def _weight(self, name: str) -> int:
        return int(self._serves[name][0]) if name in self._serves else 0

    def _models_of(self, configuration: str) -> dict[str, str]:
        """By variant. A configuration never changes."""
        found = self._sagemaker.describe_endpoint_config(EndpointConfigName=configuration)
        return {each["VariantName"]: each["ModelName"] for each in found["ProductionVariants"]}

    def _start(self, model: str) -> None:
        if model in self._processes:
            return
        image = self._sagemaker.describe_model(ModelName=model)["PrimaryContainer"]["Image"]
        version = str(image).partition("@")[0].rpartition("/")[2].partition(":")[0]
        process = subprocess.Popen([sys.executable, str(SERVER), version, "127.0.0.1"], stdout=subprocess.PIPE)
        assert process.stdout is not None
        self._processes[model] = (process, ("127.0.0.1", int(process.stdout.readline())))

    def request(self) -> None:
        """One invocation: to a variant by the weights, in turns."""
        self._turn["all"] += 1
        stable, candidate = self._weight(STABLE), self._weight(CANDIDATE)
        name = CANDIDATE if (self._turn["all"] * candidate) % (stable + candidate) < candidate else STABLE
        try:
            status, version, seconds = ask(self._connections.to(self._processes[self._serves[name][1]][1]), "/")
        except (OSError, http.client.HTTPException, KeyError) as error:
            self.counted.lost.append(f"{name}: {error!r}")
            return
        self.counted.answers[version, status] += 1
        self._measured[name].append((status, seconds))

    def publish(self) -> None:
        """What CloudWatch is told of the invocations since the last time."""
        for name in (STABLE, CANDIDATE):
            found, self._measured[name] = self._measured[name], []
            errors = [float(status >= 500) for status, _ in found]
            times = Counter(seconds * variants.MICROSECONDS for _, seconds in found)
            dimensions = dict(VariantNames(self._hosted.endpoint, name).dimensions)
            datums: list[dict[str, Any]] = [
                {"name": metric, "timestamp": time.time(), "dimensions": dimensions, "unit": unit,
                 "values": list(values),
                 "counts": list(values.values())}
                for metric, values, unit in (
                    (variants.INVOCATIONS, Counter({1.0: len(found)}), "None"),
                    (variants.ERRORS_5XX, Counter(errors), "None"),
                    (variants.MODEL_LATENCY, times, "Microseconds"),
                )
                if sum(values.values())
            ]  # fmt: skip
            self._control.put_service_metrics(self._region, variants.NAMESPACE, datums)

    def stop(self) -> None:
        self._connections.close()
        for process, _ in self._processes.values():
            stop(process)


@contextmanager
def hosted_endpoint(hosted: HostedPlace, control: EmulatorControl, region: str, per_second: float) -> Iterator[Served]:
    """Serve ``hosted``, with a client that invokes it so many times a second."""
    router, traffic, turning = Router(hosted, control, region), threading.Event(), Turning()

    def request() -> None:
        if traffic.is_set():
            router.request()

    turns = [(_PAUSE, router.look), (1.0, router.publish), (1 / per_second, request)]
    threads = [threading.Thread(target=turning.every, args=turn) for turn in turns]
    with ExitStack() as stack:
        stack.callback(router.stop)
        for thread in threads:
            thread.start()
            stack.callback(thread.join)
        stack.callback(turning.done.set)
        yield Served(router, traffic)
    assert not turning.failures, turning.failures
