"""What commands load before they answer: nothing that they do not use."""

from __future__ import annotations

import subprocess
import sys

import pytest

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
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    assert done.stderr.strip() == "loaded:", done.stderr
