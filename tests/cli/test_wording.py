"""What errors call an argument in Python is an option on the command line."""

from __future__ import annotations

import ast
import pickle
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest
from typer.core import TyperGroup

import contend
from contend.base.errors import ROUTE, ROUTES, Argument, ContendError, UsageError
from contend.cli.app import command
from contend.cli.options.option import flag_of, in_options
from contend.congestion.processes import gather
from contend.routes import save
from small_fabrics import two_planes
from typed_commands import Typed

PACKAGE = Path(contend.__file__).parent
NAMED = re.compile(r"(?<![^\s(])([a-z_]+)=(?=[A-Z]|[\s;:.)]|$)")
# What no verb asks for: verbs that need one drawing choose it themselves.
OF_PYTHON_ALONE = {"draw"}


def _options(group: Any) -> Iterator[str]:
    for below in group.commands.values():
        if isinstance(below, TyperGroup):
            yield from _options(below)
        else:
            yield from (name for given in below.command.params for name in given.opts)


@cache
def _calls() -> list[tuple[str, ast.Call]]:
    """Every call in the source, with the name that is called."""
    found = []
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
                name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
                found.append((name, node))
    return found


@pytest.mark.parametrize(
    ("parts", "python", "told"),
    [
        (
            ("give ", ROUTES, " or ", ROUTE),
            "give routes=FILE or route=ENGINE",
            "give --routes FILE or --route ENGINE",
        ),
        (
            ("leave it out with ", Argument("hosts")),
            "leave it out with hosts=",
            "leave it out with --hosts",
        ),
        (
            (Argument("ranks_per_host"), ": expected 1"),
            "ranks_per_host=: expected 1",
            "--ranks-per-host: expected 1",
        ),
        # What only looks like an argument stays: a file may say it, or an engine's options.
        (("got 'hosts=5', updn,", "route=X"), "got 'hosts=5', updn,route=X", None),
    ],
)
def test_arguments_become_options(parts: tuple[object, ...], python: str, told: str | None) -> None:
    error = UsageError(*parts)
    assert (str(error), in_options(error)) == (python, told or python)


def test_an_error_of_another_process_keeps_its_arguments() -> None:
    """What one process sends to all others, as two of them in one."""
    refused = UsageError("give ", ROUTES)

    class Others:
        rank = 1

        def allgather(self, sent: object) -> list[object]:
            return [(None, (refused.status, pickle.loads(pickle.dumps(refused.parts)))), sent]

    with pytest.raises(ContendError) as raised:
        gather(cast(Any, Others()), lambda: None)
    assert in_options(raised.value) == "MPI process 0 failed: give --routes FILE"


def test_the_command_line_names_its_options(typed: Typed) -> None:
    told = typed("fabric check fig1 --routes x --route minhop", status=2).err
    assert told == "contend: give either --routes FILE or --route ENGINE, not both\n"


def test_an_engine_that_refuses_names_options_too(typed: Typed, tmp_path: Path) -> None:
    apart = tmp_path / "apart.ibnetdiscover"
    save(two_planes(), apart, "ibnetdiscover")
    printed = typed("fabric engines", apart, "--route", "minhop", status=1)
    assert "load one plane after the other with --part" in " ".join(printed.out.split())


def test_every_argument_is_an_option_of_some_verb() -> None:
    options = set(_options(command()))
    # typer's go by its module.
    own = (call for _, call in _calls() if getattr(call.func, "id", "") == "Argument")
    first = [call.args[0] for call in own]
    named = {name.value for name in first if isinstance(name, ast.Constant)}
    assert {"routes", "ranks_per_host"} <= named
    assert [one for one in named if flag_of(one) not in options] == []


def test_lines_of_help_end_where_the_terminal_does(
    typed: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not where they do in the source, which is wider."""
    monkeypatch.setenv("COLUMNS", "80")
    words, _ = typed("fabric failures --help").out.split("╭", 1)
    paragraphs = "\n".join(map(str.strip, words.splitlines())).strip().split("\n\n")
    lines = [pair for each in paragraphs for pair in pairwise(each.splitlines())]
    assert len(lines) > 1
    for line, following in lines:
        assert len(f" {line} {following.split()[0]}") > 79


def test_errors_carry_the_arguments_that_they_speak_of() -> None:
    """None stands within a text, where no command line could tell it from the rest."""
    named = {
        name
        for called, error in _calls()
        if called.endswith("Error")
        for part in ast.walk(error)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
        for name in NAMED.findall(part.value)
    }
    assert named == OF_PYTHON_ALONE
