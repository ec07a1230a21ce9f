"""The artifact that a job file names, and whether the account has it."""

from typing import Any

from cli.account import Account
from cli.cache import artifact_bucket, runs
from cli.cache.targets import CompileCache, place_of
from cli.jobs.job_file import JobFile
from environments.model import Environment
from fleet.capacity.rules.software import stated_sdk
from fleet.compile_cache.artifact import Artifact, ArtifactError
from fleet.compile_cache.readiness import why_not_ready
from fleet.compile_cache.request import RequestError, read_object
from fleet.diagnostics import Diagnostic, refuse
from fleet.fleet_spec import Software


def artifact_of(written: JobFile, software: Software) -> Artifact | Diagnostic | None:
    """What the file's ``compiled`` names, for the SDK of its image; None: it names nothing."""
    named = written.compiled
    if named is None:
        return None
    is_own = written.image is None or written.image == software.container_image
    image = written.image or software.container_image
    sdk = stated_sdk(written.neuron_sdk or (software.neuron_sdk if is_own else None), image)
    if not sdk:
        text = "graphs are compiled for one SDK, and nobody says which the image has"
        return refuse("sdk-not-stated", "compiled", named.model, text, 'add neuron_sdk, such as "2.28"')
    try:
        return Artifact(named.model, named.model_version, sdk, named.sequence_lengths)
    except ArtifactError as error:
        return refuse("artifact-unnamed", "compiled", named.model, str(error), "name it in full")


def why_not(account: Account, environment: Environment, artifact: Artifact) -> str:
    """Why it is not there, in one line; empty when it is. Raises AwsError."""
    return why_not_ready(artifact, artifact_bucket.contents(account, place_of(account, environment), artifact))


def being_made(account: Account, environment: Environment, artifact: Artifact) -> runs.Run | None:
    """The execution that compiles it now, the oldest of several: the others wait for that one. Raises AwsError."""
    place = place_of(account, environment)
    every = runs.running(account, place) or []
    same = [run for run in every if _identity(account, place, run) == artifact.identity]
    return min(same, key=lambda run: run.started, default=None)


def _identity(account: Account, place: CompileCache, run: runs.Run) -> dict[str, Any] | None:
    """What the execution compiles, also where an object in the bucket asked for it; None: nobody can say."""
    if run.request is not None:
        return run.request.artifact.identity
    content = artifact_bucket.content_of(account, place, run.asked) if run.fleet else None
    try:
        return None if content is None else read_object(run.asked, content).artifact.identity
    except RequestError:
        return None
