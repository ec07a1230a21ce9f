"""A minute that an agent left when it was killed, closed by the agent after it."""

from agents.collectors.collector import Contribution
from agents.disk.journal import Unfinished
from agents.minute.batch import NodeMinute, SelfFigures
from agents.minute.pipeline import Pipeline, Surroundings


def close_unfinished(pipeline: Pipeline, unfinished: Unfinished) -> NodeMinute:
    """The minute of ``unfinished``, under its own number.

    It ends with its last report: what came after was not seen. The collectors are not asked, because what they see
    now is not of that minute: its jobs, and what speaks for its state, are those of the minute before it. Of the agent
    itself it says only that it lived.
    """
    header, readings = unfinished.header, unfinished.readings
    for reading in readings:
        pipeline.restore(reading)
    evidence = header.evidence
    around = Surroundings(
        Contribution(
            jobs=header.jobs,
            draining=evidence.draining,
            compiling=evidence.compiling,
            checkpoint=evidence.checkpoint,
            waits_for_lock=evidence.waits_for_lock,
            phases=evidence.phases,
            event={"recovered": True},
        ),
        None if readings else "the agent ended before it had a report",
    )
    end = readings[-1].at if readings else float(header.minute)
    own = SelfFigures(spool_bytes=None, dropped=None, retries=None)
    return pipeline.close(header.minute, end, header.seq, around, own)
