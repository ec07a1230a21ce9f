"""Every link of every page leads somewhere, and every page is led to."""

import re
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, anchors, links, pages, prose, target

PAGES = pages()
README, INDEX, RUNBOOKS = ROOT / "README.md", ROOT / "docs/README.md", ROOT / "docs/runbooks/README.md"
_NAMED = re.compile(r"(?<!\[)`((?:docs/|\.\./)?[\w./-]+\.md)`(?!\])")


def broken(page: Path) -> list[str]:
    """The links of ``page`` that lead nowhere."""
    wrong = []
    for path, anchor in links(page):
        found = target(page, path)
        if not found.exists():
            wrong.append(f"{path}: no such file")
        elif anchor and anchor not in anchors(found):
            wrong.append(f"{path}#{anchor}: no such heading")
    return wrong


def linked(page: Path) -> set[Path]:
    """The pages that ``page`` links to."""
    return {target(page, path) for path, _ in links(page)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    assert broken(page) == []


# The guide for contributors names pages as files to be changed, beside code.
REFERRING = [page for page in PAGES if page.name != "CONTRIBUTING.md"]


@pytest.mark.parametrize("page", REFERRING, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_that_is_referred_to_is_a_link(page: Path) -> None:
    assert _NAMED.findall(prose(page.read_text(encoding="utf-8"))) == []


def test_the_readme_leads_to_the_index_and_the_index_to_every_page() -> None:
    assert INDEX in linked(README)
    documentation = {page for page in PAGES if page.parent == ROOT / "docs"} - {INDEX}
    assert documentation - linked(INDEX) == set()


def test_every_runbook_is_two_clicks_from_the_index() -> None:
    assert RUNBOOKS in linked(INDEX)
    assert set(RUNBOOKS.parent.glob("*.md")) - {RUNBOOKS} - linked(RUNBOOKS) == set()


def test_the_runbooks_index_says_what_each_of_them_says() -> None:
    text = RUNBOOKS.read_text(encoding="utf-8")
    for runbook in set(RUNBOOKS.parent.glob("*.md")) - {RUNBOOKS}:
        said = runbook.read_text(encoding="utf-8")
        title = said.partition("\n")[0].removeprefix(f"# {runbook.stem}: ")
        severity = re.search(r"^Severity: (\w+)", said, flags=re.MULTILINE)
        assert severity
        assert f"| [{runbook.stem}]({runbook.name}) | {title} | {severity[1]} |" in text


def test_no_file_beside_the_pages_is_an_orphan() -> None:
    named = {found for page in PAGES for found in linked(page)}
    files = {
        path for path in (ROOT / "docs").rglob("*") if path.is_file() and path.suffix in {".png", ".svg", ".jsonl"}
    }
    assert {str(path.relative_to(ROOT)) for path in files - named} == set()


def test_a_page_of_the_root_is_linked_by_the_readme() -> None:
    assert {page for page in PAGES if page.parent == ROOT} - linked(README) - {README} == set()


def test_what_leads_nowhere_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A title: `code`, and 5 %\n[a](gone.md) [b](#nowhere) [c](#a-title-code-and-5-) `[d](e)`\n"
        '```\n[f](g.md)\n```\n<img src="h.png"> see `docs/plan.md`\n'
    )

    assert broken(page) == ["gone.md: no such file", "#nowhere: no such heading", "h.png: no such file"]
    assert _NAMED.findall(prose(page.read_text())) == ["docs/plan.md"]
