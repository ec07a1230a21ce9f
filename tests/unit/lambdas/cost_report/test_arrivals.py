"""What lies in S3 is read as CloudWatch Logs put it there, and what cannot be read is said."""

from lambdas.cost_report.arrivals import by_hour, events
from lambdas.cost_report.store import StoredObject
from tests.support.ledger_world import NOW, batch


def test_batches_follow_each_other_in_an_object() -> None:
    content = batch([{"a": 1}, {"a": 2}]) + batch([], kind="CONTROL_MESSAGE") + batch([{"a": 3}])
    assert list(events(content)) == [{"a": 1}, {"a": 2}, {"a": 3}]


def test_a_torn_object_gives_what_was_whole_and_says_so() -> None:
    content = batch([{"a": 1}]) + batch([{"a": 2}])[:-12]
    first, problem = events(content)
    assert first == {"a": 1}
    assert "cannot be read" in str(problem)


def test_what_is_no_batch_and_no_json_is_said() -> None:
    assert [str(each)[:22] for each in events(batch(["{", "[1]", "true"]))] == [
        "a log event is not JSO",
        "a log event is no JSON",
        "a log event is no JSON",
    ]
    assert "cannot be read" in str(next(events(b"plain text")))


def test_an_hour_that_got_another_object_is_another_hour() -> None:
    one = StoredObject("events/arrived=2026-11-20-10/a.gz", 5, NOW)
    other = StoredObject("events/arrived=2026-11-20-10/b.gz", 5, NOW)
    assert by_hour([one])[0].digest != by_hour([one, other])[0].digest
    assert by_hour([other, one])[0].keys == (one.key, other.key)
