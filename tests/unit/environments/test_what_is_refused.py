"""One entry for each thing that cannot work, or seldom does: the answer has its own code, its place and a fix."""

import copy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from environments import loader
from fleet.diagnostics import Diagnostic, Severity
from tests.support.scaled_endpoint import TO_ONE, TO_ZERO

NOW: Final = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
PROD: Final[dict[str, Any]] = yaml.safe_load((loader.FOLDER / "prod.yaml").read_text(encoding="utf-8"))
ABSENT: Final = object()
ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE

ZONES_OF_HYDERABAD = {"ap-south-2a": "aps2-az1", "ap-south-2b": "aps2-az2"}
ULTRA = {
    "region": "ap-south-2",
    "network.availability_zones": ZONES_OF_HYDERABAD,
    "fleets.0.instance_type": "trn2u.48xlarge",
    "fleets.0.availability_zone": "ap-south-2a",
    "fleets.0.market": {"kind": "on-demand"},
    "fleets.0.container_image": "training:ultra",
}
GROUP = "arn:aws:resource-groups:us-east-2:111122223333:group/trn1"
BLOCK_MARKET = {"kind": "capacity-block", "reservation_id": "cr-11112222", "ends_at": "2026-12-18T11:30:00Z"}
SCALING: dict[str, Any] = {"min_nodes": 1, "targets": {"core_utilization_percent": 60}}
DIGEST = f"sha256:{'0' * 64}"
CERTIFICATE = "arn:aws:acm:us-west-2:111122223333:certificate/11111111-2222-3333-4444-555555555555"
# The fleet that each table starts from is the only one of its file, so its path is fleets[0].
TRAINING, BLOCK, SERVING = 0, 1, 2
Changes = dict[str, Any]

TRAINING_FLEETS: list[tuple[Changes, Severity, str, str]] = [
    ({"instance_type": "trn2n.48xlarge"}, ERROR, "unknown-instance-type", "instance_type"),
    ({"instance_type": "p5.48xlarge", "availability_zone": "us-east-2a"}, ERROR, "not-neuron", "instance_type"),
    ({"instance_type": "trn2u.48xlarge"}, ERROR, "not-in-region", "instance_type"),
    ({"availability_zone": "us-east-2a"}, ERROR, "not-in-zone", "availability_zone"),
    ({"availability_zone": "us-east-2q"}, ERROR, "unknown-zone", "availability_zone"),
    ({"instance_type": "inf1.24xlarge"}, WARNING, "first-generation", "instance_type"),
    ({"instance_type": "inf2.48xlarge"}, WARNING, "training-on-inferentia", "instance_type"),
    ({"instance_type": "trn1.2xlarge", "efa": True}, ERROR, "no-efa", "efa"),
    ({"efa": True, "nodes": 1}, WARNING, "efa-alone", "efa"),
    ({"efa": False}, WARNING, "efa-refused", "efa"),
    ({"instance_type": "trn1.2xlarge"}, WARNING, "training-without-efa", "instance_type"),
    ({"efa_layout": "efa-only", "nodes": 1}, WARNING, "layout-without-efa", "efa_layout"),
    ({"efa_layout": "efa-only"}, WARNING, "layout-unproven", "efa_layout"),
    ({"efa_layout": "efa-everywhere"}, ERROR, "invalid-literal-error", "efa_layout"),
    ({"market": {"kind": "spot"}}, ERROR, "spot-multi-node", "market.kind"),
    ({"market": {"kind": "spot"}, "nodes": 1}, ERROR, "spot-multi-node", "market.kind"),
    ({"market": BLOCK_MARKET, "engine": "pool"}, ERROR, "pool-in-capacity-block", "engine"),
    ({"engine": "pool", "nodes": 101}, ERROR, "pool-too-large", "nodes"),
    ({"engine": "pool", "nodes": 100, "job_attempts": 41, "market": {"kind": "on-demand"}},
     ERROR, "attempts-of-a-pool", "job_attempts"),
    ({"engine": "pool", "market": {"kind": "spot"}, "alternative_types": ["trn1.2xlarge"]},
     ERROR, "alternative-of-another-shape", "alternative_types[0]"),
    ({"engine": "pool", "shares": {"one": 1}}, ERROR, "shares-of-a-pool", "shares"),
    ({"pool": {"drain_minutes": 5}}, ERROR, "pool-settings-of-batch", "pool"),
    ({"engine": "pool", "pool": {"drain": 5}}, ERROR, "unknown-key", "pool.drain"),
    ({"engine": "pool", "pool": {"drain_minutes": 0}}, ERROR, "invalid-greater-than-equal", "pool.drain_minutes"),
    ({"job_attempts": 11}, ERROR, "attempts-of-batch", "job_attempts"),
    ({"engine": "slurm"}, ERROR, "invalid-literal-error", "engine"),
    ({"market": {"kind": "on-demand"}, "instance_type": "trn2.48xlarge"},
     WARNING, "on-demand-unobtainable", "market.kind"),
    ({"instance_type": "trn2.48xlarge"}, NOTE, "price-unknown", "market.kind"),
    ({"market.reservation_id": "cr-11112222", "market.resource_group": GROUP},
     ERROR, "reservation-named-twice", "market.resource_group"),
    ({"market.resource_group": GROUP.replace("us-east-2", "us-west-2")},
     ERROR, "resource-group-elsewhere", "market.resource_group"),
    ({"market.resource_group": "trn1"}, ERROR, "invalid-string-pattern-mismatch", "market.resource_group"),
    ({"market.instances": 15}, ERROR, "reservation-too-small", "market.instances"),
    ({"market.reservation_id": "cr-11112222", "market.instances": 8},
     ERROR, "reservation-too-small", "market.instances"),
    ({"market.instances": 20}, WARNING, "reservation-larger-than-fleet", "market.instances"),
    ({"market.end_date": "2026-11-20T00:00:00Z"}, WARNING, "reservation-ended", "market.end_date"),
    ({"market.end_date": "2026-11-22T00:00:00Z"}, WARNING, "reservation-ends-soon", "market.end_date"),
    ({"market.end_date": "2027-01-01"}, ERROR, "invalid-timezone-aware", "market.end_date"),
    ({"market.end_date": "9999-12-31T23:59:59Z"}, ERROR, "invalid-less-than-equal", "market.end_date"),
    ({"market.reservation_id": "cr-11112222", "market.end_date": "2027-01-01T00:00:00Z"},
     WARNING, "end-of-existing-reservation", "market.end_date"),
    ({"market.reservation_id": "cr-11112222", "placement_group": True},
     ERROR, "reservation-outside-placement-group", "placement_group"),
    ({"market.placement_group": "trn1"}, ERROR, "placement-group-of-no-reservation", "market.placement_group"),
    ({"market.reservation_id": "cr-11112222", "market.placement_group": "trn1", "placement_group": False},
     ERROR, "placement-group-contradiction", "placement_group"),
    ({"shares": {"research-lab": 1, "research lab": 2}}, ERROR, "share-twice", "shares.research lab"),
    ({"shares": {"research": 0}}, ERROR, "invalid-greater-than-equal", "shares.research"),
    ({"longest_job_hours": 0}, ERROR, "invalid-greater-than-equal", "longest_job_hours"),
    ({"placement_group": True, "nodes": 1}, WARNING, "placement-group-for-one-node", "placement_group"),
    ({"placement_group": False}, WARNING, "efa-without-placement-group", "placement_group"),
    ({"lnc": 2}, ERROR, "lnc-unsupported", "lnc"),
    ({"instance_type": "inf1.24xlarge", "dtype": "bf16"}, WARNING, "no-tensor-peak", "dtype"),
    ({"nodes": 128}, NOTE, "ultracluster", "nodes"),
    ({"nodes": 1200}, WARNING, "job-too-large", "nodes"),
    ({"nodes": 2001}, ERROR, "invalid-less-than-equal", "nodes"),
    ({"alternative_types": ["trn1n.32xlarge"]}, ERROR, "alternatives-of-a-reservation", "alternative_types"),
    ({"market": {"kind": "on-demand"}, "alternative_types": ["trn1n.32xlarge"]},
     WARNING, "alternatives-not-tried", "alternative_types"),
    ({"market": {"kind": "on-demand"}, "alternative_types": ["trn3.48xlarge"]},
     ERROR, "alternative-unknown", "alternative_types[0]"),
    ({"market": {"kind": "on-demand"}, "alternative_types": ["trn1n.32xlarge", "trn1n.32xlarge"]},
     WARNING, "alternative-repeated", "alternative_types[1]"),
    ({"market": {"kind": "on-demand"}, "alternative_types": ["p5.48xlarge"]},
     ERROR, "alternative-not-neuron", "alternative_types[0]"),
    ({"market": {"kind": "on-demand"}, "alternative_types": ["trn2.3xlarge"]},
     ERROR, "alternative-not-offered", "alternative_types[0]"),
    ({"market": {"kind": "on-demand"}, "alternative_types": ["trn2.48xlarge"]},
     WARNING, "alternative-compiles-anew", "alternative_types[0]"),
    ({"market": {"kind": "on-demand"}, "alternative_types": ["trn1.2xlarge"]},
     WARNING, "alternative-smaller", "alternative_types[0]"),
    ({"framework": "nxd-training", "neuron_sdk": "2.32"}, ERROR, "framework-ended", "neuron_sdk"),
    ({"framework": "vllm"}, ERROR, "vllm-needs-trn2", "framework"),
    ({"framework": "nxd-inference"}, WARNING, "framework-of-another-purpose", "framework"),
    ({"neuron_sdk": "2.31", "container_image": "training:sdk2.30"}, WARNING, "sdk-differs-from-image", "neuron_sdk"),
    ({"neuron_sdk": "latest"}, ERROR, "invalid-string-pattern-mismatch", "neuron_sdk"),
    ({"image_parameter": "ami-0123456789abcdef0"}, ERROR, "not-an-image-parameter", "image_parameter"),
    ({"image_parameter": "/aws/service/neuron/dlami/base/amazon-linux-2023/latest/image_id"},
     WARNING, "image-without-ecs", "image_parameter"),
    ({"image_parameter": "/aws/service/neuron/dlami/base/ubuntu-22.04/latest/image_id"},
     WARNING, "image-out-of-support", "image_parameter"),
    ({"image_parameter": "/aws/service/neuron/dlami/pytorch-inference-vllm-0.16/ubuntu-24.04/latest/image_id"},
     ERROR, "image-for-trn2", "image_parameter"),
    ({"container_image": "training"}, WARNING, "image-not-pinned", "container_image"),
    ({"container_image": " "}, ERROR, "image-missing", "container_image"),
    ({"container_image": "training:1 --debug"}, ERROR, "not-an-image", "container_image"),
    ({"alarms": {"wasted_usd_per_node_hour": float("inf")}},
     ERROR, "invalid-finite-number", "alarms.wasted_usd_per_node_hour"),
    ({"container_image": "111122223333.dkr.ecr.eu-west-1.amazonaws.com/training:1"},
     WARNING, "image-of-another-region", "container_image"),
    ({"owner": "team <ml>"}, ERROR, "not-a-tag", "owner"),
    ({"owner": ABSENT}, ERROR, "missing-key", "owner"),
    ({"ower": "x"}, ERROR, "unknown-key", "ower"),
    ({"market.kind": "reserved"}, ERROR, "unknown-kind", "market.kind"),
]  # fmt: skip

BLOCK_FLEETS: list[tuple[Changes, Severity, str, str]] = [
    ({"placement_group": True}, ERROR, "capacity-block-in-placement-group", "placement_group"),
    ({"instance_type": "trn1n.32xlarge", "availability_zone": "us-east-2c"},
     ERROR, "no-capacity-block", "market.kind"),
    ({"market.reservation_id": ABSENT}, ERROR, "capacity-block-without-id", "market.reservation_id"),
    ({"market.reservation_id": "my-block"}, ERROR, "invalid-string-pattern-mismatch", "market.reservation_id"),
    ({"market.reservation_id": ABSENT, "market.resource_group": GROUP},
     ERROR, "capacity-block-in-resource-group", "market.resource_group"),
    ({"nodes": 65}, ERROR, "capacity-block-size", "nodes"),
    ({"market.instances": 128}, ERROR, "capacity-block-size", "market.instances"),
    ({"market.instances": 12}, WARNING, "capacity-block-size-unusual", "market.instances"),
    ({"market.instances": 4}, ERROR, "reservation-too-small", "market.instances"),
    ({"market.ends_at": "2026-12-18T12:00:00Z"}, ERROR, "capacity-block-end-time", "market.ends_at"),
    ({"market.starts_at": "2026-12-19T11:30:00Z"}, ERROR, "capacity-block-backwards", "market.starts_at"),
    # 2026-11-27 to 2026-12-18 is 21 days, three weeks; a day less is 20, which is no number of weeks.
    ({"market.starts_at": "2026-11-28T11:30:00Z"}, ERROR, "capacity-block-duration", "market.ends_at"),
    ({"market.starts_at": "2026-05-22T11:30:00Z"}, ERROR, "capacity-block-duration", "market.ends_at"),
    ({"market.ends_at": "2026-11-20T11:30:00Z"}, WARNING, "capacity-block-ended", "market.ends_at"),
    ({"market.ends_at": "2026-11-22T11:30:00Z"}, WARNING, "capacity-block-ends-soon", "market.ends_at"),
    ({"market.starts_at": "2026-12-11T11:30:00Z"}, NOTE, "capacity-block-not-started", "market.starts_at"),
    # 2026-11-21 and 8 weeks is 2027-01-16.
    ({"market.starts_at": "2027-01-17T11:30:00Z", "market.ends_at": "2027-01-18T11:30:00Z"},
     WARNING, "capacity-block-start-too-far", "market.starts_at"),
    ({"neuron_sdk": "2.20"}, ERROR, "sdk-before-type", "neuron_sdk"),
]  # fmt: skip

SERVING_FLEETS: list[tuple[Changes, Severity, str, str]] = [
    ({"efa": True, "instance_type": "inf1.24xlarge", "endpoint.devices_per_task": 16},
     ERROR, "efa-across-zones", "efa"),
    ({"instance_type": "trn1.32xlarge", "endpoint.devices_per_task": 16}, NOTE, "zones-left-out", "instance_type"),
    ({"placement_group": True}, ERROR, "placement-group-across-zones", "placement_group"),
    ({"market": {"kind": "reservation"}}, ERROR, "reservation-across-zones", "market.kind"),
    ({"market": {"kind": "reservation", "reservation_id": "cr-11112222"}},
     WARNING, "reservation-in-one-zone", "market.reservation_id"),
    ({"market": {"kind": "spot"}}, WARNING, "endpoint-on-spot", "market.kind"),
    ({"instance_type": "trn1.32xlarge", "endpoint.devices_per_task": 16,
      "market": BLOCK_MARKET},
     WARNING, "endpoint-on-capacity-block", "market.kind"),
    ({"endpoint.devices_per_task": 13}, ERROR, "too-many-devices", "endpoint.devices_per_task"),
    # Every node runs a task: there is no number of them to choose.
    ({"endpoint.tasks": 4}, ERROR, "unknown-key", "endpoint.tasks"),
    ({"nodes": 0}, ERROR, "invalid-greater-than-equal", "nodes"),
    ({"endpoint.devices_per_task": 6}, WARNING, "idle-devices", "endpoint.devices_per_task"),
    ({"framework": "nxd-inference", "neuron_sdk": "2.29", "endpoint.container_image": f"chat:1@{DIGEST}"},
     ERROR, "sdk-dropped-type", "neuron_sdk"),
    ({"framework": "torch-xla", "endpoint.container_image": f"chat:sdk2.31@{DIGEST}"},
     WARNING, "framework-in-maintenance", "framework"),
    ({"endpoint.certificate_arn": ABSENT}, ERROR, "endpoint-without-tls", "endpoint.certificate_arn"),
    ({"endpoint.certificate_arn": "chat"}, ERROR, "not-a-certificate", "endpoint.certificate_arn"),
    ({"endpoint.certificate_arn": CERTIFICATE}, ERROR, "certificate-elsewhere", "endpoint.certificate_arn"),
    ({"endpoint.health_path": "health"}, ERROR, "not-a-path", "endpoint.health_path"),
    ({"endpoint.liveness_path": "live"}, ERROR, "not-a-path", "endpoint.liveness_path"),
    ({"endpoint.container_image": "chat:sdk2.28"}, ERROR, "image-without-digest", "endpoint.container_image"),
    ({"endpoint.container_image": f"chat@{DIGEST}"}, ERROR, "sdk-not-stated", "neuron_sdk"),
    # The digest hides no tag: the matrix sees 2.29 all the same.
    ({"endpoint.container_image": f"chat:sdk2.29@{DIGEST}"}, ERROR, "sdk-dropped-type", "neuron_sdk"),
    ({"framework": ABSENT}, ERROR, "framework-not-stated", "framework"),
    ({"endpoint.artifact": ABSENT}, WARNING, "artifact-not-declared", "endpoint.artifact"),
    ({"endpoint.artifact.version": ABSENT}, ERROR, "missing-key", "endpoint.artifact.version"),
    ({"endpoint.sequence_lengths": [256, 128]}, ERROR, "not-buckets", "endpoint.sequence_lengths"),
    ({"endpoint.batch_sizes": [4, 4]}, ERROR, "not-buckets", "endpoint.batch_sizes"),
    ({"endpoint.sequence_lengths": []}, ERROR, "invalid-too-short", "endpoint.sequence_lengths"),
    ({"endpoint.batch_sizes": [0]}, ERROR, "invalid-greater-than-equal", "endpoint.batch_sizes[0]"),
    ({"endpoint.loading_minutes": 60}, ERROR, "invalid-less-than-equal", "endpoint.loading_minutes"),
    ({"endpoint.scaling": {"min_nodes": 1, "targets": {}}},
     ERROR, "scaling-without-target", "endpoint.scaling.targets"),
    ({"endpoint.scaling": {"min_nodes": 1, "targets": {"queue_seconds": 1}}},
     ERROR, "queue-time-alone", "endpoint.scaling.targets"),
    ({"endpoint.scaling": {"min_nodes": 4, "targets": {"core_utilization_percent": 60}}},
     ERROR, "scaling-of-nothing", "endpoint.scaling.min_nodes"),
    ({"endpoint.scaling": {"min_nodes": 0, "targets": {"core_utilization_percent": 60}}},
     ERROR, "zero-half-said", "endpoint.scaling.scale_to_zero_after_minutes"),
    ({"endpoint.scaling": {"min_nodes": 0, "targets": {"core_utilization_percent": 60},
                           "scale_to_zero_after_minutes": 30}},
     ERROR, "invalid-greater-than-equal", "endpoint.scaling.scale_to_zero_after_minutes"),
    ({"endpoint.scaling": {"min_nodes": 1, "targets": {"core_utilization_percent": 600}}},
     ERROR, "invalid-less-than-equal", "endpoint.scaling.targets.core_utilization_percent"),
    ({"endpoint.scaling": {"min_nodes": 1, "targets": {"core_utilization_percent": 60}},
      "market": {"kind": "reservation", "resource_group": GROUP}},
     ERROR, "scaling-of-a-reservation", "endpoint.scaling"),
    ({"endpoint.scaling": SCALING | {"warm_pool": {"nodes": 4}}},
     ERROR, "warm-pool-beyond-nodes", "endpoint.scaling.warm_pool.nodes"),
    ({"endpoint.scaling": SCALING | {"warm_pool": {"nodes": 0}}},
     ERROR, "invalid-greater-than-equal", "endpoint.scaling.warm_pool.nodes"),
    ({"endpoint.scaling": SCALING | {"warm_pool": {"nodes": 1, "state": "running"}}},
     ERROR, "invalid-literal-error", "endpoint.scaling.warm_pool.state"),
    ({"endpoint.scaling": SCALING | {"warm_pool": {"node": 1}}},
     ERROR, "unknown-key", "endpoint.scaling.warm_pool.node"),
    ({"endpoint.scaling": SCALING | {"warm_pool": {"nodes": 1}}, "market": {"kind": "spot"}},
     ERROR, "warm-pool-of-spot", "endpoint.scaling.warm_pool"),
]  # fmt: skip

ENVIRONMENTS: list[tuple[Changes, Severity, str, str]] = [
    ({"network.availability_zones": {"us-west-2a": "use2-az1", "us-east-2a": "use2-az2", "us-east-2c": "use2-az3"}},
     ERROR, "zone-of-another-region", "network.availability_zones.us-west-2a"),
    ({"network.availability_zones.us-east-2b": "use1-az2"},
     ERROR, "zone-id-of-another-region", "network.availability_zones.us-east-2b"),
    ({"network.availability_zones.us-east-2b": "use2-az1"},
     ERROR, "zone-id-twice", "network.availability_zones.us-east-2a"),
    ({"network.availability_zones": {"us-east-2c": "use2-az3"}, "fleets": PROD["fleets"][2:]},
     ERROR, "endpoint-in-one-zone", "fleets[0].endpoint"),
    ({"network.nat_gateways": 3, "network.availability_zones": {"us-east-2a": "use2-az1", "us-east-2c": "use2-az3"}},
     WARNING, "more-gateways-than-zones", "network.nat_gateways"),
    ({"network.nat_gateways": 0}, ERROR, "invalid-greater-than-equal", "network.nat_gateways"),
    ({"network.cidr": "10.0.0.0/8"}, ERROR, "vpc-size", "network.cidr"),
    ({"network.cidr": "10.0.0.0/24"}, ERROR, "vpc-too-small", "network.cidr"),
    ({"network.cidr": "10.0.0.0/23"}, ERROR, "too-few-addresses", "network.cidr"),
    ({"network.cidr": "8.8.0.0/16"}, WARNING, "vpc-of-public-addresses", "network.cidr"),
    ({"network.cidr": "10.0.0.1/16"}, ERROR, "invalid-ip-v4-network", "network.cidr"),
    ({"fleets.1.name": "trn1-pretrain"}, ERROR, "fleet-name-twice", "fleets"),
    ({"fleets": []}, ERROR, "invalid-too-short", "fleets"),
    ({"fleets.0.market.reservation_id": "cr-0a1b2c3d4e5f60718"},
     WARNING, "reservation-shared", "fleets[0].market.reservation_id"),
    ({"fleets": [{**PROD["fleets"][1], "name": f"block-{n}", "nodes": 64} for n in range(5)]},
     WARNING, "many-capacity-blocks", "fleets"),
    ({"fleets": [{**PROD["fleets"][1], "name": f"block-{n}", "nodes": 1} for n in range(9)]},
     ERROR, "capacity-block-engine-full", "fleets"),
    ({"approvers": [f"arn:aws:iam::111122223333:role/{'r' * 400}{n}" for n in range(9)]},
     ERROR, "capacity-block-engine-full", "fleets"),
    ({"fleets": [{**PROD["fleets"][0], "name": f"trn1-{n}", "nodes": 1} for n in range(13)]},
     ERROR, "stack-too-large", "fleets"),
    ({"name": "prd"}, ERROR, "name-is-not-the-files", "name"),
    ({"owner": "x" * 257}, ERROR, "not-a-tag", "owner"),
    ({"account": 111122223333}, ERROR, "invalid-string-type", "account"),
    ({**ULTRA, "fleets.0.nodes": 6, "fleets": PROD["fleets"][:1]}, WARNING, "ultraserver-partial", "fleets[0].nodes"),
    ({**ULTRA, "fleets": PROD["fleets"][:1]}, NOTE, "ultraserver", "fleets[0].instance_type"),
    ({"region": "ap-south-2", "network.availability_zones": ZONES_OF_HYDERABAD, "network.nat_gateways": 1,
      "fleets": PROD["fleets"][2:], "fleets.0.instance_type": "trn2u.48xlarge", "fleets.0.market": {"kind": "spot"},
      "fleets.0.endpoint.devices_per_task": 16,
      "fleets.0.endpoint.certificate_arn": CERTIFICATE.replace("us-west-2", "ap-south-2")},
     ERROR, "no-spot", "fleets[0].market.kind"),
    ({**ULTRA, "fleets": PROD["fleets"][:1], "fleets.0.market": BLOCK_MARKET},
     WARNING, "capacity-block-unlisted", "fleets[0].market.kind"),
    ({**ULTRA, "fleets": PROD["fleets"][:1], "fleets.0.market": BLOCK_MARKET, "fleets.0.nodes": 5},
     ERROR, "ultraserver-block-size", "fleets[0].nodes"),
    ({**ULTRA, "fleets": PROD["fleets"][:1],
      "fleets.0.image_parameter": "/aws/service/neuron/dlami/base/amazon-linux-2023/latest/image_id"},
     ERROR, "image-not-in-region", "fleets[0].image_parameter"),
    ({}, NOTE, "quota-needed", "fleets"),
]  # fmt: skip

ALLOWED = {"quota-needed", "alarms-cost", "unknown-owner", "budget-owner-without-a-fleet"}


def changed(tree: dict[str, Any], changes: Changes) -> dict[str, Any]:
    """A copy of the tree with values put at dotted places; a whole list of fleets first."""
    tree = copy.deepcopy(tree)
    for place, value in sorted(changes.items(), key=lambda change: change[0] != "fleets"):
        *way, last = place.split(".")
        target: Any = tree
        for step in way:
            target = target[int(step)] if step.isdecimal() else target[step]
        if value is ABSENT:
            del target[last]
        else:
            target[last] = copy.deepcopy(value)
    return tree


def answer(folder: Path, tree: dict[str, Any]) -> list[Diagnostic]:
    file = folder / "prod.yaml"
    file.write_text(yaml.dump(tree, sort_keys=False), encoding="utf-8")
    return loader.diagnose(file, now=NOW)


def expect(found: list[Diagnostic], severity: Severity, code: str, path: str) -> None:
    said = next((diagnostic for diagnostic in found if diagnostic.code == code), None)
    assert said is not None, [str(diagnostic) for diagnostic in found]
    assert (said.severity, said.path) == (severity, path)
    assert said.message
    assert said.fix or severity is NOTE
    refused = {diagnostic.code for diagnostic in found if diagnostic.is_error}
    assert refused == ({code} if severity is ERROR else set())


EACH_FLEET = [
    pytest.param(base, *entry, id=entry[2])
    for base, table in ((TRAINING, TRAINING_FLEETS), (BLOCK, BLOCK_FLEETS), (SERVING, SERVING_FLEETS))
    for entry in table
]


@pytest.mark.parametrize(("base", "changes", "severity", "code", "path"), EACH_FLEET)
def test_a_fleet_that_cannot_work_is_told_why_where_and_what_would(
    tmp_path: Path, base: int, changes: Changes, severity: Severity, code: str, path: str
) -> None:
    tree = changed(PROD, {"fleets": [PROD["fleets"][base]]})
    tree = changed(tree, {f"fleets.0.{place}": value for place, value in changes.items()})
    expect(answer(tmp_path, tree), severity, code, f"fleets[0].{path}")


@pytest.mark.parametrize(("changes", "severity", "code", "path"), [pytest.param(*e, id=e[2]) for e in ENVIRONMENTS])
def test_an_environment_that_cannot_work_is_told_why_where_and_what_would(
    tmp_path: Path, changes: Changes, severity: Severity, code: str, path: str
) -> None:
    expect(answer(tmp_path, changed(PROD, changes)), severity, code, path)


def test_what_these_tables_start_from_is_right(tmp_path: Path) -> None:
    for fleet in PROD["fleets"]:
        found = answer(tmp_path, changed(PROD, {"fleets": [fleet]}))
        # Its routes name the owners of all fleets.
        assert {diagnostic.code for diagnostic in found} <= {
            "quota-needed",
            "alarms-cost",
            "unknown-owner",
            "budget-owner-without-a-fleet",
        }


def test_there_are_more_than_sixty_ways_to_be_wrong() -> None:
    codes = [entry[2] for table in (TRAINING_FLEETS, BLOCK_FLEETS, SERVING_FLEETS, ENVIRONMENTS) for entry in table]
    assert len({code for code in codes if not code.startswith("invalid-")}) > 60


@pytest.mark.parametrize("settings", [TO_ONE, TO_ZERO])
def test_an_endpoint_that_scales_is_sound_and_so_are_its_alarms(tmp_path: Path, settings: dict[str, Any]) -> None:
    found = answer(tmp_path, changed(PROD, {"fleets.2.endpoint.scaling": settings}))

    assert {diagnostic.code for diagnostic in found} <= ALLOWED
