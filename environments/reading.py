"""YAML as people write it: plain values, no key twice, and one clear line with its place for what is not."""

from collections.abc import Hashable
from pathlib import Path
from typing import Any, Final

import yaml

from fleet.diagnostics import Diagnostic, refuse

SYNTAX_FIX: Final = "quote text that has special characters, and check the indentation"


def read_mapping(path: Path, *, example: str) -> dict[Any, Any] | Diagnostic:
    """The keys and values in ``path``, or why there are none; ``example`` is a file to start from."""
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=_StrictLoader)  # noqa: S506 (a SafeLoader)
    except OSError as error:
        fix = "check the path, and who may read it"
        return refuse("unreadable", "", path, f"cannot be read: {error.strerror}", fix)
    except UnicodeDecodeError:
        return refuse("not-utf-8", "", path, "is not UTF-8 text", "save it as UTF-8")
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        return _syntax(error)
    if not isinstance(content, dict):
        found = "is empty" if content is None else f"holds a {type(content).__name__}, not keys and values"
        return refuse("not-a-mapping", "", "", found, f"start from {example}")
    return content


def _syntax(error: Exception) -> Diagnostic:
    mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
    problem = error.problem if isinstance(error, yaml.MarkedYAMLError) else None
    path = f"line {mark.line + 1}, column {mark.column + 1}" if mark else ""
    if isinstance(error, RecursionError):
        problem = "is nested too deeply"
    text = problem or " ".join(str(error).split())
    return refuse("yaml-syntax", path, "", text, SYNTAX_FIX)


class _StrictLoader(yaml.SafeLoader):
    """YAML's plain values only, and no key twice: PyYAML would silently keep the last."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> object:
        """The value at ``node``; one that its tag does not allow (``!!bool x``, 2026-13-45) is an error at its line."""
        try:
            value: object = super().construct_object(node, deep)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            kind = node.tag.rpartition(":")[2]
            raise yaml.MarkedYAMLError(problem=f"this is no {kind}", problem_mark=node.start_mark) from error
        if isinstance(value, int) and value.bit_length() > 64:
            # Python refuses to write down an integer of thousands of digits, even to say that it is wrong.
            raise yaml.MarkedYAMLError(problem="this number is too large", problem_mark=node.start_mark)
        return value

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """The mapping at ``node``; a repeated key is an error at its line."""
        seen: set[str] = set()
        for key_node, _ in node.value:
            if isinstance(key_node, yaml.ScalarNode) and key_node.value in seen:
                raise yaml.MarkedYAMLError(
                    problem=f"the key {key_node.value} is here twice", problem_mark=key_node.start_mark
                )
            seen.add(str(key_node.value))
        return super().construct_mapping(node, deep)
