"""`fleet plan size`: which instances hold a model, split how, with how much to spare, for how many dollars an hour."""

from pathlib import Path
from typing import Annotated

import typer

from cli.answers import refuse
from cli.named import known_region
from cli.plan import size_answer
from cli.plan.model import ShapeOptions, model_of
from cli.prices.table import PRICES_HELP, of_environment
from fleet.fleet_spec import MarketKind
from fleet.instances import UnknownInstanceTypeError, core_groupings, instance_type
from planning.sizing.fit import DEFAULT_HEADROOM
from planning.sizing.parallelism import Degrees
from planning.sizing.plan import DEFAULT_MARKETS, Wish, make_plan
from planning.sizing.shape import SizingError
from planning.sizing.workload import Checkpointing, Dtype, Inference, Optimizer, Training, Workload

# Where AWS sells inf2, trn1 and trn2 alike.
DEFAULT_REGION = "us-east-2"
DEFAULT_CONTEXT = 4096


def size(  # noqa: PLR0913, PLR0917 (one for each option)
    config: Annotated[Path | None, typer.Option(help="A Hugging Face config.json.")] = None,
    params: Annotated[str | None, typer.Option(help="Parameters, such as 70B, where there is no file.")] = None,
    active_params: Annotated[str | None, typer.Option(help="Of a mixture of experts: those a token uses.")] = None,
    layers: Annotated[int | None, typer.Option(min=1, help="Layers, as the following where there is no file.")] = None,
    hidden: Annotated[int | None, typer.Option(min=1, help="Width of the hidden states.")] = None,
    heads: Annotated[int | None, typer.Option(min=1, help="Attention heads.")] = None,
    kv_heads: Annotated[int | None, typer.Option(min=1, help="Default: as many as heads.")] = None,
    head_dim: Annotated[int | None, typer.Option(min=1, help="Default: hidden / heads.")] = None,
    intermediate: Annotated[int | None, typer.Option(min=1, help="Feed-forward width. Default: 4 x hidden.")] = None,
    vocab: Annotated[int | None, typer.Option(min=1, help="Size of the vocabulary.")] = None,
    context: Annotated[
        int | None, typer.Option(min=1, help="Tokens of a sequence. Default: 4096, or the most.")
    ] = None,
    batch: Annotated[int, typer.Option(min=1, help="Sequences at once; in training, of one micro-batch.")] = 1,
    dtype: Annotated[Dtype, typer.Option(help="Of the weights.")] = Dtype.BF16,
    kv_dtype: Annotated[Dtype | None, typer.Option(help="Of keys and values. Default: the weights', or bf16.")] = None,
    training: Annotated[bool, typer.Option("--training", help="Train it, rather than serve it.")] = False,
    optimizer: Annotated[Optimizer, typer.Option(help="What it keeps of each parameter.")] = Optimizer.ADAMW,
    checkpointing: Annotated[
        Checkpointing, typer.Option(help="Which activations are worked out again.")
    ] = Checkpointing.SELECTIVE,
    no_zero1: Annotated[bool, typer.Option("--no-zero1", help="Each copy keeps all optimizer states.")] = False,
    no_master_weights: Annotated[
        bool, typer.Option("--no-master-weights", help="Keep no weights in FP32 beside.")
    ] = False,
    no_fp32_gradients: Annotated[
        bool, typer.Option("--no-fp32-gradients", help="Do not sum gradients in FP32.")
    ] = False,
    no_sequence_parallel: Annotated[
        bool, typer.Option("--no-sequence-parallel", help="Do not split activations along the sequence.")
    ] = False,
    nodes: Annotated[int | None, typer.Option(min=1, help="Instances of a training job. Default: the fewest.")] = None,
    replicas: Annotated[int, typer.Option(min=1, help="Copies to serve.")] = 1,
    tensor: Annotated[int | None, typer.Option(min=1, help="Tensor-parallel degree. Default: the best.")] = None,
    pipeline: Annotated[int | None, typer.Option(min=1, help="Pipeline-parallel degree, with --tensor.")] = None,
    data: Annotated[int | None, typer.Option(min=1, help="Copies of the model, with --tensor.")] = None,
    instance: Annotated[list[str] | None, typer.Option(help="Only this type; may be repeated.")] = None,
    lnc: Annotated[
        int | None, typer.Option(min=1, max=max(core_groupings()), help="Cores grouped into one. Default: the chip's.")
    ] = None,
    headroom: Annotated[float, typer.Option(help="Share of HBM kept free for what is not counted.")] = DEFAULT_HEADROOM,
    region: Annotated[str, typer.Option(callback=known_region, help="Of catalogue prices.")] = DEFAULT_REGION,
    market: Annotated[MarketKind | None, typer.Option(help="Default: on-demand, else Capacity Block.")] = None,
    prices: Annotated[str | None, typer.Option(help=PRICES_HELP)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say which instances hold a model. Exit code 1 where none does."""
    typed = ShapeOptions(params, active_params, layers, hidden, heads, kv_heads, head_dim, intermediate, vocab)
    try:
        shape = model_of(config, typed)
        workload: Workload
        tokens = context or min(DEFAULT_CONTEXT, shape.max_context or DEFAULT_CONTEXT)
        if training:
            workload = Training(
                context=tokens,
                micro_batch=batch,
                dtype=dtype,
                optimizer=optimizer,
                has_master_weights=not no_master_weights,
                has_fp32_gradients=not no_fp32_gradients,
                zero1=not no_zero1,
                checkpointing=checkpointing,
                sequence_parallel=not no_sequence_parallel,
            )
        else:
            workload = Inference(tokens, batch, dtype, kv_dtype or (dtype if dtype.bytes > 1 else Dtype.BF16))
        wish = Wish(
            shape=shape,
            workload=workload,
            region=region,
            replicas=replicas,
            nodes=nodes,
            degrees=_degrees(tensor, pipeline, data, nodes),
            lnc=lnc,
            headroom=headroom,
            markets=(market,) if market else DEFAULT_MARKETS,
            instance_types=tuple(instance_type(name).name for name in instance or ()),
            refreshed=of_environment(prices),
        )
        plan = make_plan(wish)
    except (SizingError, UnknownInstanceTypeError) as error:
        refuse(error)
    size_answer.show(wish, plan, as_json=as_json)
    if not plan.candidates:
        refuse(f"{shape.name} fits none of the instance types tried in {region}")


def _degrees(tensor: int | None, pipeline: int | None, data: int | None, nodes: int | None) -> Degrees | None:
    if tensor is None:
        if pipeline or data:
            raise SizingError("--pipeline and --data go with --tensor; leave all three out to have them found")
        return None
    if data and nodes:
        raise SizingError("--data and --nodes: either says how many copies there are; give one of them")
    return Degrees(tensor, pipeline or 1, data or 1)
