"""The documents that commands read: in the project's folder or, once installed, beside this package."""

from pathlib import Path
from typing import Final

_INSTALLED: Final = Path(__file__).parent / "docs"
# Which of them are installed: setup.py.
DOCS: Final = _INSTALLED if _INSTALLED.is_dir() else Path(__file__).parents[1] / "docs"
RUNBOOKS: Final = DOCS / "runbooks"
