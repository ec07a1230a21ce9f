"""Prometheus and OTLP in templates: nothing where they are off, and just what they need where they are on."""

import json
from pathlib import Path
from typing import Any

import pytest
from aws_cdk.assertions import Template

from agents.config import AgentConfig, OtlpConfig, PrometheusConfig, read
from environments import loader
from tests.support.templates import stage_of, templates

ADDRESS = "10.0.0.7"
MONITORING = f"{{prometheus: {{port: 9469, address: {ADDRESS}}}, otlp: true, alarms: promql}}"


@pytest.fixture(scope="module")
def capacity(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The capacity template of production with both switched on."""
    text = (loader.FOLDER / "prod.yaml").read_text(encoding="utf-8")
    file = tmp_path_factory.mktemp("environments") / "prod.yaml"
    before, _, _ = text.partition("monitoring:")
    file.write_text(f"{before}monitoring: {MONITORING}\n", encoding="utf-8")
    platform = stage_of(loader.load_file(file))
    return dict(Template.from_stack(platform.capacity).to_json())


def metric_rights(template: dict[str, Any]) -> list[Any]:
    return [
        statement.get("Condition")
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::IAM::Policy"
        for statement in resource["Properties"]["PolicyDocument"]["Statement"]
        if statement["Action"] == "cloudwatch:PutMetricData"
    ]


def configurations(template: dict[str, Any]) -> list[str]:
    return [
        resource["Properties"]["Value"]
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::SSM::Parameter" and '"period_seconds"' in str(resource["Properties"]["Value"])
    ]


def test_the_agents_are_told_of_both_and_understand_it(capacity: dict[str, Any], tmp_path: Path) -> None:
    texts = configurations(capacity)

    assert len(texts) == 3
    for index, text in enumerate(texts):
        file = tmp_path / f"{index}.json"
        file.write_text(text, encoding="utf-8")
        told: AgentConfig = read(file)
        assert told.prometheus == PrometheusConfig(9469, ADDRESS)
        assert told.otlp == OtlpConfig(endpoint=None)


def test_series_without_a_namespace_are_allowed_and_other_namespaces_are_not(capacity: dict[str, Any]) -> None:
    rights = metric_rights(capacity)

    assert len(rights) == 3
    assert all(right == {"StringEqualsIfExists": {"cloudwatch:namespace": "NeuronFleet"}} for right in rights)


def test_no_security_group_is_opened_for_a_scraper(capacity: dict[str, Any]) -> None:
    assert "9469" not in json.dumps(
        {name: each for name, each in capacity["Resources"].items() if "SecurityGroup" in each["Type"]}
    )


@pytest.mark.parametrize("environment", loader.available())
def test_a_shipped_environment_has_neither(environment: str) -> None:
    template = templates(environment)["capacity"].body

    assert not [text for text in configurations(template) if "prometheus" in text or "otlp" in text]
    assert all("StringEquals" in right for right in metric_rights(template))
