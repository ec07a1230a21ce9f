"""A job in its table: everything comes back, and the longest that is allowed fits into an item."""

import random
from datetime import timedelta

import pytest
from pydantic import TypeAdapter

from fleet.pool.job import MOST_STARTS, Attempt, Phase, PoolJob, Rank, packed, unpacked
from tests.support.pool_world import NOW, order

JOB: TypeAdapter[PoolJob] = TypeAdapter(PoolJob)
ITEM_BYTES = 400 * 1024
CHANCE = random.Random(1)  # noqa: S311 - ids that do not compress, the same in each run


def rank(index: int) -> Rank:
    arn = "arn:aws:ecs:us-east-2:111122223333:{}/neuron-fleet-staging-trn1-spot/{:032x}"
    began = NOW + timedelta(microseconds=CHANCE.randrange(10**12))
    return Rank(
        index=index,
        instance_id=f"i-{CHANCE.getrandbits(68):017x}",
        container_instance=arn.format("container-instance", CHANCE.getrandbits(128)),
        address=f"10.0.{CHANCE.randrange(256)}.{CHANCE.randrange(256)}",
        instance_type="trn1.32xlarge",
        task=arn.format("task", CHANCE.getrandbits(128)),
        started_at=began,
        stopped_at=began + timedelta(microseconds=CHANCE.randrange(10**11)),
        exit_code=75,
        stop_code="EssentialContainerExited",
    )


def job(nodes: int, attempts: int) -> PoolJob:
    made = tuple(Attempt(number + 1, NOW, tuple(rank(index) for index in range(nodes))) for number in range(attempts))
    return PoolJob(order(nodes=nodes), Phase.WAITING, NOW, attempts=made)


@pytest.mark.parametrize(("nodes", "attempts"), [(4, 3), (100, 40)])
def test_a_job_comes_back_as_it_was_and_fits_into_an_item(nodes: int, attempts: int) -> None:
    assert nodes * attempts <= MOST_STARTS
    one = job(nodes, attempts)
    attribute = packed(JOB.dump_json(one))
    assert JOB.validate_json(unpacked(attribute)) == one
    (value,) = attribute.values()
    assert len(value) < ITEM_BYTES * 0.9


def test_a_short_job_can_be_read_by_people() -> None:
    assert packed(b'{"a":1}') == {"S": '{"a":1}'}


@pytest.mark.parametrize("attribute", [{}, {"B": b"no"}, {"N": "1"}])
def test_what_cannot_be_unpacked_says_so(attribute: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="cannot be unpacked"):
        unpacked(attribute)
