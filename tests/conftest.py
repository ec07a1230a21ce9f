"""What holds for every test: no AWS account, no deadline on a property that a busy machine could miss."""

from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("project", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("project")

_TESTS: Final = Path(__file__).parent
# They share the port of the embedded AWS, or measure how soon a page is painted: one after the other.
_ALONE: Final = ("e2e", "browser")


@pytest.hookimpl(tryfirst=True)  # before xdist reads the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where tests run in several processes, those of a file stay together, for what its fixtures cost."""
    paths = {item: item.path.relative_to(_TESTS) for item in items}
    for item, path in paths.items():
        item.add_marker(pytest.mark.xdist_group("alone" if path.parts[0] in _ALONE else str(path)))
    # First, because they take as long as all others together.
    items.sort(key=lambda item: paths[item].parts[0] not in _ALONE)


@pytest.fixture(autouse=True)
def _no_account(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.delenv("AWS_PROFILE", raising=False)
