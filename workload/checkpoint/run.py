"""Which start of which job this process belongs to: the same name on every rank, another one at every start."""

from collections.abc import Mapping

from fleet.checkpoints.layout import check_run
from workload.errors import CheckpointError


def run_name(environment: Mapping[str, str]) -> str:
    """From what AWS Batch, Slurm or torchrun tell a process; ``NEURON_FLEET_RUN`` comes before them.

    A multi-node job's id ends in ``#<node>``, which is cut off; attempts and restarts count, because the parts of a
    save that was cut off must not be taken for those of its repetition.

    Raises:
        CheckpointError: none of them says anything.
        RunNameError: the name cannot be part of a key.
    """
    said = environment.get("NEURON_FLEET_RUN", "") or _of_scheduler(environment)
    if not said:
        raise CheckpointError(
            "no scheduler says which run this is: set NEURON_FLEET_RUN to a name that is the same on every rank and "
            "another one at every start"
        )
    restarts = environment.get("TORCHELASTIC_RESTART_COUNT", "0")
    run = said if restarts == "0" else f"{said}.t{restarts}"
    check_run(run)
    return run


def _of_scheduler(environment: Mapping[str, str]) -> str:
    if batch := environment.get("AWS_BATCH_JOB_ID"):
        job = batch.partition("#")[0].replace(":", "-")
        return f"{job}.{environment.get('AWS_BATCH_JOB_ATTEMPT', '1')}"
    if slurm := environment.get("SLURM_JOB_ID"):
        return f"{slurm}.{environment.get('SLURM_STEP_ID', '0')}.{environment.get('SLURM_RESTART_COUNT', '0')}"
    return ""
