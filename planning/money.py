"""The one error of plans, and the checks of the numbers that go into them."""


class PlanError(ValueError):
    """Numbers that no plan can be made of; the message is one line that says what to change."""


def positive(what: str, number: float) -> float:
    """``number``, if it is above zero and finite.

    Raises:
        PlanError: It is not.
    """
    if not 0 < number < float("inf"):
        raise PlanError(f"{what} is {number:g}; it must be above 0")
    return number
