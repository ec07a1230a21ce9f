"""The order of the end-to-end tests: the longest files first, so that no worker is left alone with one at the end."""

import pytest

LONGEST = ("test_rollout", "test_demo", "test_training_run", "test_hosted_rollout")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Move them to the front; within a file the order stays."""

    def place(item: pytest.Item) -> int:
        return LONGEST.index(item.path.stem) if item.path.stem in LONGEST else len(LONGEST)

    items.sort(key=place)
