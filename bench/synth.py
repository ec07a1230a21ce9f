"""Seconds to synthesize production, beside an empty CDK app in the same run."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
RUNS = 3
EMPTY_APP = "import aws_cdk; aws_cdk.App().synth()"


def run() -> None:
    """Print the median of both and their ratio; the two take turns, so that a noisy machine hurts both alike."""
    prod, empty = [], []
    for _ in range(RUNS):
        empty.append(_seconds([sys.executable, "-c", EMPTY_APP]))
        prod.append(_seconds([sys.executable, "app.py"]))
    ours, baseline = statistics.median(prod), statistics.median(empty)
    print(f"synth of prod: {ours:.2f} s, an empty CDK app: {baseline:.2f} s, ratio {ours / baseline:.2f}")


def _seconds(command: list[str]) -> float:
    with tempfile.TemporaryDirectory() as outdir:
        # The feature flags of cdk.json, as the CDK command line hands them over.
        context = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"] | {
            "env": "prod",
            "agent-archive": "none",
        }
        environment = os.environ | {"CDK_OUTDIR": outdir, "CDK_CONTEXT_JSON": json.dumps(context)}
        started = time.perf_counter()
        subprocess.run(command, check=True, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
        return time.perf_counter() - started
