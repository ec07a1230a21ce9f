"""`fleet plan assess`: answers in, a plan in Markdown out; one line for each mistake."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cli.main import app

EXAMPLE = Path(__file__).parents[3] / "examples" / "assessment.yaml"
WORKLOAD = "workloads: [{name: a, kind: encoder}]"


def assess(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["plan", "assess", *arguments])


def test_the_example_has_an_order_phases_and_questions() -> None:
    told = assess(str(EXAMPLE)).stdout

    assert "| 1 | query-embeddings | start here | low | $14,000.00 | 35-45 % | 1-4 | $20,000.00 | 12 % |" in told
    assert "| 2 | assistant-fine-tuning | migrate | medium | $36,000.00 | 38-50 % | 5-10 | $30,000.00 | 7 % |" in told
    assert "| 4 | ranking-with-own-kernels | defer | high | $21,000.00 | 40-55 % | - | - | - |" in told
    assert "### Phase 1: Proof of concept" in told
    assert "- **shapes**: its inputs have any length: each new shape compiles again; pad to a few buckets" in told
    assert "- [ ] **operators**: Does Neuron support every operator? (`operators.all_supported`: compile" in told


def test_it_writes_the_same_plan_each_time(tmp_path: Path) -> None:
    out = tmp_path / "plan.md"

    assert assess(str(EXAMPLE), "--out", str(out)).exit_code == 0
    assert out.read_text(encoding="utf-8") == assess(str(EXAMPLE)).stdout


def test_json_has_every_verdict_in_words() -> None:
    content = json.loads(assess(str(EXAMPLE), "--json").stdout)

    assert [each["verdict"] for each in content["workloads"]] == [
        "start here", "migrate", "ask first", "defer", "do not migrate",
    ]  # fmt: skip
    assert content["workloads"][0]["phases"] == {"proof": [1, 1], "benchmark": [2, 2], "production": [3, 4]}
    assert content["workloads"][1]["findings"][0]["risk"] == "medium"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty; start from examples/assessment.yaml"),
        (WORKLOAD, "team: missing; add team, as in examples/assessment.yaml"),
        ("team: t\nworkloads: []", "workloads: a list is not allowed"),
        (
            "team: t\nworkloads: [{name: a, kind: llm}]",
            "workloads[0].kind: 'llm' is not allowed; it must be one of enc",
        ),
        (
            "team: t\nworkloads: [{name: a, kind: jax, onwer: b}]",
            "workloads[0].onwer: unknown key; did you mean owner?",
        ),
        (
            "team: t\nworkloads: [{name: a, kind: jax, operators: {quantised: false}}]",
            "workloads[0].operators.quantised: unknown key; did you mean quantized?",
        ),
        (
            "team: t\nworkloads: [{name: a, kind: jax, shapes: {inputs: any}}]",
            "workloads[0].shapes.inputs: 'any' is not allowed; it must be one of fixed, bucketed, variable",
        ),
        ("team: t\nworkloads: [{name: a, kind: jax, monthly_usd: 0}]", "workloads[0].monthly_usd: 0 is not allowed"),
        ("team: t\nworkloads: [{name: a, kind: jax}, {name: a, kind: jax}]", "2 workloads are called a; give each"),
        ('team: "t\\nu"\n' + WORKLOAD, "team: "),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "answers.yaml"
    file.write_text(content)
    answer = assess(str(file))

    assert answer.exit_code == 1
    assert answer.stderr.startswith(f"{file}: {message}")
    assert answer.stderr.count("\n") == 1


def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    answer = assess(str(EXAMPLE), "--out", str(tmp_path / "no" / "plan.md"))

    assert answer.exit_code == 1
    assert answer.stderr.endswith("cannot be written: No such file or directory\n")
