"""The configuration of a simulated node: what was deployed, without anything of the real machine or of the real AWS."""

from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import msgspec

from agents.config import OtlpConfig, PrometheusConfig
from local.simulation.machine import Machine
from local.simulation.node import deployed_config
from local.simulation.script import NodeSpec, PhaseKind
from tests.support import agents
from tests.unit.local.simulation.scripts import START, phase, script


def test_a_simulated_node_serves_no_port_and_sends_nothing_to_the_real_aws(tmp_path: Path) -> None:
    deployed = agents.config(prometheus=PrometheusConfig(9469), otlp=OtlpConfig())
    parameter = {"Parameter": {"Value": msgspec.json.encode(deployed).decode()}}
    told = script(phase(PhaseKind.NO_JOB))
    spec = NodeSpec("test", "pretrain", str(tmp_path), START, told, None)

    with patch("boto3.client", return_value=SimpleNamespace(get_parameter=lambda **_: parameter)):
        config = deployed_config(spec, Machine(tmp_path, told, None))

    assert (config.prometheus, config.otlp) == (None, None)
    assert (config.node, config.fleet, config.statsd_port) == (told.node, "pretrain", None)
