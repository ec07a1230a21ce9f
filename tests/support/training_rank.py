"""One rank of a training job as a process of its own: ``python -m tests.support.training_rank STORE NODE RANK WORLD``.

Each line on its standard input is a step, as collectives keep ranks in step; it answers with what it did. The first
line that it prints is where it resumed.
"""

import json
import os
import sys
from pathlib import Path

from workload.checkpoint.drain import Drain
from workload.checkpoint.member import Habits, Member, run_name
from workload.checkpoint.saver import Saver
from workload.checkpoint.stores.places import open_store

HABITS = Habits(retention=None, look_seconds=0.02, ahead_seconds=3.0, complete_seconds=120)


def answer(**said: object) -> None:
    """One line for the parent."""
    sys.stdout.write(f"{json.dumps(said)}\n")
    sys.stdout.flush()


def main(store: str, node: Path, rank: int, world: int) -> None:
    """The loop of ``docs/checkpoints.md``, with a sum for a model."""
    member = Member(run_name(os.environ), rank, world)
    saver = Saver(open_store(store), member, node / "disk", Drain(node / "run", seconds=0.01), HABITS)
    resumed = saver.resume()
    total = int((resumed.directory / "total").read_text()) if resumed else 0
    with saver.listening():
        answer(resumed=resumed.step if resumed else None, total=total)
        for line in sys.stdin:
            step = int(line)
            total += step * (rank + 1)
            saves = saver.wants(step)
            if saves:
                with saver.save(step) as directory:
                    (directory / "total").write_text(str(total))
            answer(saved=saves, ends=saver.ends(step), total=total)
            if saver.ends(step):
                return


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
