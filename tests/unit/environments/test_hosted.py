"""What SageMaker cannot do is refused with one line each; what it can is taken, and its price is said."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from environments import loader
from fleet.diagnostics import Diagnostic, Severity
from tests.support.hosted_environment import content


def diagnosed(folder: Path, changes: dict[str, Any], **endpoint: Any) -> list[Diagnostic]:
    written = content(**endpoint)
    written["fleets"] = [{**written["fleets"][0], **changes}]
    file = folder / "hosted.yaml"
    file.write_text(yaml.safe_dump(written), encoding="utf-8")
    return loader.diagnose(file)


def errors(folder: Path, changes: dict[str, Any], **endpoint: Any) -> list[tuple[str, str]]:
    return [(each.code, each.path) for each in diagnosed(folder, changes, **endpoint) if each.is_error]


def test_a_hosted_endpoint_is_taken_and_its_price_is_a_note(tmp_path: Path) -> None:
    found = diagnosed(tmp_path, {})

    assert [each for each in found if each.severity is not Severity.NOTE] == []
    (price,) = [each for each in found if each.code == "sagemaker-price"]
    assert "the price of ml.inf2.48xlarge in us-east-2 is not known" in price.message
    # What is known of another region is said to be of that one.
    assert "in us-east-1 it was +20.0 % of EC2's (sagemaker-hosting, 2025-01-26" in price.message


def test_an_agreed_price_is_compared_with_ec2(tmp_path: Path) -> None:
    agreed = {"usd_per_hour": 15.58, "contract": "AWS price list", "as_of": "2026-11-20"}
    (price,) = [each for each in diagnosed(tmp_path, {"price": agreed}) if each.code == "sagemaker-price"]

    assert "ml.inf2.48xlarge costs $15.58 per node-hour, negotiated, AWS price list, as of 2026-11-20" in price.message
    assert "$2.60 more an instance-hour (+20.0 %), $10.39 an hour for 4" in price.message


@pytest.mark.parametrize(
    ("changes", "refused"),
    [
        ({"instance_type": "trn2.48xlarge"}, ("not-hosted-by-sagemaker", "fleets[0].instance_type")),
        ({"instance_type": "trn1.32xlarge"}, ("not-hosted-by-sagemaker", "fleets[0].instance_type")),
        ({"market": {"kind": "reservation"}}, ("market-of-sagemaker", "fleets[0].market.kind")),
        ({"market": {"kind": "spot"}}, ("market-of-sagemaker", "fleets[0].market.kind")),
        ({"efa": True}, ("not-with-sagemaker", "fleets[0].efa")),
        ({"efa": False}, ("not-with-sagemaker", "fleets[0].efa")),
        ({"placement_group": True}, ("not-with-sagemaker", "fleets[0].placement_group")),
        ({"alternative_types": ["inf2.24xlarge"]}, ("not-with-sagemaker", "fleets[0].alternative_types")),
        ({"gate": {"driver": "2.25"}}, ("not-with-sagemaker", "fleets[0].gate")),
        ({"image_parameter": "/mine"}, ("not-with-sagemaker", "fleets[0].image_parameter")),
        ({"lnc": 1}, ("not-with-sagemaker", "fleets[0].lnc")),
        ({"alarms": {"hbm_percent": 90}}, ("not-with-sagemaker", "fleets[0].alarms")),
        ({"target_utilization_percent": 30}, ("not-with-sagemaker", "fleets[0].target_utilization_percent")),
        ({"name": "a-fleet-with-quite-a-long-name"}, ("hosted-name-too-long", "fleets[0].name")),
        ({"nodes": 9}, ("nodes-outside-the-scale", "fleets[0].endpoint.sagemaker")),
        ({"neuron_sdk": "2.29"}, ("sdk-dropped-type", "fleets[0].neuron_sdk")),
    ],
)
def test_what_is_of_nodes_is_refused(tmp_path: Path, changes: dict[str, Any], refused: tuple[str, str]) -> None:
    assert errors(tmp_path, changes) == [refused]


@pytest.mark.parametrize(
    ("endpoint", "refused"),
    [
        ({"certificate_arn": "arn:aws:acm:x"}, ("not-with-sagemaker", "endpoint.certificate_arn")),
        ({"clients": {"cidrs": ["10.50.0.0/16"]}}, ("not-with-sagemaker", "endpoint.clients")),
        ({"clients": {"public": True}}, ("not-with-sagemaker", "endpoint.clients")),
        ({"liveness_path": "/live"}, ("not-with-sagemaker", "endpoint.liveness_path")),
        (
            {"scaling": {"min_nodes": 1, "targets": {"queue_seconds": 1}}},
            ("not-with-sagemaker", "endpoint.scaling"),
        ),
        ({"rollout": {"shadow": {}}}, ("not-with-sagemaker", "endpoint.rollout.shadow")),
        ({"port": 8000}, ("not-as-sagemaker-asks", "endpoint.port")),
        ({"health_path": "/healthz"}, ("not-as-sagemaker-asks", "endpoint.health_path")),
        ({"devices_per_task": 13}, ("too-many-devices", "endpoint.devices_per_task")),
        ({"batch_sizes": [4, 1]}, ("not-buckets", "endpoint.batch_sizes")),
        (
            {"container_image": "public.ecr.aws/chat:sdk2.28@sha256:" + "3f" * 32},
            ("image-not-in-ecr", "endpoint.container_image"),
        ),
        (
            {"container_image": "111122223333.dkr.ecr.us-east-2.amazonaws.com/chat:sdk2.28"},
            ("image-without-digest", "endpoint.container_image"),
        ),
        (
            {"rollout": {"gates": {"runtime_errors": 0}}},
            ("gate-without-an-agent", "endpoint.rollout.gates.runtime_errors"),
        ),
        (
            {"rollout": {"gates": {"cost_increase_percent": 5}}},
            ("gate-without-an-agent", "endpoint.rollout.gates.cost_increase_percent"),
        ),
    ],
)
def test_what_sagemaker_does_otherwise_is_refused(
    tmp_path: Path, endpoint: dict[str, Any], refused: tuple[str, str]
) -> None:
    assert errors(tmp_path, {}, **endpoint) == [(refused[0], f"fleets[0].{refused[1]}")]


@pytest.mark.parametrize("endpoint", [{"port": 8080}, {"health_path": "/ping"}, {"liveness_path": "/healthz/live"}])
def test_what_is_right_may_be_written_as_well(tmp_path: Path, endpoint: dict[str, Any]) -> None:
    assert errors(tmp_path, {}, **endpoint) == []


def test_settings_of_sagemaker_are_not_those_of_ecs(tmp_path: Path) -> None:
    found = errors(tmp_path, {}, engine="ecs")

    assert ("sagemaker-settings-of-ecs", "fleets[0].endpoint.sagemaker") in found


def test_an_unknown_engine_is_one_line(tmp_path: Path) -> None:
    (found,) = [each for each in diagnosed(tmp_path, {}, engine="lambda") if each.is_error]

    assert str(found) == "fleets[0].endpoint.engine: 'lambda' is not allowed; it must be one of ecs, sagemaker"


def test_two_endpoints_are_told_apart_by_more_than_a_dash(tmp_path: Path) -> None:
    written = content()
    (fleet,) = written["fleets"]
    written["fleets"] = [{**fleet, "name": name} for name in ("a1-b", "a2-b", "a1b")]
    file = tmp_path / "hosted.yaml"
    file.write_text(yaml.safe_dump(written), encoding="utf-8")

    (refused,) = [each for each in loader.diagnose(file) if each.is_error]
    assert str(refused) == (
        "fleets: CloudFormation cannot tell a1b from a1-b: without dashes they are one name; "
        "give one of them a name that differs by a letter or a digit"
    )
