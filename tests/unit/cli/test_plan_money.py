"""`fleet plan compare` and `fleet plan breakeven` meet the figures of five documents, each from its own inputs.

A is the inference guide (Llama 2 70B on inf2 and p4d), B the chapter on Trainium (the 30B case study, the hybrid
strategy, the 128-instance reservation), C the cost-reduction guide (fine-tuning and break-even).
"""

import json
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cli.main import app
from cli.plan.source_figures import FIGURES, documents
from fleet.instances import instance_type
from planning.document_prices import DOCUMENTS

A_INF2 = "name=inf2,type=inf2.48xlarge,throughput=550,price=12.98,source=A"
A_P4D = "name=p4d,type=p4d.24xlarge,throughput=800,price=32.77,source=A,region=us-east-1"


def plan(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "220"}).invoke(app, ["plan", *arguments])


def compared(*options: str, more: tuple[str, ...] = ()) -> Any:
    answer = plan("compare", *(word for option in options for word in ("--option", option)), *more, "--json")
    assert answer.exit_code == 0, answer.output
    return json.loads(answer.stdout)


def test_llama_2_70b_costs_6_55_on_inf2_and_11_38_on_p4d() -> None:
    inf2, p4d = compared(A_INF2, A_P4D)["given"]

    # 550 x 3600 / 12.98 = 152,542 tokens a dollar: 6.5556, which A cuts off at 6.55. 800 x 3600 / 32.77 = 87,885.
    assert inf2["usd_per_million_units"] == pytest.approx(6.5556, abs=5e-5)
    assert p4d["usd_per_million_units"] == pytest.approx(11.3785, abs=5e-5)
    assert int(inf2["usd_per_million_units"] * 100) == 655
    assert round(p4d["usd_per_million_units"], 2) == 11.38
    # 1 - 6.5556 / 11.3785.
    assert round(inf2["saving_percent"]) == 42


def test_the_price_of_p4d_fell_since_and_with_it_the_saving() -> None:
    inf2, p4d = compared(A_INF2, A_P4D)["today"]

    # 21.957642 / 2.88 M tokens an hour = 7.6242; 12.98127 / 1.98 = 6.5562; 1 - 6.5562 / 7.6242 = 14 %.
    assert p4d["usd_per_million_units"] == pytest.approx(7.6242, abs=5e-5)
    assert inf2["usd_per_million_units"] == pytest.approx(6.5562, abs=5e-5)
    assert round(inf2["saving_percent"]) == 14
    assert p4d["prices"][0].startswith("on-demand, us-east-1, 2026-07-20 (AWS Price List)")


def test_the_30b_case_study_goes_from_184_320_to_148_608() -> None:
    gpu, trn1 = compared(
        "name=gpu,type=p4d.24xlarge,instances=8,days=30,price=32,source=B,region=us-east-1",
        "name=trn1,type=trn1.32xlarge,instances=16,days=18,price=21.50,source=B",
    )["given"]

    # 8 x 32 x 24 x 30 and 16 x 21.50 x 24 x 18: 19.4 % less, which B writes as 19 %.
    assert (gpu["run_usd"], trn1["run_usd"]) == (184_320, 148_608)
    assert trn1["saving_percent"] == pytest.approx(19.375)


def test_the_hybrid_strategy_costs_159_140() -> None:
    gpu, hybrid = compared(
        "name=gpu,instances=8,days=30,price=32,source=B",
        "name=hybrid,usd=9500",
        "name=hybrid,type=trn1.32xlarge,instances=1,days=2,price=21.50,source=B",
        "name=hybrid,type=trn1.32xlarge,instances=16,days=18,price=21.50,source=B",
    )["given"]

    # 9,500 + 1,032 + 148,608; 13.7 % below 184,320, which B cuts off at 13 %.
    assert hybrid["run_usd"] == 159_140
    assert hybrid["saving_percent"] == pytest.approx(13.66, abs=0.005)
    assert gpu["run_usd"] == 184_320


def test_the_research_phase_of_the_hybrid_strategy_is_rounded_down() -> None:
    # 10 x g5.12xlarge x 7 days x 5.67 = 9,525.60, where B has 9,500.
    research, _ = compared("name=research,instances=10,days=7,price=5.67,source=C", A_INF2)["given"]

    assert research["run_usd"] == pytest.approx(9_525.60)


def test_128_instances_cost_1_98_million_in_a_month_of_30_days() -> None:
    options = ("name=one,instances=1,price=21.50,source=B", "name=all,instances=128,price=21.50,source=B")
    of_30_days = compared(*options, more=("--month-hours", "720"))["given"][1]
    of_a_twelfth = compared(*options)["given"][1]

    # 2,752 x 720 = 1,981,440; the twelfth part of a year, 730 hours, makes 2,008,960.
    assert (of_30_days["usd_per_hour"], of_30_days["usd_per_month"]) == (2_752, 1_981_440)
    assert of_a_twelfth["usd_per_month"] == 2_008_960


def test_a_run_and_a_fleet_for_a_rate_are_worked_out() -> None:
    inf2 = compared(A_INF2, A_P4D, more=("--units", "1e9", "--rate", "5000"))["given"][0]

    # 1e9 / 550 / 3600 = 505.05 h at 12.98; 5000 / 550 = 9.09, so ten instances.
    assert inf2["run_usd"] == pytest.approx(6_555.56, abs=0.005)
    assert (inf2["fleet_instances"], inf2["fleet_usd_per_hour"]) == (10, pytest.approx(129.80))


def test_the_table_names_where_each_dollar_comes_from() -> None:
    answer = plan("compare", "--option", A_INF2, "--option", A_P4D, "--unit", "samples")

    assert "$/1M samples" in answer.stdout
    assert "$/month of 730 h" in answer.stdout
    assert "by hand (A)" in answer.stdout
    assert "on-demand, us-east-1, 2026-07-20 (AWS Price List)" in answer.stdout


def test_what_a_person_types_is_shown_as_typed() -> None:
    answer = plan("compare", "--option", "name=[/red],price=3,source=[bold]", "--option", A_INF2, "--unit", "[/x]")

    assert answer.exit_code == 0
    assert "[/red]" in answer.stdout
    assert "by hand ([bold])" in answer.stdout
    assert "$/1M [/x]" in answer.stdout
    told = plan("breakeven", "--migration", "2", "--before", "2", "--after", "1", "--run", "[/x]")
    assert "saved per [/x]" in told.stdout


def test_a_price_by_hand_without_a_source_says_so() -> None:
    outcome = compared("name=a,price=3,hours=1", A_INF2)["given"][0]

    assert outcome["prices"][0].startswith("by hand (no source named), 20")


def test_an_option_may_take_its_price_from_the_catalogue() -> None:
    block, spot = compared("type=trn2.48xlarge,hours=10", "name=spot,type=trn1.32xlarge,market=spot,hours=10")["given"]

    assert (block["option"], block["run_usd"]) == ("trn2.48xlarge", pytest.approx(357.608))
    assert block["prices"] == ["capacity-block, us-east-2, 2026-10-09 (Capacity Blocks price page)"]
    assert spot["run_usd"] == pytest.approx(21.5)


def test_the_prices_of_a_document_stand_beside_those_of_today() -> None:
    inf2, p4d = "type=inf2.48xlarge,throughput=550", "type=p4d.24xlarge,throughput=800,region=us-east-1"
    by_name = compared(inf2, p4d, more=("--document", "inference-guide"))
    by_hand = compared(A_INF2, A_P4D)

    for when in ("given", "today"):
        costs = [[option["usd_per_million_units"] for option in each[when]] for each in (by_name, by_hand)]
        assert costs[0] == costs[1]
    assert by_name["given"][0]["prices"] == ["as given, undated (AWS Trainium and Inferentia)"]


def test_a_price_by_hand_stands_before_that_of_the_document() -> None:
    options = ("name=hand,type=p4d.24xlarge,price=30,source=me,hours=1", "type=trn1.32xlarge,hours=1")
    hand, trn1 = compared(*options, more=("--document", "trn1-chapter"))["given"]

    assert (hand["run_usd"], trn1["run_usd"]) == (30, 21.5)


def test_every_price_of_a_document_is_of_a_type_and_in_its_figures() -> None:
    quotes = " ".join(figure.quote for each in documents(FIGURES) for figure in each.figures)

    for document in DOCUMENTS.values():
        for name, usd in document.usd_per_hour.items():
            assert instance_type(name)
            assert f"{usd:.2f}".removesuffix(".00") in quotes


def test_a_document_that_nobody_knows_is_refused() -> None:
    answer = plan("compare", "--option", A_INF2, "--option", A_P4D, "--document", "novel")

    assert answer.exit_code == 1
    assert answer.stderr.startswith("no document is called novel; they are llama-deep-dive, inference-guide, ")


def test_breakeven_answers_in_runs_and_months() -> None:
    arguments = ("breakeven", "--migration", "25000", "--before", "35555", "--after", "21909", "--per-month", "2")
    content = json.loads(plan(*arguments, "--json").stdout)

    # 25,000 / 13,646 = 1.832 runs, 0.916 months.
    assert content["answer"]["runs"] == 2
    assert content["answer"]["months"] == pytest.approx(0.916, abs=5e-4)
    assert len(content["sensitivity"]) == 25
    table = plan(*arguments).stdout
    assert "$13,646.00 saved per run (38.4 %), $327,504.00 a year at 2 a month." in table
    assert "$25,000.00 is paid for after 1.83 of them: with number 2, in 0.9 months." in table


def test_breakeven_without_a_saving_is_refused() -> None:
    answer = plan("breakeven", "--migration", "1", "--before", "1", "--after", "2")

    assert answer.exit_code == 1
    assert answer.stderr == "$2.00 after is not below $1.00 before: it never breaks even\n"


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("price=3", "price=3: an option needs name= or type="),
        (
            "name=a,speed=3",
            "name=a,speed=3: speed is not known; known: bench, days, hours, instances",
        ),
        ("name=a,price", "name=a,price: 'price' is not key=value"),
        ("name=a,price=", "name=a,price=: 'price=' is not key=value"),
        ("name=a,price=3,price=4", "name=a,price=3,price=4: price is there twice"),
        ("name=a,price=cheap", "a: price is 'cheap'; it must be a number"),
        ("name=a,price=-3", "a: price is -3; it must be above 0"),
        ("name=a,price=3,instances=1.5", "a: instances is 1.5; it must be a whole number"),
        ("name=a,price=3,instances=inf", "a: instances is inf; it must be a whole number"),
        ("name=a,price=3,hours=1,days=1", "a: hours and days: give one of them"),
        ("name=a,hours=3", "a: no price is known; give price=, and source= for where it was read"),
        ("name=a,usd=3,hours=1", "a: usd is a sum of its own; it goes with neither instances, throughput nor hours"),
        ("name=a,type=trn2n.48xlarge", "a: trn2n.48xlarge is not an instance type: "),
        ("name=a,type=trn1.32xlarge,market=barter", "a: market is barter; known: on-demand, spot, reservation,"),
        (
            "name=a,type=trn2.48xlarge,region=us-west-2",
            "a: no price of trn2.48xlarge in us-west-2 is known; give price=",
        ),
    ],
)
def test_an_option_that_cannot_be_read_is_one_clear_line(option: str, message: str) -> None:
    answer = plan("compare", "--option", option, "--option", A_INF2)

    assert answer.exit_code == 1
    assert answer.stderr.startswith(message)
    assert answer.stderr.count("\n") == 1


def test_one_option_is_nothing_to_compare() -> None:
    assert plan("compare", "--option", A_INF2).stderr.startswith("1 option to compare; give --option at least twice")
