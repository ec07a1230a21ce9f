"""`fleet plan source-figures`: the figures of the documents that led to this project, worked out again."""

from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import typer

from cli.answers import refuse
from environments.documents import DOCS
from environments.reading import read_mapping
from fleet.diagnostics import Diagnostic
from planning.money import PlanError
from planning.sources.figure import Document
from planning.sources.page import page

FIGURES: Final = DOCS / "source-figures.yaml"


class _Figures(msgspec.Struct, forbid_unknown_fields=True):
    documents: tuple[Document, ...]


def source_figures(
    file: Annotated[
        Path, typer.Option(help="The figures, with their quotes and inputs.", show_default="the project's own")
    ] = FIGURES,
    out: Annotated[Path | None, typer.Option(help="Write the page here, instead of printing it.")] = None,
) -> None:
    """Work every figure out from its document's own inputs and from today's catalogue; a page in Markdown."""
    try:
        text = page(documents(file))
    except PlanError as error:
        refuse(error)
    if out is None:
        typer.echo(text, nl=False)
        return
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        refuse(f"{out}: cannot be written: {error.strerror}")


def documents(file: Path) -> tuple[Document, ...]:
    """The documents in ``file``.

    Raises:
        PlanError: It cannot be read, or a figure is not one.
    """
    content: dict[Any, Any] | Diagnostic = read_mapping(file, example="docs/source-figures.yaml")
    if isinstance(content, Diagnostic):
        raise PlanError(f"{file}: {content}")
    try:
        return msgspec.convert(content, _Figures).documents
    except msgspec.ValidationError as error:
        raise PlanError(f"{file}: {error}") from error
