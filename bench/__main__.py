"""``python -m bench``: every benchmark, one after the other."""

from bench import (
    agent_memory,
    agent_report,
    cli_start,
    compile_cache_fleet,
    compile_cache_warm,
    endpoint_load,
    ledger_rollup,
    replay_corpus,
    shadow_recorder,
    synth,
)


def main() -> None:
    """Run them all."""
    cli_start.run()
    agent_report.run()
    agent_memory.run()
    synth.run()
    compile_cache_warm.run()
    compile_cache_fleet.run()
    ledger_rollup.run()
    endpoint_load.run()
    shadow_recorder.run()
    replay_corpus.run()


if __name__ == "__main__":
    main()
