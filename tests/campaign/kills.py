"""Kills contend, its launchers and its ranks at random moments, and counts what does not hold.

    python tests/campaign/kills.py [--seed N] [--trials N] [--only KIND] [--folder FOLDER]

Every trial is drawn from the seed and its own number, and is done alone by ``--seed S --trial N``.
However a command ends: no traceback, one line of contend's that says so, the status that is
documented, the count of samples no lower than before, and nothing left: no process, no network,
nothing in shared memory and in folders of temporary files. What SIGKILL leaves the next start of
contend clears away.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import walled

from contend.runs import Run, find_runs
from contend.units import counted

CONTEND = (sys.executable, "-c", "from contend.cli import main; main()")
LIBRARIES = ("openmpi-4", "openmpi-5", "mpich")
_LIMIT = 120.0
# Seconds that contend may take to end once it was asked to, and a fabric more: its grace.
PROMISED, GRACE = 2.0, 2.0
_SIMULATED = """
name = "killed"
[[fabric]]
name = "tree"
source = "xgft:2;18,36;1,18"
engines = ["dmodk", "minhop"]
""" + "".join(
    f'[[pattern]]\nname = "{count}"\npattern = "neighbour:6"\nsamples = {count}\n'
    for count in range(2000, 2012)
)
_MEASURED = """
name = "killed"
budget_s = 12
launches = 3
repetitions = [400, 400]
[[measure]]
name = "small"
probe = "alltoall"
hosts = [1]
ranks_per_host = [4]
algorithm = ["library", "shift"]
bytes = ["256", "1K"]
"""


@dataclass
class Trial:
    """One thing that is tried.

    Attributes:
        name: of the kind, with the signal and whom it strikes.
        folder: its own, gone afterwards.
        random: its own source of chance.
        faults: what did not hold.
        kills: signals sent to something that ran.
        seconds: from a signal to contend to its end.
    """

    name: str
    folder: Path
    random: random.Random
    faults: list[str] = field(default_factory=list)
    kills: Counter[str] = field(default_factory=Counter)
    seconds: list[tuple[str, float]] = field(default_factory=list)

    @property
    def scratch(self) -> Path:
        """Where temporary files of what is tried go."""
        return self.folder / "tmp"

    def start(self, words: Sequence[str], **settings: object) -> subprocess.Popen[bytes]:
        """Starts contend, as its own session's head, with signals as a shell leaves them."""
        environment = {**os.environ, "TMPDIR": str(self.scratch)}
        return subprocess.Popen(  # type: ignore[call-overload,no-any-return]
            [*CONTEND, *words],
            env=environment,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=settings.get("stdout", (self.folder / "out").open("wb")),
            stderr=(self.folder / "err").open("wb"),
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )

    def errors(self) -> str:
        """What contend has written to standard error."""
        return (self.folder / "err").read_text(errors="replace")

    def expect(self, holds: bool, what: str) -> None:
        """Notes a fault where something does not hold."""
        if not holds:
            self.faults.append(f"{what}; it said: {self.errors()[-400:]!r}")

    def ended(self, process: subprocess.Popen[bytes]) -> int:
        """The status of contend, with all that holds for every end."""
        try:
            status = process.wait(_LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            status = process.wait()
            self.expect(False, f"did not end within {_LIMIT:g} s")
        said = self.errors()
        lines = [
            line
            for line in said.splitlines()
            if line.startswith("contend: ") and not line.startswith("contend: warning: ")
        ]
        killed = status == -signal.SIGKILL
        self.expect("Traceback" not in said and "panicked" not in said, "a traceback")
        self.expect(status != 70, "a fault of contend")
        self.expect(killed or status >= 0, f"ended by a signal: {status}")
        self.expect(killed or len(lines) == (status != 0), f"{len(lines)} lines, status {status}")
        self.expect(all(len(line) <= 509 for line in lines), "a line of more than 500 characters")
        return status

    def nothing_is_left(self) -> None:
        """Looks for what is left by a command that could clear it away."""
        there = walled.settled()
        self.expect(not there, f"left processes: {list(there.values())[:3]}")
        found = walled.left(self.scratch)
        self.expect(not found, f"left: {found[:5]}")
        for name in found:
            walled.remove(Path(name))

    def only_files_are_left(self) -> None:
        """Looks for processes that outlive a contend that was killed."""
        there = walled.settled()
        self.expect(not there, f"left processes: {list(there.values())[:3]}")

    def strike(
        self, process: subprocess.Popen[bytes], number: signal.Signals, whom: str, after: float
    ) -> bool:
        """Sends a signal after a while; False where there was nobody any more to get it."""
        ends = time.monotonic() + _LIMIT
        while whom != "contend" and process.poll() is None and time.monotonic() < ends:
            if victims := _victims(whom, process.pid):
                break
            time.sleep(0.01)
        while process.poll() is None and not walled.handles(process.pid, signal.SIGTERM):
            # Until Python runs contend's first line, signals are Python's and the kernel's.
            time.sleep(0.001)
        _wait(process, after)
        victims = [process.pid] if whom == "contend" else _victims(whom, process.pid)
        if process.poll() is not None or not victims:
            return False
        try:
            os.kill(self.random.choice(victims), number)
        except ProcessLookupError:
            return False
        self.kills[f"{number.name} to {whom}"] += 1
        return True


def _wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return


def _victims(whom: str, contend: int) -> list[int]:
    """Launchers, or ranks of probes."""
    found = []
    for process, command in walled.processes().items():
        program = command.split(" ")[0]
        launcher = Path(program).name.startswith(("mpirun", "mpiexec", "prterun"))
        rank = "/probes/" in program and "/version-" not in program and not launcher
        if process != contend and (launcher if whom == "mpirun" else rank):
            found.append(process)
    return found


def count(folder: Path) -> int:
    """Rows of samples that a folder keeps, in tables or in the files of launches."""
    if not (folder / "session.json").exists() or not list(folder.rglob("run.json")):
        return 0
    return sum(Run.load(run).samples.height for run in find_runs(folder))


def _simulations(folder: Path) -> int:
    records = [json.loads(path.read_bytes()) for path in folder.glob("runs/*/run.json")]
    return sum(record["status"] == "done" for record in records)


def _kept(
    trial: Trial,
    begin: Sequence[str],
    again: Sequence[str],
    counts: Callable[[Path], int],
    whom: Sequence[str],
) -> None:
    """Kills a command over and over, and lets it end by itself at last."""
    folder, before, swept = trial.folder / "run", 0, True
    for _ in range(4):
        started = (folder / "session.json").exists()
        process = trial.start(again if started else begin)
        victim = trial.random.choice(whom)
        number = trial.random.choice([signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
        after = trial.random.uniform(0, 6.0 if victim == "contend" else 1.0)
        struck = trial.strike(process, number, victim, after)
        sent = time.monotonic()
        status = trial.ended(process)
        if victim == "contend" and struck:
            trial.seconds.append((number.name, time.monotonic() - sent))
            expected = (-9,) if number == signal.SIGKILL else (128 + number, 0, 1)
            trial.expect(status in expected, f"status {status} after {number.name}")
            swept = number != signal.SIGKILL
        elif struck:
            # Where it struck while libraries were tried, the one asked for is not usable.
            unusable = status == 3 and " usable on this machine" in trial.errors()
            trial.expect(
                status in (0, 1) or unusable, f"status {status} after {number.name} to {victim}"
            )
        trial.nothing_is_left() if swept else trial.only_files_are_left()
        now = counts(folder)
        trial.expect(now >= before, f"{before} samples, then {now}")
        before = now
    started = (folder / "session.json").exists()
    status = trial.ended(trial.start(again if started else begin))
    trial.expect(status in (0, 1), f"status {status} at last")
    trial.nothing_is_left()
    now = counts(folder)
    # A study does not try again what failed.
    least = max(before, int("--resume" in again))
    trial.expect(now >= least, f"{before} samples, then {now} at last")
    left = [path.name for path in folder.rglob("*") if path.name.startswith(".")]
    left += [path.name for path in folder.rglob("*.lock")]
    trial.expect(not left, f"left in the folder: {left}")


def measure(trial: Trial) -> None:
    """``contend measure``, killed and resumed."""
    words = ["measure", "alltoall", "--budget", "6s"]
    new = ["-n", "4", "--mpi", trial.random.choice(LIBRARIES), "--algorithm", "library,shift"]
    new += ["--bytes", "256,1K", "--launches", "2", "--repetitions", "300:300"]
    begin, again = [*words, *new, "--output", "run"], [*words, "--resume", "run"]
    _kept(trial, begin, again, count, ["contend", "contend", "a rank", "mpirun"])


def study(trial: Trial) -> None:
    """``contend study``, measured or simulated."""
    measured = trial.random.random() < 0.5
    library = f'mpi = ["{trial.random.choice(LIBRARIES)}"]\n'
    (trial.folder / "plan.toml").write_text(library + _MEASURED if measured else _SIMULATED)
    words = ["study", "plan.toml", "--output", "run"]
    whom = ["contend", "contend", "a rank", "mpirun"] if measured else ["contend"]
    _kept(trial, words, words, count if measured else _simulations, whom)


def _once(trial: Trial, words: Sequence[str], grace: float, latest: float) -> None:
    process = trial.start(words)
    number = trial.random.choice([signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
    struck = trial.strike(process, number, "contend", trial.random.uniform(0, latest))
    sent = time.monotonic()
    status = trial.ended(process)
    if struck:
        trial.seconds.append((number.name, max(0.0, time.monotonic() - sent - grace)))
        expected = -9 if number == signal.SIGKILL else 128 + number
        trial.expect(status in (expected, 0), f"status {status} after {number.name}")
    if number != signal.SIGKILL or not struck:
        trial.nothing_is_left()


def emulate(trial: Trial) -> None:
    """``contend emulate`` of commands that end, that would not, and of ranks."""
    napping = "import signal,time\nfor n in (1,2,15): signal.signal(n,signal.SIG_IGN)\n"
    command = trial.random.choice(
        [
            ["--", "sleep", "600"],
            ["--", sys.executable, "-c", f"{napping}time.sleep(600)"],
            ["--", "sh", "-c", "sleep 600 & setsid sleep 600 & wait"],
        ]
    )
    fabric = trial.random.choice(["fig1", "crossbar:4"])
    words = ["emulate", fabric, "--rate", "10Mbit", "--unchecked", *command]
    _once(trial, words, GRACE, 3.0)
    # A start that comes to its end clears away what was left.
    last = ["emulate", "crossbar:2", "--rate", "10Mbit", "--unchecked", "--", "true"]
    status = trial.ended(trial.start(last))
    trial.expect(status == 0, f"status {status} of the next")
    trial.nothing_is_left()


def simulate(trial: Trial) -> None:
    """``contend simulate``, routed by OpenSM now and then."""
    words = ["simulate", "xgft:2;18,36;1,18", "--precision", "0.0001%", "--json", "result.json"]
    if opensm := trial.random.random() < 0.3 and shutil.which("opensm", path="/usr/sbin:/usr/bin"):
        words += ["--route", "opensm:minhop"]
    _once(trial, words, 0.0, 3.0)
    trial.expect(not (trial.folder / "result.json").exists(), "a result of an interrupted command")
    if opensm:
        words = ["fabric", "show", "fig1", "--route", "opensm:minhop"]
        status = trial.ended(trial.start(words))
        trial.expect(status == 0, f"status {status} of the next")
        trial.nothing_is_left()


def two_writers(trial: Trial) -> None:
    """A second writer is told who has the run, and takes nothing from the first."""
    words = ["measure", "alltoall", "-n", "2", "--mpi", trial.random.choice(LIBRARIES)]
    words += ["--algorithm", "library", "--bytes", "1K", "--repetitions", "4000:4000"]
    words += ["--launches", "2", "--budget", "20s", "--output", "run"]
    first = trial.start(words)
    said = trial.folder / "err"
    session = trial.folder / "run" / "session.json"
    while not session.exists() and first.poll() is None:
        time.sleep(0.02)
    time.sleep(trial.random.uniform(0, 0.5))
    held = (trial.folder / "run" / "session.lock").exists()
    (second_error := trial.folder / "err2").touch()
    second = subprocess.run(
        [*CONTEND, "measure", "alltoall", "--resume", "run", "--budget", "5s"],
        cwd=trial.folder,
        env={**os.environ, "TMPDIR": str(trial.scratch)},
        stdout=subprocess.DEVNULL,
        stderr=second_error.open("wb"),
    )
    told = second_error.read_text(errors="replace")
    if held and first.poll() is None:
        trial.kills["second writers"] += 1
        named = f"process {first.pid} on" in told and told.count("\n") == 1
        trial.expect(second.returncode == 2 and named, f"{second.returncode}: {told!r}")
    status = trial.ended(first)
    trial.expect(status in (0, 1), f"status {status} of the first, {said.read_text()!r}")
    trial.expect(count(trial.folder / "run") > 0, "no samples")
    trial.nothing_is_left()


def full_disk(trial: Trial) -> None:
    """No room for results: the file is named, status 3, and it goes on where there is room."""
    disk = trial.folder / "disk"
    disk.mkdir()
    walled.mount(disk, f"{trial.random.choice([8, 12, 16, 24, 32, 48, 64])}k")
    measured = ["measure", "alltoall", "-n", "2", "--mpi", trial.random.choice(LIBRARIES)]
    measured += ["--algorithm", "library", "--bytes", "1K", "--repetitions", "500:500"]
    measured += ["--budget", "6s"]
    kind = trial.random.choice(["run", "json", "plot", "convert", "simulate", "study"])
    words = {
        "run": [*measured, "--output", "disk/run"],
        "json": ["fabric", "show", "chic", "--json", "disk/f.json"],
        "plot": ["simulate", "fig1", "--samples", "100", "--plot", "disk/p.png"],
        "convert": ["fabric", "convert", "chic", "-o", "disk/chic.ibnetdiscover"],
        "simulate": ["simulate", "chic", "--samples", "100", "--json", "disk/s.json"],
        "study": ["study", "plan.toml", "--output", "disk/run"],
    }[kind]
    (trial.folder / "plan.toml").write_text(_SIMULATED)
    status = trial.ended(trial.start(words))
    trial.kills[f"full disks, status {status}"] += 1
    if status != 0:
        named = "disk/" in trial.errors() and "No space left" in trial.errors()
        trial.expect(status == 3 and named, f"{kind}: status {status}")
    before = count(disk / "run") if kind == "run" else 0
    trial.nothing_is_left()
    if kind == "run" and (disk / "run" / "session.json").exists():
        walled.enlarge(disk, "64m")
        words = ["measure", "alltoall", "--resume", "disk/run", "--budget", "6s"]
        status = trial.ended(trial.start(words))
        now = count(disk / "run")
        trial.expect(status == 0 and now >= max(before, 1), f"{status}: {before}, then {now}")
    walled.unmount(disk)


def closed_pipe(trial: Trial) -> None:
    """The reader goes away: files are written all the same."""
    measured = ["measure", "alltoall", "-n", "2", "--mpi", trial.random.choice(LIBRARIES)]
    measured += ["--algorithm", "library", "--bytes", "1K", "--launches", "2", "--budget", "4s"]
    words = trial.random.choice(
        [[*measured, "--output", "run"], ["simulate", "fig1", "--samples", "1000"]]
    )
    process = trial.start([*words, "--json", "r.json", "--plot", "r.svg"], stdout=subprocess.PIPE)
    assert process.stdout is not None
    for _ in range(trial.random.randrange(3)):
        process.stdout.readline()
    process.stdout.close()
    trial.kills["closed pipes"] += 1
    trial.expect(trial.ended(process) == 0, "not status 0")
    json.loads((trial.folder / "r.json").read_bytes())
    trial.expect((trial.folder / "r.svg").exists(), "no figure")
    trial.nothing_is_left()


KINDS: dict[str, tuple[Callable[[Trial], None], int]] = {
    "measure": (measure, 8),
    "study": (study, 5),
    "emulate": (emulate, 12),
    "simulate": (simulate, 12),
    "two_writers": (two_writers, 2),
    "full_disk": (full_disk, 6),
    "closed_pipe": (closed_pipe, 3),
}
"""What is tried, and how often beside the others."""


def try_one(seed: int, number: int, only: str | None, base: Path) -> Trial:
    """The trial of a number."""
    chance = random.Random(f"{seed} {number}")
    names, weights = zip(*((name, weight) for name, (_, weight) in KINDS.items()), strict=True)
    name = only or chance.choices(names, weights)[0]
    folder = Path(tempfile.mkdtemp(prefix="k-", dir=base))
    trial = Trial(name, folder, chance)
    trial.scratch.mkdir()
    (folder / "err").touch()
    try:
        KINDS[name][0](trial)
    except Exception as error:
        # A run that cannot be read is a fault of what was tried, not the end of the campaign.
        trial.expect(False, f"{type(error).__name__}: {error}")
    finally:
        walled.settled()
        walled.unmount(folder / "disk")
        shutil.rmtree(folder, ignore_errors=True)
    return trial


def main() -> int:
    """Runs trials; 1 where something did not hold."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 31))
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--trial", type=int, help="only this one")
    parser.add_argument("--only", choices=KINDS)
    asked = parser.parse_args()
    if (status := walled.enter([*sys.argv, "--seed", str(asked.seed)])) is not None:
        return status
    total: Counter[str] = Counter()
    faults, waits = 0, []
    numbers = range(asked.trials) if asked.trial is None else [asked.trial]
    with tempfile.TemporaryDirectory(prefix="kills-") as base:
        for number in numbers:
            trial = try_one(asked.seed, number, asked.only, Path(base))
            total += Counter({f"{trial.name}: {what}": n for what, n in trial.kills.items()})
            waits += [seconds for name, seconds in trial.seconds if name != "SIGKILL"]
            faults += len(trial.faults)
            for fault in trial.faults:
                print(f"--seed {asked.seed} --trial {number} ({trial.name}): {fault}", flush=True)
    for what, times in sorted(total.items()):
        print(f"{times:6}  {what}")
    late = sum(wait > PROMISED for wait in waits)
    longest = max(waits, default=0.0)
    print(
        f"seed {asked.seed}: {counted(len(numbers), 'trial')}, "
        f"{counted(sum(total.values()), 'event')}, {counted(faults, 'fault')}; "
        f"{late} of {len(waits)} ends took above {PROMISED:g} s, the longest {longest:.1f} s"
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
