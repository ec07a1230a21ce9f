"""The model of a job file as the sizing knows it, and the pace that follows from it."""

from pathlib import Path
from typing import Final

from cli.jobs.job_file import JobFile, Measured, Model
from cli.plan.model import ShapeOptions, model_of
from fleet.diagnostics import Diagnostic, refuse
from fleet.fleet_spec import FleetSpec
from fleet.instances import InstanceType
from fleet.jobs import Throughput
from fleet.jobs.forecast import Basis, assumed_throughput
from planning.sizing.shape import ModelShape, SizingError
from planning.sizing.workload import Dtype, Training

_NO_OPTIONS: Final = ShapeOptions(None, None, None, None, None, None, None, None, None)
_SHAPE: Final = ("parameters", "layers", "hidden", "heads")
_FIX: Final = "give config: PATH of a config.json, or parameters, layers, hidden and heads"


def shape_of(model: Model, folder: Path) -> ModelShape | Diagnostic:
    """What the file says of the model; ``folder`` is the one that the file lies in."""
    stated = [key for key in (*_SHAPE, "kv_heads") if getattr(model, key) is not None]
    if model.config is None:
        return _of_numbers(model)
    if stated:
        text = f"model.config says it already, and {', '.join(stated)} too"
        return refuse("model-said-twice", "model", model.config, text, "leave one of them out")
    try:
        return model_of(folder / model.config, _NO_OPTIONS)
    except SizingError as error:
        return refuse("model-config", "model.config", model.config, str(error), "correct the path, or the file")


def _of_numbers(model: Model) -> ModelShape | Diagnostic:
    parameters, layers, hidden, heads = model.parameters, model.layers, model.hidden, model.heads
    if parameters is None or layers is None or hidden is None or heads is None:
        missing = ", ".join(key for key in _SHAPE if getattr(model, key) is None)
        return refuse("model-incomplete", "model", "", f"{missing}: missing", _FIX)
    if heads < 1 or hidden % heads:
        text = f"hidden {hidden} does not divide into {heads} heads"
        return refuse("model-shape", "model.heads", heads, text, "correct one of them")
    try:
        return ModelShape(
            name=f"{parameters / 1e9:g} B parameters",
            parameters=round(parameters),
            active_parameters=round(parameters),
            layers=layers,
            hidden=hidden,
            heads=heads,
            kv_heads=model.kv_heads or heads,
            head_dim=hidden // heads,
            # The width of the original transformer.
            active_intermediate=4 * hidden,
            vocabulary=model.vocabulary,
        )
    except SizingError as error:
        return refuse("model-shape", "model", parameters, str(error), _FIX)


def training_of(model: Model) -> Training:
    """How it is trained."""
    return Training(
        context=model.context,
        micro_batch=model.micro_batch,
        dtype=Dtype(model.dtype),
        optimizer=model.optimizer,
        has_master_weights=model.master_weights,
        has_fp32_gradients=model.fp32_gradients,
        zero1=model.zero1,
        checkpointing=model.checkpointing,
        sequence_parallel=model.sequence_parallel,
    )


def pace_of(
    written: JobFile, shape: ModelShape | None, spec: FleetSpec, known: InstanceType, target_percent: float
) -> Throughput | None:
    """Measured, or assumed from the file's utilization or the fleet's target; None: nothing says how large it is."""
    stated = written.throughput
    if isinstance(stated, Measured):
        return Throughput(stated.tokens_per_second, Basis.MEASURED, stated.source)
    if shape is None or not known.is_neuron or written.nodes < 1:
        return None
    percent = target_percent if stated is None else stated.utilization_percent
    cores = known.logical_cores(spec.lnc)
    used = written.cores_per_node or cores
    nodes = written.nodes * used / cores
    if nodes <= 0:
        return None
    dtype = written.model.dtype if written.model else Dtype.BF16.value
    return assumed_throughput(
        known, nodes, parameters=shape.active_parameters, utilization_percent=percent, dtype=dtype
    )
