"""A doctor for every test that asks for one."""

from pathlib import Path

import pytest

from tests.support.doctor import Doctor


@pytest.fixture
def doctor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Doctor:
    return Doctor(tmp_path, monkeypatch)
