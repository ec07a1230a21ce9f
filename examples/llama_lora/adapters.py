"""Adapters on their way from the fine-tune to the validation on the same node, and out to S3."""

import os
import re
import shutil
from pathlib import Path
from typing import Final

FOLDER: Final = Path("/scratch/adapters")
_STEP: Final = re.compile(r"step-(\d+)")
_DONE: Final = "done"


def publish(written: Path, step: int, folder: Path = FOLDER) -> Path:
    """Make what lies in ``written`` the adapters of ``step``, at once and whole."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"step-{step}"
    # A run that resumed does steps again.
    shutil.rmtree(target, ignore_errors=True)
    os.replace(written, target)  # noqa: PTH105 - the one call that is atomic by definition
    return target


def steps(folder: Path = FOLDER) -> dict[int, Path]:
    """Every step that was published, in order."""
    found = ((_STEP.fullmatch(each.name), each) for each in folder.glob("step-*"))
    return dict(sorted((int(name[1]), each) for name, each in found if name))


def finish(folder: Path = FOLDER) -> None:
    """Nothing follows."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _DONE).touch()


def is_finished(folder: Path = FOLDER) -> bool:
    """Whether nothing follows. Ask before ``steps``, or the last one is missed."""
    return (folder / _DONE).exists()
