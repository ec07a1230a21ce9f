"""Which instances hold a model, split how, and at what price: every type in a region, the cheapest hour first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from fleet.fleet_spec import MarketKind
from fleet.instances import IncompleteInstanceTypeError, InstanceType, Price, catalogue, incomplete_types
from fleet.prices import price_for
from planning.sizing.fit import DEFAULT_HEADROOM, Fit, check, grouping
from planning.sizing.parallelism import Degrees, inference_degrees, training_degrees
from planning.sizing.shape import ModelShape, SizingError
from planning.sizing.workload import Training, Workload

# On-demand where AWS has a list price; trn2 has none and is sold as Capacity Blocks.
DEFAULT_MARKETS: Final = (MarketKind.ON_DEMAND, MarketKind.CAPACITY_BLOCK)
MOST_NODES: Final = 64
"""A Capacity Block holds no more instances than that."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is looked for. ``degrees`` and ``nodes``: given, or found."""

    shape: ModelShape
    workload: Workload
    region: str
    replicas: int = 1
    """Copies of a served model."""
    nodes: int | None = None
    """Instances of a training job; None: as few as hold it."""
    degrees: Degrees | None = None
    """With ``nodes``, as many data-parallel copies as fill them, whatever ``degrees`` says of that."""
    lnc: int | None = None
    headroom: float = DEFAULT_HEADROOM
    markets: tuple[MarketKind, ...] = DEFAULT_MARKETS
    instance_types: tuple[str, ...] = ()
    refreshed: Mapping[str, tuple[Price, ...]] = field(default_factory=dict)
    """Newer prices than the embedded ones, by instance type."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to run it, on ``instances`` of a type; ``price`` None: no price is known, which is not zero."""

    fit: Fit
    instances: int
    price: Price | None

    @property
    def usd_per_hour(self) -> float | None:
        """Of all instances."""
        return None if self.price is None else self.price.usd_per_hour * self.instances


@dataclass(frozen=True, slots=True)
class Refusal:
    """A type that does not hold it, and the reason that the nearest attempt failed for."""

    instance_type: str
    reason: str


@dataclass(frozen=True, slots=True)
class SizePlan:
    """``candidates`` by dollars an hour, those without a price last."""

    candidates: tuple[Candidate, ...]
    refusals: tuple[Refusal, ...]
    notes: tuple[str, ...] = ()
    """What is to be known of the wish itself, whichever type it lands on."""


def make_plan(wish: Wish) -> SizePlan:
    """Try every instance type of ``wish`` that its region offers.

    Raises:
        SizingError: No type is left to try, a number of the wish is out of range, or the data file does not state
            what one of its types can do.
    """
    _refuse_misfits(wish)
    found: list[Candidate] = []
    offered = _types(wish)
    missing = sorted(set(wish.instance_types) - {each.name for each in offered})
    refused = [Refusal(name, f"{wish.region} does not offer it") for name in missing]
    if not wish.instance_types:
        refused += [
            Refusal(name, str(IncompleteInstanceTypeError(name, gaps))) for name, gaps in incomplete_types().items()
        ]
    for instance in offered:
        tried = _try(wish, instance)
        best = next((fit for fit in tried if fit.fits), None)
        if best is None:
            refused.append(Refusal(instance.name, _nearest(tried)))
        else:
            found.append(Candidate(best, _instances(wish, best), _price(wish, instance)))
    return SizePlan(tuple(sorted(found, key=_by_dollars)), tuple(refused), _notes(wish))


def _refuse_misfits(wish: Wish) -> None:
    for name, count in (("replicas", wish.replicas), ("nodes", wish.nodes)):
        if count is not None and count < 1:
            raise SizingError(f"{name} is {count}; it must be at least 1")
    if isinstance(wish.workload, Training):
        if wish.replicas > 1:
            raise SizingError("replicas are of a served model; a training job has nodes or a data-parallel degree")
    elif wish.nodes is not None:
        raise SizingError("nodes are of a training job; a served model has replicas")


def _notes(wish: Wish) -> tuple[str, ...]:
    made_for, asked = wish.shape.max_context, wish.workload.context
    if made_for is None or asked <= made_for:
        return ()
    return (f"{wish.shape.name} was made for {made_for} positions: {asked} need scaled rotary embeddings to be of use",)


def _types(wish: Wish) -> list[InstanceType]:
    known = catalogue().values()
    for name in wish.instance_types:
        if name in incomplete_types():
            raise SizingError(str(IncompleteInstanceTypeError(name, incomplete_types()[name])))
    if wish.instance_types:
        types = [each for each in known if each.name in wish.instance_types]
    else:
        types = [each for each in known if _can_hold(each, wish.workload)]
    types = [each for each in types if wish.region in each.regions | each.capacity_block_regions]
    if wish.lnc is not None and not wish.instance_types:
        types = [each for each in types if wish.lnc in each.accelerator.lnc_supported]
    if not types:
        what = " or ".join(wish.instance_types) or "no NeuronCores of that kind"
        raise SizingError(f"{wish.region} offers {'no ' if wish.instance_types else ''}{what}; try another --region")
    return types


def _can_hold(instance: InstanceType, workload: Workload) -> bool:
    chip = instance.accelerator
    return chip.core is not None and chip.core.splits_models and (chip.trains or not isinstance(workload, Training))


def _try(wish: Wish, instance: InstanceType) -> list[Fit]:
    """Attempts up to the first that fits."""
    tried: list[Fit] = []
    for degrees in _degrees(wish, instance):
        tried.append(
            check(wish.shape, wish.workload, instance, degrees, lnc=wish.lnc, headroom=wish.headroom),
        )
        if wish.nodes is not None and tried[-1].instances not in {0, wish.nodes}:
            unfilled = f"{degrees.world_size} cores do not fill {wish.nodes} instances"
            tried[-1] = replace(tried[-1], reasons=(unfilled, *tried[-1].reasons))
        if tried[-1].fits:
            break
    return tried


def _degrees(wish: Wish, instance: InstanceType) -> Sequence[Degrees]:
    cores = instance.logical_cores(grouping(instance, wish.lnc))
    if wish.degrees is not None:
        copies = (wish.nodes or 0) * cores // wish.degrees.cores_per_replica
        return [replace(wish.degrees, data=copies) if copies else wish.degrees]
    if not isinstance(wish.workload, Training):
        return list(inference_degrees(wish.shape, instance, cores, MOST_NODES))
    counts = [wish.nodes] if wish.nodes else [1]
    if wish.nodes is None and instance.efa_interfaces:
        counts = [2**power for power in range(MOST_NODES.bit_length())]
    return [degrees for nodes in counts for degrees in training_degrees(wish.shape, cores, nodes)]


def _instances(wish: Wish, fit: Fit) -> int:
    """A served copy fills instances or shares one with others; a training job has its data-parallel copies inside."""
    if isinstance(wish.workload, Training):
        return fit.instances
    if fit.replicas_per_instance == 0:
        return fit.instances * wish.replicas
    return -(-wish.replicas // fit.replicas_per_instance)


def _price(wish: Wish, instance: InstanceType) -> Price | None:
    newer = wish.refreshed.get(instance.name, ())
    prices = (price_for(instance, wish.region, market, newer) for market in wish.markets)
    return next((price for price in prices if price is not None), None)


def _nearest(tried: Sequence[Fit]) -> str:
    """Why the attempt with most memory left failed; among those that can be laid out, if any can."""
    laid_out = [fit for fit in tried if fit.instances and len(fit.reasons) == 1] or tried
    best = max(laid_out, key=lambda fit: fit.free_bytes)
    degrees = best.degrees
    return f"{best.reasons[0]} (tensor {degrees.tensor}, pipeline {degrees.pipeline}, data {degrees.data})"


def _by_dollars(candidate: Candidate) -> tuple[bool, float, str]:
    usd = candidate.usd_per_hour
    return (usd is None, usd or 0.0, candidate.fit.instance_type)
