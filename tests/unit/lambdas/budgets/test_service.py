"""Every hour: forecast, ask or stop, open again; and once a day the waste."""

from dataclasses import replace
from datetime import date, timedelta

import pytest

from fleet.approval import RefusedError
from fleet.budgets.spending import StopMode
from fleet.budgets.stop import Standing
from fleet.ledger import Category
from lambdas.budgets import commands, service
from lambdas.budgets.commands import Action, Command
from tests.support.budget_world import ADA, NOW, Desk
from tests.support.ledger_lines import line

TODAY, YESTERDAY = NOW.date(), NOW.date() - timedelta(days=1)


def desk(stop: StopMode, usd: float = 1000.0, spent: float = 1200.0) -> Desk:
    found = Desk(stop=stop, usd=usd)
    found.books.days = {YESTERDAY: [line(str(YESTERDAY), spent)], TODAY: [line(str(TODAY), 0.0)]}
    return found


def decide(at: Desk, action: Action, who: str = ADA) -> dict[str, object]:
    return commands.run(Command(action=action, signed_url="https://sts"), at.aws, lambda *_: who, NOW)


def test_a_used_up_budget_asks_and_touches_nothing_until_somebody_approves() -> None:
    here = desk(StopMode.ASK)

    for _ in range(3):
        assert service.look(here.aws, NOW).record.closed == ()
    assert here.people.subjects == ["dev: the month's budget is used up. Stop small, spot?"]
    assert here.queues.done == []

    answer = decide(here, Action.APPROVE)

    assert answer["closed"] == ["small", "spot"]
    assert here.queues.is_open == {"q-small": False, "q-spot": False}
    assert here.people.subjects[1:] == ["dev: stopped by its budget: small, spot"]
    assert f"{ADA} approved it." in here.people.notices[next(k for k in here.people.notices if "stopped" in k)][1]


def test_a_question_that_nobody_answers_is_asked_again_every_day() -> None:
    here = desk(StopMode.ASK)

    for hours in (0, 1, 24, 25):
        here.books.days |= {(NOW + timedelta(hours=hours)).date(): [line(str(TODAY), 0.0)]}
        service.look(here.aws, NOW + timedelta(hours=hours))

    assert len(here.people.subjects) == 2
    decide(here, Action.RESUME)
    service.look(here.aws, NOW + timedelta(hours=49))
    assert len(here.people.subjects) == 2


def test_nobody_else_can_approve_and_nothing_is_closed() -> None:
    here = desk(StopMode.ASK)
    service.look(here.aws, NOW)

    def nobody(*_: str) -> str:
        raise RefusedError("STS does not accept the signature: HTTP 403")

    assert "not in budgets.approvers" in str(decide(here, Action.APPROVE, who="arn:aws:iam::1:role/bo")["refused"])
    assert "HTTP 403" in str(commands.run(Command(action=Action.APPROVE), here.aws, nobody, NOW)["refused"])
    assert here.queues.done == []


def test_what_is_signed_is_this_decision_in_this_environment() -> None:
    here, bound = desk(StopMode.ASK), list[str]()
    service.look(here.aws, NOW)

    def who(_: str, to: str) -> str:
        bound.append(to)
        return ADA

    commands.run(Command(action=Action.APPROVE), here.aws, who, NOW)
    commands.run(Command(action=Action.RESUME), here.aws, who, NOW)
    assert bound == ["dev/approve/budget", "dev/resume/budget"]


def test_a_stop_is_taken_back_and_stays_so() -> None:
    here = desk(StopMode.AUTO)
    service.look(here.aws, NOW)
    assert here.queues.is_open == {"q-small": False, "q-spot": False}

    decide(here, Action.RESUME)
    service.look(here.aws, NOW + timedelta(hours=1))

    assert here.queues.is_open == {"q-small": True, "q-spot": True}
    assert here.memory.record.stop is not None
    assert here.memory.record.stop.standing is Standing.RESUMED


def test_what_a_person_closed_is_not_opened_again() -> None:
    here = desk(StopMode.AUTO)
    here.queues.is_open["q-spot"] = False
    service.look(here.aws, NOW)
    assert here.memory.record.closed == ("small",)

    decide(here, Action.RESUME)

    assert here.queues.is_open == {"q-small": True, "q-spot": False}


def test_what_a_deployment_opened_is_closed_at_the_next_look() -> None:
    here = desk(StopMode.AUTO)
    service.look(here.aws, NOW)
    here.queues.is_open["q-small"] = True

    service.look(here.aws, NOW + timedelta(hours=1))

    assert here.queues.is_open["q-small"] is False


def test_a_new_month_opens_what_the_last_one_closed() -> None:
    here = desk(StopMode.AUTO)
    service.look(here.aws, NOW)
    first = NOW.replace(month=12, day=1, hour=0)
    here.books.days = {date(2026, 11, 30): [line("2026-11-30", 1.0)]}

    service.look(here.aws, first)

    assert here.queues.is_open == {"q-small": True, "q-spot": True}
    assert here.people.subjects[-1] == "dev: small, spot may run again"


def test_a_fleet_that_does_not_answer_keeps_no_other_open_and_is_closed_later() -> None:
    here = desk(StopMode.AUTO)
    here.queues.broken = {"q-small"}

    with pytest.raises(service.NotDoneError, match="fleet small: OSError"):
        service.look(here.aws, NOW)
    assert here.queues.is_open == {"q-small": True, "q-spot": False}

    here.queues.broken = set()
    service.look(here.aws, NOW + timedelta(hours=1))
    assert here.queues.is_open["q-small"] is False


def test_who_comes_second_changes_nothing() -> None:
    here = desk(StopMode.AUTO)
    here.memory.conflicts = 1

    service.look(here.aws, NOW)

    assert here.queues.done == []


@pytest.mark.parametrize(("stop", "spent"), [(StopMode.NEVER, 5000.0), (StopMode.AUTO, 999.0)])
def test_nothing_is_closed_without_a_reason(stop: StopMode, spent: float) -> None:
    here = desk(stop, spent=spent)

    look = service.look(here.aws, NOW)

    assert here.queues.done == []
    assert look.worst_percent == pytest.approx(100 * look.budgets[0].forecast_usd / 1000.0)  # type: ignore[operator]  # the rate is known


def test_the_worst_budget_is_the_one_that_is_told() -> None:
    here = Desk(stop=StopMode.NEVER, usd=1e6, owners={"ana": 10.0, "bo": 1e6})
    here.books.days = {YESTERDAY: [line(str(YESTERDAY), 240.0)], TODAY: [line(str(TODAY), 100.0)]}

    look = service.look(here.aws, NOW)

    assert look.worst_percent == look.budgets[1].forecast_percent
    assert [each.owner for each in look.budgets] == [None, "ana", "bo"]


def test_a_ledger_that_says_nothing_is_no_forecast() -> None:
    assert service.look(Desk(stop=StopMode.NEVER).aws, NOW).worst_percent is None


def test_the_waste_of_a_day_is_told_once_and_again_when_it_becomes_known() -> None:
    here = Desk()
    assert service.tell_waste(here.aws, YESTERDAY) is False
    here.books.days[YESTERDAY] = [line(str(YESTERDAY), 10.0, Category.IDLE)]

    assert service.tell_waste(here.aws, YESTERDAY) is True
    assert here.people.subjects == [
        "dev: what was wasted on 2026-11-19 is not known",
        "dev: 10.00 USD of 10.00 USD (100 %) wasted on 2026-11-19",
    ]


def test_status_needs_no_proof_and_decisions_need_something_to_decide() -> None:
    never = desk(StopMode.NEVER)
    without = replace(never.aws, budgets=None, stops=None, targets=None)

    assert decide(desk(StopMode.ASK), Action.STATUS)["may_stop"] == ["small", "spot"]
    assert decide(never, Action.STATUS)["stop"] is None
    assert "nothing may be stopped" in str(decide(never, Action.APPROVE)["refused"])
    refused = commands.run(Command(action=Action.STATUS), without, lambda *_: ADA, NOW)["refused"]
    assert refused == "environment dev has no budgets, as deployed"
