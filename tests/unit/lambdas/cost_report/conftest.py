"""The roll-up with a bucket and a bill in memory."""

from pathlib import Path

import pytest

from tests.support.ledger_world import LedgerWorld


@pytest.fixture
def ledger(tmp_path: Path) -> LedgerWorld:
    return LedgerWorld(tmp_path)
