"""Programs run to their end, or are ended with all that they have started."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contend.base.errors import MissingError
from contend.base.process import Finished, programs, run_foreground, run_process, run_watched
from processes import state_of

_ENVIRONMENT = dict(os.environ)


def test_output_errors_and_status_are_the_programs() -> None:
    finished = run_process(["sh", "-c", "echo out; echo err >&2; exit 3"], _ENVIRONMENT, 60)
    assert finished == Finished(3, b"out\n", b"err\n")
    assert finished.all_text == "err\n\nout\n"
    watched, waited = run_watched(
        ["sh", "-c", "echo out; echo err >&2; exit 3"], _ENVIRONMENT, 60, lambda: None
    )
    assert (watched, waited) == (finished, 0.0)


@pytest.mark.parametrize(
    ("finished", "why"),
    [
        (Finished(None), "did not end in time"),
        (Finished(-11), "ended by SIGSEGV"),
        (Finished(2), "exit status 2"),
        (Finished(1, b"out\n", b"-----\n*** box ***\nfirst\nan Error:  here\n"), "an Error: here"),
        (Finished(1, b"out\n", b"=====\n"), "out"),
    ],
)
def test_the_most_telling_line_says_why(finished: Finished, why: str) -> None:
    assert finished.why() == why


def test_a_program_that_is_not_there_has_status_127() -> None:
    for finished in (
        run_process(["/no/such"], _ENVIRONMENT, 1),
        run_watched(["/no/such"], _ENVIRONMENT, 1, lambda: None)[0],
    ):
        assert (finished.status, finished.why()) == (127, "/no/such: No such file or directory")
    with pytest.raises(MissingError, match="/no/such: No such file or directory"):
        run_foreground(["/no/such"], _ENVIRONMENT)


def test_what_a_program_writes_is_kept_at_both_ends() -> None:
    """Of 400 KB the first and the last 64 KiB."""
    many = "print('first'); print('x' * 400_000); print('last')"
    finished, _ = run_watched([sys.executable, "-c", many], _ENVIRONMENT, 60, lambda: None)
    assert finished.text.startswith("first\n")
    assert finished.text.endswith("x\nlast\n")
    assert len(finished.output) == 2 * 64 * 1024 + len("\n...\n")


def test_all_that_a_program_has_started_is_gone_when_time_is_over(tmp_path: Path) -> None:
    """Children in sessions of their own, deaf to kind words, are known by their environment."""
    code = f"trap '' TERM; setsid sleep 600 & echo $! > {tmp_path}/child; sleep 600"
    finished, _ = run_watched(["sh", "-c", code], _ENVIRONMENT, 1.0, lambda: None)
    assert finished.status is None
    child = int((tmp_path / "child").read_text())
    assert not state_of(child)


def test_the_status_of_a_command_in_the_foreground_is_as_shells_say() -> None:
    assert run_foreground(["sh", "-c", "exit 7"], _ENVIRONMENT) == 7
    assert run_foreground(["sh", "-c", "kill -SEGV $$"], _ENVIRONMENT) == 128 + signal.SIGSEGV


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_command_that_is_deaf_is_ended_after_its_grace(number: signal.Signals) -> None:
    code = (
        "import os, sys\nfrom contend.base.process import run_foreground\n"
        "import contend.base.process.programs as programs\n"
        "programs._INTERRUPTED_GRACE = programs._GRACE = 0.3\n"
        "def end(number, frame):\n    raise SystemExit(143)\n"
        "import signal\nsignal.signal(signal.SIGTERM, end)\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "deaf = \"trap '' INT TERM; echo $$; while :; do sleep 0.1; done\"\n"
        'run_foreground(["sh", "-c", deaf], os.environ)'
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        command = int(process.stdout.readline())
        process.send_signal(number)
        process.wait(60)
    assert not state_of(command)


@pytest.mark.parametrize(
    "run",
    [
        lambda command: run_foreground(command, _ENVIRONMENT),
        lambda command: run_watched(command, _ENVIRONMENT, 60, lambda: None),
        lambda command: run_process(command, _ENVIRONMENT, 60),
    ],
)
def test_a_signal_at_the_very_start_leaves_no_program(
    run: Callable[[list[str]], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It arrives when the program is there and its starter does not know of it yet."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*words: Any, **settings: Any) -> subprocess.Popen[bytes]:
        started.append(popen(*words, **settings))
        os.kill(os.getpid(), signal.SIGINT)
        return started[0]

    popen = programs.Program
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr(programs, "_INTERRUPTED_GRACE", 0.1)
    monkeypatch.setattr(programs, "Program", start)
    try:
        with pytest.raises(KeyboardInterrupt):
            run(["sleep", "600"])
    finally:
        signal.signal(signal.SIGINT, before)
    assert started[0].returncode is not None


_INTERRUPTED = """
import subprocess, sys
from contend.base.process import run_process, run_watched

steps = 0

def trace(frame, event, _):
    global steps
    if frame.f_code.co_name not in ("_wait", "_internal_poll"):
        return trace
    if event == "line":
        steps += 1
        if steps == wanted:
            sys.settrace(None)
            raise KeyboardInterrupt
    return trace

runners = {
    "watched": lambda: run_watched(["sleep", "0.2"], {"PATH": "/usr/bin:/bin"}, 60, lambda: None),
    "plain": lambda: run_process(["sleep", "0.2"], {"PATH": "/usr/bin:/bin"}, 60),
}
for wanted in range(1, 16):
    steps = 0
    sys.settrace(trace)
    try:
        runners[sys.argv[1]]()
    except KeyboardInterrupt:
        print("interrupted")
    finally:
        sys.settrace(None)
"""


@pytest.mark.parametrize("runner", ["watched", "plain"])
def test_waiting_can_be_interrupted_at_any_step(runner: str) -> None:
    """An interruption between taking Popen's lock and giving it back used to hang the clean-up."""
    command = [sys.executable, "-c", _INTERRUPTED, runner]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["interrupted"] * 15


@pytest.mark.parametrize(
    "run",
    [
        "run_watched(words, os.environ, 600, print)",
        "run_foreground(words, os.environ)",
        "start_program(words, Path(), os.environ, sys.stdout.buffer).wait()",
    ],
)
def test_a_program_ends_with_a_contend_that_was_killed(run: str, tmp_path: Path) -> None:
    """A launcher is told to end, and ends its ranks."""
    os.mkfifo(fifo := tmp_path / "fifo")
    code = (
        "import os, sys\nfrom pathlib import Path\n"
        "from contend.base.process import run_foreground, run_watched, start_program\n"
        f'words = ["sh", "-c", "echo $$ > {fifo}; exec sleep 600"]\n{run}'
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.DEVNULL) as contend:
        program = os.pidfd_open(int(fifo.read_text()))
        contend.kill()
    ended, _, _ = select.select([program], [], [], 60)
    os.close(program)
    assert ended


@pytest.mark.parametrize("knows_ends", [True, False], ids=["told of the end", "asks for it"])
def test_the_terminals_program_is_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, knows_ends: bool
) -> None:
    """It ends once it was looked at, and not before."""
    if not knows_ends:
        monkeypatch.delattr(os, "pidfd_open", raising=False)
    script = 'while [ ! -e "$0" ]; do sleep 0.02; done; exit 3'
    seen = tmp_path / "seen"
    command = ["sh", "-c", script, str(seen)]
    assert run_foreground(command, dict(os.environ), watch=seen.touch) == 3
