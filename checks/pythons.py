"""The Pythons that code runs on, as ``pyproject.toml`` lists them."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parent.parent
Version = tuple[int, ...]


@dataclass(frozen=True)
class Area:
    """Where some code runs: ``packages`` and whatever they import."""

    name: str
    where: str
    packages: tuple[str, ...]
    oldest: Version
    newest: Version
    why: str


def version(text: str) -> Version:
    """``3.11.0`` as numbers."""
    return tuple(int(part) for part in text.split("."))


def written(numbers: Version) -> str:
    """Numbers as ``3.11.0``."""
    return ".".join(map(str, numbers))


def areas() -> list[Area]:
    """All of them, in the file's order."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["neuron-fleet"]["pythons"]
    return [
        Area(
            name,
            told["where"],
            tuple(told["packages"]),
            version(told["oldest"]),
            version(told["newest"]),
            told["why"],
        )
        for name, told in table.items()
    ]


def floors(listed: Iterable[Area]) -> dict[Path, Version]:
    """The oldest Python that each file must run on: the lowest of the areas that it belongs to."""
    listed = list(listed)
    tops = sorted({package.partition(".")[0] for area in listed for package in area.packages})
    graph = grimp.build_graph(tops[0], *tops[1:], cache_dir=None)
    found: dict[Path, Version] = {}
    for area in listed:
        for module in _closure(graph, area.packages):
            path = _file(module)
            found[path] = min(area.oldest, found.get(path, area.oldest))
    return found


def _closure(graph: grimp.ImportGraph, packages: Iterable[str]) -> set[str]:
    """Modules of the packages, what they import, and the packages that those lie in, which are imported on the way."""
    modules = set[str]()
    for package in packages:
        modules |= {package, *graph.find_descendants(package)}
        modules |= graph.find_upstream_modules(package, as_package=True)
    parents = {module.rsplit(".", depth)[0] for module in modules for depth in range(1, module.count(".") + 1)}
    # The parents' own imports too: an __init__.py runs whoever asked for what is below it.
    for parent in parents - modules:
        modules |= {parent, *graph.find_upstream_modules(parent)}
    return modules


def _file(module: str) -> Path:
    path = ROOT.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
