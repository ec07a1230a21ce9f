"""A published deployment: who ran what, on which instances, split how."""

from dataclasses import dataclass

from fleet.instances import instance_type
from planning.sizing.fit import Fit, check
from planning.sizing.huggingface import read_config
from planning.sizing.parallelism import Degrees
from planning.sizing.workload import Workload
from tests.support.model_configs import Config


@dataclass(frozen=True)
class Deployment:
    """One that is published; ``instances`` are those that its data-parallel copies fill."""

    name: str
    source: str
    config: Config
    workload: Workload
    instance: str
    degrees: Degrees
    instances: int = 1

    def fit(self, instance: str | None = None, degrees: Degrees | None = None) -> Fit:
        return check(
            read_config(self.config, self.name),
            self.workload,
            instance_type(instance or self.instance),
            degrees or self.degrees,
        )
