"""The configuration of neuron-monitor takes whole seconds only: what the tool makes of anything else is silence."""

from pathlib import Path

import pytest

from agents.errors import SettingsError
from agents.monitor import settings


@pytest.mark.parametrize("period", [True, 5.0, "5", None, 0, -5])
def test_a_period_that_is_no_whole_number_of_seconds_is_refused(period: object) -> None:
    with pytest.raises(ValueError, match="whole seconds, 1 or more"):
        settings.render(period)  # type: ignore[arg-type]  # the refusal is for callers without types


def test_a_folder_that_cannot_be_used_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("in the way")

    with pytest.raises(SettingsError, match=r"run/neuron-monitor.json: File exists; neuron-monitor cannot"):
        settings.write(tmp_path / "run", 5)
