"""What is purged and promoted is what was asked for, after a question; the shared tier is left to a job that may."""

import json
import time

import pytest

from fleet.compile_cache import index, whereabouts
from fleet.compile_cache.artifact import Artifact
from fleet.compile_cache.lease import Row, State
from tests.support.cache_desk import DEFINITION, GRAPHS, LLAMA, OPTIONS, CacheDesk
from tests.support.jobs import QUEUE, refused

FLEET = ("--fleet", "trn1-pretrain")
OTHER = Artifact("bert", "7", "2.30", (128,))


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> CacheDesk:
    """A held lease, one whose holder died, a failure; two artifacts that share a graph."""
    found, now = CacheDesk(monkeypatch), time.time()
    found.account.lease(GRAPHS[0], Row(3, 1, State.COMPILING, "a", now + 50, now))
    found.account.lease(GRAPHS[1], Row(9, 2, State.COMPILING, "b", now - 3600, now - 3600))
    found.account.lease(GRAPHS[2], Row(4, 7, State.FAILED, "c", now + 3000, now, 2, reason="no such op"))
    found.account.archive()
    found.account.archive(OTHER, GRAPHS[:1])
    return found


def states(desk: CacheDesk) -> list[str]:
    return [desk.account.rows[str(graph)]["state"]["S"] for graph in GRAPHS]


@pytest.mark.parametrize(
    ("option", "after"),
    [("--failed", ["compiling", "compiling", "free"]), ("--stuck", ["compiling", "free", "failed"])],
)
def test_leases_are_freed_by_their_standing_and_a_held_one_never(
    desk: CacheDesk, option: str, after: list[str]
) -> None:
    assert desk.run("purge", "prod", option, "--yes").exit_code == 0
    assert states(desk) == after


def test_a_freed_lease_keeps_its_token(desk: CacheDesk) -> None:
    desk.run("purge", "prod", "--failed", "--yes")

    row = desk.account.rows[str(GRAPHS[2])]
    assert (row["token"]["N"], row["revision"]["N"], row["failures"]["N"]) == ("7", "5", "0")


def test_nothing_is_purged_without_a_yes(desk: CacheDesk) -> None:
    answer = desk.run("purge", "prod", "--failed", "--artifact", LLAMA.prefix[-16:], answer="n\n")

    assert answer.exit_code == 1
    assert f"leases freed: {GRAPHS[2]} (refused)" in answer.stdout
    assert states(desk) == ["compiling", "compiling", "failed"]
    assert desk.account.requests("s3:delete_objects") == []


def test_a_lease_that_somebody_took_meanwhile_is_left(desk: CacheDesk) -> None:
    free = desk.account.answers["dynamodb:put_item"]

    def late(asked: dict[str, object]) -> dict[str, object]:
        desk.account.rows[str(GRAPHS[2])]["revision"]["N"] = "5"
        return free(asked)

    desk.account.answers["dynamodb:put_item"] = late
    answer = desk.run("purge", "prod", "--failed", "--yes", "--json")

    assert json.loads(answer.stdout)["leases_taken_meanwhile"] == [str(GRAPHS[2])]
    assert states(desk)[2] == "failed"


def test_an_artifact_goes_index_first_and_no_other_does(desk: CacheDesk) -> None:
    assert desk.run("purge", "prod", "--artifact", LLAMA.prefix[-16:], "--yes").exit_code == 0

    first, *_ = desk.account.requests("s3:delete_objects")
    assert [each["Key"] for each in first["Delete"]["Objects"]] == [index.key(LLAMA)]
    assert sorted(desk.account.objects) == sorted(
        [index.key(OTHER), index.graph_key(OTHER, GRAPHS[0]), whereabouts.key(GRAPHS[0])]
    )


def test_a_graph_that_another_artifact_has_too_is_found_there_by_its_name(desk: CacheDesk) -> None:
    # The last to be archived, and the one that is named.
    assert desk.run("purge", "prod", "--artifact", OTHER.prefix[-16:], "--yes").exit_code == 0

    told = desk.account.objects[whereabouts.key(GRAPHS[0])]
    assert whereabouts.decode(told, GRAPHS[0]) == index.graph_key(LLAMA, GRAPHS[0])


def test_a_graph_goes_from_every_artifact_and_by_a_job_from_the_shared_tier(desk: CacheDesk) -> None:
    answer = desk.run("purge", "prod", "--graph", str(GRAPHS[0]), *FLEET, "--yes")

    assert answer.exit_code == 0
    assert not any(str(GRAPHS[0]) in key for key in desk.account.objects)
    assert index.graph_key(LLAMA, GRAPHS[1]) in desk.account.objects
    (asked,) = desk.account.requests("batch:submit_job")
    assert (asked["jobQueue"], asked["jobDefinition"], asked["shareIdentifier"]) == (
        QUEUE,
        DEFINITION,
        "foundationmodels",
    )
    assert asked["tags"] == {"fleet": "trn1-pretrain", "owner": "foundation-models", "job": "compile-cache-purge"}
    assert asked["containerOverrides"]["command"] == [
        "python", "-m", "workload.compile_cache", "purge", str(GRAPHS[0]),
    ]  # fmt: skip
    assert answer.stdout.splitlines()[-3:] == ["runnable", "running", "job job-1: succeeded"]


def test_a_job_that_fails_is_the_commands_failure(desk: CacheDesk) -> None:
    desk.account.work_ends = "FAILED"

    answer = desk.run("purge", "prod", "--graph", str(GRAPHS[0]), *FLEET, "--yes")

    assert answer.exit_code == 1
    assert answer.stderr.strip() == (
        "job job-1 failed: x.neff: Permission denied, exit code 1; its log stream is not there"
    )


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--yes",), "nothing is named: add --failed, --stuck, --artifact HASH or --graph NAME"),
        (("--json", "--failed"), "--json asks nothing back: add --yes"),
        (("--graph", str(GRAPHS[0])), "by a job on a node of a training fleet: add --fleet"),
        (("--graph", "MODULE_1", *FLEET), "it is named as neuronxcc-2.21.18209.0+043b1bf7/MODULE_12+abcd"),
        (("--artifact", "0123", "--yes"), "no artifact has the hash 0123: `fleet cache status` lists them"),
    ],
)
def test_a_mistake_is_one_line_and_purges_nothing(desk: CacheDesk, options: tuple[str, ...], line: str) -> None:
    before = dict(desk.account.objects)

    answer = desk.run("purge", "prod", *options)

    assert answer.exit_code == 1
    assert len(answer.stderr.splitlines()) == 1
    assert line in answer.stderr
    assert (desk.account.objects, states(desk)) == (before, ["compiling", "compiling", "failed"])


def test_where_there_is_nothing_of_it_that_is_said(desk: CacheDesk) -> None:
    desk.account.rows.clear()

    assert desk.run("purge", "prod", "--failed", "--yes").stderr.strip() == "there is nothing of that in the cache"


def test_an_artifact_is_promoted_by_a_job_that_restores_it(desk: CacheDesk) -> None:
    answer = desk.run("promote", "prod", *FLEET, *OPTIONS, answer="y\n")

    assert answer.exit_code == 0
    (asked,) = desk.account.requests("batch:submit_job")
    assert asked["containerOverrides"]["command"][3:] == ["restore", "meta/llama", "r1", "2.28", "4096"]


def test_what_is_not_in_s3_cannot_be_promoted(desk: CacheDesk) -> None:
    desk.account.objects.clear()

    answer = desk.run("promote", "prod", *FLEET, *OPTIONS, "--yes")

    assert "was never compiled: there is nothing to promote" in answer.stderr
    assert (answer.exit_code, desk.account.requests("batch:submit_job")) == (1, [])


def test_a_promotion_that_fails_says_so_also_as_json(desk: CacheDesk) -> None:
    desk.account.work_ends = "FAILED"

    answer = desk.run("promote", "prod", *FLEET, *OPTIONS, "--yes", "--json")

    assert (answer.exit_code, json.loads(answer.stdout)["status"]) == (1, "FAILED")


def test_a_deletion_that_s3_refuses_is_one_line(desk: CacheDesk) -> None:
    desk.account.answers["s3:delete_objects"] = lambda _: {"Errors": [{"Key": "a", "Message": "Access Denied"}]}

    answer = desk.run("purge", "prod", "--artifact", LLAMA.prefix[-16:], "--yes")

    assert (answer.exit_code, answer.stderr.strip()) == (1, "s3://artifacts/a is not deleted: Access Denied")


def test_work_in_an_environment_without_the_pipeline_says_what_to_deploy(desk: CacheDesk) -> None:
    place = desk.account.answers["ssm:get_parameter"]
    absent = refused("ParameterNotFound")
    desk.account.answers["ssm:get_parameter"] = lambda asked: (absent if "precompile" in asked["Name"] else place)(
        asked
    )

    answer = desk.run("promote", "prod", *FLEET, *OPTIONS, "--yes")

    assert "deploy neuron-fleet-prod-precompile with `cdk deploy -c env=prod`" in answer.stderr
