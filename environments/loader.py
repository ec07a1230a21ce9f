"""The only reader of environment files: YAML in, a frozen ``Environment`` out, or one clear line for each mistake."""

from collections.abc import Hashable
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import yaml
from pydantic import ValidationError

from environments.explain import explain
from environments.model import Environment
from environments.rules import diagnose_environment
from fleet.diagnostics import Diagnostic, refuse

FOLDER: Final = Path(__file__).parent
SYNTAX_FIX: Final = "quote text that has special characters, and check the indentation"


class EnvironmentFileError(ValueError):
    """A file that is not an environment. Its text is one line per mistake: file, path in it, what would be right."""

    def __init__(self, file: str, diagnostics: list[Diagnostic]) -> None:
        """Keep the errors among ``diagnostics``."""
        self.file = file
        self.diagnostics = [diagnostic for diagnostic in diagnostics if diagnostic.is_error]
        super().__init__("\n".join(f"{file}: {diagnostic}" for diagnostic in self.diagnostics))


def available() -> tuple[str, ...]:
    """The names of the environments that have a file."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


def load(name: str | None) -> Environment:
    """The environment called ``name``.

    Raises:
        EnvironmentFileError: no name, no such environment, or a mistake in its file.
    """
    known = ", ".join(available())
    if not name:
        missing = refuse("no-environment", "", "", "no environment is named", f"pass -c env=NAME with one of {known}")
        raise EnvironmentFileError("environments", [missing])
    if name not in available():
        unknown = refuse("unknown-environment", "", name, f"there is no environment {name!r}", f"known: {known}")
        raise EnvironmentFileError("environments", [unknown])
    return load_file(FOLDER / f"{name}.yaml")


def load_file(path: Path) -> Environment:
    """The environment in ``path``.

    Raises:
        EnvironmentFileError: every mistake that was found, not only the first.
    """
    environment, diagnostics = _examine(path)
    if environment is None or any(diagnostic.is_error for diagnostic in diagnostics):
        raise EnvironmentFileError(_shown(path), diagnostics)
    return environment


def diagnose(path: Path, *, now: datetime | None = None) -> list[Diagnostic]:
    """Everything that is to be said about the file: errors, warnings and notes; dates are judged for ``now``."""
    return _examine(path, now)[1]


def _examine(path: Path, now: datetime | None = None) -> tuple[Environment | None, list[Diagnostic]]:
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=_StrictLoader)  # noqa: S506 (a SafeLoader)
    except OSError as error:
        return None, [
            refuse("unreadable", "", path, f"cannot be read: {error.strerror}", "check the path, and who may read it")
        ]
    except UnicodeDecodeError:
        return None, [refuse("not-utf-8", "", path, "is not UTF-8 text", "save it as UTF-8")]
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        return None, [_syntax(error)]
    if not isinstance(content, dict):
        found = "is empty" if content is None else f"holds a {type(content).__name__}, not keys and values"
        return None, [refuse("not-a-mapping", "", "", found, "start from environments/dev.yaml")]
    try:
        environment = Environment.model_validate(content)
    except ValidationError as error:
        return None, explain(error, content)
    diagnostics = list(diagnose_environment(environment, now=now))
    if environment.name != path.stem:
        fix = f"call it {path.stem}, or rename the file to {environment.name}.yaml"
        wrong = f"{environment.name} is not the file's name"
        diagnostics.insert(0, refuse("name-is-not-the-files", "name", environment.name, wrong, fix))
    return environment, diagnostics


def _syntax(error: Exception) -> Diagnostic:
    mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
    problem = error.problem if isinstance(error, yaml.MarkedYAMLError) else None
    path = f"line {mark.line + 1}, column {mark.column + 1}" if mark else ""
    if isinstance(error, RecursionError):
        problem = "is nested too deeply"
    text = problem or " ".join(str(error).split())
    return refuse("yaml-syntax", path, "", text, SYNTAX_FIX)


def _shown(path: Path) -> str:
    """As somebody in the project's folder would type it."""
    return f"{FOLDER.name}/{path.name}" if path.parent.resolve() == FOLDER.resolve() else str(path)


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
