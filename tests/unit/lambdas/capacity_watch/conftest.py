"""The watch as it is deployed, with an account in memory."""

import json
from types import SimpleNamespace

import pytest

from fleet.reserved.observed import FleetDeployment
from lambdas.capacity_watch import adapters, handler
from tests.support.capacity_account import Account, Deploy, Deployed
from tests.support.watched_capacity import NOW


@pytest.fixture
def deploy(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Deploy:
    def make(account: Account, *places: FleetDeployment) -> Deployed:
        monkeypatch.setattr(handler, "datetime", SimpleNamespace(now=lambda _: NOW))
        monkeypatch.setenv("ENVIRONMENT", "prod")
        monkeypatch.setenv("FLEETS", json.dumps([each.fleet for each in places]))
        monkeypatch.setenv("PRICE_TABLE", "neuron-fleet-prod-prices")
        for cached in (handler._settings, handler._places, handler._read_prices, handler._dependencies):
            cached.cache_clear()
        handler._PRICES.clear()
        handler._WARNED.clear()
        monkeypatch.setattr(adapters, "dependencies", account.world)
        monkeypatch.setattr(adapters, "read_places", lambda _: places)
        monkeypatch.setattr(adapters, "read_prices", account.read_prices)
        return Deployed(account, places, capsys)

    return make
