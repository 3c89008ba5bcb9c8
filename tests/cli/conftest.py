"""`contend simulate` in this process, as a user types it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contend.cli.app import run

Simulate = Callable[..., tuple[int, str, str]]


@pytest.fixture
def simulate(capsys: pytest.CaptureFixture[str]) -> Simulate:
    """`simulate(arguments)` gives status, standard output and standard error."""

    def call(*arguments: str | Path) -> tuple[int, str, str]:
        status = run(["simulate", *map(str, arguments)])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


@pytest.fixture
def measure(simulate: Simulate) -> Callable[..., Any]:
    """`measure(arguments)` gives the JSON, which is alone on standard output."""

    def call(*arguments: str | Path) -> Any:
        status, out, err = simulate(*arguments, "--json", "-")
        assert (status, err) == (0, "")
        return json.loads(out)

    return call
