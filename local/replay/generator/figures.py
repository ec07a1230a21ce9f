"""Every figure of a generated day, and the distribution that it is drawn from.

They are assumptions, said so that others can be put in their place: no trace of anybody's fleet lies behind them. Each
is wider than any bar of any alarm, for what is drawn just inside a bar proves nothing. docs/benchmark.md has the table.
"""

from typing import Final

from local.replay.generator.distributions import Figure, LogNormal, Uniform

# Fleets.
NODES: Final = Figure("nodes of a fleet", LogNormal(3.5, 0.9, 1, 64), "most fleets are small, a few are large")
SMALL_SHARE: Final = Figure("nodes of the smaller of two jobs, share", Uniform(0.2, 0.5), "two teams on one fleet")
HOURS: Final = Figure("hours of a scenario", LogNormal(4, 0.35, 2.5, 10), "half a working day to a night")
TARGET: Final = Figure("utilization that a fleet aims at, percent", Uniform(28, 45), "what good training reaches")
SPEED: Final = Figure("utilization of a healthy job, share of the aim", Uniform(0.8, 1.25), "aims are met, or nearly")
CORES: Final = Figure("busy cores of a healthy job, percent", Uniform(82, 99), "steps leave little time between them")

# What a job that is well does.
STARTUP: Final = Figure("start of a job, minutes", LogNormal(5, 0.6, 1, 25), "images, weights, data sets")
COMPILE: Final = Figure("compilation, minutes", LogNormal(25, 1.0, 5, 240), "a small graph to a large sharded one")
CHECKPOINT: Final = Figure("checkpoint, minutes", LogNormal(7, 0.8, 2, 40), "weights to slow shared storage")
BETWEEN_CHECKPOINTS: Final = Figure("between checkpoints, minutes", Uniform(30, 120), "an hour of work may be lost")
VALIDATION: Final = Figure("validation or evaluation, minutes", LogNormal(8, 0.9, 1, 45), "held-out sets of any size")
BETWEEN_VALIDATIONS: Final = Figure("between validations, minutes", Uniform(40, 180), "some thousand steps")
FETCH: Final = Figure("data fetched between epochs, minutes", LogNormal(5, 0.9, 1, 30), "shards from object storage")
EPOCH: Final = Figure("epoch, minutes", LogNormal(60, 0.6, 15, 240), "small and large data sets")
ROLLOUT: Final = Figure("rollouts of reinforcement learning, minutes", Uniform(2, 12), "environments run on the CPU")
UPDATE: Final = Figure("updates of reinforcement learning, minutes", Uniform(2, 10), "a few epochs over the rollouts")
TUNING: Final = Figure("fine-tuning job, minutes", LogNormal(25, 0.8, 5, 150), "adapters on small data sets")
GAP: Final = Figure("nodes free between jobs, minutes", LogNormal(6, 0.9, 1, 30), "a queue, or a person")
CELL: Final = Figure("notebook cell on the cores, minutes", LogNormal(3, 1.0, 1, 40), "people try things")
THINKING: Final = Figure("notebook between cells, minutes", LogNormal(14, 1.0, 1, 150), "people think, and have lunch")
STEADY: Final = Figure("run between two restarts, minutes", LogNormal(80, 0.6, 20, 300), "preemption, new flags")
TRAFFIC: Final = Figure("utilization of an endpoint, percent", LogNormal(9, 0.6, 1.5, 28), "latency comes first")
REQUESTS: Final = Figure("requests a minute of an endpoint", LogNormal(300, 1.2, 25, 6000), "tools to products")

# What passes by itself and is nobody's business.
RESTARTED_MONITOR: Final = Figure("neuron-monitor away, minutes", Uniform(1, 3), "a process manager restarts it")
LOST_METRICS: Final = Figure("gap in the metrics, minutes", Uniform(2, 12), "a network that comes back")
DEPLOYMENT: Final = Figure("deployment, minutes", Uniform(8, 30), "stacks and agents, not nodes")
MAINTENANCE: Final = Figure("planned maintenance, minutes", Uniform(40, 120), "a driver on all nodes")
REPLACED: Final = Figure("node replaced in good order, minutes", Uniform(4, 9), "a launch and a boot")

# What goes wrong.
AT: Final = Figure("an incident begins, share of the scenario", Uniform(0.15, 0.5), "not in the first minutes")
LASTS: Final = Figure("an incident that somebody ends, minutes", LogNormal(150, 0.5, 75, 420), "nobody is at the desk")
LATER: Final = Figure("a second incident, minutes after the first", Uniform(15, 90), "while the first one lasts")
STARVED: Final = Figure("utilization of a starved job, share of the aim", Uniform(0.06, 0.42), "a tenth to a half")
STARVED_CORES: Final = Figure("busy cores of a starved job, percent", Uniform(10, 65), "steps wait for their batch")
TURN: Final = Figure("a turn of fits and starts, minutes", Uniform(2, 8), "a loader that refills its buffer")
SLOWER: Final = Figure("busy cores of a straggler's peers, points apart", Uniform(25, 50), "a clock at half its rate")
TIMEOUT: Final = Figure("job hangs until its collectives time out, minutes", LogNormal(8, 0.7, 2, 30), "their default")
CRASH: Final = Figure("start of a job that crashes, minutes", Uniform(1, 7), "it loads, and meets the same mistake")
BACKOFF: Final = Figure("between crash and next start, minutes", Uniform(1, 4), "a scheduler retries at once")
UNUSED: Final = Figure("nodes idle after the last job, minutes", Uniform(240, 540), "an evening, a night")
BLIND_SHARE: Final = Figure("share of nodes that nobody sees", Uniform(0.05, 1), "one bad host to a bad update")

FIGURES: Final = tuple(value for value in list(vars().values()) if isinstance(value, Figure))


def table() -> str:
    """All of them as rows of a table in Markdown."""
    return "\n".join(f"| {figure.name} | {figure.of} | {figure.why} |" for figure in FIGURES)
