"""The only reader of environment files: YAML in, a frozen ``Environment`` out, or one clear line for each mistake."""

import os
from datetime import datetime
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from environments.explain import explain
from environments.model import Environment
from environments.reading import read_mapping
from environments.rules import diagnose_environment
from fleet.diagnostics import DID_YOU_MEAN, Diagnostic, nearest, refuse, with_known

FOLDER: Final = Path(__file__).parent
_ENDINGS: Final = (".yaml", ".yml")


class EnvironmentFileError(ValueError):
    """A file that is not an environment. Its text is one line per mistake: file, path in it, what would be right."""

    def __init__(self, file: str, diagnostics: list[Diagnostic]) -> None:
        """Keep the errors among ``diagnostics``."""
        self.file = file
        self.diagnostics = [diagnostic for diagnostic in diagnostics if diagnostic.is_error]
        super().__init__("\n".join(f"{file}: {diagnostic}" for diagnostic in self.diagnostics))


def available() -> tuple[str, ...]:
    """The names of the environments that have a file: the user's own, and those that ship."""
    return tuple(sorted({path.stem for folder in _folders() for path in folder.glob("*.yaml")}))


def load(name: str | None) -> Environment:
    """The environment that ``name`` is a name or a path of.

    Raises:
        EnvironmentFileError: no name, no such environment, or a mistake in its file.
    """
    return load_file(locate(name))


def locate(name: str | None) -> Path:
    """The file of an environment: a path has a slash or ends in .yaml or .yml, everything else is a name.

    A name is looked for in ./environments first, so that people who installed the project use files of their own.

    Raises:
        EnvironmentFileError: no name, or no such file.
    """
    if not name:
        fix = f"pass -c env=NAME with one of {', '.join(available())}"
        raise EnvironmentFileError("environments", [refuse("no-environment", "", "", "no environment is named", fix)])
    if is_path(name):
        return _existing(Path(name))
    for folder in _folders():
        if (file := folder / f"{name}.yaml").is_file():
            return file
    wrong = f"there is no environment {name!r}"
    unknown = refuse("unknown-environment", "", name, wrong, with_known(name, available()))
    raise EnvironmentFileError("environments", [unknown])


def is_path(name: str) -> bool:
    """Whether an environment is named by its file."""
    return "/" in name or os.sep in name or name.endswith(_ENDINGS)


def _folders() -> tuple[Path, ...]:
    return (Path.cwd() / FOLDER.name, FOLDER)


def _existing(path: Path) -> Path:
    if path.exists():
        return path
    beside = [each.name for each in path.parent.glob("*.y*ml")] if path.parent.is_dir() else []
    close = nearest(path.name, beside)
    # As it was typed, up to the file's name: that can be copied.
    fix = f"{DID_YOU_MEAN}{path.parent / close}?" if close else f"pass a file, or one of {', '.join(available())}"
    raise EnvironmentFileError(str(path), [refuse("no-such-file", "", path, "there is no such file", fix)])


def load_file(path: Path) -> Environment:
    """The environment in ``path``.

    Raises:
        EnvironmentFileError: every mistake that was found, not only the first.
    """
    environment, diagnostics = _examine(path)
    if environment is None or any(diagnostic.is_error for diagnostic in diagnostics):
        raise EnvironmentFileError(shown(path), diagnostics)
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


def shown(path: Path) -> str:
    """As somebody in the project's folder would type it."""
    ours = path.parent.resolve() in {folder.resolve() for folder in _folders()}
    return f"{FOLDER.name}/{path.name}" if ours else str(path)
