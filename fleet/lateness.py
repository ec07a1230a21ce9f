"""How many minutes an alarm looks back, so that data that are late can neither silence it nor make it speak.

CloudWatch takes the newest datapoints that it has, from a range that is a little longer than the alarm's N: two minutes
more in the one example that the guide gives ("Configuring how CloudWatch alarms treat missing data"). Where all data
are later than that, N of N is never complete. FILL makes a datapoint of every minute that is still empty: those of late
minutes say that all is well, as long as they are late. "Using metric math" warns of alarms on FILL that get stuck where
a metric is published with a delay, and asks for M of N.
"""

from typing import Final

LATE_MINUTES: Final = 5
"""So late may data be, and every alarm still tells; how late they are is not documented."""
_MORE_THAN_ASKED: Final = 2


def lasting(minutes: int) -> tuple[int, int]:
    """So many breaching minutes (M, N) of a metric of many senders, some of whom are late, or of an expression on FILL.

    Each of the newest minutes has a datapoint that may be untrue yet.
    """
    return minutes, minutes + LATE_MINUTES


def lasting_of_one(minutes: int) -> tuple[int, int]:
    """So many breaching minutes (M, N) of a metric with one sender: a minute that is late is missing, and is made up
    for by an older one."""
    return minutes, minutes + LATE_MINUTES - _MORE_THAN_ASKED
