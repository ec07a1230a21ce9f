"""The neuronx-cc before the real one: what it takes for a graph, who compiles it, and what it passes on."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from fleet.compile_cache.graph import Graph
from fleet.compile_cache.lease import State
from tests.support import standin_compiler
from tests.support.compiled_graphs import content, graph, write
from tests.support.lease_tables import MemoryTable
from tests.support.standin_compiler import REPOSITORY, WORDS
from workload.compile_cache.compiler import installing, obtaining
from workload.compile_cache.compiler.arguments import Compilation, read
from workload.compile_cache.compiler.obtaining import REFUSED, Asked
from workload.compile_cache.compiler.real import RealCompiler
from workload.compile_cache.flight.single_flight import OnMiss
from workload.compile_cache.settings import Settings
from workload.compile_cache.tiers import promotion
from workload.compile_cache.tiers.local import LocalTier
from workload.compile_cache.tiers.shared import SharedTier

LIMIT: Final = 60.0
A: Final = "model.MODULE_13537832482499839909+e30acd3a"
B: Final = "model.MODULE_5007921933048625946+d41d8cd9"


@pytest.mark.parametrize(
    ("command", "module", "target"),
    [
        # As logs of 2025, of 2023 and of a server have them, but for their folders.
        (
            f"compile --framework=XLA w/{A}.hlo_module.pb --output w/{A}.neff --target=trn1 --verbose=35",
            "MODULE_13537832482499839909+e30acd3a",
            f"w/{A}.neff",
        ),
        (
            f"--target=trn1 compile --framework XLA w/{B}.hlo.pb --output w/{B}.neff --verbose=35",
            "MODULE_5007921933048625946+d41d8cd9",
            f"w/{B}.neff",
        ),
        (
            "compile --framework=XLA model.MODULE_56f0d314fda2b6e1e336+617f6939.hlo_module.pb --output=a/b.neff -O2",
            "MODULE_56f0d314fda2b6e1e336+617f6939",
            "a/b.neff",
        ),
    ],
)
def test_a_compilation_is_known_by_the_name_of_its_file(command: str, module: str, target: str) -> None:
    words = command.split()
    (source,) = [word for word in words if word.endswith(".pb")]
    assert read(words) == Compilation(module, Path(source), Path(target))


@pytest.mark.parametrize(
    "command",
    [
        "--version",
        "list-operators --framework XLA",
        "compile --framework XLA /tmp/hlo.pb --output out.neff",
        "compile model.MODULE_1+a.hlo_module.pb",
        "compile model.MODULE_1+a.hlo_module.pb --output",
        "compile model.MODULE_1+a.hlo_module.pb --output a --output b",
        "compile model.MODULE_1+a.hlo_module.pb model.MODULE_2+a.hlo_module.pb --output a",
        "compile --pipeline compile SaveTemps model.MODULE_1+a.hlo_module.pb --output a",
    ],
)
def test_whatever_else_the_compiler_can_do_is_its_own(command: str) -> None:
    assert read(command.split()) is None


@dataclass
class Host:
    """A node with a compiler, and the other one before it."""

    folder: Path

    @property
    def programs(self) -> Path:
        return self.folder / "bin"

    @property
    def compiled(self) -> list[int]:
        return standin_compiler.compiled(self.programs)

    @property
    def told(self) -> dict[str, str]:
        return {
            "PATH": standin_compiler.install(self.programs),
            "PYTHONPATH": str(REPOSITORY),
            "NEURON_FLEET_CACHE_SHARED": str(self.folder / "shared"),
            "NEURON_FLEET_CACHE_LOCAL": str(self.folder / "local"),
            "NEURON_FLEET_CACHE_ON_MISS": "alone",
        }

    def start(self, arguments: Sequence[str | Path], **changes: str) -> subprocess.Popen[bytes]:
        told = self.told
        (self.folder / "front").mkdir(exist_ok=True)
        told |= installing.in_front(self.folder / "front", told)
        return subprocess.Popen(
            ["neuronx-cc", *arguments], env=told | changes, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def arguments(self, wanted: Graph, place: str = "work") -> list[str]:
        work = self.folder / place
        work.mkdir(exist_ok=True)
        source = work / f"model.{wanted.module}.hlo_module.pb"
        source.write_bytes(content(wanted, "model.hlo_module.pb"))
        return ["compile", "--framework=XLA", str(source), "--output", str(self.neff(wanted, place)), "--target=trn1"]

    def neff(self, wanted: Graph, place: str = "work") -> Path:
        return self.folder / place / f"model.{wanted.module}.neff"

    def asked(self, wanted: Graph, table: MemoryTable, on_miss: OnMiss, place: str) -> Asked:
        settings = Settings(self.folder / place / "local", self.folder / "shared", "", "leases", "", on_miss)
        arguments = self.arguments(wanted, place)
        compilation = read(arguments)
        assert compilation is not None
        real = RealCompiler(str(self.programs / "neuronx-cc"), self.told)
        return Asked(settings, compilation, wanted, arguments, real, table)


@pytest.fixture
def host(tmp_path: Path) -> Host:
    (tmp_path / "shared").mkdir()
    return Host(tmp_path)


def ended(process: subprocess.Popen[bytes]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=LIMIT)
    return process.returncode, out.decode(), err.decode()


def test_the_ranks_of_a_node_compile_a_graph_once(host: Host) -> None:
    ranks = [host.start(host.arguments(graph(1), f"rank{number}")) for number in range(6)]

    assert [ended(rank)[0] for rank in ranks] == [0] * 6

    assert host.compiled == [1]
    for number in range(6):
        assert host.neff(graph(1), f"rank{number}").read_bytes() == content(graph(1), "model.neff")


def test_what_the_fleet_has_is_not_compiled(host: Host) -> None:
    shared = SharedTier(host.folder / "shared")
    write(graph(1), host.folder / "made")
    made = promotion.stage(shared, graph(1), str(host.folder / "made"), token=1, seconds=60.0, holder="n")
    promotion.publish(shared, made)

    code, _, said = ended(host.start(host.arguments(graph(1))))

    assert (code, host.compiled) == (0, [])
    assert said.startswith(f"neuron-fleet: {graph(1)}: fetched, ")
    assert host.neff(graph(1)).read_bytes() == content(graph(1), "model.neff")
    # Nothing else is left where it is wanted.
    assert len(list((host.folder / "work").iterdir())) == 2


def test_a_kept_graph_that_a_power_failure_emptied_is_fetched_again(host: Host) -> None:
    test_what_the_fleet_has_is_not_compiled(host)
    kept = obtaining.tier(host.folder / "local").folder(graph(1)) / "model.neff"
    kept.write_bytes(b"")
    assert ended(host.start(host.arguments(graph(1))))[0] == 0
    assert host.neff(graph(1)).read_bytes() == content(graph(1), "model.neff")


def test_a_failure_is_the_compilers_own(host: Host) -> None:
    code, _, said = ended(host.start(host.arguments(graph(13))))
    assert (code, said) == (1, f"ERROR [neuronx-cc]: {WORDS}\n")
    assert not host.neff(graph(13)).exists()


def test_a_compiler_that_is_killed_ends_as_if_a_shell_said_so(host: Host) -> None:
    assert ended(host.start(host.arguments(graph(14))))[0] == 128 + signal.SIGKILL


@pytest.mark.parametrize("arguments", [["list-operators", "--framework", "XLA"], ["--help"], []])
def test_what_is_no_graph_is_the_compilers_business(host: Host, arguments: list[str]) -> None:
    assert ended(host.start(arguments))[:2] == (4, f"{' '.join(arguments)}\n")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"NEURON_FLEET_CACHE_SHARED": ""}, ""),
        ({"NEURON_FLEET_CACHE_ON_MISS": "share"}, "NEURON_FLEET_CACHE_TABLE is not set: to share"),
        ({"NEURON_FLEET_CACHE_LOCAL": "/proc/none"}, "/proc/none/.neuron-fleet/flight: cannot be made"),
    ],
)
def test_a_cache_that_cannot_be_used_costs_a_compilation(host: Host, changes: dict[str, str], said: str) -> None:
    code, out, err = ended(host.start(host.arguments(graph(1)), **changes))
    assert (code, out, host.compiled) == (0, "Compiler status PASS\n", [1])
    assert host.neff(graph(1)).exists()
    assert err.startswith(f"neuron-fleet: the compile cache is not used: {said}" if said else "")
    assert said or not err


def test_a_bucket_that_does_not_answer_costs_a_compilation_and_is_said_once(host: Host) -> None:
    # Nothing listens there.
    away = bucket_at(9)
    first = ended(host.start(host.arguments(graph(1)), **away))
    second = ended(host.start(host.arguments(graph(2)), **away))

    assert (first[0], second[0], host.compiled) == (0, 0, [1, 2])
    assert first[2].startswith("neuron-fleet: S3: s3://artifacts/neuron-artifacts/graphs/")
    assert "Could not connect to the endpoint URL" in first[2]
    assert (first[2].count("\n"), second[2]) == (1, "")


def bucket_at(port: int) -> dict[str, str]:
    return {
        "NEURON_FLEET_CACHE_BUCKET": "artifacts",
        "AWS_REGION": "us-east-2",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
    }


def test_sigterm_ends_one_that_waits_for_s3(host: Host) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(LIMIT)
        process = host.start(host.arguments(graph(1)), **bucket_at(silent.getsockname()[1]))
        connection, _ = silent.accept()
        with connection:
            process.send_signal(signal.SIGTERM)
            assert ended(process)[0] == 128 + signal.SIGTERM
    assert host.compiled == []
    assert {path.name for path in obtaining.tier(host.folder / "local").own.iterdir()} == {"locks"}


def test_a_disk_that_does_not_take_the_copy_does_not_cost_what_was_compiled(host: Host) -> None:
    asked = host.asked(graph(1), MemoryTable(), OnMiss.SHARE, "n1")
    (host.folder / "n1/model.MODULE_1+abcd1234.hlo_module.pb").unlink()
    with pytest.raises(OSError, match="No such file"):
        asked.obtain()
    assert (asked.compiler.code, host.compiled) == (0, [1])
    # As main sees it: the compiler's exit code, and no second run.
    gone = host.arguments(graph(2))
    Path(gone[2]).unlink()
    assert ended(host.start(gone))[0] == 0
    assert host.compiled == [1, 2]


def test_no_compiler_at_all(host: Host, tmp_path: Path) -> None:
    assert installing.in_front(tmp_path, {"PATH": "/nowhere"}) == {}
    words = [sys.executable, "-m", "workload.compile_cache.compiler", "--version"]
    done = subprocess.run(words, env=host.told | {"PATH": "/nowhere"}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (127, "neuronx-cc: command not found\n")


def test_sigterm_reaches_the_compiler(host: Host) -> None:
    process = host.start(host.arguments(graph(50)))
    until(lambda: host.compiled == [50])
    process.send_signal(signal.SIGTERM)
    assert ended(process)[0] == 128 + signal.SIGTERM
    assert not host.neff(graph(50)).exists()
    # And leaves no lock behind.
    assert ended(host.start(host.arguments(graph(50))))[0] == 0


def test_sigterm_ends_one_that_waits_for_another(host: Host) -> None:
    first = host.start(host.arguments(graph(50)))
    until(lambda: host.compiled == [50])
    waits = host.start(host.arguments(graph(50), "other"))
    # As the agent sees it, which takes a lock for dead that no compiler is seen to.
    until(lambda: Path(f"/proc/{waits.pid}/comm").read_text() == "neuronx-cc\n")
    assert graph(50).module in Path(f"/proc/{waits.pid}/cmdline").read_text()
    until(lambda: any("/locks/" in name for name in open_files(waits.pid)))
    waits.send_signal(signal.SIGTERM)
    assert ended(waits)[0] == 128 + signal.SIGTERM
    assert ended(first)[0] == 0


def open_files(pid: int) -> list[str]:
    return [str(path.readlink()) for path in Path(f"/proc/{pid}/fd").iterdir() if path.is_symlink()]


def until(seen: object) -> None:
    assert callable(seen)
    end = time.monotonic() + LIMIT
    while not seen():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_of_two_nodes_that_may_share_one_compiles(host: Host) -> None:
    table = MemoryTable()
    both = [host.asked(graph(50), table, OnMiss.SHARE, name) for name in ("n1", "n2")]
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda asked: asked.obtain(), both)) == [0, 0]
    assert host.compiled == [50]
    assert [row.state for row in table.history] == [State.COMPILING, State.PROMOTING, State.DONE]
    for name in ("n1", "n2"):
        assert host.neff(graph(50), name).read_bytes() == content(graph(50), "model.neff")


def test_what_is_shared_can_be_put_into_a_compilers_cache(host: Host) -> None:
    asked = host.asked(graph(1), MemoryTable(), OnMiss.SHARE, "n1")
    # Who asks has written these when it asks.
    cached = LocalTier(asked.settings.local).folder(graph(1))
    cached.mkdir(parents=True)
    (cached / "compile_flags.json").write_bytes(content(graph(1), "compile_flags.json"))
    assert asked.obtain() == 0
    manifest = SharedTier(host.folder / "shared").find(graph(1))
    assert manifest is not None
    names = ["compile_flags.json", "model.done", "model.hlo_module.pb", "model.neff"]
    assert [record.name for record in manifest.files] == names


def test_what_has_failed_twice_is_refused_with_the_compilers_words(
    host: Host, capfd: pytest.CaptureFixture[str]
) -> None:
    table = MemoryTable()
    codes = [host.asked(graph(13), table, OnMiss.SHARE, f"n{each}").obtain() for each in range(3)]
    assert (codes, host.compiled) == ([1, 1, REFUSED], [13, 13])
    assert f"refused after 2 failures, the last: {graph(13)}: ERROR [neuronx-cc]: {WORDS}" in capfd.readouterr().err


def test_a_killed_compiler_gives_the_lease_back(host: Host) -> None:
    table = MemoryTable()
    assert host.asked(graph(14), table, OnMiss.SHARE, "n1").obtain() == 128 + signal.SIGKILL
    assert table.rows[graph(14)].state is State.FREE


def test_who_must_not_compile_is_refused(host: Host, capfd: pytest.CaptureFixture[str]) -> None:
    assert host.asked(graph(1), MemoryTable(), OnMiss.REFUSE, "n1").obtain() == REFUSED
    assert "must not compile" in capfd.readouterr().err


def test_what_a_day_has_passed_over_is_removed(host: Host) -> None:
    asked = host.asked(graph(1), MemoryTable(), OnMiss.ALONE, "n1")
    asked.obtain()
    own = obtaining.tier(asked.settings.local)
    (own.own / "left").mkdir()
    yesterday = time.time() - 25 * 3600
    for path in (own.folder(graph(1)), own.own / "left"):
        os.utime(path, (yesterday, yesterday))
    host.asked(graph(2), MemoryTable(), OnMiss.ALONE, "n1").obtain()
    assert own.graphs() == [graph(2)]
    assert [path.name for path in own.own.iterdir()] == ["locks"]
