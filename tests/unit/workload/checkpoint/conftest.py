"""One embedded AWS for these tests, and a way to die before any call to it."""

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from boto3.s3.transfer import TransferConfig

from tests.unit.local.emulator.conftest import start_emulator
from workload.checkpoint.stores.adapters import S3Store

BUCKET = "checkpoints"
# S3's smallest part is 5 MB. One call after the other, so that they can be counted.
ONE_BY_ONE = TransferConfig(multipart_threshold=5 * 1024**2, multipart_chunksize=5 * 1024**2, use_threads=False)


class KilledError(Exception):
    """SIGKILL: no code of the package catches it, and what boto3 tries after it does not reach S3 either."""


class S3:
    """A real client of an embedded S3; ``lives`` calls reach it, and then the process is dead."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.calls: list[str] = []
        self.lives: int | None = None
        client.meta.events.register_first("before-send.s3", self._before_send)

    def store(self, prefix: str) -> S3Store:
        return S3Store(self.client, BUCKET, prefix, ONE_BY_ONE)

    def die_after(self, calls: int | None) -> None:
        self.calls, self.lives = [], calls

    def _before_send(self, *, event_name: str, **_: Any) -> None:
        if self.lives is not None and len(self.calls) >= self.lives:
            raise KilledError
        self.calls.append(event_name.rpartition(".")[2])


@pytest.fixture(scope="package")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3]:
    running = start_emulator(tmp_path_factory.mktemp("emulator"), "--parent", str(os.getpid()))
    client = running.client("s3")
    client.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "us-east-2"})
    yield S3(client)
    client.close()
    running.process.terminate()
    running.process.wait(timeout=60)


@pytest.fixture
def _own_sigterm() -> Iterator[None]:
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)
