"""How `fleet plan size` answers: JSON with every byte and its formula, or tables for people."""

import json
from dataclasses import asdict
from typing import Any, Final

import typer

from cli.answers import say
from cli.figures import dollars, priced, today
from cli.tables import Column, Table, print_table
from fleet.prices.age import staleness
from planning.sizing.fit import Fit
from planning.sizing.plan import Candidate, SizePlan, Wish
from planning.sizing.workload import Training

# "capacity-block," is not cut off in a narrow terminal.
_KIND_WIDTH: Final = 15


def show(wish: Wish, plan: SizePlan, *, as_json: bool) -> None:
    """Print ``plan``."""
    if as_json:
        # Not msgspec: bytes of a wish that fits nowhere can be too many for 64 bits.
        typer.echo(json.dumps(as_content(wish, plan), indent=2))
        return
    shape, workload = wish.shape, wish.workload
    purpose = "training" if isinstance(workload, Training) else "inference"
    active = "" if shape.active_parameters == shape.parameters else f" ({shape.active_parameters / 1e9:.2f} B active)"
    say(
        f"{shape.name}: {shape.parameters / 1e9:.2f} B parameters{active}, {purpose} in {workload.dtype}, "
        f"{workload.context} tokens; {wish.region}"
    )
    if plan.candidates:
        print_table(_candidates(plan))
        print_table(_parts(plan.candidates[0].fit))
    for note in plan.notes:
        say(f"note: {note}")
    for refusal in plan.refusals:
        say(f"{refusal.instance_type}: {refusal.reason}")


def as_content(wish: Wish, plan: SizePlan) -> dict[str, Any]:
    """Everything, for JSON."""
    kind = "training" if isinstance(wish.workload, Training) else "inference"
    return {
        "model": asdict(wish.shape),
        "workload": {"kind": kind, **asdict(wish.workload)},
        "region": wish.region,
        "notes": plan.notes,
        "candidates": [_candidate(each) for each in plan.candidates],
        "refusals": [asdict(each) for each in plan.refusals],
    }


def _candidate(candidate: Candidate) -> dict[str, Any]:
    fit = candidate.fit
    return {
        "instance_type": fit.instance_type,
        "instances": candidate.instances,
        "usd_per_hour": candidate.usd_per_hour,
        "price": candidate.price and {**asdict(candidate.price), "stale": staleness(candidate.price, today())},
        "lnc": fit.lnc,
        "degrees": asdict(fit.degrees),
        "cores_per_replica": fit.degrees.cores_per_replica,
        "replicas_per_instance": fit.replicas_per_instance,
        "heads": asdict(fit.heads),
        "bytes_per_core": {
            "parts": [asdict(part) for part in fit.parts],
            "used": fit.used_bytes,
            "headroom": fit.headroom_bytes,
            "free": fit.free_bytes,
            "hbm": fit.hbm_bytes,
        },
    }


def _candidates(plan: SizePlan) -> Table:
    table = Table(
        Column("instances", no_wrap=True), "split", "GB a core", "$/h", Column("price", min_width=_KIND_WIDTH)
    )
    for each in plan.candidates:
        fit = each.fit
        table.add_row(
            f"{each.instances} x {fit.instance_type}",
            f"{_split(fit)}{_padding(fit)}",
            f"{fit.used_bytes / 1e9:.2f} of {fit.hbm_bytes / 1e9:.2f}, {fit.free_bytes / 1e9:.2f} free",
            dollars(each.usd_per_hour),
            priced(each.price),
        )
    return table


def _split(fit: Fit) -> str:
    degrees = fit.degrees
    several = f" x pipeline {degrees.pipeline} x data {degrees.data}" if degrees.world_size > degrees.tensor else ""
    cores = f"{degrees.cores_per_replica} cores a copy at LNC {fit.lnc}"
    copies = f", {fit.replicas_per_instance} an instance" if fit.replicas_per_instance > 1 else ""
    return f"tensor {degrees.tensor}{several}: {cores}{copies}"


def _padding(fit: Fit) -> str:
    notes = [f"heads padded to {fit.heads.query}"] * fit.heads.is_padded
    notes += [f"kv heads repeated to {fit.heads.kv}"] * fit.heads.is_repeated
    return f" ({', '.join(notes)})" if notes else ""


def _parts(fit: Fit) -> Table:
    table = Table("part", "GB a core", "formula", title=f"{fit.instance_type}, the fullest core")
    for part in fit.parts:
        table.add_row(part.name, f"{part.bytes / 1e9:.2f}", part.formula)
    table.add_row(
        "head-room", f"{fit.headroom_bytes / 1e9:.2f}", "a rule of thumb: for what the driver counts and no tool tells"
    )
    return table
