"""Where the chart library is: npm installs it, so it is in no Python package."""

from pathlib import Path
from typing import Final

# As package.json pins it.
PACKAGE: Final = "echarts@6.1.0"
_FILE: Final = Path("node_modules/echarts/dist/echarts.min.js")
_PROJECT: Final = Path(__file__).parents[2] / _FILE
# Outside of the project's folder, one in the present folder will do.
ECHARTS: Final = _FILE.absolute() if _FILE.is_file() and not _PROJECT.is_file() else _PROJECT
MISSING: Final = f"the chart library is not installed: `npm install {PACKAGE}` in this folder brings it"
