"""The only reader of environment files: YAML in, a frozen ``Environment`` out, or one clear line for each mistake."""

from datetime import datetime
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from environments.explain import explain
from environments.model import Environment
from environments.reading import read_mapping
from environments.rules import diagnose_environment
from fleet.diagnostics import Diagnostic, refuse

FOLDER: Final = Path(__file__).parent


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
    content = read_mapping(path, example="environments/dev.yaml")
    if isinstance(content, Diagnostic):
        return None, [content]
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


def _shown(path: Path) -> str:
    """As somebody in the project's folder would type it."""
    return f"{FOLDER.name}/{path.name}" if path.parent.resolve() == FOLDER.resolve() else str(path)
