"""A chip that no line of code names is judged by every rule, from what the data file states; or refused for a gap."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from agents import config
from agents.errors import ConfigError
from environments.fleets import Lnc
from fleet.capacity import compile_fleet, diagnose_fleet, quotas_needed
from fleet.diagnostics import Severity
from fleet.fleet_spec import EfaLayout, FleetSpec, MarketKind, Purpose, Reserved, Software
from fleet.hosting.sizes import hosted_type, quota_code
from fleet.instances import (
    IncompleteInstanceTypeError,
    catalogue,
    core_groupings,
    instance_type,
    tensor_engine_peak_flops,
)
from fleet.jobs import Job, Parallel, diagnose_job
from fleet.neuron_software import Framework
from local.simulation.report import ReportBuilder
from planning.sizing.huggingface import read_config
from planning.sizing.plan import Wish, make_plan
from planning.sizing.shape import SizingError
from planning.sizing.workload import Inference, Training
from tests.support import model_configs
from tests.support.invented_chip import NAME, Place, places, planted, with_chip, without
from tests.unit.local.simulation.scripts import START, script

MODEL = read_config(model_configs.LLAMA_31_8B, "llama-3.1-8b")
FLEET = FleetSpec(
    name="next",
    purpose=Purpose.TRAINING,
    instance_type=NAME,
    nodes=4,
    region="us-east-2",
    zone_ids=("use2-az1",),
    market=MarketKind.CAPACITY_BLOCK,
    reserved=Reserved("cr-0a1b2c3d4e5f60718", ends_at=datetime(2030, 12, 18, 11, 30, tzinfo=UTC)),
)
JOB = Job(
    name="llama",
    owner="research",
    fleet="next",
    nodes=2,
    image="training:1",
    command=("train",),
    parallel=Parallel(tensor=4),
    checkpoint="s3://checkpoints/llama",
)
ON_DEMAND: dict[str, Any] = {"market": MarketKind.ON_DEMAND, "reserved": Reserved()}
SERVES: dict[str, Any] = {"purpose": Purpose.INFERENCE, **ON_DEMAND}
VLLM_IMAGE = "/aws/service/neuron/ecs/inference-vllm/image_id"
TYPE, CHIP, CORE = ("instances", NAME), ("accelerators", "Trainium9"), ("neuroncores", "v9")


@pytest.fixture
def chip() -> Iterator[None]:
    with planted(with_chip()):
        yield


def codes(spec: FleetSpec) -> set[str]:
    return {each.code for each in diagnose_fleet(spec)}


@pytest.mark.usefixtures("chip")
def test_a_fleet_that_asks_for_what_the_chip_can_is_right() -> None:
    software = Software(neuron_sdk="3.5", framework=Framework.JAX, dtype="fp8")
    # Two nodes of it are an UltraServer, which is a note.
    assert codes(replace(FLEET, lnc=2, software=software)) == {"ultraserver"}


@pytest.mark.usefixtures("chip")
@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"software": Software(neuron_sdk="3.3")}, "sdk-before-type"),
        ({"software": Software(neuron_sdk="2.33")}, "sdk-before-type"),
        ({**SERVES, "software": Software("3.4", Framework.VLLM)}, "sdk-before-framework"),
        ({"software": Software("3.10", Framework.JAX)}, "sdk-dropped-type"),
        ({"software": Software(framework=Framework.NXD_TRAINING)}, "framework-not-on-type"),
        ({**SERVES, "software": Software("3.6", Framework.TORCH_XLA)}, "framework-in-maintenance"),
        ({"software": Software(dtype="fp16")}, "no-tensor-peak"),
        ({"lnc": 8}, "lnc-unsupported"),
        (ON_DEMAND, "on-demand-unobtainable"),
        ({"market": MarketKind.RESERVATION, "reserved": Reserved()}, "on-demand-unobtainable"),
        ({"market": MarketKind.SPOT, "reserved": Reserved()}, "no-spot"),
        ({"region": "us-west-2", "zone_ids": ("usw2-az1",)}, "no-capacity-block"),
        ({"region": "us-east-1", "zone_ids": ("use1-az6",)}, "not-in-region"),
        ({"zone_ids": ("use2-az2",)}, "not-in-zone"),
        ({"nodes": 3}, "ultraserver-block-size"),
        ({"efa": False}, "efa-refused"),
        ({"efa_layout": EfaLayout.EFA_ONLY}, "layout-unproven"),
        ({**SERVES, "devices_per_task": 17}, "too-many-devices"),
        ({"market": MarketKind.SPOT, "alternative_types": ("trn2.48xlarge",)}, "alternative-compiles-anew"),
    ],
)
def test_every_rule_judges_it_by_what_the_data_file_states(changes: Mapping[str, Any], code: str) -> None:
    assert code in codes(replace(FLEET, **changes))
    assert code not in codes(FLEET)


@pytest.mark.parametrize(
    ("facts", "changes", "code"),
    [
        ({(*TYPE, "usage_classes"): ["capacity-block"]}, ON_DEMAND, "no-on-demand"),
        ({(*TYPE, "ultraserver_nodes"): None}, {"reserved": Reserved(resource_group="g")}, "in-resource-group"),
        ({(*TYPE, "efa_interfaces"): 0}, {"efa": True}, "no-efa"),
        ({(*TYPE, "enis_per_card"): 1}, {"efa_layout": EfaLayout.EFA_ONLY}, "layout-without-room"),
        ({(*TYPE, "unverified"): ["efa_generation"]}, {}, "facts-unverified"),
        ({(*CHIP, "unverified"): ["cores"]}, {}, "facts-unverified"),
        ({(*CORE, "unverified"): ["first_sdk"]}, {}, "facts-unverified"),
        ({(*CHIP, "trains"): False}, {}, "training-on-inferentia"),
        ({(*CORE, "last_driver"): "9.1"}, {}, "first-generation"),
        (
            {(*CORE, "frameworks", "vllm", "sdks"): None},
            {**SERVES, "software": Software(machine_image=VLLM_IMAGE)},
            "image-for-trn2",
        ),
    ],
)
def test_another_fact_gets_another_answer(facts: Mapping[Place, Any], changes: Mapping[str, Any], code: str) -> None:
    spec = replace(FLEET, **changes)
    with planted(with_chip()):
        assert not [each for each in codes(spec) if each.endswith(code)]
    with planted(with_chip(facts)):
        assert [each for each in codes(spec) if each.endswith(code)]


@pytest.mark.parametrize(("only_warns", "severity"), [(True, Severity.WARNING), (False, Severity.ERROR)])
def test_cores_with_libraries_that_have_no_word_here_get_a_warning(only_warns: bool, severity: Severity) -> None:
    spec = replace(FLEET, software=Software(framework=Framework.NXD_TRAINING))
    with planted(with_chip({(*CORE, "frameworks", "nxd-training", "only_warns"): only_warns})):
        (told,) = (each for each in diagnose_fleet(spec) if each.code == "framework-not-on-type")
    assert told.severity is severity


@pytest.mark.usefixtures("chip")
def test_its_network_cards_get_an_interface_each_in_both_layouts() -> None:
    def cards(layout: EfaLayout) -> list[tuple[int, int, str]]:
        plan = compile_fleet(replace(FLEET, efa_layout=layout))
        return [(each.network_card, each.device, each.kind.value) for each in plan.network_interfaces]

    assert cards(EfaLayout.EFA) == [(0, 0, "efa"), (1, 1, "efa"), (2, 1, "efa"), (3, 1, "efa")]
    rest = [(card, 0, "efa-only") for card in (1, 2, 3)]
    assert cards(EfaLayout.EFA_ONLY) == [(0, 0, "interface"), (0, 1, "efa-only"), *rest]


@pytest.mark.usefixtures("chip")
def test_it_is_sized_at_each_of_its_groupings() -> None:
    for workload in (Inference(4096), Training(4096)):
        for lnc in (None, 1, 4):
            wish = Wish(MODEL, workload, "us-east-2", lnc=lnc, instance_types=(NAME,))
            (candidate,) = make_plan(wish).candidates
            # 200 GiB over 8 cores, four of them in one by default.
            assert candidate.fit.hbm_bytes == 25 * 1024**3 * (lnc or 4)
            assert candidate.price is not None
    assert NAME in {each.fit.instance_type for each in make_plan(Wish(MODEL, Training(4096), "us-east-2")).candidates}


@pytest.mark.parametrize(
    ("fact", "workload", "reason"),
    [
        ((*CHIP, "trains"), Training(4096), "trn9.48xlarge serves"),
        ((*CORE, "splits_models"), Inference(4096), "NeuronCore-v9, which does not split models"),
    ],
)
def test_it_is_not_sized_for_what_it_cannot(fact: Place, workload: Training | Inference, reason: str) -> None:
    with planted(with_chip({fact: False})):
        assert reason in why_not(Wish(MODEL, workload, "us-east-2", instance_types=(NAME,)))
        everywhere = make_plan(Wish(MODEL, workload, "us-east-2"))
        assert NAME not in {each.fit.instance_type for each in everywhere.candidates}


def why_not(wish: Wish) -> str:
    try:
        plan = make_plan(wish)
    except SizingError as error:
        return str(error)
    assert not plan.candidates
    return "".join(each.reason for each in plan.refusals)


@pytest.mark.usefixtures("chip")
def test_jobs_quotas_endpoints_and_reports_know_it() -> None:
    assert diagnose_job(replace(JOB, parallel=Parallel(tensor=2)), FLEET, standing=None) == ()
    # 8 cores of a chip in groups of four are two.
    assert {each.code for each in diagnose_job(JOB, FLEET, standing=None)} == {"tensor-group-leaves-chip"}
    (need,) = quotas_needed([replace(FLEET, **ON_DEMAND)])
    assert (need.name, need.vcpus) == ("Running On-Demand Trn9 instances", 4 * 192)
    assert (hosted_type(NAME), quota_code(NAME)) == (f"ml.{NAME}", "L-00000010")
    assert tensor_engine_peak_flops("v9d", "bf16", 2) == 800e12
    shown = ReportBuilder(script(instance_type=NAME, lnc=2)).line(START, 20.0)
    assert b'"neuron_device_type":"trainium9"' in shown
    assert b'"nc_v9.126"' in shown


def test_a_grouping_may_be_asked_for_once_some_chip_has_it(tmp_path: Path) -> None:
    asked, written = TypeAdapter(Lnc), tmp_path / "config.json"
    required = dict.fromkeys(("environment", "fleet", "owner", "region", "log_group"), "x")
    written.write_text(json.dumps({**required, "purpose": "training", "lnc": 4}))
    with pytest.raises(ValidationError, match="Input should be 1 or 2"):
        asked.validate_python(4)
    with pytest.raises(ConfigError, match=r"Invalid enum value 4 - at `\$\.lnc`"):
        config.read(written)

    with planted(with_chip()):
        assert core_groupings() == (1, 2, 4)
        assert asked.validate_python(4) == config.read(written).lnc == 4


def test_a_type_that_the_file_knows_nothing_of_is_not_in_it() -> None:
    assert "unknown-instance-type" in codes(replace(FLEET, instance_type="trn9.of-nobody"))


@pytest.mark.parametrize("place", [pytest.param(each, id=".".join(map(str, each))) for each in places()])
def test_without_one_fact_nobody_calls_it_valid_and_the_fact_and_the_file_are_named(place: Place) -> None:
    fact = ".".join(map(str, place)).replace(".prices.0.", ".prices[0].")
    with planted(without(place)):
        assert NAME not in catalogue()
        refused_because_of(fact)


@pytest.mark.parametrize("place", [(*TYPE, "devices"), (*TYPE, "on_demand_obtainable"), (*CHIP, "trains")])
def test_null_is_no_statement_of_what_has_to_be_known(place: Place) -> None:
    with planted(with_chip({place: None})):
        refused_because_of(".".join(map(str, place)))


def refused_because_of(fact: str) -> None:
    (told,) = diagnose_fleet(FLEET)
    assert (told.code, told.is_error, told.path) == ("instance-type-incomplete", True, "instance_type")
    assert told.message == f"{NAME} cannot be judged, because fleet/data/instances.json does not state {fact}"
    assert told.fix == "complete it there"
    (of_job,) = diagnose_job(JOB, FLEET)
    assert of_job.is_error
    assert fact in str(of_job)
    alternative = replace(FLEET, instance_type="trn1.32xlarge", alternative_types=(NAME,))
    assert any(each.is_error and fact in each.message for each in diagnose_fleet(alternative))
    with pytest.raises(IncompleteInstanceTypeError, match=r"fleet/data/instances\.json"):
        instance_type(NAME)
    with pytest.raises(SizingError, match="does not state"):
        make_plan(Wish(MODEL, Inference(4096), "us-east-2", instance_types=(NAME,)))
    assert (
        fact
        in {each.instance_type: each.reason for each in make_plan(Wish(MODEL, Inference(64), "us-east-2")).refusals}[
            NAME
        ]
    )
