"""What must hold of a fleet's entry beyond its capacity: tags, shares, images, and the endpoint's way in.

What an endpoint serves is in ``endpoint_rules``.
"""

import re
from collections.abc import Iterator
from typing import Final

from environments.client_rules import diagnose_clients
from environments.endpoint_rules import is_pinned, pins_its_image, serves_what_was_compiled
from environments.fleets import Fleet, InferenceFleet, TrainingFleet
from environments.model import Environment
from environments.scaling import diagnose_scaling
from fleet import naming
from fleet.diagnostics import Diagnostic, refuse, warn
from fleet.pool.job import MOST_STARTS

# EC2 user guide, tag restrictions: up to 256 letters, digits, spaces and + - = . _ : / @
_TAG_VALUE: Final = re.compile(r"[\w +=.:/@-]{0,256}")
_REGISTRY: Final = re.compile(r"\d{12}\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com/")
# AWS Batch API reference, RetryStrategy.
BATCH_ATTEMPTS: Final = 10
# What docker calls a reference: a host with a port if any, lower-case folders, a tag and a digest.
_IMAGE: Final = re.compile(r"([\w.-]+(:\d+)?/)?[a-z0-9][a-z0-9._/-]*(:[\w.-]{1,128})?(@sha256:[0-9a-f]{64})?")
_CERTIFICATE: Final = re.compile(r"arn:aws[a-z-]*:acm:(?P<region>[a-z0-9-]+):(?P<account>\d{12}):certificate/[\w-]+")


def diagnose_entry(environment: Environment, fleet: Fleet) -> Iterator[Diagnostic]:
    """Everything of that kind, with paths relative to the fleet's entry."""
    yield from owner_is_a_tag(fleet.owner)
    yield from image_is_near(environment, fleet)
    if isinstance(fleet, TrainingFleet):
        yield from _shares_differ(fleet)
        yield from _settings_are_the_engines(fleet)
    if isinstance(fleet, InferenceFleet):
        yield from _speaks_tls(environment, fleet)
        yield from _lies_in_two_zones(environment)
        yield from diagnose_clients(environment, fleet)
        yield from _asks_for_a_path("health_path", fleet.endpoint.health_path)
        if fleet.endpoint.liveness_path is not None:
            yield from _asks_for_a_path("liveness_path", fleet.endpoint.liveness_path)
        yield from serves_what_was_compiled(environment, fleet)
        if fleet.endpoint.scaling is not None:
            yield from diagnose_scaling(fleet.endpoint.scaling, fleet.nodes, fleet.market_kind)


def owner_is_a_tag(owner: str) -> Iterator[Diagnostic]:
    """The owner is a tag of everything that is deployed: EC2 refuses a launch template with another one."""
    if not _TAG_VALUE.fullmatch(owner) or not owner.strip():
        yield refuse(
            "not-a-tag",
            "owner",
            owner[:80],
            "it cannot be the value of a tag",
            "use 1 to 256 letters, digits, spaces and + - = . _ : / @",
        )


def _shares_differ(fleet: TrainingFleet) -> Iterator[Diagnostic]:
    # AWS Batch user guide, fair-share scheduling: a share identifier has letters and digits only.
    seen: dict[str, str] = {}
    for owner in fleet.shares:
        other = seen.setdefault(naming.share_identifier(owner), owner)
        if other != owner:
            yield refuse(
                "share-twice",
                f"shares.{owner}",
                owner,
                f"AWS Batch cannot tell {owner} from {other}: only letters and digits count",
                "give one share to both under one name",
            )


def _settings_are_the_engines(fleet: TrainingFleet) -> Iterator[Diagnostic]:
    if fleet.is_pool and fleet.shares:
        yield refuse(
            "shares-of-a-pool",
            "shares",
            ", ".join(fleet.shares),
            "a pool starts jobs by their priority and age, and knows no shares",
            "remove shares, or use engine: batch",
        )
    if not fleet.is_pool and fleet.pool is not None:
        yield refuse(
            "pool-settings-of-batch",
            "pool",
            "",
            "these are settings of a pool, and AWS Batch runs this fleet",
            "add engine: pool, or remove pool",
        )
    if not fleet.is_pool and fleet.job_attempts > BATCH_ATTEMPTS:
        yield refuse(
            "attempts-of-batch",
            "job_attempts",
            fleet.job_attempts,
            f"AWS Batch starts a job at most {BATCH_ATTEMPTS} times",
            f"use {BATCH_ATTEMPTS} or less, or engine: pool",
        )
    if fleet.is_pool and fleet.job_attempts * fleet.nodes > MOST_STARTS:
        yield refuse(
            "attempts-of-a-pool",
            "job_attempts",
            fleet.job_attempts,
            f"{fleet.job_attempts} attempts on {fleet.nodes} nodes are more starts than a job's record can hold",
            f"use {MOST_STARTS // fleet.nodes} or less",
        )


def image_is_near(environment: Environment, fleet: Fleet) -> Iterator[Diagnostic]:
    """The image is named, by an address that is one, in the region, and by what is never moved."""
    serves = isinstance(fleet, InferenceFleet)
    image = fleet.endpoint.container_image if isinstance(fleet, InferenceFleet) else fleet.container_image
    path = "endpoint.container_image" if serves else "container_image"
    if not image.strip():
        yield refuse("image-missing", path, "", "no image is named", "give an image's address, with its tag")
        return
    if not _IMAGE.fullmatch(image):
        yield refuse(
            "not-an-image", path, image[:80], "it is not an image's address", "use registry/name:tag, or name@sha256:…"
        )
        return
    registry = _REGISTRY.match(image)
    if registry and registry["region"] != environment.region:
        # Amazon ECR pricing: data between regions is billed, and a Neuron image is 15 to 20 GB on every node.
        yield warn(
            "image-of-another-region",
            path,
            image,
            f"every node pulls the image from {registry['region']}",
            f"replicate it to {environment.region}",
        )
    if isinstance(fleet, InferenceFleet) and not environment.plain_http:
        yield from pins_its_image(image)
        return
    tag = image.rpartition("/")[2].partition(":")[2]
    if not is_pinned(image) and tag in ("", "latest"):
        yield warn(
            "image-not-pinned",
            path,
            image,
            "two nodes that start on different days may run different images",
            "name a tag that is never moved, or a digest",
        )


def _speaks_tls(environment: Environment, fleet: InferenceFleet) -> Iterator[Diagnostic]:
    path, arn = "endpoint.certificate_arn", fleet.endpoint.certificate_arn
    if arn is None:
        if not environment.plain_http:
            yield refuse(
                "endpoint-without-tls",
                path,
                "",
                "missing: the endpoint would speak plain HTTP",
                "give the certificate's ARN, or set plain_http: true in an environment that nothing outside can reach",
            )
        return
    found = _CERTIFICATE.fullmatch(arn)
    if found is None:
        form = f"arn:aws:acm:{environment.region}:{environment.account}:certificate/…"
        yield refuse("not-a-certificate", path, arn, "it is not the ARN of a certificate in ACM", f"give {form}")
    elif (found["region"], found["account"]) != (environment.region, environment.account):
        # Elastic Load Balancing user guide: a certificate is of the load balancer's own region and account.
        yield refuse(
            "certificate-elsewhere",
            path,
            arn,
            f"the certificate is in {found['account']}, {found['region']}",
            f"request one in {environment.account}, {environment.region}",
        )


def _lies_in_two_zones(environment: Environment) -> Iterator[Diagnostic]:
    # Elastic Load Balancing user guide: an Application Load Balancer needs subnets in two zones or more.
    zones = environment.network.availability_zones
    if len(zones) < 2:
        yield refuse(
            "endpoint-in-one-zone",
            "endpoint",
            ", ".join(zones),
            "its load balancer needs two zones, and network.availability_zones has one",
            "add a second zone there; nodes are only launched in zones that offer their type",
        )


def _asks_for_a_path(key: str, path: str) -> Iterator[Diagnostic]:
    # Elastic Load Balancing API, HealthCheckPath: 1 to 1,024 characters, and an HTTP path starts with a slash.
    if not path.startswith("/") or len(path) > 1024 or not path.isprintable() or " " in path:
        yield refuse("not-a-path", f"endpoint.{key}", path[:80], "it is not an HTTP path", "write it as /healthz/ready")
