"""What is recorded of real programs, against two other counts: docs/validation/profiles.md.

Usage: counted.py FOLDER. Programs run as four ranks, recorded: with a library loaded before the
recorder that counts calls and bytes in another way (tests/tracer/programs/counter.c), and on four
emulated hosts, whose cables count bytes too. Prints a row for each. Needs root, five minutes,
Debian's lammps, gromacs, quantum-espresso, hpcc, bagel and nwchem-mpich, and the libraries that
they are linked with.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import cases
import numpy as np

import contend
from contend.lab.mpi.search import packaged

TESTS = cases.HERE.parents[2] / "tests"
sys.path.append(str(TESTS))
from probe_programs import Mpi  # noqa: E402

RANKS = 4
COUNTER = TESTS / "tracer" / "programs" / "counter.c"
COUNTED = {
    f"MPI_{kind}{name}"
    for plain, lower in re.findall(
        r"^(?:COUNTED|I?SEND|COLLECTIVE|REDUCTION|OPERATION)\((\w+),? ?(\w*)",
        COUNTER.read_text(),
        re.MULTILINE,
    )
    for kind, name in (("", plain), ("I", lower))
    if name
}
"""What the other count knows; its Fortran is of the same routines."""
HEADERS = 66
"""Bytes of a packet's headers: Ethernet 14, IP 20, TCP with a time stamp 32."""
HELIUM = """start he
geometry
 He 0 0 0
end
basis
 * library 6-31g
end
task scf energy
"""
PROGRAMS = {
    "lammps": "lmp -in small.in -log none -screen none",
    "gromacs": "gmx_mpi mdrun -s md.tpr -npme 0 -ntomp 1 -dlb no -nsteps 5 -deffnm run",
    "pw": "pw.x -ndiag 1 -in h2.in",
    "hpcc": "hpcc",
    "heat": f"{sys.executable} {cases.HERE / 'heat.py'}",
    "bagel": "BAGEL hf_svp_dfhf.json",
    "nwchem": "nwchem.mpich helium.nw",
}


@dataclass(frozen=True)
class Library:
    """A library, the programs that are counted under it, and those whose bytes cables tell.

    Bytes of broadcasts and the like are told of whom they are for, and libraries carry them along
    trees; so cables tell those of programs in which such collectives are few.
    """

    name: str
    mpi: Mpi
    counted: tuple[str, ...]
    on_cables: tuple[str, ...]


@dataclass(frozen=True)
class Counts:
    """How far what is recorded differs from another count.

    Attributes:
        calls: by the other count.
        routines: that move data and were called.
        sums: of calls and bytes, by rank and routine.
        differing: those of them that differ.
        pairs: of ranks between which messages or bytes differ.
    """

    calls: int
    routines: int
    sums: int
    differing: int
    pairs: int

    def __str__(self) -> str:
        return (
            f"{self.calls:,} calls of {self.routines} routines: {self.differing} of {self.sums} "
            f"sums and {self.pairs} of {RANKS * RANKS} pairs differ"
        )


def libraries() -> Iterator[Library]:
    """Debian's two and the wheel's Open MPI, which has no Fortran.

    Under MPICH mpi4py calls routines with large counts alone, which the other count lacks.
    """
    most = ("lammps", "gromacs", "pw", "hpcc", "heat")
    debian = Mpi("openmpi", "mpicc.openmpi", "mpirun.openmpi")
    yield Library("Open MPI 4.1", debian, most, most)
    wrapper = packaged(dict(os.environ))[0].wrapper
    assert wrapper is not None
    wheel = Mpi("wheel", str(wrapper), str(wrapper.parent / "mpirun"))
    without_fortran = tuple(name for name in most if name != "pw")
    yield Library("Open MPI 5.0", wheel, without_fortran, without_fortran)
    mpich = Mpi("mpich", "mpicc.mpich", "mpirun.mpich")
    yield Library("MPICH 4.0", mpich, ("bagel", "nwchem"), ("heat",))


def prepare(folder: Path) -> None:
    """Inputs of all programs: small ones."""
    cases.prepare(folder)
    (folder / "small.in").write_text(cases.MELT.replace("24", "8"))
    (folder / "helium.nw").write_text(HELIUM)


def run(folder: Path, variables: Mapping[str, str], *words: str) -> None:
    """Runs a command; its failure ends everything."""
    environment = {
        **os.environ,
        **{f"OMPI_ALLOW_RUN_AS_ROOT{end}": "1" for end in ("", "_CONFIRM")},
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
        "OMP_NUM_THREADS": "1",
        "BAGEL_NUM_THREADS": "1",
        **variables,
    }
    ended = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if ended.returncode:
        sys.exit(f"{' '.join(words)}: exit status {ended.returncode}\n{ended.stderr[-2000:]}")


def place(folder: Path, library: Library, program: str, count: str) -> Path:
    """An empty folder for a program's count."""
    made = folder / f"{library.name}-{program}-{count}".replace(" ", "-")
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir()
    return made


def profile(folder: Path, library: Library, to: Path, command: Sequence[str]) -> contend.Profile:
    """Records what a command starts."""
    made = to / "profile"
    words = [*cases.CONTEND, "profile", "--mpi", library.mpi.wrapper, "--output", str(made)]
    variables = {**library.mpi.variables(folder), "COUNTER_FOLDER": str(to)}
    run(folder, variables, *words, "--", *command)
    return contend.Profile.load(made)


def counted(folder: Path, library: Library, program: str) -> Counts:
    """Calls and bytes by rank and routine, and to every peer: recorded, and by the other count."""
    to = place(folder, library, program, "counted")
    counter = to / "counter.so"
    compiler = [library.mpi.wrapper, "-w", "-O1", "-shared", "-fPIC", str(COUNTER)]
    subprocess.run([*compiler, "-o", str(counter)], check=True)
    first = ["sh", "-c", f'LD_PRELOAD="{counter}:$LD_PRELOAD" exec "$@"', "-"]
    ranks = [library.mpi.launcher, "-n", str(RANKS), *first, *PROGRAMS[program].split()]
    result = profile(folder, library, to, ranks)
    calls = result.calls.group_by("rank", "routine").sum().to_dicts()
    recorded = {(row["rank"], str(row["routine"])): (row["calls"], row["bytes"]) for row in calls}
    peers = np.stack(
        [
            result.matrix(what, kind)
            for kind in ("point to point", "collective", "one-sided")
            for what in ("bytes", "messages")
        ],
        axis=2,
    )
    # The last two are what was taken from a rank, which profiles have as sent by it.
    other_peers, other = np.zeros((RANKS, RANKS, 8), peers.dtype), {}
    for rank in range(RANKS):
        for line in (to / f"{rank}.count").read_text().splitlines():
            kind, name, *words = line.split()
            numbers = tuple(map(int, words))
            if kind == "peer":
                other_peers[rank, int(name)] = numbers
            else:
                other[rank, name] = numbers
    sent = other_peers[:, :, :6]
    sent[:, :, 4:] += other_peers[:, :, 6:].transpose(1, 0, 2)
    sums = other.keys() | {key for key in recorded if key[1] in COUNTED}
    return Counts(
        calls=sum(calls for calls, _ in other.values()),
        routines=len({name for _, name in sums}),
        sums=len(sums),
        differing=sum(recorded.get(key) != other.get(key) for key in sums),
        pairs=int(np.count_nonzero(np.any(peers != sent, axis=2))),
    )


def on_cables(folder: Path, library: Library, program: str) -> str:
    """Bytes that hosts' cables counted, less headers, over what profiles say that ranks sent."""
    to = place(folder, library, program, "cables")
    traffic = to / "traffic.json"
    emulate = ["emulate", f"crossbar:{RANKS}", "--rate", "200Mbit", "-n", str(RANKS)]
    emulate += ["--mpi", library.mpi.wrapper, "--json", str(traffic)]
    command = [*cases.CONTEND, *emulate, "--", *PROGRAMS[program].split()]
    sent = profile(folder, library, to, command).matrix().astype(float)
    np.fill_diagonal(sent, 0)
    channels = json.loads(traffic.read_text())["traffic"]["channels"]
    out = [row for row in channels if row["source"].startswith("host")]
    payload = np.array([row["bytes"] - HEADERS * row["packets"] for row in out])
    ratios = payload / sent.sum(axis=1)
    return (
        f"{sent.sum() / 1e6:.2f} MB to other ranks, {payload.sum() / 1e6:.2f} MB on cables: "
        f"{ratios.min():.3f} to {ratios.max():.3f} times a host's"
    )


def main() -> None:
    """Prints both counts of every program under every library."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1]).resolve()
    prepare(folder)
    for example in ("hpcc/examples/_hpccinf.txt", "bagel/examples/hf_svp_dfhf.json"):
        shutil.copy(Path("/usr/share/doc") / example, folder / Path(example).name.lstrip("_"))
    for library in libraries():
        for program in library.counted:
            print(f"{library.name}, {program}: {counted(folder, library, program)}", flush=True)
        for program in library.on_cables:
            print(f"{library.name}, {program}: {on_cables(folder, library, program)}", flush=True)


if __name__ == "__main__":
    main()
