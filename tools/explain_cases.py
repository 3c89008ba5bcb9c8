"""Measures and profiles cases of a known limit, and prints what `contend explain` says of them.

Usage: tools/explain_cases.py FOLDER [CASE ...]. A case that is in the folder already is not
measured again. Needs root, as cables are emulated, and a machine that does little else.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from contend.explanation import Explanation, Limit, explain

KEPT = Path(__file__).parents[1] / "tests" / "data" / "kept"
PORT, FABRIC, MEMORY = Limit.PORT, Limit.FABRIC, Limit.MEMORY
COMPUTATION, COMMUNICATION = Limit.COMPUTATION, "its communication"
OVERHEAD, PROCESSORS = Limit.OVERHEAD, Limit.PROCESSORS
IMBALANCE, TIME_OUTS, HOST_QUEUES = Limit.IMBALANCE, Limit.TIME_OUTS, Limit.HOST_QUEUES
SAMPLES = "--repetitions 6:12 --precision 20% --budget 12s"
# Buffers into which all messages that are under way fit, so that none is dropped.
LARGE = "--buffer 8MB"


@dataclass(frozen=True)
class Case:
    """A measurement and what must limit it."""

    name: str
    """Name of its folder."""
    what: str
    """How the limit was constructed."""
    limits: tuple[Limit, ...]
    """Limits that it must be said to hit; empty: nothing is to be proven."""
    command: str = ""
    """Command of contend measure, or of contend profile with ``PROGRAM`` for that of one_limit.c;
    "" for a run that is kept."""
    cell: str = ""
    """What the name of the cell that counts begins with; "" for all cells."""
    stopped: bool = False
    """Whether rank 1 is stopped for 20 ms again and again, and runs for a moment between."""
    address_space: int | None = None
    """Bytes that each rank may map; None for no limit."""
    kept: str = ""
    """Run that is there already, or a study."""
    fabric: str | None = None
    """Fabric that a kept run was measured on."""


CONSTRUCTED = (
    Case(
        *("port", "8 hosts on one switch, 256 KiB at 50 Mbit/s", (PORT,)),
        f"alltoall -n 8 --on emulated:crossbar:8 --rate 50Mbit {LARGE} -a shift --bytes 256K",
    ),
    Case(
        *("fabric", "16 hosts, one cable up from each leaf of four", (FABRIC,)),
        f"alltoall -n 16 --on 'emulated:xgft:2;4,4;1,1' --route dmodk --rate 50Mbit {LARGE} -a "
        "linear --bytes 64K",
    ),
    Case(
        *("overhead", "2 ranks with a core each, small messages", (OVERHEAD,)),
        "alltoall -n 2 -a shift --bytes 1,16,64",
    ),
    Case(
        *("processors", "8 ranks on the processors of one machine, small", (PROCESSORS,)),
        "alltoall -n 8 -a shift --bytes 1,16,64",
    ),
    Case(
        *("imbalance", "2 ranks, one of which is stopped for 20 ms on and on", (IMBALANCE,)),
        "alltoall -n 2 -a shift --bytes 64K --repetitions 200:200",
        stopped=True,
    ),
    Case(
        *("time-outs", "16 hosts on one switch with buffers of 60 kB", (TIME_OUTS,)),
        "alltoall -n 16 --on emulated:crossbar:16 --rate 100Mbit --buffer 60kB -a linear,shift "
        "--bytes 16K,64K",
        cell="linear, 64 KiB",
    ),
    Case(
        *("host-queues", "the same, with queues of 60 kB in hosts", (HOST_QUEUES,)),
        "alltoall -n 16 --on emulated:crossbar:16 --rate 100Mbit --buffer 60kB --host-queue 60kB "
        "-a linear,shift --bytes 2K,4K,16K",
        cell="linear, 16 KiB",
    ),
    Case(
        *("memory", "a sort of 1.5 GB whose ranks may map 900 MB", (MEMORY,)),
        "sort -n 2 --vectors 1492992 --length 64",
        address_space=900_000_000,
    ),
    Case(
        *("none", "2 ranks on one host, 4 MiB: memory copies", ()),
        "alltoall -n 2 -a shift --bytes 4M",
    ),
    Case(
        *("port+fabric", "16 hosts by twos: cables of 14 messages, ports of 15", (FABRIC, PORT)),
        f"alltoall -n 16 --on 'emulated:xgft:2;2,8;1,2' --route dmodk --rate 50Mbit {LARGE} -a "
        "linear --bytes 64K",
    ),
    Case(
        *("overhead+imbalance", "as imbalance, with small messages", (OVERHEAD, IMBALANCE)),
        "alltoall -n 2 -a shift --bytes 1,16,64 --repetitions 200:200",
        stopped=True,
    ),
)
# What programs of one_limit.c hit; of their run where they compute, else of their communication.
PROFILED = (
    Case(
        *("computes", "2 ranks compute 10 ms and sum one number, on and on", (COMPUTATION,)),
        "profile -n 2 -- PROGRAM computes",
        cell="the run",
    ),
    Case(
        *("late", "the same, but rank 1 computes four times as long", (IMBALANCE,)),
        "profile -n 2 -- PROGRAM imbalance",
        cell=COMMUNICATION,
    ),
    Case(
        *("small", "2 ranks with a core each exchange 8 bytes 100,000 times", (OVERHEAD,)),
        "profile -n 2 -- PROGRAM shift 8 100000",
        cell=COMMUNICATION,
    ),
    Case(
        *("crowded", "the same with 8 ranks on two processors", (PROCESSORS,)),
        "profile -n 8 -- PROGRAM shift 8 100000",
        cell=COMMUNICATION,
    ),
    Case(
        *("shift", "5 hosts on one switch, 24 messages of 256 KiB each", (PORT,)),
        f"profile -n 5 --on emulated:crossbar:5 --rate 50Mbit {LARGE} -- PROGRAM shift 262144 24",
        cell=COMMUNICATION,
    ),
    Case(
        *("tree", "all-to-alls of 16 hosts, one cable up from each leaf of four", (FABRIC,)),
        f"profile -n 16 --on 'emulated:xgft:2;4,4;1,1' --route dmodk --rate 50Mbit {LARGE} -- "
        "PROGRAM alltoall 65536 8",
        cell=COMMUNICATION,
    ),
    Case(
        *("drops", "all-to-alls of 16 hosts, 60 kB, time-outs of 2 s", (TIME_OUTS,)),
        "profile -n 16 --on emulated:crossbar:16 --rate 100Mbit --buffer 60kB --rto-min 2s -- "
        "PROGRAM alltoall 65536 20",
        cell=COMMUNICATION,
    ),
    Case(
        *("host-drops", "the same of 16 KiB, with queues of 60 kB in hosts", (HOST_QUEUES,)),
        "profile -n 16 --on emulated:crossbar:16 --rate 100Mbit --buffer 60kB --host-queue 60kB -- "
        "PROGRAM alltoall 16384 20",
        cell=COMMUNICATION,
    ),
    Case(
        *("copies", "2 ranks on one host exchange 8 MiB 300 times: memory copies", ()),
        "profile -n 2 -- PROGRAM shift 8388608 300",
        cell=COMMUNICATION,
    ),
)
OTHERS = (
    Case(
        *("bisect", "bisect patterns over the tree of one cable a leaf", (FABRIC,)),
        f"bisect -n 16 --on 'emulated:xgft:2;4,4;1,1' --route dmodk --rate 50Mbit {LARGE} "
        "--patterns 8 --bytes 64K --packets 4",
    ),
    Case(
        *("three-up", "three cables up from four: one carries 24 messages", (FABRIC,)),
        f"alltoall -n 16 --on 'emulated:xgft:2;4,4;1,3' --route dmodk --rate 50Mbit {LARGE} -a "
        "linear --bytes 64K",
    ),
    Case(
        *("hotspot", "a stream beside two rivals on its channel", (FABRIC,)),
        "hotspot -k 0,2 --on emulated:fig1 --rate 100Mbit --bytes 64K",
        cell="stream beside 2 rivals",
    ),
    Case(
        *("sort", "the exchange of a sort on 8 hosts on one switch", (PORT,)),
        f"sort -n 8 --on emulated:crossbar:8 --rate 50Mbit {LARGE} --vectors 65536 --length 32",
    ),
    Case(
        *("pingpong", "1 MiB between two hosts", (PORT,)),
        "pingpong -n 2 --on emulated:crossbar:2 --rate 100Mbit --bytes 1M",
    ),
    Case(
        *("two-a-host", "two ranks behind every port", (PORT,)),
        f"alltoall -n 8 --ranks-per-host 2 --on emulated:crossbar:4 --rate 50Mbit {LARGE} "
        "-a linear --bytes 128K",
    ),
    Case(
        *("kept-alltoall", "kept: small messages of two ranks", (OVERHEAD,)),
        kept="alltoall",
        cell="shift, 1 B",
    ),
    Case(
        *("kept-pingpong", "kept: 2 bytes between two ranks", (OVERHEAD,)),
        kept="pingpong",
        cell="pingpong, 2 B",
    ),
    Case(
        *("kept-sort", "kept: 512 KiB in one host's memory", ()),
        kept="sort",
        cell="library-v, 512 KiB, 2 ranks on 1 host, input uniform",
    ),
    Case(
        *("kept-hotspot", "kept: a stream beside a rival on its channel", (FABRIC,)),
        kept="hotspot",
        cell="stream beside 1 rival, 64 KiB",
        fabric="fig1",
    ),
    Case(
        *("mistry2015", "published: m = 512N on 9 nodes", (PORT,)),
        kept="mistry2015",
        cell="paper, m = 512N, 72 ranks",
    ),
    Case(
        *("kutzner2005", "published: tuned, 128 processes", (TIME_OUTS,)),
        kept="kutzner2005",
        cell="2005, tuned",
    ),
)


def main(arguments: Sequence[str]) -> int:
    """Measures what is not there yet, then prints all that is; 1 where something else was said."""
    folder, *names = arguments
    failed = 0
    groups = (("Constructed", CONSTRUCTED), ("Profiled", PROFILED), ("Others", OTHERS))
    for title, cases in groups:
        print(f"\n{title}\n| case | what it is | limit | what was said | times |")
        print("| --- | --- | --- | --- | --- |")
        for case in cases:
            if names and case.name not in names:
                continue
            explanation = explain(_measured(case, Path(folder)), fabric=case.fabric)
            expected = ", ".join(case.limits) or "not proven"
            for said, times in _said(case, explanation):
                wrong = "" if said == expected else " **(not that)**"
                failed += bool(wrong)
                print(f"| {case.name} | {case.what} | {expected} | {said}{wrong} | {times} |")
    return min(failed, 1)


def _said(case: Case, explanation: Explanation) -> Iterator[tuple[str, str]]:
    """The verdicts of the cells that count, and how many times its bounds each takes."""
    for verdict in explanation.cells:
        evidence = verdict.evidence
        if evidence.cell.startswith(case.cell):
            bounds = (evidence.bound(limit) for limit in Limit)
            times = ", ".join(
                f"{bound.limit} {evidence.ratio(bound):.3g}"
                for bound in bounds
                if bound is not None
            )
            yield ", ".join(verdict.proven) or "not proven", times


def _measured(case: Case, folder: Path) -> Path | str:
    """Where the case's run is; it is measured where it is not there."""
    if case.kept:
        kept = KEPT / case.kept
        return kept if kept.is_dir() else case.kept
    run = folder / case.name
    if not any((run / name).exists() for name in ("run.json", "profile.json")):
        command = _command(case, folder)
        with ExitStack() as stack:
            if case.address_space is not None:
                launcher = stack.enter_context(_limited(folder, case))
                command += ["--launcher", launcher]
            log = stack.enter_context((folder / f"{case.name}.log").open("w"))
            with subprocess.Popen(command, stdout=log, stderr=log) as process:
                try:
                    if case.stopped:
                        _stop_on_and_on(process)
                    process.wait(timeout=150)
                finally:
                    process.terminate()
    return run


def _command(case: Case, folder: Path) -> list[str]:
    """The whole command that measures or profiles a case."""
    verb, *options = shlex.split(case.command)
    output = ["--output", str(folder / case.name)]
    if verb == "profile":
        program = str(_program(folder))
        words = [program if word == "PROGRAM" else word for word in options]
        return [*_contend(), verb, *output, *words]
    # Of an option that is given twice the latter counts.
    return [*_contend(), "measure", verb, *output, *shlex.split(SAMPLES), *options]


def _program(folder: Path) -> Path:
    """The program of one_limit.c, compiled by the machine's own wrapper."""
    program = folder / "one_limit"
    source = Path(__file__).with_name("one_limit.c")
    subprocess.run(["mpicc", "-g", "-O1", str(source), "-o", str(program)], check=True)
    return program.resolve()


def _contend() -> list[str]:
    return [sys.executable, "-c", "from contend.cli import main; main()"]


@contextmanager
def _limited(folder: Path, case: Case) -> Iterator[str]:
    """A launcher whose ranks may map so much; the launcher itself may, too."""
    script = folder / f"{case.name}.sh"
    assert case.address_space is not None
    script.write_text(
        f'#!/bin/bash\nulimit -v {case.address_space // 1024}\nexec mpirun "$@"\n', encoding="ascii"
    )
    script.chmod(0o755)
    yield f"{script} --allow-run-as-root -n {{ranks}}"


def _stop_on_and_on(process: subprocess.Popen[bytes]) -> None:
    """Stops rank 1 of what a process started for 20 ms, again and again, until the process ends."""
    rank = None
    while rank is None and process.poll() is None:
        time.sleep(0.01)
        rank = _rank_below(process.pid)
    with suppress(ProcessLookupError):
        while rank is not None and process.poll() is None:
            os.kill(rank, signal.SIGSTOP)
            time.sleep(0.02)
            os.kill(rank, signal.SIGCONT)
            # It runs for a little longer than that, as nobody sleeps for so short a time.
            time.sleep(0.0001)


def _rank_below(ancestor: int) -> int | None:
    """Rank 1 of a probe among the processes that another one started; None before it runs."""
    parent, names = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            name, _, rest = (folder / "stat").read_text().partition("(")[2].rpartition(")")
            names[int(folder.name)], parent[int(folder.name)] = name, int(rest.split()[1])
    for process, name in names.items():
        above = process
        while above not in (0, ancestor):
            above = parent.get(above, 0)
        if above == ancestor and name.startswith("alltoall-"):
            with suppress(OSError):
                words = (Path("/proc") / str(process) / "environ").read_bytes().split(b"\0")
                if b"OMPI_COMM_WORLD_RANK=1" in words:
                    return process
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
