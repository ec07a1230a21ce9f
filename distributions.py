"""What the four distributions of this folder have in common, for their builds: one version, and pins from one place.

``fleet``, ``workload`` and ``agents`` have a ``pyproject.toml`` of their own; the platform's is beside this file.
"""

from pathlib import Path
from typing import Any, Final

from hatchling.metadata.plugin.interface import MetadataHookInterface

_ROOT: Final = Path(__file__).parent


class Dependencies(MetadataHookInterface):
    """Dependencies are the listed distributions in this version, and the requirements files' pins."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in what ``dynamic`` names."""
        version = _version()
        ours = [f"{name}=={version}" for name in self.config.get("distributions", [])]
        metadata["version"] = version
        metadata["dependencies"] = ours + self._pins(self.config.get("requirements"))
        extras = self.config.get("extras", {})
        metadata["optional-dependencies"] = {extra: self._pins(file) for extra, file in extras.items()}

    def _pins(self, file: str | None) -> list[str]:
        if file is None:
            return []
        lines = (Path(self.root) / file).read_text(encoding="utf-8").splitlines()
        return [line for line in lines if line and not line.startswith("#")]


def _version() -> str:
    found: dict[str, Any] = {}
    exec((_ROOT / "fleet/version.py").read_text(encoding="utf-8"), found)  # noqa: S102 - our own file, one constant
    return str(found["VERSION"])
