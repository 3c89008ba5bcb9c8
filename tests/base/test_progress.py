"""Bars of what lasts: who gets one, what the core tells, and what functions are told."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import contend
from contend import _core
from contend.base import progress
from contend.base.progress import shown_progress, shown_steps, step, told
from contend.congestion import collectives
from contend.fabric import Fabric, make
from contend.report import new_bars
from contend.routes import Ways, compute, make_resolver
from contend.traffic.pattern import parse

_Drawn = Callable[[], set[str]]


@pytest.fixture(scope="module")
def tree() -> Fabric:
    return contend.load("fattree2:8", route="minhop")


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> _Drawn:
    """The words of each bar that a terminal has shown by now."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(progress, "_PATIENCE", 0)

    def words() -> set[str]:
        lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err).splitlines()
        return {re.sub(r"\s*[━╸╺].*", "", line).strip() for line in lines} - {""}

    return words


def test_nothing_is_drawn_where_nobody_wants_it(tree: Fabric, drawn: _Drawn) -> None:
    contend.simulate(tree, samples=200_000)
    with step("something") as tell:
        tell(0.5)
    assert drawn() == set()


def test_progress_shows_a_bar_and_what_lasts_within(tree: Fabric, drawn: _Drawn) -> None:
    contend.simulate(tree, samples=100_000, progress=True)
    assert drawn() == {"fattree2:8"}
    with shown_progress(True, "outer", "things"), step("inner") as tell:
        tell(0.5)
    assert drawn() == {"outer", "inner"}


def test_a_step_of_a_command_shows_a_bar(drawn: _Drawn) -> None:
    with shown_steps(), step("something") as tell:
        assert drawn() == set()
        tell(0.25)
    assert "something" in drawn()


def test_a_step_of_less_than_a_moment_shows_none(
    drawn: _Drawn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", 3600)
    with shown_steps(), step("something") as tell:
        tell(0.25)
    assert drawn() == set()


def test_a_log_gets_an_estimate_and_a_line_every_ten_seconds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """40 of 200 things in 20 s: 2 a second, and 160 more last 80 s."""
    now = 0.0
    bars = new_bars(lambda: now)
    with bars:
        task = bars.add_task("outer", total=200, count="0/200 things")
        share = bars.add_task("inner", total=1, count="")
        for done in range(1, 41):
            now = done / 2
            bars.update(task, completed=done, count=f"{done}/200 things")
            bars.update(share, completed=done / 160)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "outer: about 100 s: 200 things of 500 ms each",
        "outer: 20/200 things, 10 %, 2/s, 90 s left; inner: 12 %, 71 s left",
        "outer: 40/200 things, 20 %, 2/s, 80 s left; inner: 24 %, 61 s left",
    ]


def test_what_comes_before_the_first_thing_is_no_part_of_the_estimate(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A minute until it is known how much there is, then 9,000 things of 10 ms."""
    now = 0.0
    bars = new_bars(lambda: now)
    with bars:
        task = bars.add_task("it", total=None, count="")
        bars.update(task, completed=0, total=None)
        for done in range(250):
            now = 60 + done / 100
            bars.update(task, completed=done, total=9000, count=f"{done}/9000 things")
    first, *_ = capsys.readouterr().err.splitlines()[1:]
    assert first == "it: about 90 s: 9,000 things of 10 ms each"


def test_the_first_of_many_long_things_is_known_by_its_share(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A tenth of the first of 9 cells in 3 s: 30 s a cell, and 270 s for all."""
    now = 0.0
    bars = new_bars(lambda: now)
    with bars:
        cells = bars.add_task("it", total=None, count="")
        bars.update(cells, completed=0, total=9, count="0/9 cells")
        share = bars.add_task("schedule", total=1, count="")
        for now in (1, 2, 3):
            bars.update(share, completed=now / 30)
    words = "it: about 4.5 min if all 9 cells take as long as schedule"
    assert words in capsys.readouterr().err.splitlines()


def test_what_takes_so_many_times_the_first_thing_is_known_by_its_share(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A tenth of the first thing in 3 s: 30 s, and 2.5 times that for all."""
    now = 0.0
    bars = new_bars(lambda: now)
    with bars:
        whole = bars.add_task("it", total=2.5, count="")
        bars.update(whole, completed=0, total=2.5)
        share = bars.add_task("first", total=1, count="")
        for now in (1, 2, 3):
            bars.update(share, completed=now / 30)
    assert "it: about 75 s" in capsys.readouterr().err.splitlines()


def test_what_takes_a_moment_is_not_estimated(capsys: pytest.CaptureFixture[str]) -> None:
    now = 0.0
    bars = new_bars(lambda: now)
    with bars:
        task = bars.add_task("it", total=14, count="0/14 things")
        for now in range(1, 9):
            bars.update(task, completed=now, count=f"{now}/14 things")
    assert capsys.readouterr().err == ""


def test_what_begins_anew_is_estimated_anew(capsys: pytest.CaptureFixture[str]) -> None:
    """A look of 4 s, then what takes a hundred."""
    now = 0.0
    bars = new_bars(lambda: now)
    with bars:
        task = bars.add_task("it", total=1, count="")
        for now in (1, 2, 3, 4):
            bars.update(task, completed=now / 4)
        bars.reset(task)
        for now in (5, 6, 7, 8):
            bars.update(task, completed=(now - 4) / 100)
    assert capsys.readouterr().err.splitlines() == ["it: about 100 s"]


def test_a_step_that_begins_anew_goes_back(drawn: _Drawn) -> None:
    with shown_steps(), step("something") as tell:
        for share in (0.5, 1.0, 0.25):
            tell(share)
    assert "something" in drawn()


def test_threads_that_help_show_none(drawn: _Drawn) -> None:
    def work() -> None:
        with step("something") as tell:
            tell(0.5)

    with shown_steps():
        helper = threading.Thread(target=work)
        helper.start()
        helper.join()
    assert drawn() == set()


def test_functions_are_told_what_is_done_whole() -> None:
    calls: list[tuple[int, int]] = []
    collectives(contend.load("fattree2:8", route="ecmp"), progress=lambda *call: calls.append(call))
    assert calls == [(done, 5) for done in range(5)]


class ToldEnoughError(Exception):
    """Ends what tells of itself."""


def _endless() -> tuple[Any, ...]:
    """What the core counts a round of 7e9 messages from, on two threads."""
    fabric = compute(make("xgft:1;2;1"), "ecmp")
    hosts = np.arange(2, dtype=np.uint32)
    resolver = make_resolver(fabric, hosts, follows=Ways.DRAWN)
    pattern = parse("alltoall", 120_000).core
    seating, samples = _core.Seating(hosts, 60_000, False), _core.Samples(1, 0, 1, False)
    return resolver, pattern, seating, samples, 2, np.zeros(0)


def test_the_core_tells_what_share_is_done() -> None:
    shares: list[float] = []

    def tell(share: float) -> None:
        shares.append(share)
        if len(set(shares)) == 3:
            raise ToldEnoughError

    with pytest.raises(ToldEnoughError), told(tell):
        _core.simulate(*_endless())
    assert shares == sorted(shares)
    assert 0 < shares[-1] < 0.1


def test_of_several_the_innermost_is_told() -> None:
    calls: list[str] = []

    def end(name: str) -> Callable[[float], None]:
        def tell(share: float) -> None:
            calls.append(name)
            raise ToldEnoughError

        return tell

    run = _endless()
    with told(end("outer")):
        with pytest.raises(ToldEnoughError), told(end("inner")):
            _core.simulate(*run)
        with pytest.raises(ToldEnoughError):
            _core.simulate(*run)
    assert calls == ["inner", "outer"]
