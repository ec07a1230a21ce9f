"""An environment file with a chip that the data file states whole is judged; with a gap it is refused in one line."""

from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.invented_chip import NAME, planted, with_chip, without
from tests.unit.environments.test_what_is_refused import PROD, SERVING, TRAINING, Changes, answer, changed

GAP: Final = ("neuroncores", "v9", "first_sdk")
TRAINS: Final[Changes] = {"instance_type": NAME, "availability_zone": "us-east-2a", "nodes": 4, "dtype": "bf16"}
HOSTED: Final[Changes] = {"instance_type": NAME, "endpoint.engine": "sagemaker"}


def refused(folder: Path, base: int, changes: Changes) -> list[str]:
    tree: dict[str, Any] = changed(PROD, {"fleets": [PROD["fleets"][base]]})
    tree = changed(tree, {f"fleets.0.{place}": value for place, value in changes.items()})
    return [str(each) for each in answer(folder, tree) if each.is_error]


def test_a_fleet_of_an_invented_type_is_right_where_every_fact_is_stated(tmp_path: Path) -> None:
    with planted(with_chip()):
        assert refused(tmp_path, TRAINING, TRAINS) == []
    assert refused(tmp_path, TRAINING, TRAINS)


@pytest.mark.parametrize(("base", "changes"), [(TRAINING, TRAINS), (SERVING, HOSTED)])
def test_it_is_refused_in_one_line_where_a_fact_is_not(tmp_path: Path, base: int, changes: Changes) -> None:
    with planted(without(GAP)):
        (told,) = refused(tmp_path, base, changes)
    assert told == (
        f"fleets[0].instance_type: {NAME} cannot be judged, because fleet/data/instances.json does not state "
        f"{'.'.join(GAP)}; complete it there"
    )
