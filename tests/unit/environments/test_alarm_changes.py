"""What a file says of single alarms: what is deployed and exported then, and what is refused."""

from pathlib import Path

import pytest

from environments import loader
from environments.alarm_export.followed import followed
from environments.alarms import deployed_alarms, environment_alarms
from environments.model import Environment
from fleet.alarms import Severity
from fleet.load_balancer import EndpointNames

DEV = (loader.FOLDER / "dev.yaml").read_text(encoding="utf-8")
BALANCER = {"inf2-small": EndpointNames("app/chat/1", "targetgroup/chat/1")}
TRAINS, SERVES = "trn1-small", "inf2-small"


def written(folder: Path, said: str, fleet: str = TRAINS) -> Path:
    """The file with ``said`` in place of what its fleet says of alarms."""
    head, name, rest = DEV.partition(f"  - name: {fleet}\n")
    before, _, after = rest.partition("    alarms: {wakes: false")
    file = folder / "dev.yaml"
    file.write_text(f"{head}{name}{before}    alarms: {{{said}{after.partition('}')[1]}{after.partition('}')[2]}")
    return file


def findings(folder: Path, said: str, fleet: str = TRAINS) -> list[str]:
    found = loader.diagnose(written(folder, said, fleet))
    return [str(each) for each in found if ".alarms" in each.path]


def environment(folder: Path, said: str) -> Environment:
    return loader.load_file(written(folder, said))


def test_a_fleet_for_trying_things_out_wakes_nobody() -> None:
    dev = loader.load_file(loader.FOLDER / "dev.yaml")
    specs = environment_alarms(dev, BALANCER)

    assert set(specs) == {TRAINS, SERVES}
    assert {spec.severity for of_fleet in specs.values() for spec in of_fleet} == {Severity.TICKET}


def test_the_classic_set_the_followed_one_and_the_export_are_changed_alike(tmp_path: Path) -> None:
    said = "each: {JobHang: {severity: ticket}, HbmPressure: {severity: none}, Straggler: {minutes: 20}}"
    changed = environment(tmp_path, said)
    promql = changed.model_copy(update={"monitoring": changed.monitoring.model_copy(update={"alarms": "promql"})})
    (exported,) = (each for each in followed(changed) if each.fleet == TRAINS)

    for specs in (
        environment_alarms(changed, BALANCER)[TRAINS],
        deployed_alarms(promql, environment_alarms(promql, BALANCER))[TRAINS],
        exported.rules,
    ):
        by_key = {spec.key: spec for spec in specs}
        assert by_key["JobHang"].severity is Severity.TICKET
        assert "HbmPressure" not in by_key
        assert by_key["IdleAllocated"].severity is Severity.PAGE
    assert {each.key: each.pending_seconds for each in exported.rules}["Straggler"] == 60 * (4 + 20 - 8)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("each: {JobHung: {minutes: 5}}", "the fleet has no alarm JobHung; did you mean JobHang? known: "),
        ("each: {JobHang: {minutes: 0}}", "greater than or equal to 1"),
        ("each: {JobHang: {minutes: 721}}", "less than or equal to 720"),
        ("each: {JobHang: {severity: loud}}", "page"),
        ("each: {JobHang: {window: 5}}", "unknown key"),
        ("each: {JobHang: {severity: none}}", "nobody is told"),
        ("wakes: sometimes", "valid boolean"),
    ],
)
def test_a_mistake_is_one_line_that_says_what_would_be_right(tmp_path: Path, said: str, words: str) -> None:
    (line,) = findings(tmp_path, said)

    assert words in line


def test_minutes_of_an_alarm_that_counts_missing_ones_are_refused(tmp_path: Path) -> None:
    always_runs = DEV.replace(
        "        min_nodes: 0\n        scale_to_zero_after_minutes: 60\n", "        min_nodes: 1\n"
    )
    file = tmp_path / "dev.yaml"
    said = "alarms: {each: {NoHealthyTargets: {minutes: 20}}, low_utilization_percent"
    file.write_text(always_runs.replace("alarms: {wakes: false, low_utilization_percent", said), encoding="utf-8")
    found = [str(each) for each in loader.diagnose(file) if ".alarms" in each.path]

    assert len(found) == 1
    assert "NoHealthyTargets counts minutes without data itself; leave minutes out" in found[0]
