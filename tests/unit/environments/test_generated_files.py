"""Whatever somebody writes into an environment file, the answer is diagnostics and never a traceback.

`make test` tries a few dozen generated files and `make soak` a few hundred; with `GENERATED_FILES=5000` in its
environment, as many as that.
"""

import copy
import json
import os
import tempfile
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from cli.main import app
from environments import loader
from environments.fleet_specs import fleet_spec
from fleet.capacity import compile_fleet, ladder
from fleet.diagnostics import Severity
from fleet.instances import catalogue

FILES: Final = int(os.environ.get("GENERATED_FILES", "300"))
SHIPPED: Final = [yaml.safe_load((loader.FOLDER / f"{name}.yaml").read_text()) for name in loader.available()]
# What the keys of a file could plausibly hold, right in one place and wrong in another.
PLAUSIBLE: Final[list[Any]] = [
    *catalogue(), "trn2n.48xlarge", "us-east-2", "ap-south-2", "cn-north-1", "us-gov-west-1", "use2-az1", "usw2-az4",
    "us-east-2a", "us-east-2q", "on-demand", "spot", "reservation", "capacity-block", "training", "inference", "efa",
    "efa-only", "vllm", "nxd-inference", "2.28", "2.33", "cr-0a1b2c3d4e5f60718", "10.0.0.0/24", "10.0.0.0/28",
    "8.8.0.0/16", "::/0", "/health", "111122223333", 0, 1, 2, 4, 64, 65, 100, 1001, 2000, True, False, None,
    "2026-12-18T11:30:00Z", "2020-01-01T00:00:00+14:00",
]  # fmt: skip
KEYS: Final = [
    "efa", "efa_layout", "lnc", "placement_group", "alternative_types", "neuron_sdk", "framework", "dtype", "market",
    "instances", "starts_at", "ends_at", "end_date", "reservation_id", "resource_group", "kind", "image_parameter",
    "purpose", "endpoint", "devices_per_task", "artifact", "clients", "cidrs", "public", "scaling", "targets", "shadow",
    "price", "rollout", "certificate_arn",
    "sequence_lengths", "batch_sizes", "availability_zones", "nat_gateways", "fleets", "on-demand", "training",
    "<<", "",
]  # fmt: skip
junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.binary(max_size=8)
    | st.datetimes()
    | st.sampled_from(PLAUSIBLE),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=5), inner),
    max_leaves=5,
)
# What YAML itself can be made to choke on.
SNIPPETS: Final = [
    "!!int x", "!!timestamp x", "!!bool x", "!!float x", "!!binary x", "!!set {a, b}", "!!omap [a]", "&a [*a]", "*b",
    "<<: 3", "<<: [1]", "? [a]\n: b", '"\\ud800"', '"\\x00"', "\t", "---\n", "...", "%YAML 9.9", "1" * 5000,
    "0x" + "f" * 5000,
    "0x", "0o9",
    "2026-13-45", "2026-12-18 25:61:61", "99:99:99",
    ".inf", "~", "|", ">-", "@", "`", "\ufeff", "{", "]", "- ", "#", "'",
]  # fmt: skip
WRITTEN: Final = ["owner: ml-platform", "nodes: 16", "kind: reservation", "region: us-east-2"]


def places(tree: Any) -> list[tuple[Any, Any]]:
    """Every container and key of the tree."""
    found: list[tuple[Any, Any]]
    if isinstance(tree, dict):
        found = [(tree, key) for key in tree]
    elif isinstance(tree, list):
        found = [(tree, index) for index in range(len(tree))]
    else:
        return []
    return found + [place for container, key in found for place in places(container[key])]


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """A shipped environment with a few things changed in its values, then perhaps in its text; or anything at all."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.binary(max_size=60) | junk.map(lambda value: yaml.dump(value).encode()))
    tree = copy.deepcopy(draw(st.sampled_from(SHIPPED)))
    for _ in range(draw(st.integers(0, 5))):
        if not (spots := places(tree)):
            break
        container, key = draw(st.sampled_from(spots))
        change = draw(st.sampled_from(["plausible", "plausible", "junk", "delete", "add"]))
        if change == "delete":
            del container[key]
        elif change == "add" and isinstance(container, dict):
            container[draw(st.sampled_from(KEYS))] = draw(junk)
        else:
            container[key] = draw(st.sampled_from(PLAUSIBLE) if change == "plausible" else junk)
    text = yaml.dump(tree, sort_keys=False, allow_unicode=draw(st.booleans()))
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.sampled_from(SNIPPETS) | st.text(max_size=3)) + text[at:]
    return text.encode("utf-8", errors="surrogatepass")


def check(content: bytes, file: Path) -> None:
    file.write_bytes(content)
    found = loader.diagnose(file)
    for diagnostic in found:
        assert diagnostic.code
        assert diagnostic.message
        assert diagnostic.fix or diagnostic.severity is Severity.NOTE, diagnostic
        assert len(str(diagnostic).splitlines()) == 1, diagnostic
    refused = any(diagnostic.is_error for diagnostic in found)
    answer = CliRunner().invoke(app, ["validate", str(file), "--json"])
    assert answer.exit_code == int(refused), answer.output
    assert len(json.loads(answer.stdout)) >= len(found)
    told = CliRunner().invoke(app, ["validate", str(file)])
    assert told.exit_code == int(refused), told.exception
    if not refused:
        environment = loader.load_file(file)
        for fleet in environment.fleets:
            spec = fleet_spec(environment, fleet)
            assert compile_fleet(spec) == ladder(spec)[0]


# Each in one place here, and in every place in the long tests.
@pytest.mark.parametrize(
    ("written", "snippet"),
    [
        pytest.param(written, snippet, id=f"{written}-{number}", marks=() if number % 4 == place else pytest.mark.soak)
        for place, written in enumerate(WRITTEN)
        for number, snippet in enumerate(SNIPPETS)
    ],
)
def test_nothing_that_yaml_chokes_on_ends_in_a_traceback(tmp_path: Path, written: str, snippet: str) -> None:
    text = (loader.FOLDER / "prod.yaml").read_text(encoding="utf-8")
    key = written.partition(":")[0]
    check(text.replace(written, f"{key}: {snippet}", 1).encode(errors="surrogatepass"), tmp_path / "prod.yaml")


@pytest.mark.parametrize("count", [60, pytest.param(FILES, marks=pytest.mark.soak)])
def test_a_generated_file_is_answered_with_diagnostics(count: int) -> None:
    settings(max_examples=count, suppress_health_check=list(HealthCheck))(given(files())(_answered))()


def _answered(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        # Half of all files have the name that they give themselves.
        check(content, Path(folder) / ("prod.yaml" if b"name: prod" in content else "dev.yaml"))
