"""The drop-in all-to-all and the recorder, both preloaded: each does its part."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from contend.cure import Rule, Rules, write_rules
from contend.lab.mpi import Preloaded, carry, record
from probe_programs import Build, Mpi
from rank_records import read_records


def _recorded(folder: Path) -> Counter[str]:
    """Calls of all ranks by routine."""
    calls: Counter[str] = Counter()
    for rank in read_records(folder):
        calls.update({name: count for name, (count, _) in rank.totals().items()})
    return calls


@pytest.mark.parametrize("outer", ["recorder", "tuned"])
def test_each_counts_what_reaches_it(
    debian_mpi: Mpi,
    build: Build,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    outer: str,
) -> None:
    rules, profile = tmp_path / "rules", tmp_path / "profile"
    write_rules(Rules((Rule((3, 3), (1, 64), (0, 99), "shift"),)), rules)
    program = build(debian_mpi.wrapper, "sized.c")
    command = [debian_mpi.launcher, "-n", "3", str(program), "50"]
    environment: dict[str, str] = {"CONTEND_TUNED_REPORT": "1"}

    def load(preloaded: Preloaded) -> list[str]:
        for key, value in preloaded.variables.items():
            monkeypatch.setenv(key, value)
            environment[key] = value
        return list(preloaded.words)

    # What is added last is what the program meets first.
    if outer == "recorder":
        command = load(carry(command, rules, debian_mpi.wrapper))
        command = load(record(command, profile, None, debian_mpi.wrapper))
    else:
        command = load(record(command, profile, None, debian_mpi.wrapper))
        command = load(carry(command, rules, debian_mpi.wrapper))
    ended = debian_mpi.run_command(command, environment)
    assert ended.status == 0, ended.errors
    assert ended.output.count("right") == 3, ended.errors
    assert "contend: 3 calls of all-to-alls carried, 0 passed on: shift 3" in ended.errors
    calls = _recorded(profile)
    if outer == "recorder":
        assert calls["MPI_Alltoall"] == 3
        assert calls["MPI_Isend"] == 0
    else:
        # Two messages to others and one to itself.
        assert calls["MPI_Alltoall"] == 0
        # Two messages to others and one to itself.
        assert calls["MPI_Isend"] == 9
