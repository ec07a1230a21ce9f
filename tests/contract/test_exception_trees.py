"""Whoever uses the agent or the workload library finds everything that it raises in one file, under one root."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType

import pytest

import agents.errors
import workload.errors


def exceptions(package: str) -> Iterator[type[BaseException]]:
    """Every exception that a module of ``package`` defines."""
    for found in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
        module = importlib.import_module(found.name)
        for _, each in inspect.getmembers(module, inspect.isclass):
            if issubclass(each, BaseException) and each.__module__ == module.__name__:
                yield each


@pytest.mark.parametrize(
    ("errors", "root"), [(agents.errors, agents.errors.AgentError), (workload.errors, workload.errors.WorkloadError)]
)
def test_every_exception_stands_in_the_tree_that_people_read(errors: ModuleType, root: type[Exception]) -> None:
    found = set(exceptions(errors.__name__.partition(".")[0]))

    assert {each.__name__ for each in found if not issubclass(each, root)} == set()
    assert {each.__name__ for each in found if each.__module__ != errors.__name__} == set()
    assert _drawn(errors.__doc__ or "") == {
        each.__name__: next((base.__name__ for base in each.__bases__ if issubclass(base, root)), "") for each in found
    }


def _drawn(text: str) -> dict[str, str]:
    """Each name of the drawing, and the one that it hangs on."""
    above: list[str] = []
    parents: dict[str, str] = {}
    for line in text.splitlines():
        mark, _, rest = line.rpartition("── ") if "── " in line else ("", "", line.strip())
        name = rest.split(" ")[0]
        if not name.endswith("Error"):
            continue
        # Four characters a level, after the indentation of the drawing.
        depth = len(mark) // 4 if mark else 0
        above[depth:] = [name]
        parents[name] = above[depth - 1] if depth else ""
    return parents
