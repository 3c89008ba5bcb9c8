"""Signals end the core in the middle of its work, on every thread that works for the main one.

Each program here counts for days, and only a signal ends it.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from contend.congestion import simulate
from contend.fabric import make
from contend.routes import compute

_LIMIT = 120
_LINES = {
    signal.SIGINT: "contend: interrupted\n",
    signal.SIGTERM: "contend: ended by SIGTERM\n",
    signal.SIGHUP: "contend: ended by SIGHUP\n",
}
# What counts one round of 7e9 messages after the other: hashes are asked for each, unlike tables.
_ENDLESS = """
import numpy as np
from contend import _core
from contend.congestion import core_threads
from contend.fabric import make
from contend.routes import compute
from contend.routes.routes import Ways, make_resolver

fabric = compute(make("xgft:1;2;1"), "ecmp")
hosts = np.arange(2, dtype=np.uint32)
resolver = make_resolver(fabric, hosts, follows=Ways.DRAWN, messages=1)
pattern = _core.make_all_to_all(120_000, 1)
no_rates = np.zeros(0)
seating, samples = _core.Seating(hosts, 60_000, False), _core.Samples(1, 0, 1000, False)

def count(threads):
    print("counting\\n", end="", flush=True)
    _core.simulate(resolver, pattern, seating, samples, threads, no_rates)
"""
# As the command line runs it.
_COMMAND = """
import contend.cli.app
def run(words):
    {body}
    return 0
contend.cli.app.run_reporting_faults = run
from contend.cli import main
main()
"""
_BODIES = {
    "one thread": "count(1)",
    "threads of the core": "count(3)",
    "threads that wait for the core": (
        "with core_threads(2) as pool:\n        list(pool.map(count, [1, 2, 1]))"
    ),
}


@contextmanager
def _python(code: str) -> Iterator[subprocess.Popen[str]]:
    # Whoever runs the tests may ignore them, in the background or behind nohup.
    reset = (
        "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", reset + code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _wait_until_it_waits(pid: int) -> None:
    """Until its main thread waits for the others: one that takes a lock when it hears a signal may
    keep it for good, as Python's `with` can be left between taking it and its first line.
    """
    asleep = 0
    while asleep < 100:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        assert state != "Z"
        asleep = asleep + 1 if state == "S" else 0


@pytest.mark.parametrize("number", _LINES)
@pytest.mark.parametrize("body", _BODIES.values(), ids=_BODIES)
def test_a_signal_ends_the_core(body: str, number: signal.Signals) -> None:
    with _python(_ENDLESS + _COMMAND.format(body=body)) as process:
        # Before all threads have started Python itself may fail: its Thread.start waits for them
        # on a condition, and what a signal raises there breaks that.
        for _ in range(2 if "core_threads" in body else 1):
            assert process.stdout.readline() == "counting\n"
        if "core_threads" in body:
            _wait_until_it_waits(process.pid)
        process.send_signal(number)
        _, errors = process.communicate(timeout=_LIMIT)
    assert (errors, process.returncode) == (_LINES[number], 128 + number)


def test_programs_get_an_interrupt_as_python_raises_it() -> None:
    body = "try:\n    count(2)\nexcept KeyboardInterrupt as reason:\n    print(repr(reason))"
    with _python(_ENDLESS + body) as process:
        assert process.stdout.readline() == "counting\n"
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=_LIMIT)
    assert (output, errors, process.returncode) == ("KeyboardInterrupt()\n", "", 0)


def test_an_ignored_signal_and_a_handler_that_returns_end_nothing() -> None:
    fabric = compute(make("xgft:2;12,12;1,12"), "dmodk")
    expected = simulate(fabric, "bisect", samples=5000, threads=2)
    heard = []
    former = signal.signal(signal.SIGALRM, lambda number, frame: heard.append(number))
    ignored = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        signal.raise_signal(signal.SIGINT)
        found = simulate(fabric, "bisect", samples=5000, threads=2)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)
        signal.signal(signal.SIGINT, ignored)
    assert heard
    assert np.array_equal(found.bandwidth, expected.bandwidth)
