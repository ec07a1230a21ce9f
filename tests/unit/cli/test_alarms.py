"""`fleet alarms export`: what it prints is YAML that each system takes, and a mistake is one line."""

import pytest
import yaml
from typer.testing import CliRunner

from cli.main import app


@pytest.mark.parametrize(
    ("to", "key"), [("prometheus", "groups"), ("alertmanager", "route"), ("grafana", "apiVersion")]
)
def test_each_format_is_yaml(to: str, key: str) -> None:
    found = CliRunner().invoke(app, ["alarms", "export", "prod", "--format", to])
    assert found.exit_code == 0, found.output
    assert key in yaml.safe_load(found.output)


def test_an_environment_that_is_not_there_is_one_line() -> None:
    found = CliRunner().invoke(app, ["alarms", "export", "nowhere"])
    assert found.exit_code == 1
    assert "nowhere" in found.output
    assert len(found.output.strip().splitlines()) == 1
