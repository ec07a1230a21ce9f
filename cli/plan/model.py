"""The model that `fleet plan size` is asked about: a config.json, or a count of parameters and a shape."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from planning.sizing.huggingface import read_config
from planning.sizing.shape import ModelShape, SizingError

_SUFFIXES: Final = {"K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}


@dataclass(frozen=True, slots=True)
class ShapeOptions:
    """The options that take the place of a file; None: not given."""

    params: str | None
    active_params: str | None
    layers: int | None
    hidden: int | None
    heads: int | None
    kv_heads: int | None
    head_dim: int | None
    intermediate: int | None
    vocab: int | None

    @property
    def given(self) -> list[str]:
        """Names of those that are there, as they are typed."""
        return [f"--{name.replace('_', '-')}" for name in self.__slots__ if getattr(self, name) is not None]


def model_of(config: Path | None, options: ShapeOptions) -> ModelShape:
    """The shape of a file, or of options.

    Raises:
        SizingError: Both or neither are given, the file is no such config, or an option is missing or no number.
    """
    if config is not None:
        if options.given:
            raise SizingError(f"{', '.join(options.given)} and --config: the file already says it; give one of them")
        return read_config(_file(config), _name(config))
    if options.params is None:
        raise SizingError("no model: give --config FILE, or --params with --layers, --hidden and --heads")
    layers, hidden, heads = options.layers, options.hidden, options.heads
    if layers is None or hidden is None or heads is None:
        raise SizingError("--params needs --layers, --hidden and --heads: memory and degrees depend on them")
    if heads < 1 or (options.head_dim is None and hidden % heads):
        raise SizingError(f"--hidden {hidden} does not divide into --heads {heads}; give --head-dim")
    parameters = _count("--params", options.params)
    return ModelShape(
        name=f"{options.params} parameters",
        parameters=parameters,
        active_parameters=_count("--active-params", options.active_params) if options.active_params else parameters,
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=options.kv_heads or heads,
        head_dim=options.head_dim or hidden // heads,
        # The width of the original transformer; only the estimate of a prompt's activations depends on it.
        active_intermediate=options.intermediate or 4 * hidden,
        vocabulary=options.vocab or 0,
    )


def _count(option: str, text: str) -> int:
    number, factor = text, 1.0
    if text[-1:].upper() in _SUFFIXES:
        number, factor = text[:-1], _SUFFIXES[text[-1].upper()]
    try:
        return round(float(number) * factor)
    except (ValueError, OverflowError):
        raise SizingError(f"{option} {text}: a count such as 70B, 6.7B or 7e9 is needed") from None


def _file(path: Path) -> dict[str, object]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SizingError(f"{path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise SizingError(f"{path}: not JSON: {error}") from error
    if not isinstance(content, dict):
        raise SizingError(f"{path}: not the config of a model, which is a JSON object")
    return content


def _name(path: Path) -> str:
    """``llama-3-70b`` for both llama-3-70b/config.json and llama-3-70b.json."""
    return path.resolve().parent.name if path.name == "config.json" else path.stem
