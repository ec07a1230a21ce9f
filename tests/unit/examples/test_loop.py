"""Training resumes where it saved, ends when its node drains, and asks to be started again only when that helps."""

from collections.abc import Callable
from pathlib import Path

import pytest

from examples import loop, objects
from examples.llama_lora import adapters
from examples.loop import Figures, Work, saver_of, train
from workload.checkpoint.drain import Drain


class Script:
    """A script whose state is the steps that it did."""

    def __init__(self, tmp_path: Path, attempt: int = 1) -> None:
        self.folder, self.steps = tmp_path, list[int]()
        self.environment = {
            "RANK": "0",
            "WORLD_SIZE": "1",
            "AWS_BATCH_JOB_ID": "job",
            "AWS_BATCH_JOB_ATTEMPT": str(attempt),
            "NEURON_FLEET_CHECKPOINT": str(tmp_path / "store"),
            "NEURON_FLEET_CHECKPOINT_STEPS": "3",
            "NEURON_FLEET_RESUME_FILE": str(tmp_path / "resume"),
        }
        self.before: Callable[[int], None] = lambda _: None

    def run(self, last: int) -> bool:
        (self.folder / "run").mkdir(exist_ok=True)
        saver = saver_of(self.environment, self.folder / "scratch", Drain(self.folder / "run", seconds=0.0))
        return train(saver, last, Work(self._step, self._write, self._load), self.environment)

    def _step(self, number: int) -> Figures:
        self.before(number)
        self.steps.append(number)
        return Figures(4096, 2.5)

    def _write(self, folder: Path) -> None:
        (folder / "steps").write_text(" ".join(map(str, self.steps)), encoding="utf-8")

    def _load(self, folder: Path) -> None:
        self.steps = [int(each) for each in (folder / "steps").read_text(encoding="utf-8").split()]

    @property
    def asks_again(self) -> bool:
        return (self.folder / "resume").exists()


def test_a_job_that_was_killed_goes_on_after_the_step_that_it_saved(tmp_path: Path) -> None:
    first = Script(tmp_path)
    first.before = killed_at(5)
    with pytest.raises(KeyboardInterrupt):
        first.run(8)
    second = Script(tmp_path, attempt=2)
    assert second.run(8) is True
    # Saved at 3; 4 was done and lost.
    assert second.steps == [1, 2, 3, 4, 5, 6, 7, 8]
    assert first.steps == [1, 2, 3, 4]


def killed_at(step: int) -> Callable[[int], None]:
    def before(number: int) -> None:
        if number == step:
            raise KeyboardInterrupt

    return before


def test_a_job_whose_node_drains_saves_and_asks_for_the_next_start(tmp_path: Path) -> None:
    first = Script(tmp_path)
    first.before = lambda number: (tmp_path / "run" / "drain").touch() if number == 5 else None
    assert first.run(8) is False
    assert first.asks_again
    last = first.steps[-1]
    (tmp_path / "run" / "drain").unlink()
    second = Script(tmp_path, attempt=2)
    assert second.run(8) is True
    assert second.steps == [1, 2, 3, 4, 5, 6, 7, 8]
    assert last < 8


def failing_at(step: int) -> Callable[[int], None]:
    def before(number: int) -> None:
        if number == step:
            raise RuntimeError("a peer is gone, or a bug")

    return before


@pytest.mark.parametrize(("step", "asks"), [(1, False), (2, True)])
def test_only_what_went_well_before_is_worth_another_start(tmp_path: Path, step: int, asks: bool) -> None:
    script = Script(tmp_path)
    script.before = failing_at(step)
    with pytest.raises(RuntimeError):
        script.run(8)
    assert script.asks_again is asks


def test_an_agent_that_is_not_there_does_not_stop_training(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workload.node_agent.ADDRESS", ("127.0.0.1", 9))
    for _ in range(3):
        loop.report(Figures(1, float("nan")), {})


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("s3://a-bucket", ("a-bucket", "")),
        ("s3://a-bucket/x/y", ("a-bucket", "x/y/")),
        ("s3://a-bucket/x/", ("a-bucket", "x/")),
    ],
)
def test_an_address_is_a_bucket_and_a_prefix(address: str, parts: tuple[str, str]) -> None:
    assert objects.split(address) == parts


def test_what_is_no_address_is_one_line() -> None:
    with pytest.raises(ValueError, match="'gs://b' is no address of S3: use s3://bucket/prefix"):
        objects.split("gs://b")


def test_adapters_appear_whole_and_again_after_a_resumption(tmp_path: Path) -> None:
    for step, text in ((2, "two"), (10, "ten"), (2, "two again")):
        written = tmp_path / "written"
        written.mkdir()
        (written / "adapter.pt").write_text(text, encoding="utf-8")
        adapters.publish(written, step, tmp_path / "rank-0")
    found = adapters.steps(tmp_path / "rank-0")
    assert list(found) == [2, 10]
    assert (found[2] / "adapter.pt").read_text(encoding="utf-8") == "two again"
    assert not adapters.is_finished(tmp_path)
    adapters.finish(tmp_path)
    assert adapters.is_finished(tmp_path)
