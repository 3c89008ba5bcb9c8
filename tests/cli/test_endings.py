"""Signals and readers that go away, met by real processes: one line, a status, nothing lost."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from processes import CONTEND, finished, state_of

_SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
_LINES = {
    signal.SIGINT: "contend: interrupted\n",
    signal.SIGTERM: "contend: ended by SIGTERM\n",
    signal.SIGHUP: "contend: ended by SIGHUP\n",
}
# Under nohup, and in the background of a script, some are ignored; children inherit that.
_RESET = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
for number in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)
"""
_MAIN = "from contend.cli import main\nmain()\n"
_LIMIT = 60


@contextmanager
def _python(code: str, *words: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """A Python that runs code; whatever becomes of the test, it ends."""
    with subprocess.Popen(
        [sys.executable, "-c", code, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _command(body: str) -> str:
    """Code of a command line that has one more command, `work`."""
    indented = "".join(f"    {line}\n" for line in body.splitlines())
    return (
        f"{_RESET}\nimport os\nfrom pathlib import Path\nimport typer\n"
        f"from contend.cli.app import app\n"
        f'@app.command("work")\ndef work():\n{indented}\nsys.argv[1:] = ["work", *sys.argv[1:]]\n'
        f"{_MAIN}"
    )


def _errors(process: subprocess.Popen[str]) -> str:
    """All that a process has written to standard error, once it has ended by itself."""
    process.wait(_LIMIT)
    return process.stderr.read()


def test_a_signal_that_is_ignored_stays_ignored() -> None:
    body = 'os.kill(os.getpid(), signal.SIGHUP)\nprint("went on")'
    ignored = _command(body).replace(
        "from contend.cli.app", "signal.signal(signal.SIGHUP, signal.SIG_IGN)\nfrom contend.cli.app"
    )
    with _python(ignored) as process:
        assert (_errors(process), process.returncode) == ("", 0)
        assert process.stdout.read() == "went on\n"


def test_sigterm_ends_what_catches_it_itself() -> None:
    """METIS does while it is at work, and gives up."""
    body = (
        "import subprocess\nimport numpy as np\n"
        "from contend.fabric.cuts.cut_graph import metis_parts\n"
        "node = np.arange(200_000)\n"
        "ring = np.stack([node - 1, node + 1], axis=1).ravel() % len(node)\n"
        "start, ones = 2 * np.arange(len(node) + 1), np.ones(len(ring), dtype=np.int64)\n"
        "weight = ones[: len(node)]\n"
        "def halve():\n    metis_parts(2, start, ring, weight=weight, edge_weight=ones)\n"
        "halve()\n"
        'subprocess.Popen(["sh", "-c", f"sleep 0.5; kill -TERM {os.getpid()}"])\n'
        "while True:\n    halve()"
    )
    with _python(_command(body)) as process:
        assert _errors(process) == _LINES[signal.SIGTERM]
        assert process.returncode == 128 + signal.SIGTERM


@pytest.mark.parametrize("number", _SIGNALS)
def test_a_signal_lets_commands_tidy_up_and_a_second_does_not_disturb(
    number: signal.Signals,
) -> None:
    """The status is the one that shells give to it: 128 + number."""
    body = (
        f"try:\n    os.kill(os.getpid(), {number:d})\n"
        f'finally:\n    os.kill(os.getpid(), signal.SIGINT)\n    print("tidied up")'
    )
    with _python(_command(body)) as process:
        assert _errors(process) == _LINES[number]
        assert process.returncode == 128 + number
        assert process.stdout.read() == "tidied up\n"


def test_a_second_signal_may_come_at_any_moment_of_the_first() -> None:
    """`timeout -s INT` sends two; one that met the other in the midst of it waited for ever."""
    body = """
from itertools import count
from contend.cli.endings import Signals

def steps_with_a_second_signal_at(step):
    Signals().unwind()
    steps = count(1)
    def trace(frame, event, argument):
        if event == "line" and next(steps) == step:
            os.kill(os.getpid(), signal.SIGINT)
        return trace
    sys.settrace(trace)
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt:
        sys.settrace(None)
        return next(steps)
    raise SystemExit("the signal is lost")

at = 1
while steps_with_a_second_signal_at(at) > at:
    at += 1
print(at > 10)
"""
    with _python(_command(body)) as process:
        assert (_errors(process), process.returncode) == ("", 0)
        assert process.stdout.read() == "True\n"


@pytest.mark.parametrize(
    ("waits_for", "number"),
    list(zip(["standard input", "a FIFO", "a program"], _SIGNALS, strict=True)),
)
def test_a_signal_ends_what_waits_also_where_polars_is_loaded(
    waits_for: str, number: signal.Signals, tmp_path: Path
) -> None:
    """Its import makes the kernel begin such waits anew, however often somebody presses Ctrl-C."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    if waits_for == "a program":
        # Nothing that contend has started may keep it, or stay.
        body = (
            "import polars, subprocess\n"
            'program = subprocess.Popen(["sleep", "600"])\n'
            'try:\n    print("waits", flush=True)\n    program.wait()\n'
            "finally:\n    program.kill()"
        )
        code, words = _command(body), ()
    else:
        source = "-" if waits_for == "standard input" else str(fifo)
        # The last thing that it does before it waits for its input.
        code = (
            f"{_RESET}\nimport polars\nimport contend.fabric\nimport contend.cli.app\n"
            f'print("waits", flush=True)\n{_MAIN}'
        )
        words = ("fabric", "show", source)
    with _python(code, *words) as process:
        assert process.stdout.readline() == "waits\n"
        _await_sleep(process.pid)
        process.send_signal(number)
        assert _errors(process) == _LINES[number]
        assert process.returncode == 128 + number


def _await_sleep(process: int) -> None:
    """Waits until the main thread of a process sleeps in the kernel, ten looks in a row."""
    asleep, ends = 0, time.monotonic() + _LIMIT
    while asleep < 10 and time.monotonic() < ends:
        asleep = asleep + 1 if state_of(process) == "S" else 0
        time.sleep(0.02)
    assert asleep == 10


def test_a_signal_during_the_imports_is_one_line(tmp_path: Path) -> None:
    """A module that takes its time stands for all that the command line loads."""
    number = signal.SIGINT
    (tmp_path / "typer.py").write_text(
        'import sys, time\nprint("imports", flush=True)\ntime.sleep(600)\n', encoding="utf-8"
    )
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    with _python(_RESET + _MAIN, "--help", PYTHONPATH=path) as process:
        assert process.stdout.readline() == "imports\n"
        process.send_signal(number)
        assert _errors(process) == _LINES[number]
        assert process.returncode == 128 + number


def test_a_signal_lets_an_import_come_to_its_end(tmp_path: Path) -> None:
    """Torn off, it would leave a module without what comes later, a fault for all that need it."""
    number = signal.SIGINT
    module = f"import os\nos.kill(os.getpid(), {number:d})\nvalue = sum(range(1_000_000))\n"
    (tmp_path / "torn.py").write_text(module, encoding="utf-8")
    body = (
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "try:\n    import torn\n    import time\n    time.sleep(600)\n"
        'finally:\n    print(sys.modules["torn"].value)'
    )
    with _python(_command(body)) as process:
        assert _errors(process) == _LINES[number]
        assert process.returncode == 128 + number
        assert process.stdout.read() == "499999500000\n"


def test_a_signal_is_not_lost_where_python_cannot_raise() -> None:
    number = signal.SIGTERM
    body = (
        "import time\nclass Last:\n    def __del__(self):\n"
        f"        os.kill(os.getpid(), {number:d})\n"
        "Last()\ntime.sleep(600)"
    )
    with _python(_command(body)) as process:
        assert _errors(process) == _LINES[number]
        assert process.returncode == 128 + number


def test_a_signal_while_python_ends_changes_nothing() -> None:
    number = signal.SIGHUP
    body = (
        "class Last:\n    def __del__(self, kill=os.kill, me=os.getpid()):\n"
        f"        kill(me, {number:d})\n"
        "sys.last = Last()\nprint('done')"
    )
    with _python(_command(body)) as process:
        assert _errors(process) == ""
        assert process.returncode == 0
        assert process.stdout.read() == "done\n"


def test_a_signal_ends_an_import_that_does_not_end(tmp_path: Path) -> None:
    number = signal.SIGTERM
    module = f"import os, time\nos.kill(os.getpid(), {number:d})\ntime.sleep(600)\n"
    (tmp_path / "endless.py").write_text(module, encoding="utf-8")
    with _python(_command(f"sys.path.insert(0, {str(tmp_path)!r})\nimport endless")) as process:
        assert _errors(process) == _LINES[number]
        assert process.returncode == 128 + number


def test_where_no_thread_can_be_started_contend_makes_do_without(tmp_path: Path) -> None:
    """As under ``ulimit -u 1``, which root is exempt from: then for nobody, who may read all."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None or shutil.which("prlimit") is None:
        pytest.skip("only root can become a user who may start no thread")
    capable = ["--inh-caps", "+dac_read_search", "--ambient-caps", "+dac_read_search"]
    other = ["setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups", *capable]
    simulated = ["simulate", "chic", "--samples", "1000", "--threads", "8", "--json", "-"]
    ended = finished(
        [*other, "prlimit", "--nproc=1", sys.executable, "-c", _MAIN, *simulated], cwd="/"
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert '"samples": 1000' in ended.stdout


@pytest.mark.parametrize("status", [0, 1])
def test_a_reader_that_goes_away_ends_printing_and_not_the_work(
    status: int, tmp_path: Path
) -> None:
    """As in ``contend ... | head -1``: the file is there, and the status is the work's own."""
    body = (
        'for _ in range(20_000):\n    print("as long as a pipe is deep")\n'
        f'Path(sys.argv[-1]).write_text("whole")\nraise typer.Exit({status})'
    )
    file = tmp_path / "result"
    code = _command(body).replace('["work", *sys.argv[1:]]', '["work"]')
    code = code.replace("sys.argv[-1]", repr(str(file)))
    with _python(code) as process:
        assert process.stdout.readline() == "as long as a pipe is deep\n"
        process.stdout.close()
        assert _errors(process) == ""
        assert process.returncode == status
    assert file.read_text() == "whole"


def test_a_reader_of_tables_that_goes_away_is_no_error(tmp_path: Path) -> None:
    """It has gone before the first table: the JSON is whole all the same."""
    command = f"{shlex.join(CONTEND)} fabric show fig1"
    piped = finished(
        ["bash", "-c", f"{command} --json {tmp_path}/f.json | true; echo ${{PIPESTATUS[0]}}"]
    )
    assert (piped.stdout, piped.stderr) == ("0\n", "")
    assert (tmp_path / "f.json").read_text().endswith("}\n")


@pytest.mark.parametrize(
    ("redirection", "status"), [(">&-", 0), ("2>&-", 0), (">&- 2>&- <&-", 0), ("- <&-", 2)]
)
def test_closed_standard_stream_is_no_fault(redirection: str, status: int) -> None:
    """Nothing can be printed, or nothing be read, but nothing breaks either."""
    source = "" if redirection.startswith("-") else "fig1"
    command = f"{shlex.join(CONTEND)} fabric show {source}"
    ended = subprocess.run(f"{command} {redirection}", shell=True, capture_output=True, text=True)
    assert ended.returncode == status
    assert ended.stderr.count("\n") == (status > 0)
    assert "Traceback" not in ended.stderr


def test_a_full_disk_behind_standard_output_is_told() -> None:
    command = f"{shlex.join(CONTEND)} fabric show fig1"
    ended = subprocess.run(f"{command} > /dev/full", shell=True, capture_output=True, text=True)
    assert ended.returncode != 0
    assert ended.stderr == "contend: standard output: No space left on device\n"
