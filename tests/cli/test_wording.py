"""What errors call an argument in Python is an option on the command line."""

from __future__ import annotations

import pytest

from contend.cli.app import in_options, run


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
