"""The rate that a machine carries: the rule by itself, and beside programs that take all of it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

import contend
from contend.base.errors import MissingError
from contend.lab.emulation import Settings, bring_up
from contend.lab.emulation.headroom import fit, judge

# Streams of a trial cross 40 channels, those of all hosts 64.
_TRIED, _NEEDED = 40, 64
_RATE = 12.5e6


def _machine(most: float) -> Callable[[Settings], float]:
    """A machine that moves so many bytes per second, counted on every channel."""
    return lambda settings: min(most, settings.rate * _TRIED)


def test_a_machine_with_room_keeps_the_rate() -> None:
    # 64 channels at 1 MB/s, of which programs leave 60 %: 107 MB/s are enough.
    found = judge(Settings(1e6), _TRIED, _NEEDED, _machine(108e6))
    assert (found.rate, found.lowered) == (1e6, False)


def test_the_rate_is_what_the_machine_moves_less_what_programs_need() -> None:
    # 0.6 x 64 MB/s over 64 channels are 0.6 MB/s: 4.8 Mbit/s.
    found = judge(Settings(1e6), _TRIED, _NEEDED, _machine(64e6))
    assert found.rate == pytest.approx(4.8e6 / 8)
    assert found.lowered
    assert "moves 512 Mbit/s over all cables together" in str(found)


def test_a_machine_that_moves_less_at_low_rates_is_tried_again() -> None:
    # Pieces are smaller there, and cost more.
    def slower(settings: Settings) -> float:
        return min(64e6 if settings.rate > 2e6 else 32e6, settings.rate * _TRIED)

    found = judge(Settings(1e6), _TRIED, _NEEDED, slower)
    assert found.rate == pytest.approx(0.3e6, rel=0.05)


def test_a_machine_that_moves_nothing_carries_no_rate() -> None:
    assert judge(Settings(1e6), _TRIED, _NEEDED, _machine(0.0)).rate == 0.0


@pytest.mark.usefixtures("permitted")
def test_a_rate_beyond_the_machine_is_refused_or_lowered() -> None:
    # 16 hosts at 30 Gbit/s over 4 channels each: no machine of two processors moves 1.9 Tbit/s.
    fabric = contend.load("fig1", need_routes=True)
    with (
        pytest.raises(MissingError, match="this machine would be the bottleneck, not the fabric"),
        bring_up(fabric, 30e9 / 8, lower=False),
    ):
        pass
    with bring_up(fabric, 30e9 / 8) as network:
        assert network.headroom.lowered
        assert network.settings.rate == network.headroom.rate < 30e9 / 8


@pytest.mark.usefixtures("permitted")
def test_beside_programs_that_take_the_processors_it_carries_less() -> None:
    fabric = contend.load("fig1", need_routes=True)

    with bring_up(fabric, _RATE, check=False) as network:

        def carried() -> float:
            # More than any machine moves, so that what it does move is found out.
            return fit(network._spaces, Settings(30e9 / 8))[0].rate

        # Other programs come and go: the best of two against the worst of two.
        alone = max(carried(), carried())
        with _hogs(8 * (os.cpu_count() or 1)):
            beside = min(carried(), carried())
    assert beside < 0.75 * alone


@contextmanager
def _hogs(count: int) -> Iterator[None]:
    program = [sys.executable, "-S", "-c", "print(flush=True)\nwhile True: pass"]
    started = [subprocess.Popen(program, stdout=subprocess.PIPE) for _ in range(count)]
    try:
        for hog in started:
            hog.stdout.readline()
        yield
    finally:
        for hog in started:
            hog.kill()
            hog.communicate()
