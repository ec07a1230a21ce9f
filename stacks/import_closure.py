"""Which of the project's files a program needs: its modules, what they import, and the data that they read.

Read from the source and not by importing it, for synthesis never runs what it deploys. An import inside a function
counts, one under ``TYPE_CHECKING`` does not. A data file counts where a module asks for it in the one way that is used:
``files("package").joinpath("path")``, both constant. A program that a module writes out is read for its imports too.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

_BY_NAME: Final = frozenset({"import_module", "run_module", "__import__"})
_CALLS: Final = re.compile(rb"\b(?:files|import_module|run_module|__import__)\(")
# In the source as it stands: the lines of a string, and those that are joined by an escaped line end.
_WRITTEN: Final = re.compile(r"(?:^|\\n)(?:from|import) ([a-z_]\w*(?:\.\w+)+)\b", re.MULTILINE)
_INIT: Final = "__init__"


class ImportClosureError(ValueError):
    """A program's files cannot be told; the message names the module and what is wrong."""


def files_of(entries: Iterable[str], packages: Iterable[str], root: Path) -> dict[str, bytes]:
    """Files by their path below ``root``: the modules ``entries`` and all that they reach within ``packages``.

    Raises:
        ImportClosureError: an entry, an import of ``packages`` or a data file is not there.
    """
    own = frozenset(packages)
    files: dict[str, bytes] = {}
    waiting = [(entry, "it is an entry point", True) for entry in entries]
    seen: set[str] = set()
    while waiting:
        name, asker, required = waiting.pop()
        if name in seen or name.partition(".")[0] not in own:
            continue
        path = _path(name, root)
        if path is None:
            if required:
                raise ImportClosureError(f"{name}: there is no such module below {root} ({asker})")
            # `from package import name` of what is no module.
            continue
        seen.add(name)
        relative = path.relative_to(root).as_posix()
        files[relative] = source = path.read_bytes()
        modules, possible, data = _needs(source, name, path.stem == _INIT)
        for one in data:
            files[one] = _data(root, one, relative)
        asker = f"{relative} imports it"
        waiting += [(one, asker, True) for one in (*modules, *_parents(name))]
        waiting += [(one, asker, False) for one in possible]
    return files


def _path(name: str, root: Path) -> Path | None:
    place = root.joinpath(*name.split("."))
    return next((path for path in (place / f"{_INIT}.py", place.with_suffix(".py")) if path.is_file()), None)


def _parents(name: str) -> Iterator[str]:
    # Python runs each package's __init__.py on the way to a module.
    while "." in name:
        name = name.rpartition(".")[0]
        yield name


def _data(root: Path, name: str, asker: str) -> bytes:
    try:
        return (root / name).read_bytes()
    except OSError as error:
        raise ImportClosureError(f"{name}: cannot be read, and {asker} does at run time ({error.strerror})") from error


# By content, so that an edited file is read again and one that many functions share is parsed once.
@lru_cache(maxsize=4096)
def _needs(source: bytes, name: str, is_package: bool) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Modules, names that may be modules, and data files that one file asks for."""
    modules = set(_WRITTEN.findall(source.decode()))
    possible: set[str] = set()
    data: set[str] = set()
    tree, calls = ast.parse(source), _CALLS.search(source) is not None
    if calls:
        _check_reads(tree, name)
    for node in _nodes(tree, everything=calls):
        match node:
            case ast.Import(names):
                modules |= {alias.name for alias in names}
            case ast.ImportFrom(module, names, level):
                origin = _absolute(module, level, name if is_package else name.rpartition(".")[0])
                modules.add(origin)
                possible |= {f"{origin}.{alias.name}" for alias in names}
            case ast.Call():
                modules |= _called_by_name(node)
                data |= _read(node)
    return frozenset(modules), frozenset(possible), frozenset(data)


def _nodes(tree: ast.AST, *, everything: bool) -> Iterator[ast.AST]:
    """All that runs; without ``everything`` no expressions, which are most of a file and import nothing."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            waiting += node.orelse
        elif everything or not isinstance(node, ast.expr):
            waiting += ast.iter_child_nodes(node)


def _absolute(module: str | None, level: int, package: str) -> str:
    if not level:
        return module or ""
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - level + 1], *([module] if module else [])])


def _function(call: ast.Call) -> str:
    match call.func:
        case ast.Name(name) | ast.Attribute(_, name):
            return name
    return ""


def _called_by_name(call: ast.Call) -> set[str]:
    match call.args:
        case [ast.Constant(str(name)), *_] if _function(call) in _BY_NAME:
            return {name}
    return set()


def _read(call: ast.Call) -> set[str]:
    """The data file that ``files("package").joinpath("path")`` names."""
    match call:
        case ast.Call(
            ast.Attribute(ast.Call(ast.Name("files"), [ast.Constant(str(package))]), "joinpath"),
            [ast.Constant(str(path))],
        ):
            return {f"{package.replace('.', '/')}/{path}"}
    return set()


def _check_reads(tree: ast.AST, asker: str) -> None:
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    asked = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "files"]
    named = sum(len(_read(call)) for call in calls)
    if len(asked) != named:
        raise ImportClosureError(
            f"{asker}: line {asked[0].lineno} reads a data file that cannot be told; write "
            'files("package").joinpath("path") with both as they are'
        )
