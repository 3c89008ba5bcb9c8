"""What commands load before they answer: nothing that they do not use."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from typer.core import TyperGroup

from contend.cli.app import command
from processes import finished

SLOW = ("matplotlib", "polars", "pydantic", "pyroute2", "scipy", "yaml")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["simulate", "--help"],
        ["fabric", "show", "fig1"],
        ["simulate", "fig1", "--samples", "1"],
    ],
)
def test_commands_start_without_what_they_do_not_use(arguments: list[str]) -> None:
    code = (
        "import sys\n"
        "from contend.cli import main\n"
        "try:\n    main()\n"
        "finally:\n"
        # A package that only stands by to be loaded has no modules of its own yet.
        f"    loaded = [name for name in {SLOW} if f'{{name}}.' in ' '.join(sys.modules)]\n"
        "    print('loaded:', *loaded, file=sys.stderr)\n"
    )
    done = finished([sys.executable, "-c", code, *arguments])
    assert done.stderr.strip() == "loaded:", done.stderr


def verbs(group: Any, *words: str) -> Iterator[tuple[str, ...]]:
    """Every verb, as it is typed."""
    for name, below in group.commands.items():
        if isinstance(below, TyperGroup):
            yield from verbs(below, *words, name)
        else:
            yield (*words, name)


# Their help lists what is written to files, or says how many lanes an engine may use.
_WRITING = ("convert", "extend", "improve", "make")
WITH_ARRAYS = {*(("fabric", verb) for verb in _WRITING), ("route",)}


@pytest.mark.parametrize(
    ("with_arrays", "unused"),
    [(False, (*SLOW, "pymetis", "numpy")), (True, (*SLOW, "pymetis"))],
    ids=["plain", "with arrays"],
)
def test_help_loads_no_library_that_only_the_work_needs(
    with_arrays: bool, unused: tuple[str, ...]
) -> None:
    asked = sorted(words for words in verbs(command()) if (words in WITH_ARRAYS) == with_arrays)
    assert len(asked) >= len(WITH_ARRAYS)
    code = (
        "import sys\n"
        "from contend.cli.app import run\n"
        f"for words in {asked!r}:\n"
        "    assert run([*words, '--help']) == 0\n"
        f"    loaded = {{name.split('.')[0] for name in sys.modules}} & {{*{unused}}}\n"
        "    if loaded:\n"
        "        sys.exit(f'{words} loads {loaded}')\n"
    )
    done = finished([sys.executable, "-c", code])
    assert (done.returncode, done.stderr) == (0, "")
