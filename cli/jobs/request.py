"""From a job file to what is to be submitted: the file, its environment, its fleet, and all that was looked up."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from cli.account import Account
from cli.cache import compiled
from cli.jobs import job_file, pools
from cli.jobs.job_file import JobFile
from cli.jobs.model import pace_of, shape_of, training_of
from cli.jobs.submission_targets import block_of, image_exists, place_of, planned_block
from cli.prices.table import newest_or_embedded
from environments import loader
from environments.fleet_specs import fleet_spec
from environments.fleets import InferenceFleet
from environments.model import Environment
from fleet.blocks.life import Block
from fleet.compile_cache.artifact import Artifact
from fleet.diagnostics import Diagnostic, refuse, warn, with_known
from fleet.fleet_spec import Engine, FleetSpec
from fleet.instances import instance_type
from fleet.jobs import Job, JobPlan, JobRule, Standing, compile_job, diagnose_job
from fleet.jobs.rules.case import JobCase
from fleet.jobs.submission import JobQueue
from fleet.neuron_software import Framework
from fleet.pool.observed import PoolDeployment
from planning.sizing.fit import Fit
from planning.sizing.job_memory import job_fit, memory_rule
from planning.sizing.shape import ModelShape

GRAPHS_NOT_READY: Final = "graphs-not-ready"
_COMMAND_LINE: Final = "write environment: NAME, or pass --env NAME"


@dataclass(frozen=True, slots=True)
class Prepared:
    """Nothing is submitted of one whose ``diagnostics`` hold an error; then ``plan`` is None."""

    diagnostics: tuple[Diagnostic, ...]
    environment: Environment | None = None
    spec: FleetSpec | None = None
    plan: JobPlan | None = None
    place: JobQueue | None = None
    """On AWS Batch; ``pool`` on a pool."""
    pool: PoolDeployment | None = None
    fit: Fit | None = None
    artifact: Artifact | None = None
    """The graphs that must be there before it starts."""

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """What refuses it."""
        return tuple(diagnostic for diagnostic in self.diagnostics if diagnostic.is_error)


def prepare(path: Path, env: str | None, now: datetime, *, offline: bool) -> Prepared:
    """Judge the file; ``offline`` asks AWS nothing, so that queue, image and block are those of the files.

    Raises:
        AwsError: the account does not say where the fleet's jobs go, or has no block for it.
    """
    written = job_file.read(path)
    if isinstance(written, list):
        return Prepared(tuple(written))
    named = env or written.environment
    if not named:
        return Prepared((refuse("no-environment", "environment", "", "missing", _COMMAND_LINE),))
    try:
        environment = loader.load(named)
    except loader.EnvironmentFileError as error:
        return Prepared(tuple(each.under("environment") for each in error.diagnostics))
    found = {fleet.name: fleet for fleet in environment.fleets}
    if written.fleet not in found:
        known = [fleet.name for fleet in environment.training_fleets]
        text = f"environment {environment.name} has no fleet {written.fleet}"
        return Prepared((refuse("fleet-not-found", "fleet", written.fleet, text, with_known(written.fleet, known)),))
    return _Judge(path, written, environment, now).judge(offline=offline)


class _Judge:
    def __init__(self, path: Path, written: JobFile, environment: Environment, now: datetime) -> None:
        self._written, self._environment, self._now = written, environment, now
        self._fleet = next(fleet for fleet in environment.fleets if fleet.name == written.fleet)
        self._spec = fleet_spec(environment, self._fleet)
        self._shape, early = _shape(written, path.parent)
        named = compiled.artifact_of(written, self._spec.software)
        self._artifact = named if isinstance(named, Artifact) else None
        self._early = (*early, named) if isinstance(named, Diagnostic) else early
        self._path = path
        own = self._spec.software.container_image
        self._job = _job(written, own)

    def judge(self, *, offline: bool) -> Prepared:
        """First what needs no account, so that a mistake is told without one."""
        diagnostics = self._diagnose(self._standing(None, None))
        if any(each.is_error for each in diagnostics) or isinstance(self._fleet, InferenceFleet):
            return Prepared(diagnostics, self._environment, self._spec)
        place = pool = None
        standing = self._standing(planned_block(self._fleet), None)
        if not offline:
            account = Account(self._environment.region)
            self._spec = newest_or_embedded(account, self._environment.name, self._spec)
            if self._fleet.is_pool:
                pool = pools.place_of(account, self._environment, self._fleet.name)
            else:
                place = place_of(account, self._environment, self._fleet.name)
            block = block_of(account, self._environment, self._fleet)
            standing = self._standing(block, image_exists(account, self._job.image))
        graphs = () if offline else self._graphs()
        diagnostics = (*self._diagnose(standing), *_differences(self._spec, place or pool), *graphs)
        if any(each.is_error for each in diagnostics):
            return Prepared(diagnostics, self._environment, self._spec, place=place, pool=pool, artifact=self._artifact)
        plan = compile_job(self._job, self._spec, standing=standing, further=self._rules)
        fit = self._fit(standing)
        return Prepared(diagnostics, self._environment, self._spec, plan, place, pool, fit, self._artifact)

    def _graphs(self) -> tuple[Diagnostic, ...]:
        """Nodes that compile what one of them could have compiled before are paid for all the while."""
        if self._artifact is None:
            return ()
        account = Account(self._environment.region)
        why = compiled.why_not(account, self._environment, self._artifact)
        if not why:
            return ()
        fix = f"make it with `fleet cache warm {self._environment.name} --job {self._path}`, or add --wait-for-graphs"
        return (refuse(GRAPHS_NOT_READY, "compiled", self._artifact.model, why, fix),)

    @property
    def _rules(self) -> Sequence[JobRule]:
        if self._shape is None or self._written.model is None:
            return ()
        return (memory_rule(self._shape, training_of(self._written.model)),)

    def _diagnose(self, standing: Standing) -> tuple[Diagnostic, ...]:
        return (
            *self._early,
            *self._image_is_the_pools(),
            *diagnose_job(self._job, self._spec, standing=standing, further=self._rules),
        )

    def _image_is_the_pools(self) -> Iterator[Diagnostic]:
        own = self._spec.software.container_image
        if self._spec.engine is Engine.POOL and self._job.image != own:
            text = f"a pool's containers are of the image that it was deployed with, {own}"
            yield refuse("image-not-the-pools", "image", self._job.image, text, "remove image, or deploy another one")

    def _standing(self, block: Block | None, has_image: bool | None) -> Standing:
        known = instance_type(self._spec.instance_type)
        pace = pace_of(self._written, self._shape, self._spec, known, self._fleet.target_utilization_percent)
        if isinstance(self._fleet, InferenceFleet):
            return Standing(self._now, block, has_image, pace)
        longest = float(self._fleet.longest_job_hours)
        return Standing(self._now, block, has_image, pace, longest, self._fleet.writes)

    def _fit(self, standing: Standing) -> Fit | None:
        if self._shape is None or self._written.model is None:
            return None
        case = JobCase(self._job, self._spec, instance_type(self._spec.instance_type), standing)
        return job_fit(case, self._shape, training_of(self._written.model))


def _shape(written: JobFile, folder: Path) -> tuple[ModelShape | None, tuple[Diagnostic, ...]]:
    if written.model is None:
        text = "nobody says what model it is: whether it fits in memory is not checked"
        return None, (warn("model-not-stated", "model", "", text, "add model: {config: config.json}"),)
    shape = shape_of(written.model, folder)
    return (None, (shape,)) if isinstance(shape, Diagnostic) else (shape, ())


def _job(written: JobFile, own_image: str) -> Job:
    checkpoint = written.checkpoint
    return Job(
        name=written.name,
        owner=written.owner,
        fleet=written.fleet,
        nodes=written.nodes,
        image=own_image if written.image is None else written.image,
        command=written.command,
        parallel=written.parallel.parallel(),
        cores_per_node=written.cores_per_node,
        variables=tuple(written.variables.items()),
        checkpoint=checkpoint.location if checkpoint else "",
        every_steps=checkpoint.every_steps if checkpoint else None,
        every_minutes=checkpoint.every_minutes if checkpoint else None,
        tokens_wanted=written.tokens_wanted,
        longest_hours=written.longest_hours,
        priority=written.priority,
        neuron_sdk=written.neuron_sdk,
        framework=Framework(written.framework) if written.framework else None,
    )


def _differences(spec: FleetSpec, place: JobQueue | PoolDeployment | None) -> tuple[Diagnostic, ...]:
    if place is None or place.nodes == spec.nodes:
        return ()
    text = f"fleet {spec.name} is deployed with {place.nodes} nodes, and its file has {spec.nodes}"
    return (warn("deployed-otherwise", "nodes", spec.nodes, text, "deploy the file first"),)
