"""What a file imports when it runs: an import under ``TYPE_CHECKING`` is for the type checker alone."""

import ast
from pathlib import Path


def imported(path: Path) -> set[str]:
    """The top-level names of the modules that ``path`` imports, wherever in the file."""
    found: set[str] = set()
    waiting: list[ast.AST] = [ast.parse(path.read_bytes())]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            waiting += node.orelse
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
        waiting += ast.iter_child_nodes(node)
    return {name.partition(".")[0] for name in found}
