"""Pages for people who try contend show what its commands print: README, lessons and tasks.

All hand-written pages together are short enough to be read.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from contend.cli.app import run

CHECKOUT = Path(__file__).parents[1]
PAGES = (
    CHECKOUT / "README.md",
    *sorted((CHECKOUT / "docs" / "tutorial").glob("*.md")),
    *sorted((CHECKOUT / "docs" / "howto").glob("*.md")),
)
# What runs MPI programs, or reads what such a run has left.
_MEASURES = re.compile(r"contend (doctor|emulate|explain|measure|mpi|profile|run|tune)\b")

Example = tuple[str, list[str]]


def examples_of(page: str) -> list[Example]:
    """Every command in a page's consoles that runs here, with the lines that are shown of it."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        for command in re.split(r"^\$ ", block.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
            line, *shown = command.splitlines()
            if line.startswith("contend ") and "|" not in line and not _MEASURES.match(line):
                found.append((line, shown))
    return found


def told(lines: list[str]) -> list[str]:
    """Lines without their widths and without times, which differ from run to run."""
    words = (re.sub(r"\d[\d.,]* (ns|µs|ms|s)\b", "TIME", " ".join(line.split())) for line in lines)
    return [line for line in words if line.strip(" ─.")]


def missing(shown: list[str], printed: list[str]) -> list[str]:
    """Shown lines that were not printed, in this order."""
    rest = iter(told(printed))
    return [line for line in told(shown) if line not in rest]


EXAMPLES = {page: examples_of(page.read_text(encoding="utf-8")) for page in PAGES}


@pytest.mark.parametrize(
    "page", [page for page in PAGES if EXAMPLES[page]], ids=lambda page: page.stem
)
def test_a_page_shows_what_its_commands_print(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("demo").symlink_to(CHECKOUT / "demo")
    jobs = re.search(r"^\$ cat jobs\n(.*?)^\$ ", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    if jobs is not None:
        Path("jobs").write_text(jobs[1])
    for line, shown in EXAMPLES[page]:
        assert run(shlex.split(line)[1:]) in (0, 1), line
        captured = capsys.readouterr()
        printed = (captured.out + captured.err).splitlines()
        assert (line, missing(shown, printed)) == (line, []), "\n".join(printed)


def test_hand_written_pages_have_at_most_45_000_words() -> None:
    """Decisions are apart; json.md, lists.md and options.md are written by tools."""
    guide = {
        page
        for page in (CHECKOUT / "docs").rglob("*.md")
        if page.parent.name != "adr" and page.name not in ("json.md", "lists.md", "options.md")
    }
    beside = {CHECKOUT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")}
    words = {page: len(page.read_text(encoding="utf-8").split()) for page in guide | beside}
    assert len(words) > 70
    assert sum(words.values()) <= 45_000


def test_there_are_commands_to_hold_the_pages_to() -> None:
    assert sum(map(len, EXAMPLES.values())) > 15


def test_a_line_that_is_not_printed_is_found() -> None:
    [(line, shown)] = examples_of("```console\n$ contend x\n a   1\n...\n b  2.5 s\n```\n")
    assert line == "contend x"
    assert missing(shown, ["a 1", "between", "b 7.1 s"]) == []
    assert missing(shown, ["b 2.5 s", "a 1"]) == ["b TIME"]
