"""One option, one meaning: all commands against each other, and against the page of words."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup

from contend.cli.app import command
from contend.cli.verbs import Verb

WORDS = Path(__file__).parents[2] / "docs" / "words.md"


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


def _glossary() -> dict[str, tuple[str, str, str]]:
    """Options in the page of words: short name, what it takes, what it means."""
    rows = re.findall(
        r"^\| `(--[\w-]+)([^`|]*)`(?:, `(-\w)`)? \| (.*) \|$", WORDS.read_text(), re.M
    )
    assert len({row[0] for row in rows}) == len(rows)
    return {name: (short, takes.strip(), meaning) for name, takes, short, meaning in rows}


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


def test_glossary_has_every_option_and_no_other() -> None:
    glossary = _glossary()
    for use in USES:
        assert use.name in glossary, f"{use.command} {use.name}"
        short, takes, meaning = glossary[use.name]
        assert (short, takes) == ("".join(use.short), use.takes or ""), use.name
        assert meaning.startswith(use.meaning), use.name
    assert set(glossary) == {use.name for use in USES}


def test_help_shows_brackets() -> None:
    """Defaults stand in brackets, which are marks of style unless they are escaped."""
    for path, found in COMMANDS.items():
        for option in found.params:
            text = getattr(option, "help", None) or ""
            assert re.search(r"(?<!\\)\[(?=[a-z])", text) is None, f"{path} {option.name}: {text}"


def test_every_verb_shows_an_example() -> None:
    for path, found in COMMANDS.items():
        assert re.search(rf"Examples?: {re.escape(' '.join(path.split()[:2]))}", found.help), path
