"""An agent that is killed, and the one that comes after it: which minutes are published, and with what in them."""

import json
from pathlib import Path

import agents
from tests.support import samples
from tests.support.agents import MINUTE
from tests.unit.agents.test_run import Simulation, boot


def executions(simulation: Simulation) -> dict[tuple[int, int], int | None]:
    """Completed executions by minute and number."""
    return {
        (batch.minute - MINUTE, batch.seq): batch.log_event.get("executions_completed")
        for batch in simulation.sink.batches
    }


def test_a_minute_goes_on_in_the_agent_that_comes_after(tmp_path: Path) -> None:
    boot(tmp_path, "first")
    Simulation(tmp_path).die_at(32)
    after = Simulation(tmp_path, start=MINUTE + 40)

    after.run(53)

    # Reports at 0, 5, … 30 and at 40, … 55: 7 and 4 of 32 runtimes with 10 executions each. The next minute has 8.
    assert executions(after) == {(0, 1): 11 * 320, (60, 2): 8 * 320}
    assert "recovered" not in after.sink.batches[0].log_event


def test_an_earlier_minute_is_published_first_and_under_its_own_number(tmp_path: Path) -> None:
    boot(tmp_path, "first")
    Simulation(tmp_path).die_at(32)
    after = Simulation(tmp_path, start=MINUTE + 180)

    after.run(53)

    assert executions(after) == {(0, 1): 7 * 320, (180, 2): 12 * 320}
    first = after.sink.batches[0].log_event
    assert (first["recovered"], first["state"]) == (True, "RUNNING")


def test_a_minute_of_another_boot_is_published_as_of_that_boot(tmp_path: Path) -> None:
    boot(tmp_path, "first")
    Simulation(tmp_path).die_at(32)
    boot(tmp_path, "second")
    after = Simulation(tmp_path, start=MINUTE + 45)

    after.run(30)

    boots = [(batch.log_event["boot_id"], batch.seq) for batch in after.sink.batches]
    assert boots == [("first", 1), ("second", 2), ("second", 3)]
    assert executions(after)[0, 1] == 7 * 320


def test_errors_of_a_minute_that_is_taken_up_are_counted_once(tmp_path: Path) -> None:
    boot(tmp_path, "first")
    made = samples.full_node()
    made["system_data"]["neuron_hw_counters"]["neuron_devices"][3]["mem_ecc_uncorrected"] = 2
    Simulation(tmp_path, made).die_at(32)
    after = Simulation(tmp_path, made, start=MINUTE + 40)

    after.run(20)

    # The counter stood at 2 before and after the agent's death: two errors, not four.
    errors = after.sink.batches[0].log_event["hardware_errors"]
    assert [(error["device"], error["count"]) for error in errors] == [(3, 2)]


def test_a_minute_in_which_the_agent_died_before_any_report_is_blind_and_not_missing(tmp_path: Path) -> None:
    boot(tmp_path, "first")
    first = Simulation(tmp_path)
    first.is_silent = True
    first.die_at(3)
    after = Simulation(tmp_path, start=MINUTE + 120)

    after.run(60)

    event = after.sink.batches[0].log_event
    assert (event["seq"], event["state"]) == (1, "BLIND")
    assert "the agent ended before it had a report" in event["state_reason"]


def test_a_minute_of_a_checkpoint_is_taken_up_as_one(tmp_path: Path) -> None:
    boot(tmp_path, "first")
    paused = samples.full_node(busy=0.0, flops=0.0, completed=0)
    first = Simulation(tmp_path)
    first.clock.schedule(MINUTE + 57, (first.run_directory / "checkpoint").touch)
    first.clock.schedule(MINUTE + 58, lambda: first.prints(paused))
    first.die_at(92)
    (first.run_directory / "checkpoint").unlink()
    after = Simulation(tmp_path, start=MINUTE + 180)

    after.run(20)

    # Nobody can look any more whether the checkpoint went on: idle cores are not held against the job.
    taken_up = after.sink.batches[0]
    assert (taken_up.log_event["recovered"], taken_up.log_event["state"]) == (True, "CHECKPOINT")
    names = {datum["MetricName"] for datum in taken_up.metric_data}
    assert not {"NeuronCoreUtilizationWhenRunning", "WastedUsdPerHour"} & names


def test_a_node_that_drains_does_so_in_a_minute_that_is_taken_up(tmp_path: Path) -> None:
    boot(tmp_path, "first")
    first = Simulation(tmp_path)
    (first.run_directory / "drain").write_text("maintenance", encoding="utf-8")
    first.die_at(92)
    after = Simulation(tmp_path, start=MINUTE + 180)

    after.run(20)

    event = after.sink.batches[0].log_event
    assert (event["recovered"], event["state"], event["state_reason"]) == (True, "DRAINING", "maintenance")


def test_a_minute_that_is_taken_up_says_nothing_of_an_agent_that_was_not_measured(tmp_path: Path) -> None:
    boot(tmp_path, "first")
    Simulation(tmp_path).die_at(32)
    after = Simulation(tmp_path, start=MINUTE + 180)

    after.run(20)

    names = {datum["MetricName"] for datum in after.sink.batches[0].metric_data}
    unknown = {"SpoolBytes", "DroppedSamples", "PublishRetries", "AgentCpuPercent", "AgentRssBytes"}
    assert not unknown & names
    assert {"AgentHeartbeat", "ReportAgeSeconds"} <= names


def test_the_schema_knows_all_that_the_loop_adds_to_an_event(tmp_path: Path) -> None:
    boot(tmp_path, "first")
    Simulation(tmp_path).die_at(32)
    after = Simulation(tmp_path, start=MINUTE + 180)

    after.run(20)

    taken_up, own = (set(batch.log_event) for batch in after.sink.batches)
    known = set(
        json.loads((Path(agents.__file__).parent / "schemas/node-log-event.schema.json").read_text())["properties"]
    )
    assert "recovered" in taken_up
    assert "monitor" in own
    assert taken_up | own <= known


def test_errors_of_a_minute_that_was_published_late_do_not_come_again_when_that_agent_is_killed_too(
    tmp_path: Path,
) -> None:
    boot(tmp_path, "first")
    made = samples.full_node()
    made["system_data"]["neuron_hw_counters"]["neuron_devices"][3]["mem_ecc_uncorrected"] = 2
    Simulation(tmp_path, made).die_at(32)
    second = Simulation(tmp_path, made, start=MINUTE + 180)
    second.is_silent = True
    second.die_at(3)
    third = Simulation(tmp_path, made, start=MINUTE + 300)

    third.run(20)

    # The first agent's minute went out from the second one with both errors.
    counts = [error["count"] for batch in second.sink.batches for error in batch.log_event["hardware_errors"]]
    again = [error for batch in third.sink.batches for error in batch.log_event.get("hardware_errors") or ()]
    assert (counts, again) == ([2], [])


def test_a_stopped_agent_leaves_no_minute_behind(tmp_path: Path) -> None:
    simulation = Simulation(tmp_path)

    simulation.run(90)

    assert not (tmp_path / "spool/journal").exists()
    assert simulation.sink.batches[-1].seq == 2
