"""Every command that pages and help show runs, or is understood until it would start ranks."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections import Counter
from collections.abc import Iterator
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup

from commands import CHECKOUT, VERB, carry_out, commands_in, workplace
from contend.cli.app import command, run
from contend.traffic.placement import ListFormat

GUIDE = (CHECKOUT / "README.md", CHECKOUT / "CONTRIBUTING.md", *(CHECKOUT / "docs").rglob("*.md"))
_FENCE = re.compile(r"^ *```(console|sh|bash|text|)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
_QUOTED = re.compile(r"(?<!`)`(contend [^`]*)`(?!`)")
# Texts that name options in passing, or go on with what is not there.
_IN_PASSING = {
    *("contend run --tuned", "contend report --matrix", "contend jobs --next"),
    *("contend measure alltoall --start clock", "contend simulate --seed 7"),
    *("contend measure bisect --on hosts", "contend report --matrix FILE.npy"),
    "contend measure alltoall --resume measured --launcher srun",
    *("contend fabric convert --route spray --to far", "contend simulate --pattern file:FILE.npy"),
}
# Whose figures take minutes: they are understood elsewhere, and measured by hand.
_LARGE = re.compile(r"fattree3:160|torus:40x40x40|dragonfly:18,48,24|hoefler2008|thunderbird")


def lines_of(page: str) -> Iterator[str]:
    """Every line of a page in which a shell would find a command of contend."""
    for kind, block in _FENCE.findall(page):
        for line in block.replace("\\\n", " ").splitlines():
            if VERB.search(line) and (kind == "sh" or line.lstrip().startswith("$ ")):
                yield line.strip().removeprefix("$ ")
    # What is told with dots, or without arguments, stands for any.
    yield from (
        text
        for text in (" ".join(each.split()) for each in _QUOTED.findall(_FENCE.sub("", page)))
        if "..." not in text and " -" in text and text not in _IN_PASSING
    )


def examples(group: Any, above: str = "") -> Iterator[str]:
    """The examples in the help of every verb."""
    for name, verb in group.commands.items():
        if isinstance(verb, TyperGroup):
            yield from examples(verb, f"{above}{name} ")
        else:
            told = re.search(r"Examples?: (contend .*)", verb.command.help or "")
            assert told is not None, f"{above}{name}"
            yield from re.split(r", (?=contend )", told[1])


PAGES = {
    str(page.relative_to(CHECKOUT)): list(lines_of(page.read_text(encoding="utf-8")))
    for page in GUIDE
}
PAGES["--help"] = list(examples(command()))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("commands")
    workplace(folder)
    return folder


@pytest.fixture
def at_work(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    (tmp_path / "demo").symlink_to(CHECKOUT / "demo")


@pytest.mark.parametrize("page", [page for page, lines in PAGES.items() if lines])
@pytest.mark.usefixtures("at_work")
def test_every_command_of_a_page_runs(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = BytesIO((tmp_path / "squeue.json").read_bytes())
    monkeypatch.setattr("sys.stdin", TextIOWrapper(told))
    done: Counter[bool] = Counter()
    for line in PAGES[page]:
        for words in commands_in(line):
            if not _LARGE.search(shlex.join(words)):
                done[carry_out(words)] += 1
    print(f"{page}: {done[True]} ran, {done[False]} understood")


def test_there_are_commands_on_most_pages() -> None:
    assert sum(map(len, PAGES.values())) > 150


NET, BARE = "net.ibnetdiscover --routes net.lfts", "xgft:2;4,4;1,2"
TREE = f"{BARE} --route minhop"
RING = f"simulate {TREE} --pattern ring --placement"


LISTS = sorted(set(ListFormat) - {"cray", "nodelist"})
READ_BACK = (
    f"""
fabric convert {NET} -o w.fabric | simulate w.fabric | simulate {NET}
fabric convert {NET} -o w.lfts | simulate net.ibnetdiscover --routes w.lfts | simulate {NET}
fabric make {TREE} -o w.fabric.xz | simulate w.fabric.xz | simulate {TREE}
fabric make {TREE} --to orcs -o w.dot | simulate w.dot | simulate {TREE}
fabric hosts {BARE} -n 4 -o w | {RING} given --hosts w | {RING} linear -n 4
place ring {TREE} --placement round-robin -o w | {RING} file:w | {RING} linear
route {TREE} -o w | simulate {BARE} --routes w | simulate {TREE}
report before --matrix w.npy | place w.npy {NET} --rate 1GB/s | place before {NET} --rate 1GB/s
""".strip().splitlines()
    + [
        f"fabric hosts {BARE} --placement guid --format {form} -o w | {RING} file:w | {RING} guid"
        for form in LISTS
    ]
)


@pytest.mark.parametrize("line", READ_BACK)
@pytest.mark.usefixtures("at_work")
def test_what_contend_writes_it_reads_with_the_same_meaning(line: str) -> None:
    """What writes, what reads that, and what does the same without."""

    def figure(command: str) -> Any:
        seen = [] if command.startswith("place") else ["--samples", "20"]
        assert run([*command.split(), *seen, "--json", "it.json"]) == 0, command
        told = json.loads(Path("it.json").read_text())
        return told["effective_bandwidth"]["mean"] if seen else told["after"]["busy"]

    writes, reads, same = line.split(" | ")
    assert run(writes.split()) == 0
    assert figure(reads) == pytest.approx(figure(same))
