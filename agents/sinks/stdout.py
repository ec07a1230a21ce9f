"""Standard output instead of AWS: what would be sent, one JSON object a minute."""

import json
import sys
from math import inf

from agents.minute.batch import Batch


class StdoutSink:
    """For a look at a node without an account."""

    name = "stdout"
    longest_age = inf
    is_record = True

    def part(self, batch: Batch) -> Batch:
        """All of it."""
        return batch

    def send(self, batch: Batch) -> int:
        """Print the batch."""
        content = {"metric_data": list(batch.metric_data), "log_event": batch.log_event}
        sys.stdout.write(json.dumps(content, separators=(",", ":")) + "\n")
        sys.stdout.flush()
        return 0
