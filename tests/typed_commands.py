"""A command as a user types it, in this process: what it prints, where it ends as it should."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest


class Printed(NamedTuple):
    """What a command printed on standard output and on standard error."""

    out: str
    err: str


Typed = Callable[..., Printed]


def typing(capsys: pytest.CaptureFixture[str]) -> Typed:
    """See the fixture `typed`."""

    def call(*words: str | Path, status: int = 0) -> Printed:
        # Imported here, as most tests type nothing.
        from contend.cli.app import run

        capsys.readouterr()
        first, *others = words
        assert run([*str(first).split(), *map(str, others)]) == status
        return Printed(*capsys.readouterr())

    return call
