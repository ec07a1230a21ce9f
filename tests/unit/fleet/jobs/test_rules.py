"""Every mistake in a job is one line with its fix, and a job without one is right."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from fleet.blocks.life import Block
from fleet.diagnostics import Diagnostic, refuse
from fleet.fleet_spec import FleetSpec, MarketKind, Software
from fleet.jobs import Job, JobRefusedError, Parallel, Standing, Throughput, compile_job, diagnose_job
from fleet.jobs.forecast import Basis
from fleet.jobs.rules.case import JobCase
from fleet.neuron_software import Framework
from tests.support.capacity import INF2, TRN1

# trn1.32xlarge: 16 devices x 2 cores = 32 ranks a node.
JOB = Job(
    name="llama-7b",
    owner="foundation-models",
    fleet="pretrain",
    nodes=4,
    image="123456789012.dkr.ecr.us-east-2.amazonaws.com/train:2026-11-20",
    command=("torchrun", "train.py"),
    parallel=Parallel(tensor=8, pipeline=4),
    checkpoint="s3://checkpoints/llama-7b",
    tokens_wanted=1e9,
)
# trn2.48xlarge: 16 devices x 8 cores in twos = 64 ranks a node, 4 of them on a chip.
TRN2 = replace(TRN1, instance_type="trn2.48xlarge")
NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
BLOCK = Block("cr-1", "pretrain", 16, NOW - timedelta(days=1), NOW + timedelta(hours=10), is_delivered=True)
PACE = Throughput(10_000.0, Basis.ASSUMED, "a guess")


def lines(spec: FleetSpec = TRN1, standing: Standing | None = None, **changes: Any) -> list[str]:
    found = diagnose_job(replace(JOB, **changes), spec, standing=standing)
    return [f"{diagnostic.code}: {diagnostic}" for diagnostic in found]


def test_a_job_without_a_mistake_has_nothing_said_about_it() -> None:
    assert lines() == []
    plan = compile_job(JOB, TRN1)
    assert (plan.ranks_per_node, plan.world_size) == (32, 128)
    # 128 ranks / (8 x 4)
    assert plan.data_parallel == 4
    assert plan.timeout_seconds is None


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (
            # 3 nodes x 32 = 96 ranks do not hold copies of 8 x 8 = 64; 2 nodes hold 64, 4 hold 128.
            {"nodes": 3, "parallel": Parallel(8, 8)},
            (
                "world-size: parallel: tensor x pipeline = 8 x 8 = 64 does not divide the world size "
                "3 nodes x 32 cores = 96; use 2 or 4 nodes"
            ),
        ),
        (
            {"nodes": 1, "parallel": Parallel(8, 7)},
            (
                "world-size: parallel: tensor x pipeline = 8 x 7 = 56 does not divide the world size "
                "1 nodes x 32 cores = 32; use 7 nodes"
            ),
        ),
        (
            {"parallel": Parallel(8, 4, 5)},
            (
                "world-size: parallel.data: tensor x pipeline x data = 32 x 5 = 160, but the job has 128 ranks; "
                "use 4, or leave data out"
            ),
        ),
        (
            {"parallel": Parallel(64, 1)},
            (
                "tensor-group-leaves-node: parallel.tensor: a tensor-parallel group of 64 is more than the 32 cores "
                "of trn1.32xlarge and would span nodes; use 32"
            ),
        ),
        (
            {"nodes": 3, "parallel": Parallel(12, 1)},
            (
                "tensor-group-leaves-node: parallel.tensor: a tensor-parallel group of 12 does not divide the 32 cores "
                "of trn1.32xlarge and would span nodes; use 8"
            ),
        ),
        (
            {"nodes": 17},
            (
                "too-many-nodes: nodes: 17 nodes, but fleet pretrain has 16; use 16 or fewer, or give the "
                "fleet more nodes"
            ),
        ),
        ({"nodes": 0}, "size-not-positive: nodes: nodes is 0; use 1 or more"),
        ({"parallel": Parallel(pipeline=-1)}, "size-not-positive: parallel.pipeline: pipeline is -1; use 1 or more"),
        ({"image": ""}, "image-missing: image: no container image; name one with its tag or digest"),
        (
            {"command": ("x" * 3000,), "variables": (("A", "y" * 3000),)},
            (
                "command-too-long: command: command and variables are 6036 characters, and a start takes 6000; "
                "put them into the image as a script"
            ),
        ),
        ({"command": ()}, "command-missing: command: there is nothing to run; write the command as a list of words"),
        ({"owner": " "}, "owner-missing: owner: nobody owns the job; name the team that answers for it"),
        (
            {"name": "-x"},
            (
                "job-name: name: '-x' is not a job's name; use up to 119 letters, digits, dashes and underscores, and "
                "begin with one of the first two"
            ),
        ),
        (
            {"checkpoint": "s3:/oops"},
            (
                "checkpoint-location: checkpoint.location: s3:/oops is not a place for checkpoints; use "
                "s3://bucket/prefix, or "
                "the absolute path of a directory that every node mounts"
            ),
        ),
        ({"tokens_wanted": -1.0}, "amount-not-positive: tokens_wanted: tokens_wanted is -1.0; use a positive number"),
        (
            {"fleet": "other"},
            "fleet-not-found: fleet: the job is for fleet other, not for pretrain; write fleet: pretrain",
        ),
        (
            {"neuron_sdk": "2.32", "framework": Framework.NXD_TRAINING},
            (
                "framework-ended: neuron_sdk: NxD Training runs on trn1.32xlarge up to SDK 2.31, not with 2.32; "
                "train with native PyTorch (TorchNeuron), or pin the image to SDK 2.31"
            ),
        ),
    ],
)
def test_a_mistake_is_one_line_with_its_fix_and_nothing_is_submitted(changes: dict[str, Any], line: str) -> None:
    assert lines(**changes) == [line]
    with pytest.raises(JobRefusedError) as refused:
        compile_job(replace(JOB, **changes), TRN1)
    assert str(refused.value) == f"job {changes.get('name', 'llama-7b')}: {line.partition(': ')[2]}"


def test_a_job_may_leave_cores_to_another_one_and_cannot_have_more_than_there_are() -> None:
    # 4 nodes x 24 cores = 96 ranks in groups of 8 x 4.
    plan = compile_job(replace(JOB, cores_per_node=24), TRN1)
    assert (plan.ranks_per_node, plan.world_size, plan.data_parallel) == (24, 96, 3)
    assert lines(cores_per_node=64) == [
        (
            "too-many-cores: cores_per_node: 64 cores, but trn1.32xlarge has 32 logical cores; use 32 or fewer, or "
            "leave it out"
        )
    ]
    assert lines(cores_per_node=0) == ["size-not-positive: cores_per_node: cores_per_node is 0; use 1 or more"]


def test_an_image_for_an_sdk_that_the_chip_is_too_new_for_is_refused_by_its_tag() -> None:
    assert lines(TRN2, image="train:1-sdk2.20.0")[0] == (
        "sdk-before-type: neuron_sdk: SDK 2.20 does not know trn2.48xlarge; use 2.21 or later"
    )


def test_what_the_fleet_says_of_its_own_image_is_not_held_against_another_one() -> None:
    # The fleet's image has an SDK that NxD Training has left; the job brings an image of its own.
    own = "123456789012.dkr.ecr.us-east-2.amazonaws.com/train:fleet"
    old = Software(neuron_sdk="2.32", framework=Framework.NXD_TRAINING, container_image=own)
    spec = replace(TRN1, software=old)
    assert lines(spec) == []
    assert lines(spec, image=own)[0].startswith("framework-ended")


def test_an_image_that_the_registry_lacks_is_refused_once_somebody_looked() -> None:
    assert lines(standing=Standing(image_exists=True)) == []
    assert lines(standing=Standing(image_exists=False)) == [
        (
            f"image-not-found: image: the registry has no image {JOB.image}; push it, or correct the name, the tag or "
            "the account"
        )
    ]


def test_an_image_that_may_change_is_a_warning_and_one_by_digest_is_none() -> None:
    for image in ("train", "train:latest", "registry:5000/train"):
        assert [line.partition(":")[0] for line in lines(image=image)] == ["image-may-change"]
    assert lines(image="registry:5000/train@sha256:" + "0" * 64) == []


def test_an_endpoint_fleet_takes_no_jobs() -> None:
    assert "fleet-does-not-train" in lines(INF2, fleet=INF2.name, parallel=Parallel(1, 1))[0]


def test_tensor_groups_beyond_a_chip_of_trainium2_are_a_note() -> None:
    # 8 logical cores are 2 chips of 4; with every physical core its own, a chip has 8.
    wide = Parallel(8, 1)
    assert lines(TRN2, parallel=wide) == [
        (
            "tensor-group-leaves-chip: parallel.tensor: a tensor-parallel group of 8 spans 2 chips of 4 logical cores; "
            "use 4 if the model's memory allows it"
        )
    ]
    assert lines(replace(TRN2, lnc=1), parallel=wide) == []
    assert lines(TRN2, parallel=Parallel(4, 1)) == []


@pytest.mark.parametrize(
    ("market", "codes"),
    [
        (MarketKind.ON_DEMAND, ["checkpoint-missing"]),
        (MarketKind.SPOT, ["checkpoint-missing"]),
        (MarketKind.CAPACITY_BLOCK, ["checkpoint-missing"]),
    ],
)
def test_long_work_without_checkpoints_is_refused_where_nodes_are_taken_away(
    market: MarketKind, codes: list[str]
) -> None:
    # 1e9 tokens at 10,000 a second are 27.8 hours.
    spec = replace(TRN1, market=market)
    found = diagnose_job(replace(JOB, checkpoint=""), spec, standing=Standing(throughput=PACE))
    assert [diagnostic.code for diagnostic in found] == codes
    assert found[0].is_error == (market is not MarketKind.ON_DEMAND)


def test_a_block_gives_a_job_its_time_out_and_refuses_what_cannot_begin() -> None:
    # 10 h - 35 min = 9 h 25 min = 33,900 s.
    assert compile_job(JOB, TRN1, standing=Standing(NOW, BLOCK)).timeout_seconds == 33_900
    # The limit in the file is nearer.
    limited = replace(JOB, longest_hours=2.0)
    assert compile_job(limited, TRN1, standing=Standing(NOW, BLOCK)).timeout_seconds == 7_200
    # 35 min + 10 min before the end is the last moment.
    last = BLOCK.end - timedelta(minutes=45)
    assert compile_job(JOB, TRN1, standing=Standing(last, BLOCK)).timeout_seconds == 600
    assert lines(standing=Standing(last + timedelta(seconds=1), BLOCK)) == [
        (
            "block-ends: fleet: the Capacity Block ends at 2026-12-01 22:00 UTC, and no job starts in its last 45 "
            "minutes; extend the block, or submit to another fleet"
        )
    ]


def test_a_job_that_the_block_is_too_short_or_too_small_for_is_told() -> None:
    # 1e9 / 10,000 / 3600 = 27.8 hours against 33,900 / 3600 = 9.4.
    assert lines(standing=Standing(NOW, BLOCK, throughput=PACE)) == [
        (
            "block-ends-first: tokens_wanted: 27.8 hours are expected (assumed pace), and the block leaves 9.4; "
            "resume it in another block from its checkpoints, or extend this one"
        )
    ]
    small = replace(BLOCK, instances=3)
    assert lines(standing=Standing(NOW, small)) == [
        "too-many-nodes: nodes: 4 nodes, but the Capacity Block has 3; use 3 or fewer"
    ]


def test_a_limit_below_what_is_expected_is_a_warning() -> None:
    # 27.8 x 1.2 = 33.3
    assert lines(standing=Standing(throughput=PACE), longest_hours=10.0) == [
        (
            "limit-too-short: longest_hours: 27.8 hours are expected (assumed pace), and the job is ended after 10; "
            "use 33 or more"
        )
    ]


def test_a_rule_of_somebody_who_knows_more_is_asked_like_the_others() -> None:
    def fits(case: JobCase) -> Iterator[Diagnostic]:
        if case.world_size < 256:
            yield refuse("model-does-not-fit", "parallel", case.world_size, "too large", "use 8 nodes")

    with pytest.raises(JobRefusedError, match="too large; use 8 nodes"):
        compile_job(JOB, TRN1, further=[fits])
    assert compile_job(replace(JOB, nodes=8), TRN1, further=[fits]).world_size == 256


@pytest.mark.parametrize(
    ("place", "codes"),
    [
        ("s3://checkpoints/llama-7b", []),
        ("s3://checkpoints/llama-7b/run-2", []),
        # Another prefix that begins alike is another place.
        ("s3://checkpoints/llama-7b-2", ["checkpoint-not-allowed"]),
        ("s3://elsewhere/llama-7b", ["checkpoint-not-allowed"]),
        ("/fsx/llama", ["checkpoint-must-be-shared"]),
    ],
)
def test_checkpoints_go_where_the_fleets_jobs_may_write(place: str, codes: list[str]) -> None:
    standing = Standing(writable=("s3://adapters", "s3://checkpoints/llama-7b/"))
    found = diagnose_job(replace(JOB, checkpoint=place), TRN1, standing=standing)
    assert [each.code for each in found] == codes


@pytest.mark.parametrize(("image", "is_one"), [
    ("train", True), ("train:1-sdk2.20.0", True), ("Registry.example:5000/a/b__c/d-e:v1_2", True),
    ("a/b@sha256:" + "0" * 64, True), ("a/b:1@sha256:" + "0" * 64, True),
    ("Train:1", False), ("a b:1", False), ("a//b:1", False), ("a:1:2", False), ("a@sha256:12", False), ("a/-b", False),
])  # fmt: skip
def test_an_image_has_a_name_that_registries_take(image: str, is_one: bool) -> None:
    assert any(line.startswith("image-not-a-name") for line in lines(image=image)) is not is_one


def test_a_checkpoint_in_s3_that_the_fleet_gives_no_right_to_is_told_before_nodes_are_paid_for() -> None:
    (line,) = lines(checkpoint="s3://bucket/llama", standing=Standing(writable=()))

    assert line.startswith("checkpoint-not-granted: checkpoint.location: fleet ")
    assert "write writes: [s3://bucket/llama] in the fleet's entry" in line
    assert lines(checkpoint="s3://bucket/llama", standing=Standing(writable=("s3://bucket",))) == []
    assert lines(checkpoint="/checkpoints", nodes=1, standing=Standing(writable=())) == []


def test_a_variable_that_takes_the_nodes_off_efa_is_told_where_there_are_several() -> None:
    off = (("FI_PROVIDER", "tcp"),)

    assert [line.partition(":")[0] for line in lines(variables=off)] == ["variable-of-the-fabric"]
    assert "variable-of-the-fabric" not in str(lines(variables=off, nodes=1))
