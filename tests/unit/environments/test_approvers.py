"""Nobody may approve a purchase unless an environment file names them, and names them as IAM does."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from environments import loader

ROLE = "arn:aws:iam::111122223333:role/capacity/approver"


def written(folder: Path, approvers: Any) -> Path:
    content = yaml.safe_load((loader.FOLDER / "prod.yaml").read_text(encoding="utf-8"))
    file = folder / "prod.yaml"
    file.write_text(yaml.safe_dump({**content, "approvers": approvers}), encoding="utf-8")
    return file


@pytest.mark.parametrize("name", loader.available())
def test_by_default_nothing_can_be_bought(name: str) -> None:
    assert loader.load(name).approvers == ()


def test_users_and_roles_may_approve(tmp_path: Path) -> None:
    names = [ROLE, "arn:aws:iam::111122223333:user/ada"]
    assert loader.load_file(written(tmp_path, names)).approvers == tuple(names)


@pytest.mark.parametrize(
    "approver",
    [
        "ada",
        "*",
        "arn:aws:iam::111122223333:root",
        "arn:aws:iam::111122223333:role/*",
        "arn:aws:sts::111122223333:assumed-role/approver/ada",
        "arn:aws:iam::1111:role/approver",
    ],
)
def test_whatever_else_is_named_is_refused(tmp_path: Path, approver: str) -> None:
    with pytest.raises(loader.EnvironmentFileError, match=r"approvers\[0\]"):
        loader.load_file(written(tmp_path, [approver]))


def test_only_blocks_that_the_file_can_name_are_looked_after() -> None:
    assert [fleet.name for fleet in loader.load("prod").block_fleets] == ["trn2-frontier"]
    assert loader.load("dev").block_fleets == ()
    assert loader.load("prod").training_fleets[1].reservation_id == "cr-0a1b2c3d4e5f60718"
