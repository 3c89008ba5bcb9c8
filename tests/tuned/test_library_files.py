"""The libraries' own files of rules: which algorithm the library then used."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from contend.cure import Rule, Rules, write_rules
from probe_programs import Build, Mpi, library
from tuned.conftest import PROGRAMS

RULES = (
    Rule((4, 4), (1, 64), (1000, 1999), "shift"),
    Rule((4, 4), (1, 64), (2000, 2999), "linear"),
    Rule((4, 4), (1, 64), (3000, 3999), "inflight"),
)
SCATTERED = Rule((4, 4), (1, 64), (64 << 10, 128 << 10), "scattered")


@pytest.mark.parametrize(
    ("size", "used"),
    [(1000, "pairwise"), (1999, "pairwise"), (2000, "basic_linear"), (3500, "linear_sync")],
)
def test_open_mpi_uses_what_the_rules_say(
    openmpi: Mpi,
    require_program: Callable[[str], str],
    build: Build,
    tmp_path: Path,
    size: int,
    used: str,
) -> None:
    witness = tmp_path / "witness.so"
    source = PROGRAMS / "witness.c"
    cc = require_program("cc")
    subprocess.run([cc, "-shared", "-fPIC", source, "-o", witness, "-ldl"], check=True)
    write_rules(Rules(RULES, mpi="Open MPI 4.1.4"), tmp_path)
    environment = {
        "LD_PRELOAD": str(witness),
        "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
        "OMPI_MCA_coll_tuned_dynamic_rules_filename": str(tmp_path / "openmpi.conf"),
    }
    ended = openmpi.run(4, build(openmpi.wrapper, "sized.c"), size, environment=environment)
    assert ended.output.count("right") == 4, ended.errors
    told = {line for line in ended.errors.splitlines() if line.startswith("witness")}
    assert told == {f"witness: {used}"}


@pytest.mark.parametrize(
    ("ranks", "size", "at_once"),
    [(4, 70000, 4), (4, 128 << 10, 4), (4, (128 << 10) + 1, 1), (4, 60000, 1), (5, 70000, 1)],
)
def test_mpich_uses_what_the_rules_say(
    mpich: Mpi,
    require_program: Callable[[str], str],
    build: Build,
    tmp_path: Path,
    ranks: int,
    size: int,
    at_once: int,
) -> None:
    """By what the rules say all messages at once, its own choice for such sizes one by one."""
    witness = tmp_path / "witness.so"
    source = PROGRAMS / "witness_mpich.c"
    cc = require_program("cc")
    subprocess.run([cc, "-shared", "-fPIC", source, "-o", witness, "-ldl"], check=True)
    write_rules(Rules((SCATTERED,), mpi="MPICH 4.0.2"), tmp_path, Path(library(mpich.wrapper).file))
    environment = {
        "LD_PRELOAD": str(witness),
        "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": str(tmp_path / "mpich.json"),
        # Ranks of one host talk over the network too, where the witness is.
        "MPIR_CVAR_NOLOCAL": "1",
    }
    ended = mpich.run(ranks, build(mpich.wrapper, "sized.c"), size, environment=environment)
    assert ended.output.count("right") == ranks, ended.errors
    told = [line for line in ended.errors.splitlines() if line.startswith("witness")]
    assert told == [f"witness: {at_once} at a time"] * ranks


def test_mpich_reads_its_file(mpich: Mpi, build: Build, tmp_path: Path) -> None:
    folder = tmp_path / "rules"
    files = write_rules(
        Rules((SCATTERED,), mpi="MPICH 4.0.2"), folder, Path(library(mpich.wrapper).file)
    )
    assert files == ("rules.toml", "mpich.json")
    told = json.loads((folder / "mpich.json").read_text())
    assert len(told) > 1
    program = build(mpich.wrapper, "sized.c")
    variable = "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE"
    ended = mpich.run(4, program, 70000, environment={variable: str(folder / "mpich.json")})
    assert ended.output.count("right") == 4, ended.errors
    # Of an algorithm that it does not have MPICH says so: it does read what the rules say.
    chosen = told["collective=alltoall"]["comm_type=intra"]["is_sendbuf_inplace=no"]
    own = chosen["comm_size<=4"]
    own[next(key for key in own if key.startswith("avg_msg_size<="))] = {"algorithm=none": {}}
    (folder / "wrong.json").write_text(json.dumps(told))
    ended = mpich.run(4, program, 70000, environment={variable: str(folder / "wrong.json")})
    assert ended.status != 0
