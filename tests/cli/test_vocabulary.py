"""One option, one meaning: all commands against each other, and against the page of words."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.core import TyperGroup

from contend.cli.app import command, run
from contend.cli.verbs import Verb
from contend.fabric import only, part_of
from contend.routes import compute, save
from small_fabrics import two_planes

ROOT = Path(__file__).parents[2]
WORDS = ROOT / "docs" / "reference" / "words.md"


def _verbs(group: Any, path: str = "contend") -> dict[str, Verb]:
    found = {}
    for name, below in group.commands.items():
        if isinstance(below, TyperGroup):
            found.update(_verbs(below, f"{path} {name}"))
        else:
            found[f"{path} {name}"] = below
    return found


VERBS = _verbs(command())


COMMANDS = {path: verb.command for path, verb in VERBS.items()}


@dataclass(frozen=True)
class Use:
    """An option of one command."""

    command: str
    name: str
    short: tuple[str, ...]
    takes: str | None
    meaning: str


def _uses() -> list[Use]:
    uses = []
    for path, found in COMMANDS.items():
        for option in found.params:
            if option.param_type_name != "option" or option.name == "help":
                continue
            names = [*option.opts, *option.secondary_opts]
            uses.append(
                Use(
                    path,
                    max(option.opts, key=len),
                    tuple(sorted(name for name in names if not name.startswith("--"))),
                    # A list of what the option takes elsewhere.
                    None if option.is_flag else (option.metavar or "").removesuffix(",..."),
                    _root(option.help or ""),
                )
            )
    return uses


def _root(text: str) -> str:
    """What comes before a verb's own addition: to the first `:`, or the end of the sentence."""
    return re.split(r"[:;]|\.(?= |$)|, or on| \\?\[", text, maxsplit=1)[0]


USES = _uses()


def test_line_of_a_verb_in_the_list_is_the_verb_s_own() -> None:
    """The list is known without importing verbs; it may not say anything else than they do."""
    lines = {path: verb.help for path, verb in VERBS.items()}
    own = {path: verb.command.help.partition("\n\n")[0] for path, verb in VERBS.items()}
    assert lines == {path: " ".join(text.split()) for path, text in own.items()}


@pytest.mark.parametrize("attribute", ["short", "takes", "meaning"])
def test_same_name_same_word(attribute: str) -> None:
    said = defaultdict(set)
    for use in USES:
        said[use.name].add(getattr(use, attribute))
    assert {name: values for name, values in said.items() if len(values) > 1} == {}


def test_short_name_stands_for_one_option() -> None:
    long = defaultdict(set)
    for use in USES:
        for short in use.short:
            long[short].add(use.name)
    assert {short: names for short, names in long.items() if len(names) > 1} == {}


def test_glossary_says_what_every_option_takes() -> None:
    taken = {use.takes.partition("[")[0] for use in USES if use.takes}
    told = set()
    for words in re.findall(r"^\| ((?:`[^`]+`(?:, )?)+) \|", _section("What options take"), re.M):
        told |= set(re.findall(r"`([^`]+)`", words))
    assert taken == told


def test_words_stand_in_alphabetical_order() -> None:
    words = re.findall(r"^(\w.*)\n: ", WORDS.read_text(), re.M)
    assert len(words) > 30
    assert words == sorted(words, key=str.casefold)


def _section(title: str) -> str:
    return WORDS.read_text().partition(f"## {title}\n")[2].partition("\n## ")[0]


def test_help_shows_brackets() -> None:
    """Defaults stand in brackets, which are marks of style unless they are escaped."""
    for path, found in COMMANDS.items():
        for option in found.params:
            text = getattr(option, "help", None) or ""
            assert re.search(r"(?<!\\)\[(?=[a-z])", text) is None, f"{path} {option.name}: {text}"


def test_every_verb_shows_an_example() -> None:
    for path, found in COMMANDS.items():
        assert re.search(rf"Examples?: {re.escape(' '.join(path.split()[:2]))}", found.help), path


# Words of every verb that loads a fabric, before the fabric and behind it.
_LOADING = {
    "contend fabric check": ([], []),
    "contend fabric convert": ([], ["-o", "new.lfts"]),
    "contend fabric diff": (["fig1"], []),
    "contend fabric draw": ([], ["--loads", "--plot", "new.svg"]),
    "contend fabric engines": ([], ["--route", "minhop"]),
    "contend fabric extend": ([], ["--servers", "1", "--ports", "20"]),
    "contend fabric failures": ([], []),
    "contend fabric hosts": ([], []),
    "contend fabric improve": ([], ["--samples", "2"]),
    "contend fabric page": ([], ["-o", "new.html"]),
    "contend fabric show": ([], []),
    "contend emulate": ([], ["--", "true"]),
    "contend jobs": ([], ["jobs"]),
    "contend place": (["ring"], []),
    "contend predict collectives": ([], []),
    "contend route": ([], []),
    "contend simulate": ([], ["--samples", "2"]),
    "contend measure alltoall": (["-n", "2", "--on"], []),
    "contend measure hotspot": (["--on"], []),
}
# These need a run, a profile or a calibration too, and load fabrics as the others do.
_WITH_MORE = {
    *("contend calibrate", "contend explain", "contend predict alltoall", "contend study"),
    *("contend predict program", "contend profile", "contend run", "contend measure bisect"),
    *("contend measure pingpong", "contend measure sort", "contend watch"),
}


def _options(verb: str) -> set[str]:
    return {name for option in COMMANDS[verb].params for name in option.opts}


def test_every_verb_that_loads_a_fabric_has_all_options_of_that() -> None:
    loading = {verb for verb in COMMANDS if "--part" in _options(verb)}
    assert loading == {*_LOADING, *_WITH_MORE}
    for verb in loading:
        assert {"--part", "--without", "--rails", "--strict"} <= _options(verb)
    # Whoever reads tables reads the fabric that they are of.
    assert {verb for verb in COMMANDS if "--routes" in _options(verb)} <= loading


@pytest.mark.parametrize("fault", ["planes", "bare", "no address"])
@pytest.mark.parametrize("verb", _LOADING)
def test_a_verb_has_the_options_that_it_advises(
    verb: str,
    fault: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("jobs").write_text("1,node[1-4]\n")
    fabric = two_planes()
    if fault != "planes":
        fabric = only(fabric, part_of(fabric, 1))
    if fault != "bare":
        fabric = compute(fabric, "minhop")
    if fault == "no address":
        fabric = fabric.replace(host_lid=np.where(fabric.host_lid == 3, 0, fabric.host_lid))
    save(fabric, Path("net.fabric"), "fabric")
    before, behind = _LOADING[verb]
    source = "emulated:net.fabric" if "--on" in before else "net.fabric"
    run([*verb.split()[1:], *before, source, *behind])
    captured = capsys.readouterr()
    told = re.sub(r"contend( [a-z]+)+ --[a-z]+", "", captured.err + captured.out)
    advised = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", told))
    assert advised <= _options(verb)
    assert re.search(r"\b(hosts|part|routes|route|without)=(\s|$|[.;])", told) is None


def _strings(file: Path) -> Iterator[str]:
    """Texts in code; what is filled in is ``{}``."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            yield "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _texts() -> Iterator[tuple[str, str]]:
    """What contend says: its pages, and the texts in its code."""
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        # A command goes on behind a backslash, or below its beginning.
        yield page.name, re.sub(r"\\\n\s*|\n {8,}(?=\[?-)", " ", page.read_text())
    for file in sorted((ROOT / "src" / "contend").rglob("*.py")):
        for text in _strings(file):
            yield file.name, text


def test_commands_that_are_advised_have_their_options() -> None:
    wrong, seen = [], 0
    for name, text in _texts():
        for advice in re.finditer(r"contend((?: [a-z]+)+) ([^\n`|;]*)", text):
            words = advice[1].split()
            verbs = [" ".join(("contend", *words[:count])) for count in (2, 1)]
            verb = next((verb for verb in verbs if verb in COMMANDS), None)
            if verb is None:
                continue
            own = re.split(r" -- |&&|\bcontend\b", advice[2])[0]
            for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", own):
                seen += 1
                if option not in {*_options(verb), "--help"}:
                    wrong.append(f"{name}: {advice[0]}")
    assert wrong == []
    assert seen > 300


def test_a_verb_s_own_texts_name_its_own_options() -> None:
    of_module: dict[str, set[str]] = defaultdict(set)
    for path, verb in VERBS.items():
        of_module[verb.module] |= _options(path)
    files = {name: ROOT / "src" / Path(*name.split(".")).with_suffix(".py") for name in of_module}
    for module, file in files.items():
        for other in re.findall(r"^from (contend\.cli\.\S+) import", file.read_text(), re.M):
            if other in of_module:
                of_module[other] |= of_module[module]
    wrong = [
        f"{module}: {text}"
        for module, options in of_module.items()
        for text in _strings(files[module])
        if not re.search(r"contend [a-z]|squeue|srun|mpirun", text)
        and not set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) <= options
    ]
    assert wrong == []
