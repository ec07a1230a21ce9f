"""SIGKILL at every step of a save: a reader sees the checkpoint before or the new one, whole, and never a half one."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.support.checkpoints import read_back, save
from tests.unit.local.emulator.conftest import ROOT
from tests.unit.workload.checkpoint.conftest import S3, KilledError
from workload.checkpoint.finding import latest
from workload.checkpoint.stores.adapters import S3Store

# S3's smallest part is 5 MB: this file of "20/0;" is uploaded in two.
MODEL = 1_100_000


def test_a_save_killed_at_any_system_call_leaves_no_half_checkpoint(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.support.killed_saves", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    # Two ranks, two files each, and the manifest: at least 10 calls for every one of the 4 files, 2 parts and it.
    assert figures["kills"] >= 70
    # The new one shows from the link of the manifest on, and then whatever is killed after it.
    assert 0 < figures["complete"] < 20


def test_a_save_killed_at_any_call_to_s3_leaves_no_half_checkpoint(s3: S3, tmp_path: Path) -> None:
    outcomes: list[int | None] = []
    died = True
    while died:
        store = s3.store(f"kill-{len(outcomes)}/")
        s3.die_after(None)
        save(store, tmp_path / "scratch", 10, size=10)
        s3.die_after(len(outcomes))
        try:
            save(store, tmp_path / "scratch", 20, run="killed", size=MODEL)
            died = False
        except KilledError:
            pass
        calls = s3.calls
        s3.die_after(None)
        step = latest_step(store)
        assert read_back(store, tmp_path / f"read-{len(outcomes)}", size=10 if step == 10 else MODEL) == step
        outcomes.append(step)
    # For each rank: an upload begun, two parts, its end, the small file, its part, a look at the parts. The last one
    # reads both parts, at once, and writes the manifest.
    upload = ["CreateMultipartUpload", "UploadPart", "UploadPart", "CompleteMultipartUpload"]
    assert calls == [*upload, "PutObject", "PutObject", "ListObjectsV2"] * 2 + ["GetObject", "GetObject", "PutObject"]
    assert outcomes == [10] * 17 + [20]


def latest_step(store: S3Store) -> int | None:
    found = latest(store).manifest
    return None if found is None else found.step
