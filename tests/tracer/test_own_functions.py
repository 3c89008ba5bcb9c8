"""Functions of the program's own that the library calls: their time is theirs, and no call's."""

from __future__ import annotations

from pathlib import Path

import pytest

import contend
from probe_programs import Build, Mpi
from tracer.conftest import Run

OWN = {
    ("own reduction", "add", 20),
    ("own attribute callback", "copy", 1),
    ("own attribute callback", "gone", 1),
    ("own error handler", "handle", 1),
    ("own request callback", "query", 1),
    ("own request callback", "release", 1),
}


@pytest.mark.parametrize("arguments", [(), ("in order",)])
def test_own_functions_have_rows_of_their_own(
    any_mpi: Mpi, build: Build, run_recorded: Run, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    recorded = run_recorded(any_mpi, 1, build(any_mpi.wrapper, "own.c"), *arguments)
    assert recorded.ended.status == 0, recorded.ended.errors
    profile = recorded.profile(tmp_path / "p", "./own")
    own = profile.findings.own
    assert set(own.select("routine", "symbol", "calls").iter_rows()) == OWN
    assert set(own["place"].str.head(6)) == {"own.c:"}
    # 20 times 2 ms and 3 more; nothing counts twice.
    seconds = float(own["seconds"].sum())
    assert seconds >= 23 * 2e-3
    assert seconds + profile.findings.mpi_s <= profile.findings.all_run_s
    assert "is in the program's own reduction add at own.c:" in profile.findings.verdict
    [cell, *_] = contend.explain(profile).cells
    assert "computation" in cell.proven
    assert "in the program's own reduction add at own.c:" in cell.limits[0].why
