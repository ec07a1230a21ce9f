"""Which scenarios `fleet replay` was asked for: files, folders, names of the corpus, or a generated set."""

from pathlib import Path

from cli.answers import refuse
from cli.replay import generated
from fleet.diagnostics import did_you_mean
from local.replay.generator.corpus import Half
from local.replay.recording import as_scenario
from local.replay.run import PERIOD_SECONDS
from local.replay.scenario import CORPUS, Scenario, load


def asked_for(files: list[Path], half: Half | None, seed: int) -> list[tuple[Scenario, Path]]:
    """The scenarios, each with the folder that files which it names lie in; without any, the corpus.

    Raises:
        ScenarioFileError: One of the files is no scenario.
    """
    if half is None:
        return [_read(path) for path in _files(files or [CORPUS])]
    if files:
        refuse("--generated brings its own scenarios: pass either it or files")
    return generated.read(half, seed)


def _files(paths: list[Path]) -> list[Path]:
    found = [file for path in paths for file in (sorted(path.glob("*.yaml")) if path.is_dir() else [_known(path)])]
    if not found:
        refuse(f"{', '.join(map(str, paths))}: no scenario in it; they end in .yaml")
    return found


def _known(path: Path) -> Path:
    """A file, or the scenario of the corpus that is called so."""
    if path.exists() or path.parent != Path() or path.suffix:
        return path
    known = {file.stem: file for file in sorted(CORPUS.glob("*.yaml"))}
    if path.name not in known:
        fix = did_you_mean(path.name, known, f"see {CORPUS}, or pass a file")
        refuse(f"there is no scenario {path.name!r}; {fix}")
    return known[path.name]


def _read(path: Path) -> tuple[Scenario, Path]:
    if path.suffix in {".yaml", ".yml"}:
        return load(path), path.parent
    return as_scenario(path, PERIOD_SECONDS), path.parent
