"""One mistyped letter in an environment file is one line, which names the place and what was meant."""

import copy
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from environments import loader

NOW: Final = datetime(2026, 11, 21, tzinfo=UTC)
# Behind these keys stands what only the author knows: names, numbers, addresses.
FREE: Final = frozenset({
    "account", "addresses", "certificate_arn", "cidr", "container_image", "ends_at", "model", "name", "neuron_sdk",
    "owner", "pagerduty_secret", "reads", "reservation_id", "runbooks_url", "secret", "slack_secret", "version",
    "writes",
})  # fmt: skip
Path_ = tuple[str | int, ...]
SHIPPED: Final[dict[str, dict[str, Any]]] = {
    name: yaml.safe_load((loader.FOLDER / f"{name}.yaml").read_text(encoding="utf-8")) for name in loader.available()
}


def words(node: Any, path: Path_ = ()) -> Iterator[tuple[bool, Path_]]:
    """Every key, and every value out of a list of known ones; True for a key."""
    if isinstance(node, dict):
        for key, value in node.items():
            if path[-1:] != ("owners",):
                yield True, (*path, key)
            if key not in FREE:
                yield from words(value, (*path, key))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from words(value, (*path, index))
    elif isinstance(node, str):
        yield False, path


def replaced(word: str) -> str:
    middle = len(word) // 2
    return word[:middle] + ("q" if word[middle] != "q" else "z") + word[middle + 1 :]


def mistyped(content: dict[str, Any], path: Path_, *, is_key: bool) -> dict[str, Any]:
    content = copy.deepcopy(content)
    node: Any = content
    for part in path[:-1]:
        node = node[part]
    last: Any = path[-1]
    if is_key:
        items = [(replaced(key) if key == last else key, value) for key, value in node.items()]
        node.clear()
        node.update(items)
    else:
        node[last] = replaced(node[last])
    return content


def right(content: dict[str, Any], path: Path_, *, is_key: bool) -> str:
    node: Any = content
    for part in path:
        node = node[part]
    return str(path[-1] if is_key else node)


@pytest.mark.parametrize("name", SHIPPED)
def test_every_mistyped_key_and_value_is_one_error_that_names_what_was_meant(name: str, tmp_path: Path) -> None:
    file, content = tmp_path / f"{name}.yaml", SHIPPED[name]
    tried = list(words(content))
    assert len(tried) > 40
    for is_key, path in tried:
        file.write_text(yaml.safe_dump(mistyped(content, path, is_key=is_key)), encoding="utf-8")
        errors = [each for each in loader.diagnose(file, now=NOW) if each.is_error]
        meant = f"did you mean {right(content, path, is_key=is_key)}?"
        assert [meant in each.fix for each in errors] == [True], (path, [str(each) for each in errors])
        assert errors[0].path, path


@pytest.mark.parametrize("region", ["us-est-2", "us-east2", "us-west-2", "us-eats-2", "US-EAST-2"])
def test_a_wrong_region_is_one_line_whatever_follows_from_it(region: str, tmp_path: Path) -> None:
    file = tmp_path / "prod.yaml"
    file.write_text(yaml.safe_dump({**SHIPPED["prod"], "region": region}), encoding="utf-8")
    errors = [each for each in loader.diagnose(file, now=NOW) if each.is_error]
    assert [(each.path, each.fix.partition("?")[0]) for each in errors] == [("region", "did you mean us-east-2")]


def test_a_file_of_another_region_with_a_mistake_of_its_own_tells_both(tmp_path: Path) -> None:
    content = copy.deepcopy(SHIPPED["prod"])
    content["region"], content["fleets"][0]["instance_type"] = "us-est-2", "trn1.31xlarge"
    file = tmp_path / "prod.yaml"
    file.write_text(yaml.safe_dump(content), encoding="utf-8")
    errors = [each.path for each in loader.diagnose(file, now=NOW) if each.is_error]
    assert errors == ["region", "fleets[0].instance_type"]


def test_a_region_like_none_is_one_line_that_shows_one(tmp_path: Path) -> None:
    content = copy.deepcopy(SHIPPED["dev"])
    content["region"], content["network"]["availability_zones"] = "moon-base-1", {"moon-base-1a": "mb1-az1"}
    file = tmp_path / "dev.yaml"
    file.write_text(yaml.safe_dump(content), encoding="utf-8")
    errors = [str(each) for each in loader.diagnose(file, now=NOW) if each.is_error]
    assert len(errors) == 1
    assert errors[0].startswith("region: ")
    assert "us-east-2" in errors[0]
