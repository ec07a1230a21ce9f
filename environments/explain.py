"""Pydantic's findings in the words of somebody who edits the file: the path as written, the value, what is right."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from environments import (
    budgets,
    clients,
    endpoints,
    fleets,
    maintenance,
    markets,
    model,
    monitoring,
    network,
    paging,
    rollouts,
    scaling,
)
from fleet.diagnostics import Diagnostic, refuse
from fleet.fleet_spec import MarketKind, Purpose

# The last named part of a pydantic location, which for a union is the member's tag, against the model found there.
_MODELS: Final[dict[str, type[BaseModel]]] = {
    "network": network.Network,
    "training": fleets.TrainingFleet,
    "inference": fleets.InferenceFleet,
    "on-demand": markets.OnDemand,
    "spot": markets.Spot,
    "reservation": markets.Reservation,
    "capacity-block": markets.CapacityBlock,
    "alarms": fleets.FleetAlarms,
    "price": fleets.NegotiatedRate,
    "endpoint": endpoints.Endpoint,
    "clients": clients.Clients,
    "artifact": endpoints.CompiledModel,
    "sagemaker": endpoints.SageMaker,
    "rollout": rollouts.Rollout,
    "gates": rollouts.RolloutGates,
    "warm_pool": scaling.WarmPool,
    "shadow": rollouts.Shadow,
    "scaling": scaling.Scaling,
    "targets": scaling.ScalingTargets,
    "paging": paging.Paging,
    "routes": paging.To,
    **paging.KINDS,
    "monitoring": monitoring.Monitoring,
    "budgets": budgets.Budgets,
    "prometheus": monitoring.Prometheus,
    "gate": fleets.Gate,
    "pool": fleets.Pool,
    "maintenance": maintenance.Window,
}

_DID_YOU_MEAN: Final = "did you mean "

_NETWORK: Final = "an IPv4 network without host bits, such as 10.20.0.0/16"
# By the key that they stand behind; of an item in a list, that of the list and [].
_FORMS: Final = {
    "account": 'twelve digits in quotes, such as "111122223333"',
    "region": "a region such as us-east-2",
    "name": "2 to 31 small letters, digits and dashes, starting with a letter",
    "reservation_id": "a reservation's id, such as cr-0a1b2c3d4e5f60718",
    "resource_group": "a resource group's ARN, such as arn:aws:resource-groups:us-east-2:111122223333:group/trn1",
    "neuron_sdk": 'a Neuron SDK in quotes, such as "2.28"',
    "steps": "percents that rise and end at 100, such as [5, 25, 50, 100]",
    "state": "stopped: a running node costs what one that serves does, and Neuron nodes cannot hibernate",
    "addresses": "e-mail addresses, such as [oncall@example.com]",
    "cidr": _NETWORK,
    "clients": "the networks that call, such as {cidrs: [10.50.0.0/16]}",
    "cidrs": f"a list of at most {clients.MOST_NETWORKS} IPv4 networks, such as [10.50.0.0/16, 203.0.113.0/24]",
    "cidrs[]": _NETWORK,
}
for _moment in ("starts_at", "ends_at", "end_date"):
    _FORMS[_moment] = "a moment with its time zone, such as 2026-12-18T11:30:00Z"
_KINDS: Final = {"kind": tuple(MarketKind), "purpose": tuple(Purpose)}


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a kind of file knows: its model, those of its parts by the keys that lead to them, and an example."""

    root: type[BaseModel]
    parts: Mapping[str, type[BaseModel]]
    example: str
    forms: Mapping[str, str] = field(default_factory=dict)
    """What must stand behind a key, for people."""


ENVIRONMENT: Final = Vocabulary(model.Environment, _MODELS, "environments/prod.yaml", _FORMS)


def explain(error: ValidationError, written: object, vocabulary: Vocabulary = ENVIRONMENT) -> list[Diagnostic]:
    """Pydantic's errors as diagnostics; ``written`` is the file's content, as read.

    A misspelt key is both an unknown key and a missing one: it is reported once, as the unknown key.
    """
    found = [_explain_one(detail, written, vocabulary) for detail in error.errors(include_url=False)]
    meant = {
        f"{diagnostic.path.rpartition('.')[0]}.{diagnostic.fix.removeprefix(_DID_YOU_MEAN).rstrip('?')}"
        for diagnostic in found
        if diagnostic.code == "unknown-key" and diagnostic.fix.startswith(_DID_YOU_MEAN)
    }
    return [d for d in found if not (_is_said_by(d, meant) or _counts_only_the_good(d, found))]


def _is_said_by(missing: Diagnostic, meant: set[str]) -> bool:
    return missing.code == "missing-key" and (missing.path in meant or f".{missing.path}" in meant)


def _counts_only_the_good(too_short: Diagnostic, found: list[Diagnostic]) -> bool:
    # Pydantic calls a list empty when every item of it was refused.
    return too_short.code == "invalid-too-short" and any(d.path.startswith(f"{too_short.path}[") for d in found)


def _explain_one(error: ErrorDetails, written: object, known: Vocabulary) -> Diagnostic:
    location = error["loc"]
    path = _path(location, written, known)
    key = _key(location)
    code = f"invalid-{error['type'].replace('_', '-')}"
    context = error.get("ctx", {})
    match error["type"]:
        case "extra_forbidden":
            return refuse("unknown-key", path, key, "unknown key", _nearest_key(key, location, known))
        case "missing":
            return refuse("missing-key", path, "", "missing", _form(key, known))
        case "union_tag_not_found":
            key = _unquoted(context["discriminator"])
            return refuse("missing-key", f"{path}.{key}", "", "missing", _form(key, known))
        case "union_tag_invalid":
            return _unknown_kind(path, context)
        case _:
            fix = _form(key, known) if key in known.forms else _lower(error["msg"])
            return refuse(code, path, _plain(error["input"]), f"{_quoted(error['input'])} is not allowed", fix)


def _key(location: tuple[int | str, ...]) -> str:
    if location and isinstance(location[-1], int):
        return f"{_key(location[:-1])}[]"
    return str(location[-1]) if location else ""


def _form(key: str, known: Vocabulary) -> str:
    if key in known.forms:
        return f"it must be {known.forms[key]}"
    return f"it must be one of {', '.join(_KINDS[key])}" if key in _KINDS else f"add {key}, as in {known.example}"


def _quoted(value: object) -> str:
    return repr(value) if isinstance(value, str) else _plain(value)


def _plain(value: object) -> str:
    return str(value) if isinstance(value, str | int | float) else f"a {type(value).__name__}"


def _unknown_kind(path: str, context: dict[str, Any]) -> Diagnostic:
    known = [_unquoted(tag) for tag in context["expected_tags"].split(", ")]
    tag = str(context["tag"])
    close = get_close_matches(tag, known, n=1)
    fix = f"{_DID_YOU_MEAN}{close[0]}?" if close else f"it must be one of {', '.join(known)}"
    return refuse("unknown-kind", f"{path}.{_unquoted(context['discriminator'])}", tag, f"{tag!r} is not allowed", fix)


def _nearest_key(key: str, location: tuple[int | str, ...], vocabulary: Vocabulary) -> str:
    names = [part for part in location[:-1] if isinstance(part, str)]
    known = list((vocabulary.parts[names[-1]] if names else vocabulary.root).model_fields)
    close = get_close_matches(key, known, n=1)
    return f"{_DID_YOU_MEAN}{close[0]}?" if close else f"known keys: {', '.join(known)}"


def _path(location: tuple[int | str, ...], written: object, known: Vocabulary) -> str:
    """The location as the file's author sees it: without the tags of unions, which are not keys in the file."""
    path = ""
    for index, part in enumerate(location):
        if isinstance(part, int):
            path += f"[{part}]"
            written = written[part] if isinstance(written, list) and part < len(written) else None
            continue
        is_key = isinstance(written, dict) and part in written
        if not is_key and part in known.parts and index + 1 < len(location):
            continue
        path += f".{part}" if path else part
        written = written[part] if isinstance(written, dict) and is_key else None
    return path


def _unquoted(text: str) -> str:
    return text.strip("'")


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
