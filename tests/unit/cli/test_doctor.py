"""`fleet doctor` says what the account lacks, asks for nothing but to read, and survives whatever AWS answers."""

import json
from typing import Any

import pytest
import yaml
from botocore.exceptions import NoCredentialsError, ReadTimeoutError
from typer.testing import CliRunner

from cli.main import app
from tests.support import doctored
from tests.support.doctor import Doctor
from tests.support.recorded_account import (
    CERTIFICATE,
    refusal,
    sound,
    stack,
)

ACTIONS = sorted(set(sound()) - {"sts:GetCallerIdentity"})


def test_a_sound_account_has_nothing_wrong_with_it_and_was_asked_everything(doctor: Doctor) -> None:
    assert doctor.findings() == []
    assert {action for action, _ in doctor.account.calls} == set(sound())


def test_nothing_is_asked_for_but_to_read(doctor: Doctor) -> None:
    doctor.findings()
    for action, request in doctor.account.calls:
        operation = action.partition(":")[2]
        assert operation.startswith(("Describe", "Get", "List")) or request.get("DryRun") is True, action
        assert operation != "GetSecretValue"


def test_a_launch_is_tried_as_whoever_launches_would_make_it(doctor: Doctor) -> None:
    doctor.findings()
    tried = {
        call["LaunchTemplate"]["LaunchTemplateId"]: call for action, call in doctor.account.calls if "Run" in action
    }
    assert tried["lt-created"] == {
        "DryRun": True,
        "MinCount": 1,
        "MaxCount": 1,
        "LaunchTemplate": {"LaunchTemplateId": "lt-created", "Version": "3"},
        "NetworkInterfaces": [
            {"DeviceIndex": 0, "NetworkCardIndex": 0, "Groups": ["sg-nodes", "sg-efa"], "SubnetId": "subnet-c"}
        ],
    }
    assert len(tried) == len(doctor.file["fleets"])


@pytest.mark.parametrize("action", ACTIONS)
def test_a_missing_permission_is_one_warning_that_names_it(action: str, doctor: Doctor) -> None:
    doctor.answers[action] = refusal("UnauthorizedOperation" if action.startswith("ec2") else "AccessDenied", action)
    (found,) = doctor.findings()
    assert (found["code"], found["severity"], found["value"]) == ("not-allowed", "warning", action)


@pytest.mark.parametrize("action", ACTIONS)
def test_a_call_that_is_not_answered_is_a_finding(action: str, doctor: Doctor) -> None:
    doctor.answers[action] = ReadTimeoutError(endpoint_url="https://aws")
    (found,) = doctor.findings()
    if action == "ec2:DescribeAvailabilityZones":
        assert (found["code"], found["severity"]) == ("region-does-not-answer", "error")
    else:
        assert (found["code"], found["severity"], found["value"]) == ("not-answered", "warning", action)


@pytest.mark.parametrize("action", ACTIONS)
def test_throttling_is_no_answer_and_no_fault_of_the_account(action: str, doctor: Doctor) -> None:
    doctor.answers[action] = refusal("ThrottlingException", action)
    assert doctor.codes() == {"not-answered": "warning"}


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("answer", [{}, {"Stacks": [{}], "Reservations": [{}], "Subnets": [{}], "Quota": None}])
def test_an_answer_of_another_shape_is_a_finding_and_no_traceback(
    action: str, answer: dict[str, Any], doctor: Doctor
) -> None:
    doctor.checked = False
    doctor.answers[action] = answer
    result = doctor.run()
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert "; checked: the file, credentials, stacks, zones" in result.stdout


def test_a_region_that_is_not_enabled_is_an_error(doctor: Doctor) -> None:
    doctor.answers["ec2:DescribeAvailabilityZones"] = refusal("OptInRequired", "ec2:DescribeAvailabilityZones")
    assert doctor.codes() == {"region-does-not-answer": "error"}


@pytest.mark.parametrize(
    ("answer", "code", "text"),
    [
        (
            {"Account": "111122223333", "Arn": "arn:aws:iam::111122223333:user/ada"},
            "wrong-account",
            "of account 111122223333 (arn:aws:iam::111122223333:user/ada)",
        ),
        (NoCredentialsError(), "no-credentials", "Unable to locate credentials"),
        (refusal("ExpiredToken", "sts:GetCallerIdentity", "has expired"), "no-credentials", "has expired"),
        (ReadTimeoutError(endpoint_url="https://sts"), "region-does-not-answer", "https://sts"),
    ],
)
def test_credentials_that_are_not_of_the_account_end_the_visit(
    answer: Any, code: str, text: str, doctor: Doctor
) -> None:
    doctor.answers["sts:GetCallerIdentity"] = answer
    (found,) = doctor.findings()
    assert (found["code"], found["severity"]) == (code, "error")
    assert text in found["message"]
    assert len(doctor.account.calls) == 1
    assert doctor.run().stdout.splitlines()[-1].endswith("; checked: the file, credentials")


def test_before_the_first_deployment_nothing_deployed_is_missed(doctor: Doctor) -> None:
    doctor.answers["cloudformation:DescribeStacks"] = {"Stacks": [stack("network", "REVIEW_IN_PROGRESS")]}
    assert doctor.findings() == []
    asked = {action for action, _ in doctor.account.calls}
    assert "[not-deployed]" in doctor.run().stdout
    assert not asked & {"ec2:RunInstances", "ec2:DescribeSubnets", "cloudformation:ListStackResources"}


def test_a_fleet_that_is_new_in_the_file_is_a_note(doctor: Doctor) -> None:
    doctor.file["fleets"].append({**doctor.file["fleets"][0], "name": "newcomer", "market": {"kind": "on-demand"}})
    assert doctor.findings() == []
    assert "newcomer has no launch template yet" in doctor.run().stdout


def test_a_file_that_is_wrong_ends_there(doctor: Doctor) -> None:
    doctor.file["fleets"][0]["nodes"] = 0
    (found,) = doctor.findings()
    assert found["path"] == "fleets[0].nodes"
    assert doctor.account.calls == []
    assert doctor.run().stdout.splitlines()[-1] == "doctored: 1 error, 0 warnings, 0 notes; checked: the file"


def test_an_environment_that_is_not_there_is_an_error() -> None:
    answer = CliRunner().invoke(app, ["doctor", "nowhere"])
    assert answer.exit_code == 1
    assert answer.stderr == "environments: there is no environment 'nowhere'; known: dev, local, prod, staging\n"


def test_findings_are_lines_by_severity_and_the_last_line_counts_them(doctor: Doctor) -> None:
    doctor.answers["ec2:DescribeSecurityGroups"] = refusal("UnauthorizedOperation", "ec2:DescribeSecurityGroups")
    doctor.answers["acm:DescribeCertificate"] = refusal("ResourceNotFoundException", "acm:DescribeCertificate")
    lines = doctor.run().stdout.splitlines()
    assert [line.split(": ")[1] for line in lines[:-1]] == ["error", "warning", "note", "note", "note"]
    path = "doctored: error: fleets[8].endpoint.certificate_arn: "
    assert lines[0] == f"{path}ACM has no certificate {CERTIFICATE}; request or import it [certificate-not-found]"
    assert lines[-1].startswith("doctored: 1 error, 1 warning, 3 notes; checked: the file, credentials, stacks, zones")


def test_the_findings_have_the_shape_of_fleet_validate(doctor: Doctor) -> None:
    validated = json.loads(CliRunner().invoke(app, ["validate", "environments/prod.yaml", "--json"]).stdout)
    assert set(json.loads(doctor.run("--json").stdout)[0]) == set(validated[0])


def test_the_file_is_found_by_the_environments_name(monkeypatch: pytest.MonkeyPatch, doctor: Doctor) -> None:
    doctor.run()
    monkeypatch.setattr("environments.loader.FOLDER", doctor.folder)
    assert yaml.safe_load((doctor.folder / "doctored.yaml").read_text(encoding="utf-8"))["name"] == doctored.NAME
    answer = CliRunner().invoke(app, ["doctor", doctored.NAME, "--on", doctored.TODAY])
    assert answer.exit_code == 0
