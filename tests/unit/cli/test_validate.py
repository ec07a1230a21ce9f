"""`fleet validate` prints every finding with its code, and judges dates as of the day that it is told."""

import json
from pathlib import Path

from typer.testing import CliRunner, Result

from cli.main import app

PROD = Path("environments/prod.yaml")


def validate(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["validate", *arguments])


def changed(folder: Path, before: str, after: str) -> str:
    text = PROD.read_text(encoding="utf-8")
    assert before in text
    file = folder / "prod.yaml"
    file.write_text(text.replace(before, after, 1), encoding="utf-8")
    return str(file)


def test_errors_warnings_and_notes_are_told_apart_and_errors_counted(tmp_path: Path) -> None:
    file = changed(tmp_path, "nodes: 16\n", "nodes: 16\n    lnc: 2\n    efa_layout: efa-only\n")
    answer = validate(file, "--on", "2026-11-21")
    lines = [line.removeprefix(f"{file}: ") for line in answer.stdout.splitlines()]
    assert answer.exit_code == 1
    assert [line.partition(":")[0] for line in lines] == ["warning", "error", "note", "note", "note", "1 error"]
    assert lines[1] == "error: fleets[0].lnc: trn1.32xlarge cannot group cores so; allowed: 1 [lnc-unsupported]"


def test_a_warning_does_not_make_a_file_invalid(tmp_path: Path) -> None:
    file = changed(tmp_path, "nodes: 16\n", "nodes: 16\n    efa: false\n")
    answer = validate(file, "--on", "2026-11-21")
    assert answer.exit_code == 0
    assert "[efa-refused]" in answer.stdout
    assert answer.stdout.splitlines()[-1] == f"{file}: valid"


def test_the_day_decides_what_has_ended() -> None:
    for day, codes in {"2026-11-21": set(), "2026-12-18": {"capacity-block-ends-soon"}}.items():
        found = json.loads(validate(str(PROD), "--json", "--on", day).stdout)
        assert {finding["code"] for finding in found if finding["severity"] != "note"} == codes
    answer = validate(str(PROD), "--on", "2027-01-01")
    assert answer.exit_code == 0
    assert "warning: fleets[1].market.ends_at: it ended on 2026-12-18T11:30:00+00:00" in answer.stdout


def test_the_quotas_that_an_account_needs_are_printed() -> None:
    # 16 trn1.32xlarge of 128 vCPUs; the Capacity Block of trn2 counts against no quota.
    assert "2048 vCPUs of the quota Running On-Demand Trn instances (L-2C3B7624)" in validate(str(PROD)).stdout


def test_a_day_that_is_none_is_refused_without_a_traceback() -> None:
    answer = validate(str(PROD), "--on", "tomorrow")
    assert answer.exit_code == 2
    assert "Traceback" not in answer.output
