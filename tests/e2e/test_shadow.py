"""A version that answers as the one before it passes, and one that does not is refused: processes, and a bucket in S3.

The example server with its stand-in is the old version, and twice a new one. What becomes of their reports is decided
by the rollout function's own code, over the same bucket.
"""

import json
import time
import urllib.request
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest

from fleet.rollout import Phase, Plan, Rollout, decide, wanted
from fleet.rollout.facts import Facts, Side
from fleet.shadow import places
from fleet.shadow.gate import ShadowGate
from fleet.shadow.sample import Batch, decode
from lambdas.rollout.objects import ShadowReports
from local.emulator_process import aws_environment
from tests.support import doctored
from tests.support.embedded_client import client
from tests.support.rollout_endpoint import NEW, OLD, PLACE, START
from tests.support.shadow_task import MIN_REQUESTS, ShadowPlace, shadow_task

BUCKET = PLACE.shadow_bucket
CANDIDATES = "prod-chat-candidate"
REQUESTS = 24
PATIENCE = 90.0
# Latencies are reported and not judged: a test machine may be busy with anything.
GATE = ShadowGate(min_requests=MIN_REQUESTS, latency_ratio=None, minutes=5)


@dataclass
class Account:
    """An embedded AWS with the bucket in it."""

    folder: Path
    place: ShadowPlace

    def task(self, version: str, cluster: str, task: str, *arguments: str) -> AbstractContextManager[str]:
        """The address of one that serves."""
        return shadow_task(self.place, self.folder, version, cluster, task, *arguments)


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    folder = tmp_path_factory.mktemp("shadow")
    with doctored.embedded_account(folder):
        s3 = client("s3")
        s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": doctored.REGION})
        aws = aws_environment(s3.meta.endpoint_url, "000000000000", doctored.REGION)
        yield Account(folder, ShadowPlace(aws, BUCKET, PLACE.fleet, CANDIDATES))


def ask(address: str, path: str, **fields: object) -> None:
    request = urllib.request.Request(  # noqa: S310 - the stand-in's own address
        f"{address}{path}", json.dumps(fields).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - see above
        assert answer.status == 200


def batches() -> list[Batch]:
    s3 = client("s3")
    found = s3.list_objects_v2(Bucket=BUCKET, Prefix=places.samples(PLACE.fleet)).get("Contents", ())
    return [decode(s3.get_object(Bucket=BUCKET, Key=each["Key"])["Body"].read()) for each in found]


@pytest.fixture(scope="module")
def recorded(account: Account) -> list[Batch]:
    """What the old version answered, in both ways, and some of which the answer is chance."""
    for seconds in (6, 20, 60):
        # It writes at its end, and what it was asked before it knew which task it is was not recorded.
        with account.task("chat:7", "prod-chat", f"stable-{seconds}") as address:
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                ask(address, "/v1/completions", prompt="a secret", temperature=0, max_tokens=4)
                ask(address, "/v1/embeddings", input="a b c")
                ask(address, "/v1/completions", prompt="a secret", max_tokens=4)
                time.sleep(0.2)
        if sum(len(batch.samples) for batch in batches()) >= REQUESTS:
            break
    return batches()


@pytest.fixture(scope="module")
def reports(account: Account, recorded: list[Batch]) -> ShadowReports:
    """Once both new versions have written theirs; one has the same answers, and the other says something else."""
    found = ShadowReports(client("s3"))
    with ExitStack() as stack:
        stack.enter_context(account.task("chat:8", CANDIDATES, "same"))
        stack.enter_context(account.task("chat:8", CANDIDATES, "other", "--says", "sword"))
        until = time.monotonic() + PATIENCE
        while None in found.of(PLACE, NEW, ("same", "other")) and time.monotonic() < until:
            time.sleep(0.5)
    return found


def decided(reports: ShadowReports, *tasks: str) -> Rollout:
    """What becomes of a rollout whose candidate has these tasks."""
    rollout = Rollout(
        rollout_id="one", fleet=PLACE.fleet, plan=Plan(shadow=GATE), old_version=OLD, new_version=NEW, nodes=2,
        started_at=START, since=START, phase=Phase.SHADOWING,
    )  # fmt: skip
    stable = Side(versions=frozenset({OLD}), healthy=2)
    facts = Facts(stable, replace(stable, versions=frozenset({NEW})), 100, 0, shadow=reports.of(PLACE, NEW, tasks))
    return decide(rollout, facts, START + timedelta(minutes=1))


def test_the_old_version_keeps_what_can_be_compared_and_counts_the_rest(recorded: list[Batch]) -> None:
    samples = [sample for batch in recorded for sample in batch.samples]

    assert {batch.version for batch in recorded} == {"chat:7"}
    assert {sample.path for sample in samples} == {"/v1/completions", "/v1/embeddings"}
    assert all('"temperature": 0' in sample.body for sample in samples if sample.path == "/v1/completions")
    assert sum(batch.left.chance for batch in recorded) > 0
    # The model itself takes ten milliseconds.
    assert all(0.01 <= sample.seconds < 10 for sample in samples)


def test_a_version_that_answers_the_same_gets_its_first_share(reports: ShadowReports) -> None:
    after = decided(reports, "same")

    assert (after.phase, wanted(after).candidate_weight) == (Phase.BAKING, 5), after.note or after.reason
    (report,) = after.shadow
    assert (report.recorded_version, report.different, report.failed) == ("chat:7", 0, 0)
    assert report.equal >= GATE.min_requests
    assert report.latency is not None
    # The model itself takes ten milliseconds, of whoever is asked.
    assert min(report.latency.recorded_p50, report.latency.candidate_p50) >= 0.01


def test_a_version_that_answers_something_else_is_refused_before_anybody_asks_it(reports: ShadowReports) -> None:
    after = decided(reports, "other")

    assert (after.phase, wanted(after).candidate_weight) == (Phase.ROLLING_BACK, 0)
    assert "answers are not as recorded, where 99 % must be" in after.reason
    assert after.shadow[0].worst[0].degree == 0
    # Of one in two tasks it is a reason too.
    assert decided(reports, "same", "other").phase is Phase.ROLLING_BACK


def test_a_task_that_has_not_reported_is_waited_for(reports: ShadowReports) -> None:
    after = decided(reports, "same", "late")

    assert (after.phase, after.note) == (Phase.SHADOWING, "held: 1 of 2 tasks of the candidate have reported")


def test_what_is_reported_holds_no_prompt(reports: ShadowReports) -> None:
    s3 = client("s3")
    found = s3.list_objects_v2(Bucket=BUCKET, Prefix=places.reports(PLACE.fleet))["Contents"]
    contents = [s3.get_object(Bucket=BUCKET, Key=each["Key"])["Body"].read() for each in found]

    assert len(contents) == 2
    assert all(b"secret" not in content for content in contents)
