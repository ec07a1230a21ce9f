"""Which artifact a command is about: by options, or by a job file that names it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from cli.answers import refuse
from cli.cache import compiled
from cli.jobs import job_file
from cli.named import fleet_among
from environments.fleet_specs import fleet_spec
from environments.fleets import TrainingFleet
from environments.model import Environment
from fleet.capacity.rules.software import stated_sdk
from fleet.compile_cache.artifact import Artifact, ArtifactError, named

Fleet = Annotated[str | None, typer.Option(help="A training fleet: where it is compiled, and whose SDK it is for.")]
Model = Annotated[str | None, typer.Option(help="As the artifact names it, such as meta/llama-2-7b.")]
ModelVersion = Annotated[str | None, typer.Option(help="Of the model: whatever changes when its graphs do.")]
Sdk = Annotated[str | None, typer.Option("--sdk-version", help="Neuron SDK, such as 2.28. Default: the fleet's.")]
Lengths = Annotated[
    str | None, typer.Option("--sequence-lengths", help="Such as 128,512; with an endpoint's batch sizes 128,512x1,4.")
]
JobFile = Annotated[Path | None, typer.Option("--job", help="A job file that says `compiled`, in place of the others.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask back.")]


@dataclass(frozen=True, slots=True)
class Wanted:
    """An artifact, the fleet that it is for (empty: nobody said), and the command that shows its graphs."""

    artifact: Artifact
    fleet: str
    command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Named:
    """The options as they were given."""

    job: Path | None
    fleet: str | None
    model: str | None
    model_version: str | None
    sdk_version: str | None
    sequence_lengths: str | None

    def wanted(self, environment: Environment, command: tuple[str, ...] = ()) -> Wanted:
        """What they name; a mistake ends the command with one line."""
        if self.fleet is not None:
            training_fleet(environment, self.fleet)
        if self.job is not None:
            if self.model or self.model_version or self.sequence_lengths or self.sdk_version:
                refuse("--job says which artifact it is: leave the other options out")
            return _of_file(environment, self.job, self.fleet, command)
        return Wanted(self._artifact(environment), self.fleet or "", command)

    def _artifact(self, environment: Environment) -> Artifact:
        options = {
            "--model": self.model,
            "--model-version": self.model_version,
            "--sequence-lengths": self.sequence_lengths,
        }
        missing = [name for name, value in options.items() if not value]
        if missing:
            refuse(f"{', '.join(missing)}: missing; or name a job file with --job")
        sdk = self.sdk_version or (sdk_of(environment, self.fleet) if self.fleet else "")
        if not sdk:
            says = f"fleet {self.fleet} does not say its SDK" if self.fleet else "nobody says the SDK"
            refuse(f"{says}: add --sdk-version, such as 2.28")
        try:
            return named(self.model or "", self.model_version or "", sdk, self.sequence_lengths or "")
        except ArtifactError as error:
            refuse(error)


def training_fleet(environment: Environment, name: str) -> TrainingFleet:
    """The fleet called ``name``; another name ends the command with one line."""
    found = {fleet.name: fleet for fleet in environment.training_fleets}
    return fleet_among(name, found, f"training fleet of {environment.name}")


def compiling_fleet(environment: Environment, name: str) -> TrainingFleet:
    """The fleet called ``name``, on which precompilation has a queue; another ends the command with one line."""
    fleet = training_fleet(environment, name)
    if fleet.is_pool:
        others = ", ".join(each.name for each in environment.batch_fleets) or "none here"
        refuse(f"fleet {name} is a pool, and graphs are compiled on a fleet of AWS Batch: --fleet, one of {others}")
    return fleet


def sdk_of(environment: Environment, fleet: str) -> str:
    """The SDK of the fleet's image, as its entry or the image's tag says; empty where neither does."""
    software = fleet_spec(environment, training_fleet(environment, fleet)).software
    return stated_sdk(software.neuron_sdk, software.container_image)


def _of_file(environment: Environment, path: Path, fleet: str | None, command: tuple[str, ...]) -> Wanted:
    written = job_file.read(path)
    if isinstance(written, list):
        refuse(f"{path}: {written[0]}")
    if written.compiled is None:
        refuse(f"{path}: compiled: missing; write compiled: {{model: …, model_version: …, sequence_lengths: […]}}")
    software = fleet_spec(environment, training_fleet(environment, fleet or written.fleet)).software
    artifact = compiled.artifact_of(written, software)
    if not isinstance(artifact, Artifact):
        refuse(f"{path}: {artifact}")
    return Wanted(artifact, fleet or written.fleet, command or written.compiled.command or written.command)
