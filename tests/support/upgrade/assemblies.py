"""The templates of released versions and of this tree, by environment and stack."""

import atexit
import json
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

from environments import loader
from tests.support import templates
from tests.support.upgrade import releases
from tests.support.upgrade.intrinsics import Templates
from tests.support.upgrade.synthesize import Files

ENVIRONMENTS: Final = tuple(sorted(file.stem for file in Path(loader.__file__).parent.glob("*.yaml")))
_PROGRAM: Final = Path(__file__).with_name("synthesize.py")


def written(version: str, folder: Path, *environments: str) -> Files:
    """The assemblies of ``version``, written below ``folder`` by its own code."""
    files: Files = json.loads(releases.run(version, _PROGRAM, str(folder), *environments))
    return files


@cache
def _all(version: str) -> Files:
    folder = Path(tempfile.mkdtemp(prefix=f"assemblies-{version}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return written(version, folder, *ENVIRONMENTS)


def released(version: str, environment: str) -> Templates:
    """What ``version`` deploys of an environment."""
    return read(_all(version)[environment])


def present(environment: str) -> Templates:
    """What this tree deploys of it."""
    return {each.name: each.body for each in templates.templates(environment).values()}


def read(files: dict[str, str]) -> Templates:
    """The templates of these files, by stack."""
    return {stack: json.loads(Path(file).read_text(encoding="utf-8")) for stack, file in files.items()}
