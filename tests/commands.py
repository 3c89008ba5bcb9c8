"""Commands that pages and printed texts show: each is carried out, in small, or up to its start.

What measures, emulates, records or watches is told everything but to start: its options, files and
fabrics are read as ever.
"""

from __future__ import annotations

import lzma
import re
import shlex
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest

import contend
from built_records import RECEIVE, SEND, Rank, leave_records, no_program
from campaign.kinds import made_calibration
from contend.cli.app import VERBS, run
from contend.fabric import Fabric
from contend.lab.emulation import host_labels
from contend.prediction import FILE
from contend.profiling import merge
from fake_hosts import FakeHosts
from measured_runs import alltoall_run
from nccl_outputs import printed

CHECKOUT = Path(__file__).parents[1]
SOURCE = CHECKOUT / "src" / "contend"
DEMO, SMALL = CHECKOUT / "demo", CHECKOUT / "tests" / "data" / "kept" / "small.toml"
RUNS, _PROFILES = "contend-runs/", ("profile-2026-11-21-1", "profile-2026-11-22-1")

VERB = re.compile(rf"\bcontend (?:{'|'.join(str(verb.name) for verb in VERBS)})\b")
# What stands for something that the reader knows.
PLACEHOLDERS = {
    "N": "2",
    "SIZE": "64KiB",
    "HOSTFILE": "hosts",
    "FILE": "net.lfts",
    "FABRIC": "net.fabric",
    "COMMAND": "./app",
    "PROGRAM": "./app",
    "PROFILE": "before",
    "RUN": "run",
    "RULES": "learnt",
    "/opt/openmpi-5.0": "./app",
    "PLAN": "PLAN.toml",
    "OLD": "net.fabric",
    "NEW": "other.fabric",
    # Of other networks than the demo.
    "top 1": "elbe-spine1",
    "spine 3:12": "elbe-spine3:12",
}
_STARTED = (
    *("lab.measurement.measuring.Session", "prediction.calibrating.Session"),
    *("lab.studies.measured.Session", "lab.studies.verification.Session"),
    *("profiling.run_recorded", "lab.measurement.ready_command", "lab.emulation.emulate"),
    "congestion.watch",
)
_PROGRAMS = ("lmp", "mpirun", "mpiexec", "srun", "timeout")
_SAMPLED = ("simulate", "fabric failures", "fabric improve")
# Whose judgement a status of 1 is; without OpenSM, some of several simulations fail.
_JUDGES = ["fabric check", "fabric diff", "mpi", "study"]
_JUDGES += [] if shutil.which("ibsim") else ["simulate"]


class _AboutToStart(Exception):  # noqa: N818 - no error of contend
    pass


def commands_in(line: str) -> Iterator[list[str]]:
    """The words of every command of contend in a line of a shell."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="();<>|&")
    lexer.whitespace_split = True
    words: list[str] = []
    for word in [*lexer, ";"]:
        if word.strip("();<>|&"):
            words.append(word)
        else:
            if words[:1] == ["contend"]:
                yield [PLACEHOLDERS.get(each, each) for each in words[1:]]
            words = []


@contextmanager
def _nothing_starts() -> Iterator[None]:
    def start(*_: object, **__: object) -> NoReturn:
        raise _AboutToStart

    @contextmanager
    def emulated(_: object, fabric: Fabric, __: object, **___: object) -> Iterator[Any]:
        slots = tuple((name, None) for name in host_labels(fabric))
        yield FakeHosts(slots=slots, fabric=fabric, wire=1e7, name=f"emulated:{fabric.name}")

    with pytest.MonkeyPatch.context() as patch:
        for name in _STARTED:
            patch.setattr(f"contend.{name}", start)
        patch.setattr("contend.cli.options.where.Where.emulated", emulated)
        yield


def carry_out(words: list[str]) -> bool:
    """Whether a command ran; False where it was about to start something.

    Raises:
        AssertionError: it was refused.
    """
    verb = " ".join(words[: 2 if words[0] == "fabric" else 1])
    if verb in ("measure", "calibrate", "profile"):
        # Pages go on with what such a command has left, which is there.
        words = [f"new-{word}" if Path(word).is_dir() else word for word in words]
    # Where a page names a folder of the system.
    words = [re.sub("^/(?:opt|etc)/.*/", "", word) for word in words]
    small = ["--samples", "20"] if verb in _SAMPLED and "--samples" not in words else []
    with _nothing_starts():
        try:
            status = run([*words, *small])
        except _AboutToStart:
            return False
    assert status in ((0, 1, 3) if verb in _JUDGES else (0, 3)), shlex.join(words)
    return status != 3


def workplace(folder: Path) -> None:
    """Makes the files that commands on pages name: those of the demo, runs, a profile, programs."""
    net, tables = ((DEMO / f"elbe.{kind}").read_bytes() for kind in ("ibnetdiscover", "lfts"))
    for name in ("net.ibnetdiscover", "net", "today", "yesterday", "last-week.ibnetdiscover"):
        (folder / name).write_bytes(net)
    for name in ("net.lfts", "today.lfts", "yesterday.lfts", "running.lfts"):
        (folder / name).write_bytes(tables)
    (folder / "net.lfts.xz").write_bytes(lzma.compress(tables))
    fabric = contend.load(folder / "net", routes=folder / "net.lfts")
    for name in ("net.fabric", "other.fabric", "topology.dot"):
        contend.routes.save(fabric, folder / name)
    with tarfile.open(folder / "ibdiagnet.tar.gz", "w:gz") as archive:
        archive.add(folder / "net", "net.ibnetdiscover")
        archive.add(folder / "net.lfts", "net.lfts")
    names = list(dict.fromkeys(name.split()[0] for name in fabric.host_name))
    for name in ("hosts", "hosts.txt", "job.hosts", "job"):
        (folder / name).write_text("\n".join(names[:64]) + "\n")
    (folder / "squeue.json").write_text(f"1,{names[0]}\n")
    (folder / "jobs").write_text(f"1,{names[0]}\n2,{names[2]}\n")
    guid, port = int(fabric.switch_guid[0]), int(fabric.cable_from_port[0])
    (folder / "counters").mkdir()
    for name in ("now", "counters.txt", "counters/now"):
        text = f"   GUID {guid:#x} port {port}: [PortXmitData == 5]\n"
        (folder / name).write_text(text)
    alltoall_run(
        folder / "run",
        hosts=names[:16],
        launches=2,
        sizes=(4, 65536),
        schedules=("library", "shift"),
    )
    for name in ("measured", "libs", "openmpi-run", "mpich-run", f"{RUNS}alltoall-2026-11-21-1"):
        shutil.copytree(folder / "run", folder / name)
    contend.tune(folder / "run", output=folder / "learnt")
    profile_of_two(folder / "before", names[:2])
    for name in (*("hung", "late1", "melt", "traced"), *(f"{RUNS}{day}" for day in _PROFILES)):
        shutil.copytree(folder / "before", folder / name)
    (folder / "alltoall.txt").write_text(printed("alltoall_perf", names[:2], {1 << 20: 1e-3}))
    (folder / "costs").mkdir()
    (folder / "costs" / FILE).write_bytes(made_calibration())
    (folder / "PLAN.toml").write_text(SMALL.read_text())
    for name in ("app", "exchange", "late", "hang", "my-mpi-program", "job.sh", *_PROGRAMS):
        program = folder / name
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    (folder / "squeue").write_text(f"#!/bin/sh\necho 1,{names[0]}\n")
    (folder / "squeue").chmod(0o755)


def profile_of_two(folder: Path, hosts: list[str]) -> None:
    """A profile of two ranks that exchange 8 MB in 0.2 s of 1 s."""
    run: Any = {"started": 0, "ended": 10**9, "offsets": ((0, 0, 0), (10**9, 0, 0))}
    ranks = [Rank(n, 2, host=host, **run) for n, host in enumerate(hosts)]
    for rank, peer, order in ((ranks[0], 1, (SEND, RECEIVE)), (ranks[1], 0, (RECEIVE, SEND))):
        for at, routine in enumerate(order):
            cell = rank.cell(routine, ticks=10**8, size=8_000_000, size_class=23)
            rank.event(at * 10**8, (at + 1) * 10**8, cell, peer=peer, size=8_000_000)
        rank.sent = {peer: (8_000_000, 1)}
    merge(leave_records(folder, ranks, wire_Bps=1e9), run=no_program)
