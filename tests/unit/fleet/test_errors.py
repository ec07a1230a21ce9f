"""Everything that the core raises on purpose has one root, and stands in the tree at the top of the package."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator

import fleet
from fleet import FleetError


def exceptions() -> Iterator[type[BaseException]]:
    for module in pkgutil.walk_packages(fleet.__path__, "fleet."):
        for _, found in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(found, BaseException) and found.__module__ == module.name:
                yield found


def test_every_exception_of_the_core_has_one_root() -> None:
    assert [each for each in exceptions() if not issubclass(each, FleetError)] == []


def test_the_tree_shows_all_of_them_with_what_else_they_are() -> None:
    assert fleet.__doc__
    shown = re.findall(r"[├└]── ([\w.]+)\s+(?:\((\w+)\) )?", fleet.__doc__)
    made = {
        f"{each.__module__.removeprefix('fleet.')}.{each.__name__}": "ValueError"
        if ValueError in each.__bases__
        else ""
        for each in exceptions()
    }

    assert dict(shown) == made
    assert len(shown) == len(made)
