"""One figure of a document, and what becomes of it when it is worked out again."""

from dataclasses import dataclass
from enum import StrEnum

from planning.money import PlanError
from planning.sources.arithmetic import Sum, work_out

USUAL_ROUNDING_PERCENT = 1.0


class FigureKind(StrEnum):
    """What a figure is of. Performance is what somebody measured."""

    PRICE = "price"
    COST = "cost"
    SAVING = "saving"
    CAPACITY = "capacity"
    PERFORMANCE = "performance"


class Verdict(StrEnum):
    """What came out. The order is that of the page's tables."""

    REPRODUCED = "reproduced"
    STALE = "stale"
    MISCALCULATED = "miscalculated"
    NOT_REPRODUCIBLE = "not reproducible"


@dataclass(frozen=True, slots=True)
class Figure:
    """``claimed`` in ``quote``. ``own``: the sum of its own document's inputs; ``today``: of the catalogue.

    ``beside`` is worked out and shown, and decides nothing. ``within`` is what rounding may hide, in percent.

    Raises:
        PlanError: There is nothing to work it out from and no reason is given.
    """

    kind: FigureKind
    section: str
    quote: str
    claimed: float | None
    own: str | None = None
    today: str | None = None
    beside: str | None = None
    note: str = ""
    within: float = USUAL_ROUNDING_PERCENT

    def __post_init__(self) -> None:
        if (self.own or self.today) and self.claimed is None:
            raise PlanError(f"{self.quote!r}: what is worked out is held against no number; give the claimed one")
        if not (self.own or self.today or self.note):
            raise PlanError(f"{self.quote!r}: say why it cannot be worked out")


@dataclass(frozen=True, slots=True)
class Document:
    """One document: its title, and where it is from."""

    title: str
    about: str
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class Checked:
    """A figure, both sums, and the verdict."""

    figure: Figure
    own: Sum | None
    today: Sum | None
    beside: Sum | None
    verdict: Verdict


def check(figure: Figure) -> Checked:
    """Work ``figure`` out again.

    Its own inputs decide first: where they give something else, it is miscalculated. Then the catalogue: a price, and
    what was worked out from one, is stale where today's is another; a machine that is another was never as claimed.

    Raises:
        PlanError: One of its sums cannot be worked out.
    """
    own, today, beside = (work_out(text) if text else None for text in (figure.own, figure.today, figure.beside))
    return Checked(figure, own, today, beside, _verdict(figure, own, today))


def _verdict(figure: Figure, own: Sum | None, today: Sum | None) -> Verdict:
    if own is None and today is None:
        return Verdict.NOT_REPRODUCIBLE
    if own is not None and not _agrees(figure, own):
        return Verdict.MISCALCULATED
    if today is None or _agrees(figure, today):
        return Verdict.REPRODUCED
    return Verdict.MISCALCULATED if figure.kind is FigureKind.CAPACITY else Verdict.STALE


def _agrees(figure: Figure, of: Sum) -> bool:
    claimed = figure.claimed or 0.0
    return abs(of.value - claimed) <= abs(claimed) * figure.within / 100
