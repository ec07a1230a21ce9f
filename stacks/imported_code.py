"""The files that a deployed program needs: its module, whatever that imports, and the data files that those read.

Computed from the source, so that nothing has to be listed: an edit of any other file changes no deployed asset.
"""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
# Calls that need files other than those of import statements; most modules have neither.
_TELLING: Final = (b"joinpath", b"import_module")


class UnknownImportError(ValueError):
    """A module does something by which its files cannot be told; the message names it and says how to write it."""


def imported_files(entries: Iterable[str], root: Path = ROOT) -> tuple[Path, ...]:
    """Paths relative to ``root``, sorted, of the modules ``entries`` (``lambdas.pager.handler``) and all that they need
    of the packages in ``root``. An import within a function counts; one for type checking alone does not.

    Raises:
        UnknownImportError: an entry is not there, or a data file is named by more than constants.
    """
    seen: set[Path] = set()
    waiting = [path for entry in entries for path in _entry(root, entry)]
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting += _needed_by(root, path)
    return tuple(sorted(seen))


def _entry(root: Path, name: str) -> list[Path]:
    found = _module(root, name)
    if not found:
        raise UnknownImportError(f"{name}: no such module in {root}")
    return found


def _module(root: Path, name: str) -> list[Path]:
    """The module's file after those of the packages that it lies in; none of one that ``root`` does not hold."""
    parts = name.split(".")
    packages = [Path(*parts[:depth], "__init__.py") for depth in range(1, len(parts))]
    for last in (Path(*parts, "__init__.py"), Path(*parts).with_suffix(".py")):
        if _is_file(root, last):
            return [*(path for path in packages if _is_file(root, path)), last]
    return []


@cache
def _is_file(root: Path, path: Path) -> bool:
    return (root / path).is_file()


@cache
def _needed_by(root: Path, path: Path) -> tuple[Path, ...]:
    if path.suffix != ".py":
        return ()
    source = (root / path).read_bytes()
    tree = ast.parse(source)
    found: list[Path] = []
    for node in _executed(tree):
        if isinstance(node, ast.Import):
            found += (file for alias in node.names for file in _module(root, alias.name))
        elif isinstance(node, ast.ImportFrom):
            found += _imported_from(root, node, path.parent.parts)
    if any(name in source for name in _TELLING):
        found += (
            file for node in ast.walk(tree) if isinstance(node, ast.Call) for file in _data_file(root, node, path)
        )
    return tuple(found)


def _imported_from(root: Path, node: ast.ImportFrom, package: tuple[str, ...]) -> Iterator[Path]:
    above = package[: len(package) - node.level + 1] if node.level else ()
    name = ".".join([*above, *filter(None, [node.module])])
    yield from _module(root, name)
    for alias in node.names:
        yield from _module(root, f"{name}.{alias.name}")


def _executed(tree: ast.AST) -> Iterator[ast.AST]:
    """Every statement but what stands under ``if TYPE_CHECKING``; an expression holds none."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.expr):
            continue
        if isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING":
            for other in child.orelse:
                yield other
                yield from _executed(other)
            continue
        yield child
        yield from _executed(child)


def _data_file(root: Path, node: ast.Call, path: Path) -> Iterator[Path]:
    """``files("fleet").joinpath("data/instances.json")``, in this form alone."""
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
    if called == "import_module":
        raise UnknownImportError(f"{path}:{node.lineno}: import_module(…) hides what is imported; write an import")
    if called != "joinpath" or not isinstance(node.func, ast.Attribute):
        return
    of = node.func.value
    if not (isinstance(of, ast.Call) and getattr(of.func, "id", None) == "files"):
        return
    match of.args, node.args:
        case [ast.Constant(value=str(package))], [ast.Constant(value=str(name))]:
            yield from _module(root, package)
            yield Path(*package.split("."), name)
        case _:
            text = 'write files("package").joinpath("name") with constants'
            raise UnknownImportError(f"{path}:{node.lineno}: names a data file by more than constants; {text}")
