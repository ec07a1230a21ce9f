"""What an environment file may say about Prometheus and OTLP."""

from ipaddress import IPv4Address
from pathlib import Path

import pytest

from environments import loader
from environments.loader import EnvironmentFileError
from environments.monitoring import Monitoring, Prometheus

PROD = (loader.FOLDER / "prod.yaml").read_text(encoding="utf-8")


def with_monitoring(folder: Path, monitoring: str) -> Path:
    file = folder / "prod.yaml"
    before, _, _ = PROD.partition("monitoring:")
    file.write_text(f"{before}monitoring: {monitoring}\n", encoding="utf-8")
    return file


def test_both_are_off_unless_they_are_asked_for() -> None:
    assert (Monitoring().prometheus, Monitoring().otlp) == (None, False)


def test_metrics_are_served_on_the_loopback_address_unless_another_is_given(tmp_path: Path) -> None:
    monitoring = loader.load_file(with_monitoring(tmp_path, "{prometheus: {port: 9469}, otlp: true}")).monitoring

    assert monitoring.prometheus == Prometheus(port=9469, address=IPv4Address("127.0.0.1"))
    assert monitoring.otlp


@pytest.mark.parametrize(
    ("monitoring", "line"),
    [
        (
            "{prometheus: {port: 80}}",
            "monitoring.prometheus.port: 80 is not allowed; input should be greater than or equal to 1024",
        ),
        ("{prometheus: {prot: 9469}}", "monitoring.prometheus.prot: unknown key; did you mean port?"),
        ("{prometheus: {port: 9469, address: here}}", "monitoring.prometheus.address: 'here' is not"),
        (
            "{alarms: promql}",
            "it reads what goes over OTLP; set monitoring.otlp to rules, nodes or cores",
        ),
        ("{otpl: true}", "monitoring.otpl: unknown key; did you mean otlp?"),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, monitoring: str, line: str) -> None:
    with pytest.raises(EnvironmentFileError) as refused:
        loader.load_file(with_monitoring(tmp_path, monitoring))

    assert len(str(refused.value).splitlines()) == 1
    assert line in str(refused.value)


def test_true_is_all_that_cores_do() -> None:
    levels = [Monitoring(otlp=otlp).otlp_level for otlp in (False, True, "rules")]
    assert levels == [None, "cores", "rules"]
