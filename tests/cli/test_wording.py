"""What errors call an argument in Python is an option on the command line."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup

import contend
from contend.cli.app import command, in_options, run
from contend.cli.option import ARGUMENTS

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


def _named_by_errors() -> Iterator[str]:
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Error"):
                for part in ast.walk(node):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str):
                        yield from NAMED.findall(part.value)


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("give routes=FILE or route=ENGINE", "give --routes FILE or --route ENGINE"),
        ("leave it out with hosts=", "leave it out with --hosts"),
        ("holds tables: give it as routes=; or not", "holds tables: give it as --routes; or not"),
        ("expected ranks_per_host=N", "expected --ranks-per-host N"),
        # An engine's options, what a file says and names that only end alike stay as they are.
        ("name some with updn,roots=FILE", "name some with updn,roots=FILE"),
        ("opensm:ftree,route=ENGINE", "opensm:ftree,route=ENGINE"),
        ("got 'hosts=5'", "got 'hosts=5'"),
        ("expected my_routes=FILE", "expected my_routes=FILE"),
    ],
)
def test_arguments_become_options(message: str, told: str) -> None:
    assert in_options(message) == told


def test_the_command_line_names_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["fabric", "check", "fig1", "--routes", "x", "--route", "minhop"]) == 2
    told = capsys.readouterr().err
    assert told == "contend: give either --routes FILE or --route ENGINE, not both\n"


def test_every_argument_is_an_option_of_some_verb() -> None:
    options = set(_options(command()))
    assert [one for one in ARGUMENTS if f"--{one.replace('_', '-')}" not in options] == []


def test_errors_name_only_arguments_that_become_options() -> None:
    named = set(_named_by_errors())
    assert "routes" in named
    assert named - set(ARGUMENTS) == OF_PYTHON_ALONE
