"""The watch as it is deployed, with an account in memory."""

import json
from datetime import datetime, tzinfo

import pytest

from fleet.reserved.place import Place
from lambdas.capacity_watch import adapters, handler
from tests.support.capacity_account import Account, Deploy, Deployed
from tests.support.watched_capacity import NOW


class Clock(datetime):
    """Stands still: what the account shows is some minutes old, and stays so."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> "Clock":
        return cls.fromtimestamp(NOW.timestamp(), tz)


@pytest.fixture
def deploy(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Deploy:
    def make(account: Account, *places: Place) -> Deployed:
        monkeypatch.setenv("ENVIRONMENT", "prod")
        monkeypatch.setenv("FLEETS", json.dumps([each.fleet for each in places]))
        for cached in (handler._settings, handler._places, handler._world):
            cached.cache_clear()
        handler._WARNED.clear()
        monkeypatch.setattr(handler, "datetime", Clock)
        monkeypatch.setattr(adapters, "world", account.world)
        monkeypatch.setattr(adapters, "read_places", lambda _: places)
        return Deployed(account, places, capsys)

    return make
