"""torchrun in a simulated node's container: one process stands for all ranks of the node.

As the real one it passes SIGTERM on, waits for its worker, and ends with 1 whatever that ended with.
"""

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence


def environment_of(asked: argparse.Namespace) -> Mapping[str, str]:
    """What the worker is told of its place. As many ranks as nodes: see above."""
    return {
        "RANK": str(asked.node_rank),
        "LOCAL_RANK": "0",
        "WORLD_SIZE": str(asked.nnodes),
        "LOCAL_WORLD_SIZE": "1",
        "MASTER_ADDR": asked.master_addr,
        "MASTER_PORT": str(asked.master_port),
        "TORCHELASTIC_RESTART_COUNT": "0",
    }


def main(arguments: Sequence[str]) -> int:
    """Run the worker."""
    parser = argparse.ArgumentParser(prog="torchrun")
    for name in ("--nnodes", "--node_rank", "--nproc_per_node", "--master_port"):
        parser.add_argument(name, type=int, required=True)
    parser.add_argument("--master_addr", required=True)
    parser.add_argument("-m", dest="module", required=True)
    asked, rest = parser.parse_known_args(arguments)
    command = [sys.executable, "-m", "local.training.image.frameworks", asked.module, *rest]
    worker = subprocess.Popen(command, env={**os.environ, **environment_of(asked)})
    signal.signal(signal.SIGTERM, lambda number, _: worker.send_signal(number))
    return 1 if worker.wait() else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
