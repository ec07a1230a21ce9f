"""Files, folders and modules of the project that a page names exist."""

import re
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, pages, prose

FOLDERS = (
    "agents",
    "bench",
    "cli",
    "dashboards",
    "docs",
    "environments",
    "examples",
    "fleet",
    "lambdas",
    "local",
    "stacks",
    "tests",
)
# The guide for contributors names files that do not exist yet; a test of its own holds its lists against real changes.
PAGES = [page for page in pages() if page.name != "CONTRIBUTING.md"]
_PATH = re.compile(rf"`((?:{'|'.join(FOLDERS)})/[\w./-]*)`")
_MODULE = re.compile(rf"python -m ((?:{'|'.join(FOLDERS)})[\w.]*)")


def missing(text: str) -> set[str]:
    """The paths and modules of the project that ``text`` names and that do not exist."""
    # ENVIRONMENT, NAME and the like stand for what the reader has.
    paths = {path for path in _PATH.findall(prose(text)) if not re.search(r"\b[A-Z]{3,}\b", path)}
    modules = {module.rstrip(".") for module in _MODULE.findall(text)}
    absent = {path for path in paths if not (ROOT / path).exists()}
    return absent | {module for module in modules if not _runs(ROOT / module.replace(".", "/"))}


def _runs(module: Path) -> bool:
    return (module / "__main__.py").exists() or module.with_suffix(".py").exists()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_names_exists(page: Path) -> None:
    assert missing(page.read_text(encoding="utf-8")) == set()


def test_what_does_not_exist_is_found() -> None:
    text = "`fleet/naming.py`, `fleet/nameing.py`, `environments/NAME.yaml`, `python -m bench.sinth`, `python -m cli`"
    assert missing(text) == {"fleet/nameing.py", "bench.sinth"}
