"""Windows of planned maintenance: what CloudWatch is told, and mistakes in one line each."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from environments import loader

PROD = (loader.FOLDER / "prod.yaml").read_text(encoding="utf-8")
NOW = datetime(2026, 11, 22, tzinfo=UTC)


def findings(folder: Path, window: str) -> list[str]:
    file = folder / "prod.yaml"
    file.write_text(f"{PROD}\nmaintenance:\n  - {{name: night, reason: firmware, {window}}}\n", encoding="utf-8")
    return [str(each) for each in loader.diagnose(file, now=NOW) if each.path.startswith("maintenance")]


@pytest.mark.parametrize(
    ("window", "expression"),
    [
        ('cron: "0 2 * * SUN", minutes: 90', "cron(0 2 * * SUN)"),
        ('cron: "0,30 2-4 1,15 JAN-MAR *", minutes: 1', "cron(0,30 2-4 1,15 JAN-MAR *)"),
        ("at: 2026-12-24T18:00:00, minutes: 21600, time_zone: Europe/Berlin", "at(2026-12-24T18:00)"),
    ],
)
def test_a_window_is_said_in_cloudwatchs_words(tmp_path: Path, window: str, expression: str) -> None:
    assert findings(tmp_path, window) == []
    assert loader.load_file(tmp_path / "prod.yaml").maintenance[0].expression == expression


@pytest.mark.parametrize(
    ("window", "words"),
    [
        ("minutes: 5", "either cron or at"),
        ('cron: "0 2 * * SUN", at: 2026-12-24T18:00:00, minutes: 5', "either cron or at"),
        ('cron: "0 2 * *", minutes: 5', "five fields"),
        ('cron: "60 2 * * *", minutes: 5', "60 is none of the minutes, 0 to 59"),
        ('cron: "0 2 * * SON", minutes: 5', "SON is none of the days of the week"),
        ('cron: "*/15 2 * * *", minutes: 5', "*/15 is none of the minutes, 0 to 59"),
        ('cron: "0 5-2 * * *", minutes: 5', "5-2 is none of the hours"),
        ("at: 2026-12-24T18:00:00Z, minutes: 5", "a whole minute without a zone"),
        ("at: 2026-12-24T18:00:30, minutes: 5", "a whole minute without a zone"),
        ('cron: "0 2 * * *", minutes: 21601', "21601"),
        ('cron: "0 2 * * *", minutes: 5, time_zone: Mars/Olympus', "IANA name"),
        ('cron: "0 2 * * *", minutes: 5, fleets: [trn9]', "there is no fleet trn9; use some of trn1-pretrain"),
        ("at: 2026-11-20T18:00:00, minutes: 5", "this window is over"),
        ('cron: "0 2 * * *", hours: 5, minutes: 5', "unknown key"),
    ],
)
def test_a_mistake_is_one_line_that_says_what_would_be_right(tmp_path: Path, window: str, words: str) -> None:
    (line,) = findings(tmp_path, window)

    assert words in line


def test_two_windows_of_one_name_are_refused(tmp_path: Path) -> None:
    again = '{name: night, reason: again, cron: "0 3 * * *", minutes: 5'

    found = findings(tmp_path, f'cron: "0 2 * * *", minutes: 5}}\n  - {again}')

    assert found
    assert all("2 windows are called night" in line for line in found)
