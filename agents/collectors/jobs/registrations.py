"""Registration files: ``jobs/<job-id>.json`` in the run directory, written by whoever starts a job.

Anybody may put files there, so nothing in it is trusted to be a file, small or JSON.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from agents.collectors.jobs.identity import LONGEST_TEXT
from agents.collectors.jobs.job import Job, dimension_value

_LARGEST_FILE: Final = 16 * 1024
_PROBLEMS_SHOWN: Final = 20
# As many as one minute may have jobs, and to spare; a folder of thousands is not read each minute.
_FILES_READ: Final = 64


class _Content(msgspec.Struct, frozen=True):
    job_id: str
    name: str = ""
    owner: str = ""
    cores: int | None = None
    tokens_wanted: float | None = None


@dataclass(frozen=True, slots=True)
class Registration:
    """A registered job. ``cores`` is what it was promised: a hint, and never what it holds."""

    job: Job
    cores: int


def read(directory: Path) -> tuple[tuple[Registration, ...], tuple[str, ...]]:
    """The jobs in ``directory``, the one with most cores first, and what was wrong with their files."""
    found: dict[str, Registration] = {}
    problems: list[str] = []
    paths = sorted(directory.glob("*.json"))
    if len(paths) > _FILES_READ:
        problems.append(f"{len(paths)} job registrations; only the first {_FILES_READ} are read")
    for path in paths[:_FILES_READ]:
        if len(problems) >= _PROBLEMS_SHOWN:
            break
        try:
            registration = _one(path)
        except FileNotFoundError:
            continue
        except (OSError, ValueError, msgspec.DecodeError) as error:
            problems.append(f"job registration {path.name[:LONGEST_TEXT]}: {error}")
            continue
        if registration.job.job_id in found:
            problems.append(f"job registration {path.name[:LONGEST_TEXT]}: {registration.job.job_id} is another file's")
        found.setdefault(registration.job.job_id, registration)
    return tuple(sorted(found.values(), key=lambda each: -each.cores)), tuple(problems)


def _one(path: Path) -> Registration:
    # A pipe would never end, and a long name would not fit a log event.
    if not path.is_file() or path.stat().st_size > _LARGEST_FILE:
        if not path.exists():
            raise FileNotFoundError(path.name)
        raise ValueError("not a file of at most 16 KiB")
    content = msgspec.json.decode(path.read_bytes(), type=_Content)
    name = (content.name or content.job_id)[:LONGEST_TEXT]
    job = Job(dimension_value(content.job_id), name, content.owner[:LONGEST_TEXT], registered=True)
    return Registration(job, content.cores or 0)
