"""Destinations and routes in an environment file: what they become, and the one line for each mistake."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from environments import loader
from fleet.paging import Destination, Kind, Route

HOOK = {"name": "hook", "kind": "webhook", "secret": "prod/hook"}


def file_with(tmp_path: Path, **paging: Any) -> Path:
    content = yaml.safe_load((loader.FOLDER / "dev.yaml").read_text(encoding="utf-8"))
    content["paging"] |= paging
    path = tmp_path / "dev.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return path


def test_destinations_and_routes_become_the_pagers_directory(tmp_path: Path) -> None:
    mail = {"name": "leads", "kind": "email", "addresses": ["a@example.com"]}
    route = {"severity": "ticket", "to": ["hook", "leads"]}

    paging = loader.load_file(file_with(tmp_path, destinations=[HOOK, mail], routes=[route])).paging
    directory = paging.directory({"leads": "arn:leads"})

    assert directory.destinations["hook"] == Destination(Kind.WEBHOOK, "prod/hook")
    assert directory.destinations["leads"] == Destination(Kind.EMAIL, "arn:leads")
    assert directory.routes == (Route(("hook", "leads"), severity="ticket"),)
    assert paging.secrets["destinations[0].secret"] == "prod/hook"


@pytest.mark.parametrize(
    ("paging", "line"),
    [
        ({"routes": [{"to": ["slak"]}]}, "paging.routes[0].to: there is no destination 'slak'; did you mean slack?"),
        (
            {"destinations": [HOOK | {"name": "slack"}]},
            "paging.destinations: 2 destinations are called slack; pagerduty and slack are taken",
        ),
        ({"destinations": [HOOK | {"kind": "webhok"}]}, "paging.destinations[0].kind: 'webhok' is not allowed"),
        ({"destinations": [{"name": "hook", "kind": "webhook"}]}, "paging.destinations[0].secret: missing"),
        (
            {"destinations": [HOOK | {"sceret": "x"}]},
            "paging.destinations[0].sceret: unknown key; did you mean secret?",
        ),
        ({"routes": [{"to": []}]}, "paging.routes[0].to"),
        (
            {"routes": [{"to": ["pagerduty"]}, {"severity": "page", "to": ["pagerduty"]}]},
            "paging.routes[1]: routes[0] leads everything that this route is for; put it before routes[0]",
        ),
        (
            {
                "destinations": [HOOK | {"name": f"h{index}", "secret": "s" * 400} for index in range(10)],
            },
            "bytes of the 2800 that the pager can be told",
        ),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, paging: dict[str, Any], line: str) -> None:
    with pytest.raises(loader.EnvironmentFileError) as refused:
        loader.load_file(file_with(tmp_path, **paging))

    assert line in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


def test_a_route_that_wakes_nobody_is_a_warning(tmp_path: Path) -> None:
    found = loader.diagnose(file_with(tmp_path, routes=[{"severity": "page", "to": ["slack"]}]))

    assert "route-wakes-nobody" in {each.code for each in found}
