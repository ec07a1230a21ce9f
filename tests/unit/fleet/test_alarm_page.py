"""What a page says of an alarm, from its definition; and of an alarm that has none, or had another one."""

import re
from dataclasses import replace

import pytest

from fleet import alarm_page, naming
from fleet.alarm_page import OPEN_THE_RUNBOOK, AlarmPage, EvidenceKind
from fleet.alarms import AlarmSettings, hosted_alarms
from fleet.fleet_spec import MarketKind
from fleet.hosting.variants import VariantNames
from tests.support.alarm_pages import alarm_pages, every_alarm

HBM = "prod/trn1-pretrain/HbmPressure"


def of_key(key: str) -> AlarmPage:
    return next(page for name, page in alarm_pages().items() if name.endswith(f"/{key}"))


def test_every_alarm_has_a_title_of_its_own_words() -> None:
    for spec in every_alarm():
        # Of the key's letters, and not a word more: whoever reads both knows that they are one.
        assert re.sub("[^a-z0-9]", "", spec.title.lower()) == spec.key.lower()
        assert spec.title[0].isupper()


def test_abbreviations_of_the_field_are_never_spelled_as_words() -> None:
    assert not [
        spec.title for spec in every_alarm() if re.search(r"\b(Efa|efa|Hbm|hbm|Ecc|Nan|Capacity block)\b", spec.title)
    ]


@pytest.mark.parametrize(
    ("key", "title"),
    [
        ("HbmPressure", "HBM pressure"),
        ("EfaDegraded", "EFA degraded"),
        ("NonFiniteLoss", "Non-finite loss"),
        ("CapacityBlockEnding", "Capacity Block ending"),
        ("EndpointLatencyP99", "Endpoint latency p99"),
    ],
)
def test_a_title_is_spelled_as_in_the_field(key: str, title: str) -> None:
    assert of_key(key).title == title


def test_alarms_of_the_platform_and_no_others_have_no_events() -> None:
    for name, page in alarm_pages().items():
        assert (f"/{naming.PLATFORM}/" in name) == (page.evidence is EvidenceKind.NONE), name


def test_only_a_region_is_left_to_be_filled_in() -> None:
    commands = [page.first_command for page in alarm_pages().values() if page.first_command]

    assert commands
    assert {field for command in commands for field in re.findall(r"\{(\w*)\}", command)} == {"region"}


def test_an_endpoint_without_instances_is_looked_up_where_it_runs() -> None:
    settings = AlarmSettings(
        environment="prod", fleet="chat", purpose="inference", market=MarketKind.ON_DEMAND, nodes=4
    )
    hosted = {spec.key: spec for spec in hosted_alarms(settings, VariantNames("neuron-fleet-prod-chat"))}

    assert str(hosted["NoHealthyTargets"].first_command).startswith(
        "aws sagemaker describe-endpoint --region {region} --endpoint-name neuron-fleet-prod-chat "
    )
    assert "aws ecs list-container-instances" in str(of_key("NoHealthyTargets").first_command)
    assert {spec.evidence for spec in hosted.values()} == {EvidenceKind.NONE}, "no node of it writes a log"


def test_the_words_are_those_of_the_description() -> None:
    page = of_key("HbmPressure")

    assert (
        page.description == f"{page.summary} {page.action} Runbook: https://runbooks.test/docs/runbooks/{page.runbook}"
    )
    assert page.of(page.description) is page


def test_an_alarm_of_another_deployment_is_told_of_in_its_own_words() -> None:
    old = "A device uses more than 90 % of its memory. Lower the batch. Runbook: https://runbooks.test/HbmPressure.md"

    told = of_key("HbmPressure").of(old)

    assert (told.title, told.summary, told.action) == ("HBM pressure", old, OPEN_THE_RUNBOOK)
    assert of_key("HbmPressure").of("").summary == "HBM pressure."


def test_an_alarm_that_nobody_defined_is_told_of_in_its_own_words() -> None:
    own = alarm_page.unknown("prod/trn1-pretrain/QueueDepth").of("Too many jobs wait. Ask Kim.")

    assert (own.title, own.summary, own.runbook) == ("QueueDepth", "Too many jobs wait. Ask Kim.", "QueueDepth.md")
    assert own.evidence is EvidenceKind.NODES
    assert alarm_page.unknown("prod/platform/Gone").evidence is EvidenceKind.NONE
    assert alarm_page.unknown("BillingOver1000").runbook == "README.md"


def test_what_is_written_holds_every_field() -> None:
    page = replace(of_key("CapacityMissing"), first_command="true")

    (written,) = alarm_page.content({HBM: page}).values()

    assert AlarmPage(**written) == page
    assert (written["evidence"], written["evidence_minutes"]) == ("missing-capacity", 45)
