"""``python -m bench``: every benchmark, one after the other."""

from bench import agent_memory, agent_report, synth


def main() -> None:
    """Run them all."""
    agent_report.run()
    agent_memory.run()
    synth.run()


if __name__ == "__main__":
    main()
