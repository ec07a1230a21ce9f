"""Every mistake in a job file is one line with its fix, and nothing is submitted."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.jobs import Desk, refused

Change = Callable[[dict[str, Any]], object]


def setting(**values: object) -> Change:
    return lambda content: content.update(values)


def within(part: str, **values: object) -> Change:
    return lambda content: content[part].update(values)


def without(key: str) -> Change:
    return lambda content: content.pop(key)


ECR = "111122223333.dkr.ecr.us-east-2.amazonaws.com"
# What is wrong, the change that makes it wrong, the place and the code of the finding, and what its line must hold.
MISTAKES: list[tuple[str, Change, str, str, str]] = [
    ("an unknown key", setting(nodez=3), "nodez", "unknown-key", "did you mean nodes?"),
    ("an unknown key below", within("parallel", tensors=8), "parallel.tensors", "unknown-key", "did you mean tensor?"),
    ("no owner key", without("owner"), "owner", "missing-key", "add owner, as in examples/pretraining/job.yaml"),
    ("an empty owner", setting(owner=" "), "owner", "owner-missing", "name the team"),
    ("an owner that no tag can hold", setting(owner="a;b"), "owner", "owner-not-a-tag", "letters, digits"),
    ("no command", setting(command=[]), "command", "command-missing", "write the command as a list of words"),
    (
        "a command that is a text",
        setting(command="python train.py"),
        "command",
        "invalid-tuple-type",
        "a list of words",
    ),
    ("a name that Batch refuses", setting(name="llama 7b"), "name", "job-name", "use up to 119 letters"),
    ("a fleet that is not there", setting(fleet="trn1"), "fleet", "fleet-not-found", "trn1-pretrain, trn2-frontier"),
    ("a fleet that serves", setting(fleet="inf2-chat"), "fleet", "fleet-does-not-train", "name a training fleet"),
    (
        "an environment that is not there",
        setting(environment="prd"),
        "environment",
        "unknown-environment",
        "known: dev",
    ),
    # 16 nodes x 32 = 512 ranks are not copies of 8 x 5 = 40; 15 x 32 = 480 = 12 x 40 are.
    ("a world that does not divide", within("parallel", pipeline=5), "parallel", "world-size", "use 15 nodes"),
    # 512 ranks / (8 x 4)
    (
        "copies that are too many",
        within("parallel", data=17),
        "parallel.data",
        "world-size",
        "use 16, or leave data out",
    ),
    (
        "a group over nodes",
        within("parallel", tensor=64, pipeline=1),
        "parallel.tensor",
        "tensor-group-leaves-node",
        "use 32",
    ),
    ("more nodes than there are", setting(nodes=32), "nodes", "too-many-nodes", "use 16 or fewer"),
    ("no nodes", setting(nodes=0), "nodes", "size-not-positive", "use 1 or more"),
    ("nodes that are a word", setting(nodes="many"), "nodes", "invalid-int-parsing", "valid integer"),
    ("more cores than there are", setting(cores_per_node=64), "cores_per_node", "too-many-cores", "use 32 or fewer"),
    (
        # One rank for all of it: 6.7e9 parameters x (2 + 4 + ...) bytes.
        "a model that does not fit",
        within("parallel", tensor=1, pipeline=1),
        "model",
        "model-does-not-fit",
        "GB missing on each core of 17.18 GB; use tensor: ",
    ),
    (
        "heads that do not divide",
        setting(parallel={"tensor": 32}, model={"parameters": 6.7e9, "layers": 32, "hidden": 4096, "heads": 16}),
        "model",
        "model-does-not-fit",
        "16 attention heads do not divide by tensor-parallel degree 32",
    ),
    (
        "a model without a shape",
        setting(model={"parameters": 7e9}),
        "model",
        "model-incomplete",
        "layers, hidden, heads",
    ),
    ("a config that is not there", within("model", config="x.json"), "model.config", "model-config", "No such file"),
    ("a model said twice", within("model", layers=32), "model", "model-said-twice", "leave one of them out"),
    ("an empty image", setting(image=""), "image", "image-missing", "name one with its tag or digest"),
    (
        "an image that no registry takes",
        setting(image="my training:1"),
        "image",
        "image-not-a-name",
        "write REGISTRY/REPOSITORY:TAG",
    ),
    ("another repository", setting(image=f"{ECR}/mine:1"), "image", "image-not-allowed", f"push it to {ECR}/training"),
    (
        "an SDK that the framework has left",
        setting(neuron_sdk="2.32", framework="nxd-training"),
        "neuron_sdk",
        "framework-ended",
        "pin the image to SDK 2.31",
    ),
    (
        "an SDK older than the chip",
        setting(fleet="trn2-frontier", nodes=8, neuron_sdk="2.20"),
        "neuron_sdk",
        "sdk-before-type",
        "use 2.21 or later",
    ),
    (
        "a framework that only serves",
        setting(framework="vllm", neuron_sdk="2.30"),
        "framework",
        "vllm-needs-trn2",
        "use nxd-inference",
    ),
    ("an SDK without quotes", setting(neuron_sdk=2.28), "neuron_sdk", "invalid-string-type", 'such as "2.28"'),
    (
        "a place that is none",
        within("checkpoint", location="s3:/x"),
        "checkpoint.location",
        "checkpoint-location",
        "s3://bucket",
    ),
    (
        "steps below zero",
        within("checkpoint", every_steps=-5),
        "checkpoint.every_steps",
        "amount-not-positive",
        "positive",
    ),
    (
        "no checkpoints in a block",
        lambda content: (content.update(fleet="trn2-frontier", nodes=8), content.pop("checkpoint")),
        "checkpoint",
        "checkpoint-missing",
        "write checkpoint: {location: s3://bucket/prefix}",
    ),
    ("tokens below zero", setting(tokens_wanted=-1e9), "tokens_wanted", "amount-not-positive", "use a positive number"),
    (
        "a limit beyond the fleet's",
        setting(longest_hours=1000),
        "longest_hours",
        "limit-not-allowed",
        "use 336 or fewer",
    ),
    (
        "a variable of the platform",
        setting(variables={"NEURON_FLEET_RUN": "x"}),
        "variables.NEURON_FLEET_RUN",
        "variable-reserved",
        "use another name",
    ),
    ("a priority that Batch refuses", setting(priority=10_000), "priority", "priority", "use 0 to 9999"),
    (
        "a pace without a source",
        setting(throughput={"basis": "measured", "tokens_per_second": 5}),
        "throughput.source",
        "missing-key",
        "add source",
    ),
    (
        "a pace of no kind",
        setting(throughput={"basis": "hoped"}),
        "throughput.basis",
        "unknown-kind",
        "measured, assumed",
    ),
]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("change", "path", "code", "fix"), [each[1:] for each in MISTAKES], ids=[each[0] for each in MISTAKES]
)
def test_a_mistake_is_one_line_with_its_fix_and_nothing_is_submitted(
    desk: Desk, change: Change, path: str, code: str, fix: str
) -> None:
    change(desk.content)

    answer = desk.submit("--yes")

    assert answer.exit_code == 1
    (line,) = answer.stderr.splitlines()
    assert line.startswith(f"{desk.folder / 'job.yaml'}: error: {path}: ")
    assert line.endswith(f" [{code}]")
    assert fix in line
    assert desk.submitted == []
    # A mistake of the file alone is told before anybody is asked.
    assert desk.batch.calls == []


def test_an_image_that_the_registry_lacks_is_refused(desk: Desk) -> None:
    desk.batch.answers["ecr:describe_images"] = refused("ImageNotFoundException")
    answer = desk.submit("--yes")
    assert "the registry has no image" in answer.stderr
    assert "image-not-found" in answer.stderr
    assert desk.submitted == []


def test_a_fleet_that_is_not_deployed_is_one_line(desk: Desk) -> None:
    desk.batch.answers["ssm:get_parameter"] = refused("ParameterNotFound")
    answer = desk.submit("--yes")
    (line,) = answer.stderr.splitlines()
    assert "deploy neuron-fleet-prod-training with `cdk deploy -c env=prod`" in line
    assert (answer.exit_code, desk.submitted) == (1, [])
