"""Every type that holds the model is found and ranked by a dated price; every other says what is missing."""

from dataclasses import replace

import pytest

from fleet.fleet_spec import MarketKind
from fleet.instances import PriceKind, instance_type
from planning.sizing.fit import check
from planning.sizing.huggingface import read_config
from planning.sizing.parallelism import Degrees
from planning.sizing.plan import Candidate, Refusal, Wish, make_plan
from planning.sizing.shape import SizingError
from planning.sizing.workload import Dtype, Inference, Training
from tests.support import model_configs as models

LLAMA_2_70B = read_config(models.LLAMA_2_70B, "llama-2-70b")
LLAMA_31_8B = read_config(models.LLAMA_31_8B, "llama-3.1-8b")
BERT = read_config(models.BERT_LARGE, "bert")
SERVE_8B = Wish(LLAMA_31_8B, Inference(4096), "us-east-2")
TRAIN_8B = Wish(LLAMA_31_8B, Training(4096), "us-east-2")


def found(wish: Wish) -> dict[str, Candidate]:
    return {each.fit.instance_type: each for each in make_plan(wish).candidates}


def test_candidates_are_ranked_by_dollars_an_hour() -> None:
    # 16 GB of weights and 0.5 GB of cache need both cores of one device, so the smallest inf2 holds it.
    plan = make_plan(SERVE_8B)
    dollars = [each.usd_per_hour for each in plan.candidates]

    assert plan.candidates[0].fit.instance_type == "inf2.xlarge"
    assert dollars == sorted(usd for usd in dollars if usd is not None)
    assert dollars[0] == 0.7582


def test_an_instance_that_holds_several_copies_is_counted_once_for_them() -> None:
    # inf2.24xlarge has 12 cores, a copy takes 2: six copies an instance, so seven copies take two.
    six, seven = (found(replace(SERVE_8B, replicas=copies))["inf2.24xlarge"] for copies in (6, 7))

    assert six.fit.replicas_per_instance == 6
    assert (six.instances, seven.instances) == (1, 2)
    assert seven.usd_per_hour == pytest.approx(2 * 6.49063)


def test_a_copy_that_spans_instances_is_counted_with_all_of_them() -> None:
    wish = Wish(read_config(models.LLAMA_31_405B, "405b"), Inference(2048), "us-east-2", replicas=2)
    on_trn1 = found(wish)["trn1.32xlarge"]

    # 405.9 B x 2 B / 32 cores = 25.4 GB does not fit 17.2 GB, / 64 = 12.7 GB does: two instances a copy.
    assert (on_trn1.fit.degrees, on_trn1.fit.instances, on_trn1.instances) == (Degrees(64), 2, 4)


def test_trn2_is_priced_as_a_capacity_block_because_it_has_no_list_price() -> None:
    trn2 = found(SERVE_8B)["trn2.48xlarge"]
    no_price = found(replace(SERVE_8B, markets=(MarketKind.ON_DEMAND,)))["trn2.48xlarge"]

    assert trn2.price is not None
    assert (trn2.price.kind, trn2.price.usd_per_hour) == (PriceKind.CAPACITY_BLOCK, 35.7608)
    assert (no_price.price, no_price.usd_per_hour) == (None, None)


def test_a_type_without_a_price_comes_last_and_costs_nobody_zero() -> None:
    candidates = make_plan(replace(SERVE_8B, markets=(MarketKind.ON_DEMAND,))).candidates

    priced = [each.price is not None for each in candidates]
    assert not next(each for each in candidates if each.fit.instance_type == "trn2.48xlarge").price
    assert priced == sorted(priced, reverse=True)


def test_a_type_that_does_not_hold_the_model_says_how_much_is_missing() -> None:
    refusals = {
        each.instance_type: each.reason for each in make_plan(Wish(LLAMA_2_70B, Inference(4096), "us-east-2")).refusals
    }

    assert refusals["inf2.xlarge"].endswith(" GB missing on each core of 17.18 GB (tensor 2, pipeline 1, data 1)")


def test_training_takes_as_few_instances_as_hold_it_and_leaves_inf2_out() -> None:
    # 8.03 B parameters: 6 B each over t cores and 12 B over all copies, on 16 GiB less a sixth a core.
    types = found(TRAIN_8B)

    assert not any(name.startswith("inf2") for name in types)
    assert types["trn1.32xlarge"].instances == 1
    assert types["trn1.32xlarge"].fit.degrees.world_size == 32


def test_inf2_serves_and_is_not_trained_on() -> None:
    plan = make_plan(replace(TRAIN_8B, instance_types=("inf2.48xlarge",)))

    assert plan.candidates == ()
    fit = check(LLAMA_31_8B, Training(128), instance_type("inf2.48xlarge"), Degrees(8, 1, 3))
    assert fit.reasons == ("inf2.48xlarge serves; Neuron trains on Trainium",)


def test_given_nodes_are_filled_with_copies() -> None:
    wish = replace(TRAIN_8B, nodes=4, degrees=Degrees(32), instance_types=("trn1.32xlarge",))

    assert found(wish)["trn1.32xlarge"].fit.degrees == Degrees(32, 1, 4)


def test_degrees_that_leave_given_nodes_partly_idle_are_refused() -> None:
    wish = replace(TRAIN_8B, nodes=3, degrees=Degrees(32, 2), instance_types=("trn1.32xlarge",))

    assert make_plan(wish).refusals[0].reason.startswith("64 cores do not fill 3 instances")


def test_a_named_type_that_the_region_does_not_offer_is_not_passed_over() -> None:
    plan = make_plan(replace(SERVE_8B, instance_types=("inf2.xlarge", "trn2u.48xlarge")))

    assert [each.fit.instance_type for each in plan.candidates] == ["inf2.xlarge"]
    assert plan.refusals == (Refusal("trn2u.48xlarge", "us-east-2 does not offer it"),)


def test_a_smaller_logical_core_holds_less() -> None:
    # 24 GiB a core at LNC 2, 12 GiB at LNC 1: 16.1 GB of weights fit the one and not the other.
    trn2 = instance_type("trn2.48xlarge")

    assert check(LLAMA_31_8B, Inference(4096), trn2, Degrees(1)).fits
    assert not check(LLAMA_31_8B, Inference(4096), trn2, Degrees(1), lnc=1).fits


def test_head_room_is_kept_free() -> None:
    # OPT-13B uses 13.99 GB of 17.18 GB: it fits beside a tenth (1.72 GB), and not beside a fifth (3.44 GB).
    opt, trn1 = read_config(models.OPT_13B, "opt"), instance_type("trn1.2xlarge")
    workload = Inference(2048, dtype=Dtype.FP16, kv_dtype=Dtype.FP16)

    assert check(opt, workload, trn1, Degrees(2), headroom=0.1).fits
    assert check(opt, workload, trn1, Degrees(2), headroom=0.2).reasons == ("0.25 GB missing on each core of 17.18 GB",)


def test_what_articles_say_of_seventy_billion_on_inf2_does_not_fit() -> None:
    """Degrees count cores, not chips: tp 8 is 137.95 GB / 8 = 17.24 GB on 17.18 GB, and tp 6 is 23 GB."""
    bf16 = Inference(768)

    assert not check(LLAMA_2_70B, bf16, instance_type("inf2.48xlarge"), Degrees(8), headroom=0).fits
    assert not check(LLAMA_2_70B, bf16, instance_type("inf2.24xlarge"), Degrees(6), headroom=0).fits
    assert check(LLAMA_2_70B, bf16, instance_type("inf2.48xlarge"), Degrees(24)).fits


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        (replace(SERVE_8B, region="mars-1"), "mars-1 offers no NeuronCores of that kind; try another --region"),
        (
            replace(SERVE_8B, instance_types=("trn2u.48xlarge",)),
            "us-east-2 offers no trn2u.48xlarge; try another --region",
        ),
        (replace(SERVE_8B, instance_types=("p5.48xlarge",)), "p5.48xlarge has H100, not NeuronCores"),
        (
            replace(SERVE_8B, instance_types=("inf1.6xlarge",)),
            "inf1.6xlarge has NeuronCore-v1, which does not split models; size for inf2, trn1 or trn2",
        ),
        (replace(SERVE_8B, instance_types=("inf2.xlarge",), lnc=2), "inf2.xlarge runs at LNC 1, not 2"),
        (replace(SERVE_8B, headroom=1.0), "headroom is 1.0; it must be a share of the memory, 0 or more and below 1"),
        (replace(SERVE_8B, headroom=float("nan")), "headroom is nan; it must be a share of the memory"),
        (replace(SERVE_8B, replicas=0), "replicas is 0; it must be at least 1"),
        (replace(SERVE_8B, nodes=2), "nodes are of a training job; a served model has replicas"),
        (replace(TRAIN_8B, replicas=2), "replicas are of a served model; a training job has nodes"),
        (replace(SERVE_8B, shape=BERT), "context is 4096; bert has 512 positions"),
    ],
)
def test_a_wish_that_cannot_be_met_is_refused_in_one_line(wish: Wish, message: str) -> None:
    with pytest.raises(SizingError) as error:
        make_plan(wish)

    assert str(error.value).startswith(message)


def test_a_context_beyond_rotary_positions_is_noted_and_sized() -> None:
    longer = make_plan(replace(SERVE_8B, workload=Inference(131_073)))

    assert longer.notes == (
        "llama-3.1-8b was made for 131072 positions: 131073 need scaled rotary embeddings to be of use",
    )
    assert longer.candidates
    assert make_plan(replace(SERVE_8B, workload=Inference(131_072))).notes == ()


def test_workloads_out_of_range_are_refused() -> None:
    with pytest.raises(SizingError, match="context is 0; it must be at least 1, and at most 1,000,000,000"):
        Inference(0)
    with pytest.raises(SizingError, match="micro batch is 0; it must be at least 1"):
        Training(1, micro_batch=0)
    with pytest.raises(SizingError, match="weights are not trained in fp8; use bf16, fp16 or fp32"):
        Training(1, dtype=Dtype.FP8)
