"""A folder that stands for a node's /, and small archives of an agent to install into it."""

import hashlib
import importlib.util
import json
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

from stacks.agent_archive import archive, wheels

PACKAGING = archive.ROOT / "agents" / "packaging"
CONFIG = {"fleet": "pretrain"}
# As much of an agent as the bootstrap needs: it is imported, and it reads the configuration.
# Asked by the health gate it knows two ranks, and leaves its verdict where the outputs of the tools are.
_MAIN = """import pathlib, sys
import fleet, tiny
if __name__ == "__main__":
    if sys.argv[1:2] != ["gate"]:
        print({version!r}, tiny.__file__)
    elif "--ranks" in sys.argv:
        print(2)
    else:
        pathlib.Path(sys.argv[-1]).with_name("gate").write_text("passed\\n")
        sys.exit({refused!r})
"""
_CONFIG_MODULE = """import json
class ConfigError(ValueError): pass
def read(path):
    content = json.loads(path.read_text())
    if "fleet" not in content: raise ConfigError(f"{path.name}: Object missing required field `fleet`")
"""


def code(version: str, *, refused: bool = False) -> archive.Code:
    """An agent that prints its version, with the real packaging files; ``refused``: its health gate fails."""
    files = {
        "agents/__init__.py": "",
        "agents/main.py": _MAIN.format(version=version, refused=refused),
        "agents/config.py": _CONFIG_MODULE,
        "fleet/__init__.py": "",
        "workload/__init__.py": "",
    }
    packaging = {f"agents/packaging/{path.name}": path.read_bytes() for path in PACKAGING.iterdir() if path.is_file()}
    return archive.Code({**{name: text.encode() for name, text in files.items()}, **packaging})


def tiny_wheel() -> bytes:
    """A distribution of one empty module."""
    info = "tiny-1.0.dist-info"
    return archive.zipped(
        {
            "tiny.py": b"",
            f"{info}/METADATA": b"Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
            f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            f"{info}/RECORD": f"tiny.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n".encode(),
        }
    )


# Stands for pip where a test is about something else: it unpacks what it finds into the environment.
_QUICK_PIP = """import pathlib, site, sys, zipfile
folder = pathlib.Path(sys.argv[sys.argv.index("--find-links") + 1])
for wheel in folder.glob("tiny-*.whl"):
    zipfile.ZipFile(wheel).extractall(site.getsitepackages()[0])
"""


def _real_pip() -> str:
    """Runs the pip of this environment: out of a zip, it would be compiled each time."""
    spec = importlib.util.find_spec("pip")
    assert spec is not None
    assert spec.origin is not None
    place = str(Path(spec.origin).parents[1])
    return f"import runpy, sys\nsys.path[0] = {place!r}\nrunpy.run_module('pip', run_name='__main__', alter_sys=True)\n"


def packed(version: str, *, with_pip: bool = False, damaged: bool = False, refused: bool = False) -> bytes:
    """An archive of ``code(version)``; a damaged one holds another wheel than its lock file allows."""
    wheel = {"tiny-1.0-py3-none-any.whl": tiny_wheel()}
    lock = wheels.lock({name: content + b"?" for name, content in wheel.items()} if damaged else wheel)
    pip = archive.zipped({"pip/__main__.py": (_real_pip() if with_pip else _QUICK_PIP).encode()})
    return archive.pack(
        code(version, refused=refused), {**wheel, wheels.LOCK: lock.encode(), "pip-26.3-py3-none-any.whl": pip}
    )


class Machine:
    """A node without systemd and AWS: small scripts stand for both, and ``calls`` is what systemctl was told."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "root"
        self.bin = folder / "bin"
        self.calls_file = folder / "calls"
        self.s3 = folder / "s3"
        for made in (self.root, self.bin, self.s3):
            made.mkdir()
        # The name of a version that the bootstrap looks for; a wheel of pure Python does not mind which one it is.
        (self.bin / "python3.12").symlink_to(getattr(sys, "_base_executable", sys.executable))
        self.put_script("udevadm", "exit 0")
        self.systemctl_answers()
        self.put_script(
            "aws",
            f'case "$1 $3 $4" in\n"ssm --name "*) cat "{self.s3}/parameter$(echo "$4" | tr / _)" ;;\n'
            f'"s3 "*) cp "{self.s3}/${{4##*/}}" "$5" ;;\nesac',
        )

    def put_script(self, name: str, body: str) -> None:
        """A command of the machine."""
        (self.bin / name).write_text(f"#!/bin/sh\n{body}\n")
        (self.bin / name).chmod(0o755)

    def systemctl_answers(self, restart: str = "exit 0", is_active: str = "exit 0") -> None:
        """What systemctl does when it is told to restart the agent, or asked whether it runs."""
        self.put_script(
            "systemctl",
            f'echo "$*" >>"{self.calls_file}"\ncase $1 in\nrestart) {restart} ;;\nis-active) {is_active} ;;\nesac',
        )

    def calls(self) -> list[str]:
        """What systemctl was told since the last call of this."""
        told = self.calls_file.read_text().splitlines() if self.calls_file.exists() else []
        self.calls_file.unlink(missing_ok=True)
        return told

    def publish(self, content: bytes, config: Mapping[str, object] = CONFIG, checksum: str | None = None) -> None:
        """Put an archive and a configuration where the installer looks."""
        (self.s3 / "agent.zip").write_bytes(content)
        digest = checksum or hashlib.sha256(content).hexdigest()
        (self.s3 / "parameter_code").write_text(f"s3://bucket/agent.zip {digest}\n")
        (self.s3 / "parameter_config").write_text(json.dumps(config) + "\n")

    def install(self, **further: str) -> subprocess.CompletedProcess[str]:
        """Run the installer as its unit does."""
        parameters = {"CODE_PARAMETER": "/code", "CONFIG_PARAMETER": "/config", "AWS_DEFAULT_REGION": "us-east-2"}
        return self.run(
            ["sh", str(PACKAGING / "install.sh")], NEURON_FLEET_ROOT=str(self.root), **parameters, **further
        )

    def run(self, command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command with nothing of this process's environment."""
        variables = {"PATH": f"{self.bin}:/usr/bin:/bin", **environment}
        return subprocess.run(command, env=variables, cwd="/", capture_output=True, text=True, check=False, timeout=300)

    def agent(self) -> str:
        """What the installed command prints."""
        return self.run([str(self.root / "usr/local/bin/fleet-agent")]).stdout

    @property
    def folder(self) -> Path:
        """Where the agent is installed."""
        return self.root / "opt" / "neuron-fleet"

    @property
    def current(self) -> str:
        """The version in use."""
        return (self.folder / "current").readlink().name

    def tree(self) -> dict[str, int]:
        """Every file with the time of its last change; the interpreter's caches and the lock aside."""
        return {
            str(path.relative_to(self.root)): path.lstat().st_mtime_ns
            for path in sorted(self.root.rglob("*"))
            if "__pycache__" not in path.parts and not path.is_dir() and path.name != ".lock"
        }


def unpacked(content: bytes, folder: Path) -> Path:
    """The archive's files in ``folder``."""
    folder.mkdir(parents=True)
    (folder / "archive.zip").write_bytes(content)
    with zipfile.ZipFile(folder / "archive.zip") as files:
        files.extractall(folder)
    return folder
