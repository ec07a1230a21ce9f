"""What an environment's file may say of a window is what the embedded CloudWatch takes, and nothing else."""

from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from environments.maintenance import Window
from local.alarm_evaluation.schedules import ScheduleError, parse_schedule

ENDS = st.sampled_from(["*", "0", "1", "7", "12", "23", "31", "60", "SUN", "sat", "FEB", "x", ""])
ITEMS = st.one_of(ENDS, st.builds("{}-{}".format, ENDS, ENDS), st.builds("{}/{}".format, ENDS, ENDS))
FIELDS = st.lists(ITEMS, min_size=1, max_size=2).map(",".join)


@given(st.lists(FIELDS, min_size=4, max_size=6).map(" ".join))
@example("0 2 * * SUN")
@example("0,30 2-4 1,15 JAN-MAR MON-FRI")
@example("*/15 * * * *")
@example("0 5-2 * * *")
@example("0 2 * * 7")
@example("0 2 *,1 * *")
def test_a_file_and_cloudwatch_take_the_same_expressions(cron: str) -> None:
    assert of_a_file(cron) == of_cloudwatch(cron)


def of_a_file(cron: str) -> bool:
    try:
        Window(name="night", reason="firmware", cron=cron, minutes=5)
    except ValidationError:
        return False
    return True


def of_cloudwatch(cron: str) -> bool:
    try:
        parse_schedule(f"cron({cron})")
    except ScheduleError:
        return False
    return True
