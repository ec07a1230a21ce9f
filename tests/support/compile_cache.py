"""A compile cache whose files have the times that a test gives them."""

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class CacheFolder:
    """The cache at ``root``. Times are unix seconds."""

    root: Path
    version: str = "neuronxcc-2.21.18209.0+043b1bf7"

    def graph(self, number: int) -> Path:
        """The folder of a graph, made if need be."""
        folder = self.root / self.version / f"MODULE_{number}+abcd1234"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def put(self, number: int, at: float, *names: str, size: int = 0) -> None:
        """Write files of a graph."""
        for name in names:
            path = self.graph(number) / name
            path.write_bytes(b"x" * size)
            os.utime(path, (at, at))

    def begin(self, number: int, at: float) -> None:
        """A compilation begins."""
        self.put(number, at, "model.hlo_module.pb", "compile_flags.json", "model.hlo_module.pb.lock")

    def finish(self, number: int, at: float, size: int = 100) -> None:
        """It ends well."""
        self.put(number, at, "model.neff", size=size)
        self.put(number, at, "model.done")
        self.unlock(number)

    def fail(self, number: int, at: float) -> None:
        """It fails."""
        self.put(number, at, "model.log")
        self.unlock(number)

    def unlock(self, number: int) -> None:
        """The lock is released."""
        (self.graph(number) / "model.hlo_module.pb.lock").unlink(missing_ok=True)

    def compiled(self, number: int, start: float, end: float, size: int = 100) -> None:
        """A whole compilation."""
        self.begin(number, start)
        self.finish(number, end, size)
