"""`contend profile` from outside, on a real program whose messages and late rank are known."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

import contend
from built_records import ALLREDUCE, Rank, leave_records
from contend.base.units import format_link_speed
from contend.cli.app import run
from contend.lab.mpi import launch_environment
from contend.prediction import program_of
from contend.traffic.schedule import Action
from probe_programs import Mpi, library
from processes import CONTEND, finished
from typed_commands import Typed

SOURCE = Path(__file__).with_name("late.c")
STEPS, RANKS, MESSAGE = 40, 4, 8000


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {"folder": tmp_path_factory.mktemp("late")}


def _program(mpi: Mpi, built: dict[str, Path]) -> Path:
    if mpi.wrapper not in built:
        made = built["folder"] / f"late-{len(built)}"
        command = [mpi.wrapper, "-g", "-O1", str(SOURCE), "-o", str(made)]
        subprocess.run(command, check=True, env=dict(library(mpi.wrapper).environment))
        built[mpi.wrapper] = made
    return built[mpi.wrapper]


def _profile(
    folder: Path, *arguments: str, mpi: Mpi | None = None, within: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    return finished(
        [*within, *CONTEND, "profile", "--output", str(folder), *arguments],
        env=launch_environment(os.environ if mpi is None else library(mpi.wrapper).environment),
    )


def _line_of(words: str) -> int:
    lines = SOURCE.read_text().splitlines()
    [number] = [number for number, line in enumerate(lines, 1) if words in line]
    return number


def test_a_program_of_any_library(any_mpi: Mpi, built: dict[str, Path], tmp_path: Path) -> None:
    """40 messages of 8,000 bytes to the next rank; all wait 50 ms each time for rank 1."""
    program, folder = _program(any_mpi, built), tmp_path / "p"
    table = tmp_path / "it.json"
    ended = _profile(
        folder, "--json", str(table), "--", any_mpi.launcher, "-n", str(RANKS), str(program),
        "much later", mpi=any_mpi,
    )  # fmt: skip
    assert (ended.returncode, ended.stdout) == (0, "done\n"), ended.stderr
    profile = contend.Profile.load(folder)
    assert profile.findings.verdict in ended.stderr
    point_to_point = profile.matrix(kind="point to point")
    assert np.array_equal(point_to_point, STEPS * MESSAGE * np.roll(np.eye(RANKS), 1, axis=1))
    assert profile.matrix("messages", "point to point").sum() == STEPS * RANKS
    schedule = program_of(profile).schedule
    carried = (schedule.action == Action.SEND) & (schedule.amount == MESSAGE)
    assert carried.sum() == STEPS * RANKS
    calls = {row.routine: row for row in profile.findings.routines}
    assert calls["MPI_Allreduce"].calls == STEPS * RANKS
    assert calls["MPI_Sendrecv"].calls == STEPS * RANKS
    places = {(row.routine, row.place) for row in profile.findings.places}
    assert ("MPI_Allreduce", f"late.c:{_line_of('the collective')}") in places
    assert {place for routine, place in places if routine == "MPI_Sendrecv"} <= {
        f"late.c:{number}" for number in range(_line_of("the exchange") - 1, 16)
    }
    by_rank = profile.findings.ranks
    assert by_rank.sort("caused_s")["rank"][-1] == 1
    waiting = by_rank["waiting_s"].to_list()
    assert waiting[1] < min(waiting[0], *waiting[2:])
    [phase] = profile.record.phases
    assert (phase.rounds, phase.calls) == (STEPS, 2)
    assert profile.record.missing == ()
    told = json.loads(table.read_text())
    assert (told["status"], told["ranks"], told["command"][-2]) == (0, RANKS, str(program))
    assert not (folder / "records").exists()


def test_programs_of_one_script_are_profiles_beside_each_other(
    debian_mpi: Mpi, built: dict[str, Path], tmp_path: Path
) -> None:
    """Two ranks, then three, by one command: each is told, by PMIx or PMI; the JSON has both."""
    program, folder, table = _program(debian_mpi, built), tmp_path / "p", tmp_path / "it.json"
    script = f"{debian_mpi.launcher} -n 2 {program} && {debian_mpi.launcher} -n 3 {program}"
    ended = _profile(
        folder, "--json", str(table), "--mpi", debian_mpi.wrapper, "--", "sh", "-c", script,
        mpi=debian_mpi,
    )  # fmt: skip
    assert (ended.returncode, ended.stdout) == (0, "done\ndone\n"), ended.stderr
    profiles = [contend.Profile.load(tmp_path / name) for name in ("p", "p-2")]
    assert [profile.size for profile in profiles] == [2, 3]
    for profile in profiles:
        calls = profile.calls.filter(profile.calls["routine"] == "MPI_Allreduce")
        assert calls["calls"].sum() == STEPS * profile.size
        assert profile.findings.verdict in ended.stderr
        assert profile.record.missing == ()
    assert f"{program.name}, begun after p:" in ended.stderr
    told = json.loads(table.read_text())["results"]
    assert [one["origin"][:9] for one in told] == ["the first", "begun aft"]


def test_an_interruption_reaches_the_program_and_keeps_what_was_recorded(
    openmpi: Mpi, built: dict[str, Path], tmp_path: Path
) -> None:
    command = ["--", openmpi.launcher, "-n", "4", str(_program(openmpi, built)), "sleep"]
    process = subprocess.Popen(
        [*CONTEND, "profile", "--output", str(tmp_path / "p"), *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=launch_environment(os.environ),
        start_new_session=True,
    )
    assert process.stdout.readline() == "asleep\n"
    # As a terminal does it: everybody in the foreground hears of it.
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "4 ranks spent" in errors
    assert contend.Profile.load(tmp_path / "p").record.status is None


def test_a_profile_is_explained(
    openmpi: Mpi, built: dict[str, Path], tmp_path: Path, typed: Typed
) -> None:
    """Two ranks, of which one enters every collective 50 ms after the other.

    That is more than a loaded machine makes either of them wait for its turn on a processor.
    """
    folder = tmp_path / "p"
    program = str(_program(openmpi, built))
    ended = _profile(folder, "-n", "2", "--mpi", openmpi.wrapper, "--", program, "much later")
    assert ended.returncode == 0, ended.stderr
    result = json.loads(typed("explain", folder, "--json", "-").out)
    cells = {cell["cell"]: cell for cell in result["cells"]}
    [limit] = cells["its communication"]["limits"]
    own = contend.Profile.load(folder).record.cpus
    assert limit["limit"] == ("imbalance" if own and own > 1 else "shared processors")
    assert "rank 1 in" in limit["why"]
    assert f"MPI_Allreduce called at late.c:{_line_of('the collective')}" in cells
    printed = typed("explain", folder, "--memory", "1GiB", status=2)
    assert "a profile says nothing about memory" in printed.err


def test_the_recorder_lies_where_all_hosts_see_it(
    openmpi: Mpi, built: dict[str, Path], tmp_path: Path
) -> None:
    """In the profile's folder, until that is merged."""
    program = _program(openmpi, built)
    ended = _profile(
        tmp_path / "p", "--", openmpi.launcher, "-n", "1",
        "sh", "-c", 'echo "$LD_PRELOAD"; exec "$0"', str(program),
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == f"{tmp_path / 'p' / 'records' / 'recorder.so'}\ndone\n"
    assert not (tmp_path / "p" / "records").exists()


def test_ranks_of_another_library_are_told(
    openmpi: Mpi,
    built: dict[str, Path],
    tmp_path: Path,
    require_program: Callable[[str], str],
) -> None:
    ended = _profile(
        tmp_path / "p", "--mpi", require_program("mpicc.mpich"), "--",
        openmpi.launcher, "-n", "2", str(_program(openmpi, built)),
    )  # fmt: skip
    assert (ended.returncode, ended.stdout) == (1, "done\n")
    [line] = ended.stderr.splitlines()
    assert "left no record: its ranks loaded " in line
    assert "libmpi.so" in line
    assert line.endswith("name theirs with --mpi")
    assert not (tmp_path / "p").exists() or not any((tmp_path / "p").iterdir())


@pytest.mark.usefixtures("permitted")
def test_ranks_on_an_emulated_fabric(openmpi: Mpi, built: dict[str, Path], tmp_path: Path) -> None:
    ended = _profile(
        tmp_path / "p", "-n", "4", "--on", "emulated:crossbar:4", "--rate", "20Mbit",
        "--mpi", openmpi.wrapper, "--label", "cables=slow", "--", str(_program(openmpi, built)),
        mpi=openmpi,
    )  # fmt: skip
    assert (ended.returncode, ended.stdout) == (0, "done\n"), ended.stderr
    profile = contend.Profile.load(tmp_path / "p")
    assert [host.name for host in profile.record.hosts] == [f"host-{n}" for n in range(1, 5)]
    assert profile.record.rank_hosts == (0, 1, 2, 3)
    assert profile.record.place.startswith("emulated:crossbar:4")
    assert profile.record.labels == {"cables": "slow"}
    assert profile.record.asked["fabric"] == "crossbar:4"
    assert profile.record.asked["rate"] == "20 Mbit/s"
    # What the cables are, unless this machine carries less.
    wire = profile.record.wire_Bps
    assert wire is not None
    assert 0.125e6 < wire <= 2.5e6
    assert f"({format_link_speed(wire)} per cable, " in profile.record.place
    assert profile.record.drops is not None
    assert profile.matrix(kind="point to point").sum() == RANKS * STEPS * MESSAGE


def test_a_command_without_mpi_gets_one_line(openmpi: Mpi, tmp_path: Path) -> None:
    folder = tmp_path / "p"
    ended = _profile(folder, "--mpi", openmpi.wrapper, "--", "true")
    assert ended.returncode == 1
    [line] = ended.stderr.splitlines()
    assert line.startswith("contend: true left no record")
    assert not folder.exists()
    ended = _profile(folder, "--mpi", openmpi.wrapper, "--", "sh", "-c", "exit 5")
    assert ended.returncode == 5
    [line] = ended.stderr.splitlines()
    assert line == "contend: sh ended with 5 before any rank had left a record"


@pytest.mark.parametrize(
    ("record", "line", "said"),
    [
        (
            "64MiB",
            "ulimit -f 20000",
            "a record of 64 MiB is more than ulimit -f lets ranks write",
        ),
        (
            "1GiB",
            "ulimit -v 2000000",
            "no memory for a record of 1 GiB in ranks, as with ulimit",
        ),
        ("1MiB", "export LD_PRELOAD=", "line 2 of {script} sets LD_PRELOAD anew: let it set"),
        ("1MiB", "unset CONTEND_PROFILE", "line 2 of {script} takes CONTEND_PROFILE away"),
    ],
)
def test_why_ranks_have_no_record(
    openmpi: Mpi, built: dict[str, Path], tmp_path: Path, record: str, line: str, said: str
) -> None:
    """And the program runs on, with what it is left."""
    script = tmp_path / "wrap.sh"
    script.write_text(f'#!/bin/sh\n{line}\nexec "$@"\n')
    script.chmod(0o755)
    ended = _profile(
        tmp_path / "p", "--record", record, "--",
        openmpi.launcher, "-n", "2", str(script), str(_program(openmpi, built)),
    )  # fmt: skip
    assert (ended.returncode, ended.stdout) == (1, "done\n"), ended.stderr
    why = f"contend: {openmpi.launcher} left no record: {said.format(script=script)}"
    assert ended.stderr.splitlines()[-1].startswith(why)


def test_a_disk_without_room_for_records(
    openmpi: Mpi, built: dict[str, Path], tmp_path: Path
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    script = f'mount -t tmpfs -o size=16m none {disk} && exec "$@"'
    within = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]
    ended = _profile(
        disk / "p", "--", openmpi.launcher, "-n", "2", str(_program(openmpi, built)), within=within
    )
    assert (ended.returncode, ended.stdout) == (1, "done\n"), ended.stderr
    why = f"left no record: no room for a record of 16 MiB of each rank in {disk / 'p'}: use"
    assert why in ended.stderr.splitlines()[-1]


def test_what_is_no_program_of_mpi_is_refused(tmp_path: Path) -> None:
    ended = _profile(tmp_path / "p", "--", "true")
    assert ended.returncode == 3
    [line] = ended.stderr.splitlines()
    assert "cannot tell which MPI library true is for" in line


def _kept(folder: Path) -> Path:
    ranks = [Rank(number, 4) for number in range(4)]
    for rank in ranks:
        rank.collective(1000 * rank.rank, 9000, rank.cell(ALLREDUCE))
        rank.sent = {(rank.rank + 1) % 4: (500, 1)}
    return leave_records(folder, ranks)


def test_report_merges_what_was_not_merged_and_writes_everything(
    tmp_path: Path, typed: Typed
) -> None:
    folder, targets = _kept(tmp_path / "p"), {}
    for name in ("markdown", "csv", "json", "plot", "matrix"):
        ending = {"plot": "html", "matrix": "npy"}.get(name, name)
        targets[name] = tmp_path / f"it.{ending}"
    options = [word for name, path in targets.items() for word in (f"--{name}", str(path))]
    assert typed("report", folder, *options).out.startswith("4 ranks spent")
    assert targets["markdown"].read_text().startswith("4 ranks spent")
    assert json.loads(targets["json"].read_text())["ranks"] == 4
    assert targets["plot"].read_text().count("<svg") == 4
    pattern = ["simulate", "crossbar:4", "--pattern", f"file:{targets['matrix']}"]
    assert run([*pattern, "--placement", "linear"]) == 0
    assert np.array_equal(np.load(targets["matrix"]), 500 * np.roll(np.eye(4), 1, axis=1))


def test_two_profiles_are_compared(tmp_path: Path, typed: Typed) -> None:
    first, second = _kept(tmp_path / "one"), _kept(tmp_path / "two")
    assert "two takes 1.00 times as long" in typed("report", first, second).out
