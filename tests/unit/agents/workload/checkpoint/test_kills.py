"""SIGKILL at every step of a save: a reader sees the checkpoint before or the new one, whole, and never a half one."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from boto3.s3.transfer import TransferConfig

from agents.workload.checkpoint.stores.adapters import S3Store
from tests.support.checkpoints import read_back, save
from tests.unit.local.emulator.conftest import ROOT, Emulator, start_emulator

# S3's smallest part is 5 MB: this file is uploaded in two.
MODEL = 1_100_000
ONE_BY_ONE = TransferConfig(multipart_threshold=5 * 1024**2, multipart_chunksize=5 * 1024**2, use_threads=False)


class KilledError(Exception):
    """SIGKILL: no code of the package catches it, and what boto3 tries after it does not reach S3 either."""


class Tripwire:
    """Before call number ``after`` to S3 the process dies."""

    def __init__(self, after: int) -> None:
        self.calls: list[str] = []
        self._after = after

    def __call__(self, *, request: Any, event_name: str, **_: Any) -> None:
        if len(self.calls) >= self._after:
            raise KilledError
        self.calls.append(event_name.rpartition(".")[2])


@pytest.fixture(scope="module")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    running = start_emulator(tmp_path_factory.mktemp("emulator"), "--parent", str(os.getpid()))
    running.client("s3").create_bucket(
        Bucket="checkpoints", CreateBucketConfiguration={"LocationConstraint": "us-east-2"}
    )
    yield running
    running.process.terminate()
    running.process.wait(timeout=60)


def s3_store(emulator: Emulator, prefix: str, trip: Tripwire | None = None) -> S3Store:
    client = emulator.client("s3")
    if trip is not None:
        client.meta.events.register_first("before-send.s3", trip)
    return S3Store(client, "checkpoints", prefix, ONE_BY_ONE)


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


def test_a_save_killed_at_any_call_to_s3_leaves_no_half_checkpoint(emulator: Emulator, tmp_path: Path) -> None:
    outcomes: list[int | None] = []
    while True:
        prefix = f"kill-{len(outcomes)}/"
        save(s3_store(emulator, prefix), tmp_path / "scratch", 10, size=10)
        trip = Tripwire(len(outcomes))
        try:
            save(s3_store(emulator, prefix, trip), tmp_path / "scratch", 20, run="killed", size=MODEL)
            died = False
        except KilledError:
            died = True
        reader = s3_store(emulator, prefix)
        size = 10 if (step := latest_step(reader)) == 10 else MODEL
        assert read_back(reader, tmp_path / f"read-{len(outcomes)}", size=size) == step
        outcomes.append(step)
        if not died:
            break
    # For each rank: an upload begun, two parts, its end, the small file, its part, a look at the parts. The last one
    # reads both parts and writes the manifest.
    assert trip.calls == [
        *("CreateMultipartUpload", "UploadPart", "UploadPart", "CompleteMultipartUpload"),
        *("PutObject", "PutObject", "ListObjectsV2"),
        *("CreateMultipartUpload", "UploadPart", "UploadPart", "CompleteMultipartUpload"),
        *("PutObject", "PutObject", "ListObjectsV2"),
        *("GetObject", "GetObject", "PutObject"),
    ]
    assert outcomes == [10] * 17 + [20]


def latest_step(store: S3Store) -> int | None:
    from agents.workload.checkpoint.finding import latest

    found = latest(store).manifest
    return None if found is None else found.step
