"""Which boot of the node this is."""

from pathlib import Path


def boot_id(proc: Path) -> str:
    """The kernel's name for this boot; empty where there is none."""
    try:
        return (proc / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
