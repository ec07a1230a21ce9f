"""One fault, however many sources saw it."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from agents.collectors.seen_error import SeenError, Source, combined, worst
from fleet.hardware_errors import (
    CORE_UNCORRECTABLE,
    DMA_ABORT,
    ERRORS,
    EXECUTION_HARDWARE,
    HANG_ON_COLLECTIVES,
    HBM_UNCORRECTABLE,
    SRAM_UNCORRECTABLE,
    UNLISTED,
    Action,
    HardwareError,
)

KERNEL, STATUS, ECC, MONITOR, RUN = (
    (Source.KERNEL_LOG,),
    (Source.RUNTIME_STATUS,),
    (Source.SYSFS_ECC,),
    (Source.MONITOR_ECC,),
    (Source.EXECUTIONS,),
)


def counted(*seen: SeenError) -> list[tuple[HardwareError, int | None, int]]:
    return [(each.error, each.device, each.count) for each in combined(seen)]


def test_a_fault_that_five_sources_saw_counts_once() -> None:
    faults = combined(
        [
            SeenError(HBM_UNCORRECTABLE, 3, 1, KERNEL, Action.REPLACE),
            SeenError(HBM_UNCORRECTABLE, 3, 1, STATUS),
            SeenError(HBM_UNCORRECTABLE, 3, 1, ECC),
            SeenError(HBM_UNCORRECTABLE, 3, 1, MONITOR),
            SeenError(EXECUTION_HARDWARE, None, 4, RUN),
        ]
    )

    assert [(each.error, each.device, each.count) for each in faults] == [(HBM_UNCORRECTABLE, 3, 1)]
    assert faults[0].sources == (Source.KERNEL_LOG, Source.MONITOR_ECC, Source.RUNTIME_STATUS, Source.SYSFS_ECC)


def test_the_source_that_counted_most_is_right_and_one_source_adds_up() -> None:
    # Two cores of device 3 raised the status, one each: 2. The kernel log has one line: the larger is 2.
    assert counted(
        SeenError(DMA_ABORT, 3, 1, STATUS), SeenError(DMA_ABORT, 3, 1, STATUS), SeenError(DMA_ABORT, 3, 1, KERNEL)
    ) == [(DMA_ABORT, 3, 2)]


def test_devices_and_kinds_are_faults_of_their_own() -> None:
    assert counted(
        SeenError(DMA_ABORT, 9, 1, KERNEL), SeenError(DMA_ABORT, 2, 1, KERNEL), SeenError(HBM_UNCORRECTABLE, 2, 1, ECC)
    ) == [(DMA_ABORT, 2, 1), (DMA_ABORT, 9, 1), (HBM_UNCORRECTABLE, 2, 1)]


def test_a_source_without_a_device_folds_into_one_with_it() -> None:
    assert counted(SeenError(DMA_ABORT, None, 1, KERNEL), SeenError(DMA_ABORT, 2, 1, STATUS)) == [(DMA_ABORT, 2, 1)]


def test_what_a_source_without_a_device_counted_beyond_the_others_has_no_device() -> None:
    # Five in the kernel log, of which 1 + 2 have a device: 2 are left.
    assert counted(
        SeenError(DMA_ABORT, None, 5, KERNEL), SeenError(DMA_ABORT, 2, 1, STATUS), SeenError(DMA_ABORT, 4, 2, STATUS)
    ) == [(DMA_ABORT, 2, 1), (DMA_ABORT, 4, 2), (DMA_ABORT, None, 2)]


def test_failed_executions_count_only_when_nothing_names_the_cause() -> None:
    failed = SeenError(EXECUTION_HARDWARE, None, 4, RUN)

    assert counted(failed) == [(EXECUTION_HARDWARE, None, 4)]
    assert counted(failed, SeenError(HANG_ON_COLLECTIVES, 0, 1, KERNEL)) == [(HANG_ON_COLLECTIVES, 0, 1)]


def test_the_runtimes_code_for_parity_errors_is_the_memorys_when_another_source_says_so() -> None:
    status = SeenError(CORE_UNCORRECTABLE, 1, 1, STATUS)

    assert counted(status) == [(CORE_UNCORRECTABLE, 1, 1)]
    assert counted(status, SeenError(SRAM_UNCORRECTABLE, 1, 1, ECC)) == [(SRAM_UNCORRECTABLE, 1, 1)]
    assert counted(status, SeenError(SRAM_UNCORRECTABLE, 2, 1, ECC)) == [
        (CORE_UNCORRECTABLE, 1, 1),
        (SRAM_UNCORRECTABLE, 2, 1),
    ]
    both = (SeenError(SRAM_UNCORRECTABLE, 1, 1, ECC), SeenError(CORE_UNCORRECTABLE, 1, 1, KERNEL))
    assert counted(status, *both) == [(CORE_UNCORRECTABLE, 1, 1), (SRAM_UNCORRECTABLE, 1, 1)]


def test_the_stronger_of_the_documented_and_the_asked_action_wins() -> None:
    (hang,) = combined(
        [
            SeenError(HANG_ON_COLLECTIVES, 0, 1, KERNEL, Action.REPLACE),
            SeenError(HANG_ON_COLLECTIVES, 0, 1, STATUS),
        ]
    )
    (weak,) = combined([SeenError(DMA_ABORT, 0, 1, KERNEL, Action.REBOOT)])

    assert (hang.action, weak.action) == (Action.REPLACE, Action.REPLACE)
    assert worst([hang]) == "hang-on-collectives on device 0: another worker hangs; replace"


def test_the_action_of_a_source_without_a_device_is_not_lost() -> None:
    (hang,) = combined(
        [SeenError(HANG_ON_COLLECTIVES, None, 1, KERNEL, Action.REBOOT), SeenError(HANG_ON_COLLECTIVES, 5, 1, STATUS)]
    )

    assert (hang.device, hang.action) == (5, Action.REBOOT)


def test_an_unlisted_error_is_as_strong_as_what_it_asks_for() -> None:
    assert worst([SeenError(UNLISTED, 0, 1, KERNEL)]) is None
    assert "replace" in str(worst([SeenError(UNLISTED, 0, 1, KERNEL, Action.REPLACE)]))


def test_nothing_seen_is_no_fault() -> None:
    assert combined([]) == ()
    assert combined([SeenError(DMA_ABORT, 0, 0, STATUS)]) == ()


any_seen = st.builds(
    SeenError,
    st.sampled_from(ERRORS),
    st.none() | st.integers(0, 2),
    st.integers(0, 5),
    st.sampled_from([KERNEL, STATUS, ECC, MONITOR, RUN]),
    st.sampled_from(Action),
)


@given(st.lists(any_seen, max_size=12), st.randoms(use_true_random=False))
def test_the_order_of_sources_does_not_matter(seen: list[SeenError], random: Random) -> None:
    shuffled = seen.copy()
    random.shuffle(shuffled)

    assert set(combined(shuffled)) == set(combined(seen))


@given(st.lists(any_seen, max_size=12))
def test_no_fault_is_invented_and_no_device_and_no_action_is_lost(seen: list[SeenError]) -> None:
    faults = combined(seen)
    real = [each for each in seen if each.count]

    assert sum(each.count for each in faults) <= sum(each.count for each in real)
    assert bool(faults) == bool(real)
    causes = [each for each in real if each.error is not EXECUTION_HARDWARE] or real
    assert {each.device for each in faults} - {None} == {each.device for each in causes} - {None}
    assert {each.asked for each in faults} <= {each.asked for each in causes}
    strongest = max(causes, key=lambda each: tuple(Action).index(each.asked), default=None)
    assert strongest is None or strongest.asked in {each.asked for each in faults}
