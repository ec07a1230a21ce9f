"""What a job's container runs: one process for each core, and the exit code that tells AWS Batch what to do next.

    python -m examples.launch MODULE [ARGUMENT ...]
    python -m examples.launch --beside OTHER MODULE [ARGUMENT ...]

First the node's compile cache is filled from the shared tier, where the job definition tells of one: what was compiled
for the fleet is not compiled again. A graph that is not there then is looked for again when the compiler is asked for
it, and waited for while another node compiles it: a neuronx-cc that does so stands before the real one. Then MODULE
runs under torchrun on all nodes, and OTHER, on the main node only, on the cores that MODULE leaves. torchrun ends with
1 whatever its ranks ended with. So a rank that wants the job to be started again (a drained node, a lost peer) leaves a
file, and this process ends with 75, at which the fleet's job definition retries.
"""

import argparse
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from workload.compile_cache.compiler import installing

RESUME: Final = 75
RESUME_FILE: Final = "NEURON_FLEET_RESUME_FILE"
CACHE: Final = "NEURON_FLEET_CACHE_SHARED"
_PORT: Final = 41000
# Many times what a full tier takes; a file system that does not answer must not keep the nodes for longer.
_WARM_SECONDS: Final = 1800.0
# The other process has this long to write down what it knows.
_BESIDE_SECONDS: Final = 60.0


def torchrun(environment: Mapping[str, str], module: str, arguments: Sequence[str]) -> list[str]:
    """The command of this node, from what AWS Batch and the submission tell its container.

    Batch gives the main node's address to the other nodes only (Batch user guide, multi-node parallel jobs).
    """
    node = environment.get("AWS_BATCH_JOB_NODE_INDEX", "0")
    main = environment.get("AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS") or own_address()
    return [
        "torchrun",
        f"--nnodes={environment.get('AWS_BATCH_JOB_NUM_NODES', '1')}",
        f"--node_rank={node}",
        f"--nproc_per_node={environment['NEURON_FLEET_RANKS_PER_NODE']}",
        f"--master_addr={main}",
        f"--master_port={_PORT}",
        "-m",
        module,
        *arguments,
    ]


def on_spare_cores(cores: str, module: str, arguments: Sequence[str]) -> list[str]:
    """The command of what runs beside: one rank on each of ``cores``, such as 24-31, on this node alone."""
    first, _, last = cores.partition("-")
    ranks = int(last or first) - int(first) + 1
    own = [f"--nproc_per_node={ranks}", "--master_addr=127.0.0.1", f"--master_port={_PORT + 1}"]
    return ["torchrun", "--nnodes=1", *own, "-m", module, *arguments]


def own_address() -> str:
    """The address that other nodes reach this one by; nothing is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("10.255.255.255", 9))
        return str(probe.getsockname()[0])


def visible_cores(environment: Mapping[str, str]) -> dict[str, str]:
    """Cores for MODULE, where it leaves some: the first ones. Empty: all, which is what the runtime takes."""
    if not environment.get("NEURON_FLEET_SPARE_CORES"):
        return {}
    return {"NEURON_RT_VISIBLE_CORES": f"0-{int(environment['NEURON_FLEET_RANKS_PER_NODE']) - 1}"}


def exit_code(code: int, *, wants_resume: bool) -> int:
    """What this process ends with when torchrun ended with ``code``."""
    return RESUME if wants_resume else (128 - code if code < 0 else code)


def run(environment: Mapping[str, str], module: str, arguments: Sequence[str], beside: str | None) -> int:
    """Run it all; SIGTERM goes on to every process, and this one waits for them."""
    with tempfile.TemporaryDirectory() as folder:
        marker = Path(folder) / "resume"
        own = {**environment, RESUME_FILE: str(marker)}
        processes: list[subprocess.Popen[bytes]] = []
        told: list[int] = []

        def forward(number: int, _: object) -> None:
            told.append(number)
            for process in processes:
                process.send_signal(number)

        # Before anything is started: the first process of a container ignores what it does not handle.
        signal.signal(signal.SIGTERM, forward)
        if environment.get(CACHE):
            warm_up(environment, processes)
        if told:
            return RESUME
        own |= before_compiler(environment, Path(folder))
        command = torchrun(environment, module, arguments)
        processes[:] = [subprocess.Popen(command, env={**own, **visible_cores(environment)})]
        spare = environment.get("NEURON_FLEET_SPARE_CORES")
        if beside and spare and environment.get("AWS_BATCH_JOB_NODE_INDEX", "0") == "0":
            of_spare = {**own, "NEURON_RT_VISIBLE_CORES": spare}
            processes.append(subprocess.Popen(on_spare_cores(spare, beside, arguments), env=of_spare))
        if told:
            # It came before there was anybody to tell.
            forward(told[-1], None)
        code = processes[0].wait()
        for other in processes[1:]:
            _let_go(other)
        return exit_code(code, wants_resume=marker.exists())


def warm_up(environment: Mapping[str, str], processes: list[subprocess.Popen[bytes]]) -> None:
    """Fetch the graphs that the shared tier has. Trouble costs a compilation, and never the job."""
    command = [sys.executable, "-m", "workload.compile_cache", "warm"]
    process = subprocess.Popen(command, env=dict(environment))
    processes.append(process)
    try:
        code = process.wait(_WARM_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        code = process.wait()
    if code:
        sys.stderr.write(f"the compile cache is not warm (exit code {code}): what is missing is compiled here\n")


def before_compiler(environment: Mapping[str, str], folder: Path) -> dict[str, str]:
    """The PATH on which ranks find a neuronx-cc that asks the fleet first; nothing where it cannot be had."""
    if not environment.get(CACHE):
        return {}
    try:
        return installing.in_front(folder, environment)
    except OSError as error:
        sys.stderr.write(f"every graph that the cache lacks is compiled here: {error}\n")
        return {}


def _let_go(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(_BESIDE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m examples.launch")
    parser.add_argument("--beside", help="a module for the cores that are left")
    parser.add_argument("module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    asked = parser.parse_args()
    return run(os.environ, asked.module, asked.arguments, asked.beside)


if __name__ == "__main__":
    sys.exit(main())
