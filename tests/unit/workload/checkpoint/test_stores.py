"""Both stores keep the same promises, and say in one line what they could not do."""

import socket
import threading
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from fleet.checkpoints.retention import Retention
from tests.support.checkpoints import read_back, save
from tests.support.client_shapes import shaped
from tests.unit.workload.checkpoint.conftest import BUCKET, S3
from workload.checkpoint.collecting import collect
from workload.checkpoint.finding import latest
from workload.checkpoint.resuming import choose
from workload.checkpoint.stores.adapters import CLIENT_CONFIG, S3Store
from workload.checkpoint.stores.file_store import FileStore
from workload.checkpoint.stores.places import open_store
from workload.checkpoint.stores.store import Store
from workload.errors import MissingError, PlaceError, StoreError


@pytest.fixture(params=["directory", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param == "directory":
        return FileStore(tmp_path / "store")
    s3: S3 = request.getfixturevalue("s3")
    return s3.store(f"{tmp_path.name}/")


def test_the_first_writer_decides_and_everybody_is_told_the_same(store: Store) -> None:
    assert store.read("commits/x") is None
    assert store.create("commits/x", b"first") == b"first"
    assert store.create("commits/x", b"second") == b"first"
    assert store.read("commits/x") == b"first"


def test_of_many_writers_at_once_one_decides(store: Store) -> None:
    start, told = threading.Barrier(8), []

    def write(content: bytes) -> None:
        start.wait(timeout=60)
        told.append(store.create("commits/x", content))

    threads = [threading.Thread(target=write, args=(f"{number}".encode(),)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert told == [store.read("commits/x")] * 8


def test_what_is_listed_is_below_the_prefix_in_the_order_of_keys(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"12345")
    for key in ("files/b/2", "files/b/1", "files/a/1", "parts/a/1"):
        store.put_file(key, file)
    assert [(entry.key, entry.size) for entry in store.list("files/")] == [
        ("files/a/1", 5),
        ("files/b/1", 5),
        ("files/b/2", 5),
    ]
    assert store.list("nothing/") == []
    store.delete(["files/b/1", "files/a/1", "files/never-was"])
    assert [entry.key for entry in store.list("files/")] == ["files/b/2"]
    store.fetch("files/b/2", tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == b"12345"


def test_what_is_not_there_is_missing(store: Store, tmp_path: Path) -> None:
    with pytest.raises(MissingError, match=r"files/none is not there"):
        store.fetch("files/none", tmp_path / "back")


def test_a_whole_life_of_checkpoints(store: Store, tmp_path: Path) -> None:
    for step in (10, 20, 30, 40):
        save(store, tmp_path / "s", step, size=10)
    assert read_back(store, tmp_path / "r", size=10) == 40
    manifest = choose(store, "next").manifest
    assert manifest is not None
    collected = collect(store, Retention(last=2))
    assert [attempt.step for attempt in collected.condemned] == [10, 20]
    assert (collected.problems, collected.uploads_removed) == ((), 0)


def test_more_objects_than_one_answer_holds_are_all_listed_and_deleted(s3: S3) -> None:
    store = s3.store("many/")
    for number in range(1_005):
        s3.client.put_object(Bucket=BUCKET, Key=f"many/files/{number:04d}", Body=b"")
    keys = [entry.key for entry in store.list("files/")]
    assert keys == [f"files/{number:04d}" for number in range(1_005)]
    store.delete(keys)
    assert store.list("files/") == []


def test_uploads_that_were_cut_off_are_aborted_when_they_are_old(s3: S3) -> None:
    store = s3.store("cut-off/")
    s3.client.create_multipart_upload(Bucket=BUCKET, Key="cut-off/files/x")
    assert store.sweep(3_600) == 0
    # By S3's clock the upload began a moment ago: "older than a minute in the future".
    assert store.sweep(-60) == 1
    assert "Uploads" not in s3.client.list_multipart_uploads(Bucket=BUCKET, Prefix="cut-off/")


def test_a_success_whose_answer_was_lost_is_one_all_the_same(s3: S3) -> None:
    store = s3.store("lost/")
    # boto3 repeats the call and is refused, because the first one has arrived.
    s3.client.put_object(Bucket=BUCKET, Key="lost/commits/x", Body=b"mine")
    assert store.create("commits/x", b"mine") == b"mine"


class Answers:
    """An S3 that answers what a test says, one after the other."""

    def __init__(self, *answers: str | bytes) -> None:
        self._answers = list(answers)
        self.calls = 0

    def put_object(self, **_: Any) -> None:
        self._next("PutObject")

    def get_object(self, **_: Any) -> Any:
        self._next("GetObject")

    def delete_objects(self, **_: Any) -> Any:
        return {"Errors": [{"Key": "a/x", "Code": "AccessDenied", "Message": "Access Denied"}]}

    def _next(self, name: str) -> None:
        self.calls += 1
        code = self._answers.pop(0)
        if code:
            raise ClientError({"Error": {"Code": str(code), "Message": "as S3\nsays"}}, name)


def test_two_writers_that_s3_cannot_tell_apart_are_asked_again() -> None:
    # A conflict, nobody there yet, and then the place is free.
    s3 = Answers("ConditionalRequestConflict", "NoSuchKey", "")
    assert S3Store(shaped("s3", s3), "b", "a/").create("x", b"mine") == b"mine"
    assert s3.calls == 3


def test_a_place_that_comes_and_goes_is_given_up() -> None:
    s3 = Answers(*["PreconditionFailed", "NoSuchKey"] * 5)
    with pytest.raises(StoreError, match="s3://b/a/x comes and goes"):
        S3Store(shaped("s3", s3), "b", "a/").create("x", b"mine")


def test_what_s3_refuses_is_one_line() -> None:
    with pytest.raises(StoreError) as refused:
        S3Store(shaped("s3", Answers("AccessDenied")), "b", "a/").create("x", b"mine")
    assert str(refused.value) == (
        "s3://b/a/x: An error occurred (AccessDenied) when calling the PutObject operation: as S3 says"
    )
    with pytest.raises(StoreError, match="s3://b/a: a/x was not deleted: Access Denied"):
        S3Store(shaped("s3", Answers()), "b", "a/").delete(["x"])


def test_an_s3_that_does_not_answer_is_given_up_after_a_bounded_time() -> None:
    assert vars(CLIENT_CONFIG)["retries"] == {"mode": "standard", "total_max_attempts": 5}
    # Less patient, because it waits longer between attempts each time.
    fewer = {"mode": "standard", "total_max_attempts": 2}
    patience = CLIENT_CONFIG.merge(Config(connect_timeout=0.2, read_timeout=0.2, retries=fewer))  # type: ignore[arg-type]  # the stubs want a TypedDict
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        client = boto3.client("s3", endpoint_url=url, region_name="us-east-2", config=patience)
        tries: list[str] = []
        client.meta.events.register("before-send.s3", lambda **_: tries.append("try"))
        with pytest.raises(StoreError, match="Read timeout on endpoint URL"):
            S3Store(client, "b", "a/").read("x")
        client.close()
    assert len(tries) == 2


def test_a_location_is_an_s3_address_or_a_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-2")
    assert str(open_store("s3://bucket-1/a/b/")) == "s3://bucket-1/a/b"
    assert str(open_store("s3://bucket-1")) == "s3://bucket-1"
    assert latest(open_store(str(tmp_path))).manifest is None
    for wrong in ("", "bucket/x", "s3://", "s3://UPPER/x", "relative/x", "gs://b/x"):
        with pytest.raises(PlaceError, match=r"use s3://bucket/prefix or an absolute directory"):
            open_store(wrong)
