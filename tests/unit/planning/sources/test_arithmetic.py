"""Sums as text: worked out, shown with the catalogue's figures in them, and refused when they are anything else."""

import pytest

from planning.money import PlanError
from planning.sources.arithmetic import work_out


@pytest.mark.parametrize(
    ("text", "value", "shown"),
    [
        ("12.24 / (18200 * 3600) * 1000", 0.000186813, "12.24 / (18,200 x 3,600) x 1,000"),
        ("100 * (1 - 39 / 189)", 79.365, "100 x (1 - 39 / 189)"),
        ("2 - (1 + 1)", 0, "2 - (1 + 1)"),
        ("2 - 1 + 1", 2, "2 - 1 + 1"),
        ("(2 - 1) - 1", 0, "2 - 1 - 1"),
        ("8 / (4 / 2)", 4, "8 / (4 / 2)"),
        ("-3 + 5", 2, "-3 + 5"),
        ("50e9 / 3200 / 3600", 4340.278, "50,000,000,000 / 3,200 / 3,600"),
        ("ceil(20000 / 13646)", 2, "20,000 / 13,646, rounded up"),
        ("ceil(6 / 3)", 2, "6 / 3, rounded up"),
        ("cores('trn1.32xlarge')", 32, "32"),
        ("logical_cores('trn2.48xlarge')", 64, "64"),
        ("memory('inf2.48xlarge') / devices('inf2.48xlarge')", 32, "384 / 12"),
        ("device_memory('p4d.24xlarge')", 40, "40"),
        ("vcpus('inf2.8xlarge') * efa('trn1.32xlarge')", 256, "32 x 8"),
        ("peak('trn2.48xlarge', 'bf16')", 667, "667"),
    ],
)
def test_a_sum_is_worked_out_and_shown(text: str, value: float, shown: str) -> None:
    found = work_out(text)

    assert found.value == pytest.approx(value, rel=1e-4)
    assert found.text == shown


def test_a_price_is_the_newest_of_its_kind_and_place_and_is_remembered() -> None:
    found = work_out("2 * price('trn2.48xlarge', 'us-east-2', 'capacity-block') + price('p4d.24xlarge')")

    assert found.value == pytest.approx(2 * 35.7608 + 21.957642)
    assert [(price.region, price.as_of) for price in found.prices] == [
        ("us-east-2", "2026-10-09"),
        ("us-east-1", "2026-07-20"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1 +",
        "1 / 0",
        "2 ** 3",
        "True + 1",
        "'1' + 1",
        "__import__('os')",
        "open('x')",
        "price('trn2.48xlarge')",
        "price('trn2.48xlarge', 'us-east-2', 'barter')",
        "price('trn9.48xlarge')",
        "price()",
        "price(1)",
        "peak('trn1.32xlarge', 'int4')",
        "memory('inf2.xlarge', 'inf2.xlarge')",
        "ceil(1, 2)",
        "x + 1",
    ],
)
def test_anything_else_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(PlanError) as refused:
        work_out(text)

    assert len(str(refused.value).splitlines()) == 1
