"""Progress as a person reads it: one line for each step, with its seconds, and a live line while it runs."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console


class Step:
    """A step that is under way."""

    def __init__(self) -> None:
        self.result = ""

    def note(self, result: str) -> None:
        """What to say about the step when it has ended."""
        self.result = result


class Steps:
    """Prints steps to ``console``."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        """Real seconds since the first step could begin."""
        return time.monotonic() - self._began

    @contextmanager
    def step(self, name: str) -> Iterator[Step]:
        """Run the body as a step called ``name``."""
        step = Step()
        began = time.monotonic()
        with self.console.status(f"{name} …"):
            try:
                yield step
            except BaseException:
                self.console.print(f"[red]✗[/red] {name}", highlight=False)
                raise
        seconds = time.monotonic() - began
        result = f": {step.result}" if step.result else ""
        self.console.print(f"[green]✓[/green] {name}{result} [dim]{seconds:.1f} s[/dim]", highlight=False)
