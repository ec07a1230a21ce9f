"""How a serving process ends without an error to anybody: first no new requests, then no process.

Where a node drains, ECS takes its tasks out of the target group and stops them at the same time
(aws/containers-roadmap issue 2052, open): who ends at once refuses the requests that still come. So the task says that
it is not ready, and answers on for as long as the load balancer needs to notice.
"""

import threading
import time
from collections.abc import Callable
from typing import Final

from workload.serving.health import Health

# Three checks, 15 seconds apart, of 5 seconds (stacks.constructs.endpoint_balancer), and some for it to get around.
NOTICED_SECONDS: Final = 60


def leave(health: Health, seconds: float, end: Callable[[], None]) -> None:
    """Not ready from now on, and ``end`` after so many seconds.

    From a signal handler too: nothing is waited for, and no lock is taken in the thread that was interrupted.
    """

    def go() -> None:
        health.leaves()
        time.sleep(seconds)
        end()

    threading.Thread(target=go, name="leave", daemon=True).start()
