"""Texts of the Neuron driver that have a form of their own, and those that have not."""

import pytest

from agents.collectors.sysfs.readings import Power, components, power
from agents.collectors.sysfs.tensor_engine import TensorEngineEstimate, rows
from tests.support.neuron_sysfs import PE_HEADER, pe_cntrs


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"POWER_STATUS_VALID,1795230000,0.32,3.04,1.57\n", Power(0.32, 3.04, 1.57)),
        (b"POWER_STATUS_VALID,1795230000,0,3,1", Power(0, 3, 1)),
        (b"POWER_STATUS_INVALID,1795230000,0.32,3.04,1.57", None),
        (b"POWER_STATUS_VALID,1795230000,5.00,3.04,4.00", None),
        (b"POWER_STATUS_VALID,1795230000,0.32,3.04,nan", None),
        (b"POWER_STATUS_VALID,1795230000,0.32,1e99,0.5", None),
        (b"POWER_STATUS_VALID,1795230000,0.32,3.04", None),
        (b"\xff" * 4096, None),
        (b"", None),
    ],
)
def test_only_a_power_line_of_the_known_form_is_power(text: bytes, expected: Power | None) -> None:
    assert power(text) == expected


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        (b"", "", set()),
        (b"0\n", "", set()),
        (b"hbm sram\n", "", {"hbm", "sram"}),
        (b"hbm=0 sram=0", "", set()),
        (b"0\n", "hbm", set()),
        (b"1\n", "hbm", {"hbm"}),
        (b"\xff\xfe/../x", "", set()),
    ],
)
def test_what_is_no_list_of_components_names_none(text: bytes, name: str, expected: set[str]) -> None:
    assert components(text, name) == expected


def test_a_flood_of_components_is_bounded() -> None:
    assert len(components(b" ".join(b"part_%d" % n for n in range(500)), "")) == 16


FOUR = ((1, 9), (1, 9), (1, 9), (1, 9))


@pytest.mark.parametrize(
    ("later", "seconds"),
    [
        (((0, 9), *FOUR[1:]), 60),
        (((1 + 2**40, 9), *FOUR[1:]), 60),
        (FOUR, 60),
        (((2, 10), (2, 10), (2, 10), (2, 10)), 0),
        (((2, 10), (2, 10), (2, 10), (2, 10)), -60),
    ],
    ids=["a fall", "a jump", "no cycle", "no time", "a clock set back"],
)
def test_counters_that_cannot_be_are_no_estimate(later: tuple[tuple[int, int], ...], seconds: float) -> None:
    estimate = TensorEngineEstimate()
    estimate.percent((0, 0), FOUR, 1000.0)

    assert estimate.percent((0, 0), later, 1000.0 + seconds) is None


def test_the_estimate_starts_again_after_a_reading_that_was_cut() -> None:
    estimate = TensorEngineEstimate()
    later = ((11, 19), (11, 19), (11, 19), (11, 19))

    assert estimate.percent((0, 0), FOUR, 0) is None
    assert estimate.percent((0, 0), None, 60) is None
    assert estimate.percent((0, 0), FOUR, 120) is None
    assert estimate.percent((0, 0), later, 180) == 50.0


@pytest.mark.parametrize(
    "text",
    [
        b"",
        PE_HEADER.encode(),
        pe_cntrs((1, 2), (1, 2), (1, 2)).encode(),
        pe_cntrs((1, 2), (1, 2), (1, 2), (1, 2)).encode() + b"x",
        # 34 characters of header and three rows of 57 leave 50 for the last: of its 16 idle digits 6 are cut.
        (PE_HEADER + "\n".join(f"{n},{10**17},{10**17},{10**15}" for n in range(4))).encode()[:255],
    ],
    ids=["empty", "header alone", "three rows", "a broken row", "a full buffer"],
)
def test_a_table_without_four_whole_rows_is_not_used(text: bytes) -> None:
    assert rows(text) is None
