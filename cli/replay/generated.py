"""The generated corpus for `fleet replay`: which set is replayed, and all of it as files."""

from collections.abc import Iterator
from pathlib import Path

from local.replay.generator.corpus import Half, as_yaml, generated
from local.replay.scenario import Scenario


def read(half: Half, seed: int) -> list[tuple[Scenario, Path]]:
    """The scenarios of one set, as if they had been read from files."""
    return [(scenario, Path()) for scenario in generated(half, seed)]


def export(folder: Path, seed: int) -> Iterator[Path]:
    """Write every scenario into a folder of its set.

    Raises:
        OSError: It cannot be written.
    """
    for half in Half:
        place = folder / half.value
        place.mkdir(parents=True, exist_ok=True)
        for scenario in generated(half, seed):
            file = place / f"{scenario.name}.yaml"
            file.write_text(as_yaml(scenario), encoding="utf-8")
            yield file
