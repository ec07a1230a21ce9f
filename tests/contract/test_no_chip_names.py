"""Code asks what a chip can do: names of chips, cores and instance types stand in words for people only.

A name that stands alone in a string is there to be compared, looked up or counted up, however it is written:
``== "v3"``, ``startswith("trn2")``, ``in {"trn1", "trn2u"}``, a key of a table, a pattern of a ``match``. Such strings
are looked for, and not the ways to use them. Within a sentence a name is a hint for a reader.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from fleet.instances import catalogue
from tests.support.templates import PROJECT_FOLDER

PACKAGES: Final = (
    "agents",
    "cli",
    "dashboards",
    "environments",
    "examples",
    "fleet",
    "lambdas",
    "local",
    "planning",
    "stacks",
    "workload",
)
KNOWN: Final = frozenset(
    name.lower()
    for known in catalogue().values()
    for name in (known.name, known.family, known.accelerator.model, known.accelerator.neuroncore_version or known.name)
)
# Those that nobody has made yet as well, and parts of names: trn, trn3, trn*, inf3.48xlarge, v4d, nc_v3., trainium.
PATTERN: Final = re.compile(
    r"(ml\.)?(trn|inf)(\d+[a-z]*)?(\.\w*|\.?\*)?|(neuroncore|nc)?[-_]?v\d+d?\.?|(trainium|inferentia)[-_ ]?\d*",
    re.IGNORECASE,
)
LETTERS: Final = (
    *KNOWN,
    "trn",
    "trainium",
    "inferentia",
    *(f"inf{digit}" for digit in range(10)),
    *('"inf', "'inf", "}inf"),
)
VERSION: Final = re.compile(r"v\d")
# By file: what may stand there, and why.
EXCEPTIONS: Final = {
    "planning/document_prices.py": (KNOWN, "prices that published documents give, by the type each speaks of"),
    "local/replay/generator/machines.py": (KNOWN, "the machines of days that are made by chance, weighed by type"),
    "local/emulator/capacity/prices.py": ({"inf"}, "how the AWS Price List writes that a range has no end"),
}
NONE: Final = (frozenset[str](), "")
_ORDERED: Final = (ast.Gt, ast.GtE, ast.Lt, ast.LtE)
# Not a chip: what ``float`` reads.
_INFINITE: Final = "inf"


def names_in(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of every string that is nothing but such a name."""
    # Most files have no such letters, and to parse them all takes seconds.
    letters = source.lower()
    if not VERSION.search(letters) and not any(each in letters for each in LETTERS):
        return
    tree = ast.parse(source)
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    infinite = {
        id(inner)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "float"
        for inner in ast.walk(call)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in prose:
            continue
        text = node.value.strip()
        if id(node) in infinite and text == _INFINITE:
            continue
        if text.lower() in KNOWN or PATTERN.fullmatch(text):
            yield node.lineno, text


def equal_generations(source: str) -> Iterator[int]:
    """Lines on which a generation of cores has to be one certain number: that is a name again."""
    for node in ast.walk(ast.parse(source)) if ".generation" in source else ():
        if isinstance(node, ast.Compare) and not all(isinstance(each, _ORDERED) for each in node.ops):
            parts = (node.left, *node.comparators)
            if any(isinstance(each, ast.Attribute) and each.attr == "generation" for each in parts):
                yield node.lineno


def sources() -> list[Path]:
    return sorted(path for package in PACKAGES for path in (PROJECT_FOLDER / package).rglob("*.py"))


def test_no_code_names_a_chip_or_a_type() -> None:
    found = {
        f"{name}:{line}: {text!r}"
        for path in sources()
        for line, text in names_in(path.read_text(encoding="utf-8"))
        if text.lower() not in EXCEPTIONS.get(name := str(path.relative_to(PROJECT_FOLDER)), NONE)[0]
    }
    assert not found, "state what the chip can do in fleet/data/instances.json, and ask for that"
    assert len(sources()) > 500


def test_a_generation_is_compared_by_its_order_only() -> None:
    assert not [path for path in sources() if list(equal_generations(path.read_text(encoding="utf-8")))]
    assert list(equal_generations("if core.generation == 3: pass"))
    assert list(equal_generations("if core.generation in (2, 3): pass"))
    assert not list(equal_generations("if core.generation >= 3: pass"))


@pytest.mark.parametrize("name", sorted(EXCEPTIONS))
def test_every_exception_is_one(name: str) -> None:
    found = {text.lower() for _, text in names_in((PROJECT_FOLDER / name).read_text(encoding="utf-8"))}
    allowed, reason = EXCEPTIONS[name]
    assert found & set(allowed)
    assert reason


@pytest.mark.parametrize(
    "code",
    [
        'is_old = chip.neuroncore_version == "v3"',
        'known.family.startswith("trn2")',
        'known.name.startswith(("trn3.", "trn2u"))',
        'if known.family[:3] in {"trn", "inf"}: pass',
        '_TYPES = {"Trainium2": ("trainium2", "v4")}',
        'match family:\n case "trn2u": pass',
        'filters = ["trn*"]',
        're.match("trn2", name)',
        'f"{kind}v3d"',
        'hosted = "ml.inf2.xlarge"',
        'if "p5.48xlarge" != name: pass',
        'family: Literal["trn1"] = "trn1"',
    ],
)
def test_a_comparison_by_name_is_found(code: str) -> None:
    assert list(names_in(code))


@pytest.mark.parametrize(
    "code",
    [
        'float("inf")',
        '"""trn2"""',
        'fix = "plan to serve from a trn2 size"',
        'code = "vllm-needs-trn2"',
        'region = "us-east-2"',
    ],
)
def test_words_for_people_are_left_alone(code: str) -> None:
    assert not list(names_in(code))
