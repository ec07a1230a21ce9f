"""The commands on a node's PATH that need root, a network or a device; the rest are this machine's own."""

import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Final

SCRIPTS: Final = Path(__file__).parent / "scripts"
# The first of these names that the bootstrap looks for; what is behind it is the interpreter of this environment.
_PYTHONS: Final = ("python3.12", "python3")
_VENV: Final = """if [ "$1 $2" = "-m venv" ]; then
    for last; do :; done
    "{python}" -m venv --without-pip "$last" || exit 1
    for packages in "$last"/lib/python3*/site-packages; do
        mkdir -p "$packages/pip" && cp "{pip}" "$packages/pip/__main__.py" || exit 1
    done
    exit 0
fi
exec "{python}" "$@"
"""


def install(folder: Path, systemd: Path, outputs: Mapping[str, str]) -> None:
    """Write them into ``folder``; ``outputs`` are what the Neuron and EFA tools print.

    Each leaves what it was asked in the file ``calls`` beside the folder.
    """
    python = getattr(sys, "_base_executable", sys.executable)
    folder.mkdir()
    for name in _PYTHONS:
        _script(folder, name, _VENV.format(python=python, pip=SCRIPTS / "pip.py"))
    _script(folder, "systemctl", f'exec "{python}" -I -S "{SCRIPTS}/systemctl.py" "{systemd}" "$@"')
    _script(folder, "aws", f'exec "{python}" -I -S "{SCRIPTS}/aws.py" "$@"')
    # sync is of the whole machine, which has other things to do than to outlive this node.
    for name in ("udevadm", "dnf", "apt-get", "snap", "mount", "modprobe", "sync"):
        _script(folder, name, "exit 0")
    # Scripts that look again and again wait less long here, and as often: a time limit counts their looks.
    _script(folder, "sleep", 'case $1 in [1-9]) exec /bin/sleep "0.$1" ;; *) exec /bin/sleep "$1" ;; esac')
    for name, text in outputs.items():
        (folder / f".{name}").write_text(text, encoding="utf-8")
        _script(folder, name, f'cat "{folder}/.{name}"')


def packages() -> str:
    """The folder of the packages of this environment."""
    return sysconfig.get_paths()["purelib"]


def _script(folder: Path, name: str, body: str) -> None:
    path = folder / name
    record = f'echo "{name} $*" >>"{folder.parent}/calls"'
    path.write_text(f"#!/bin/sh\n{record}\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
