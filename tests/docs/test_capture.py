"""The capture that the README inspects: made by the demo's stand-in of neuron-monitor, and read as the README shows."""

from pathlib import Path

from typer.testing import CliRunner

from agents.main import app
from local.simulation.report import ReportBuilder
from local.simulation.script import Phase, PhaseKind, Script

ROOT = Path(__file__).parents[2]
CAPTURE = ROOT / "docs/samples/damaged-memory.jsonl"
_PERIOD = 20
_SCRIPT = Script(
    node="i-0000000000000samp",
    instance_type="trn1.32xlarge",
    availability_zone="us-east-2c",
    availability_zone_id="use2-az3",
    region="us-east-2",
    lnc=1,
    dtype="bf16",
    runtimes=1,
    seed=7,
    phases=(Phase(0, PhaseKind.RUNNING, 38, 96), Phase(60, PhaseKind.HARDWARE_ERROR, 0, 0, device=6)),
)


def test_the_capture_is_what_the_stand_in_prints() -> None:
    builder = ReportBuilder(_SCRIPT)
    lines = [builder.line(_PERIOD * number - 1, _PERIOD) + b"\n" for number in range(1, 7)]

    assert CAPTURE.read_bytes() == b"".join(lines), "write these lines to the file, and look at what the README shows"


def test_the_readme_shows_what_inspect_says() -> None:
    typed = "fleet-agent inspect docs/samples/damaged-memory.jsonl"
    result = CliRunner().invoke(app, ["inspect", str(CAPTURE), "--start", "2026-11-22T03:00:00"])

    assert f"$ {typed} --start 2026-11-22T03:00:00\n{result.stdout}" in (ROOT / "README.md").read_text(encoding="utf-8")
