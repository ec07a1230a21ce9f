"""Hardware errors by the names that sources give them, and which action is the stronger."""

import pytest

from fleet.hardware_errors import (
    BY_ECC_COUNTER,
    BY_KERNEL_NAME,
    BY_STATUS_NAME,
    ERRORS,
    Action,
    kernel_action,
    stronger,
)


def test_every_kind_of_the_node_problem_detector_has_its_documented_code_and_action() -> None:
    known = {name: (error.nrt_code, error.action) for name, error in BY_KERNEL_NAME.items()}

    assert known == {
        "SRAM_UNCORRECTABLE_ERROR": (1202, Action.REPLACE),
        "NC_UNCORRECTABLE_ERROR": (1202, Action.REPLACE),
        "HBM_UNCORRECTABLE_ERROR": (1201, Action.REPLACE),
        "DMA_ERROR": (1203, Action.REPLACE),
        "HANG_ON_COLLECTIVES": (1200, Action.LOOK_AT_PEERS),
    }


def test_the_drivers_counters_name_the_same_errors() -> None:
    assert {name: error.nrt_code for name, error in BY_STATUS_NAME.items()} == {
        "hw_collectives_error": 1200,
        "hw_hbm_ue_error": 1201,
        "hw_nc_ue_error": 1202,
        "hw_dma_abort_error": 1203,
        "hw_repairable_hbm_ue_error": 1205,
    }
    assert {name: error.kind for name, error in BY_ECC_COUNTER.items()} == {
        "mem_ecc_uncorrected": "hbm-uncorrectable",
        "sram_ecc_uncorrected": "sram-uncorrectable",
        "mem_ecc_repairable_uncorrected": "hbm-repairable",
    }


def test_kinds_are_unique() -> None:
    assert len({error.kind for error in ERRORS}) == len(ERRORS)


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("TERMINATE_INSTANCE", Action.REPLACE),
        ("REBOOT_INSTANCE", Action.REBOOT),
        ("RELOAD_DRIVER", Action.REBOOT),
        ("NONE", Action.NONE),
        ("CALL_MOTHER", None),
        ("", None),
    ],
)
def test_the_kernel_logs_own_action_is_understood_or_not_known(text: str, action: Action | None) -> None:
    assert kernel_action(text) is action


def test_the_stronger_action_takes_more_of_the_node_away() -> None:
    assert stronger(Action.LOOK_AT_PEERS, Action.REBOOT) is Action.REBOOT
    assert stronger(Action.REPLACE, Action.REBOOT) is Action.REPLACE
    assert stronger(Action.NONE, Action.NONE) is Action.NONE
