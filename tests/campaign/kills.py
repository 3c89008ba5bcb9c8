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
from pathlib import Path

import walled
from trial import CONTEND, Trial

from contend.base.units import counted
from contend.lab.runs import Run, find_runs

LIBRARIES = ("openmpi-4", "openmpi-5", "mpich")
# Seconds that contend may take to end once it was asked to; and what it gives a command that runs
# on a fabric to end by itself, on top of that.
PROMISED = 2.0
GRACE = {signal.SIGINT: 5.0 + 2.0, signal.SIGTERM: 2.0, signal.SIGKILL: 0.0}
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
            swept = swept and number != signal.SIGKILL
        elif struck:
            # Where it struck while libraries were tried, the one asked for is not usable.
            unusable = status == 3 and " usable on this machine" in trial.errors()
            trial.expect(
                status in (0, 1) or unusable, f"status {status} after {number.name} to {victim}"
            )
        if not struck or victim != "contend":
            swept = True
        if swept:
            trial.nothing_is_left()
        else:
            # What SIGKILL left may stay until a start comes to its end; one that was interrupted
            # may not have swept, and clears away its own alone.
            trial.nothing_of_its_own_is_left(process)
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


def _once(trial: Trial, words: Sequence[str], *, grace: bool, latest: float) -> int:
    process = trial.start(words)
    number = trial.random.choice([signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
    struck = trial.strike(process, number, "contend", trial.random.uniform(0, latest))
    sent = time.monotonic()
    status = trial.ended(process)
    if struck:
        allowed = GRACE[number] if grace else 0.0
        trial.seconds.append((number.name, max(0.0, time.monotonic() - sent - allowed)))
        expected = -9 if number == signal.SIGKILL else 128 + number
        trial.expect(status in (expected, 0), f"status {status} after {number.name}")
    if number != signal.SIGKILL or not struck:
        trial.nothing_is_left()
    return status


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
    _once(trial, words, grace=True, latest=3.0)
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
    status = _once(trial, words, grace=False, latest=3.0)
    # It may have come to its end just before the signal.
    written = (trial.folder / "result.json").exists()
    trial.expect(written == (status == 0), f"status {status}, a result: {written}")
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
            ends = [(name, seconds) for name, seconds in trial.seconds if name != "SIGKILL"]
            waits += [seconds for _, seconds in ends]
            faults += len(trial.faults)
            late = [f"{seconds:.1f} s after {name}" for name, seconds in ends if seconds > PROMISED]
            for what in trial.faults + late:
                print(f"--seed {asked.seed} --trial {number} ({trial.name}): {what}", flush=True)
    for what, times in sorted(total.items()):
        print(f"{times:6}  {what}")
    above = sum(wait > PROMISED for wait in waits)
    longest = max(waits, default=0.0)
    print(
        f"seed {asked.seed}: {counted(len(numbers), 'trial')}, "
        f"{counted(sum(total.values()), 'event')}, {counted(faults, 'fault')}; "
        f"{above} of {len(waits)} ends took above {PROMISED:g} s, the longest {longest:.1f} s"
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
