"""The order in which processes end, looked at late."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from contend.base.process import FirstEnded


@pytest.fixture
def sleepers() -> Iterator[list[subprocess.Popen[bytes]]]:
    started = [subprocess.Popen(["sleep", "60"]) for _ in range(4)]
    yield started
    for one in started:
        one.kill()
        one.wait()


@pytest.mark.parametrize("first", range(4))
def test_the_first_that_ends_is_told(sleepers: list[subprocess.Popen[bytes]], first: int) -> None:
    watched = FirstEnded(one.pid for one in sleepers)
    assert watched.pid() is None
    sleepers[first].kill()
    sleepers[first].wait()
    for one in sleepers:
        one.kill()
    assert watched.pid(patience=10) == sleepers[first].pid


def test_processes_that_are_gone_are_left_out(sleepers: list[subprocess.Popen[bytes]]) -> None:
    gone = sleepers[0]
    gone.kill()
    gone.wait()
    watched = FirstEnded([gone.pid, sleepers[1].pid])
    sleepers[1].kill()
    assert watched.pid(patience=10) == sleepers[1].pid
    assert FirstEnded([gone.pid]).pid(patience=1) is None
