"""Which writing stands out as a checkpoint."""

from agents.collectors.host.collector import WriteBurst

MIB = 2**20


def test_a_burst_stands_out_from_the_last_half_hour() -> None:
    burst = WriteBurst()
    steady = [burst.is_burst(200 * MIB) for _ in range(6)]

    # Four times 200 MiB are 800.
    seen = [burst.is_burst(amount * MIB) for amount in (799, 800, 5000)]

    assert steady == [False] * 6
    assert seen == [False, True, True]


def test_half_a_gibibyte_is_the_least_and_the_first_minutes_only_teach() -> None:
    burst = WriteBurst()

    early = [burst.is_burst(9000 * MIB) for _ in range(1)] + [burst.is_burst(1 * MIB) for _ in range(4)]

    assert early == [False] * 5
    assert [burst.is_burst(511 * MIB), burst.is_burst(512 * MIB)] == [False, True]


def test_writing_that_goes_on_becomes_the_usual() -> None:
    burst = WriteBurst()
    for _ in range(15):
        burst.is_burst(0)

    found = [burst.is_burst(1000 * MIB) for _ in range(20)]

    # The history holds 15 quiet minutes; with the 16th loud one the median is loud. With 15 and 15 it is in between:
    # 500 MiB, four times of which 1000 does not reach.
    assert found == [True] * 15 + [False] * 5
