"""Ranks that disagree, or lack the drop-in library: one line, and the program runs as ever."""

from __future__ import annotations

from pathlib import Path

import pytest

from contend.cure import Rule, Rules, write_rules
from contend.lab.mpi import carry
from probe_programs import Build, Ended, Mpi

# Rank R finds in R.sh what differs for it.
SCRIPT = """\
#!/bin/sh
own=$(dirname "$0")/${OMPI_COMM_WORLD_RANK:-$PMI_RANK}.sh
[ -e "$own" ] && . "$own"
exec "$@"
"""


def _run(
    mpi: Mpi, build: Build, folder: Path, differs: dict[int, str], report: str = "1"
) -> tuple[Ended, list[str]]:
    """Three ranks, of which some differ; and what contend said."""
    rules = folder / "rules"
    for name, schedule in (("rules", "shift"), ("others", "linear")):
        write_rules(Rules((Rule((3, 3), (1, 64), (0, 99), schedule),)), folder / name)
    script = folder / "script"
    script.write_text(SCRIPT)
    script.chmod(0o755)
    for rank, text in differs.items():
        (folder / f"{rank}.sh").write_text(text)
    program = build(mpi.wrapper, "sized.c")
    command = [mpi.launcher, "-n", "3", str(script), str(program), "50"]
    loaded = carry(command, rules, mpi.wrapper)
    environment = {**loaded.variables, "CONTEND_TUNED_REPORT": report}
    environment["CONTEND_TUNED_SIGN_IN"] = str(rules)
    ended = mpi.run_command(loaded.words, environment)
    assert ended.status == 0, ended.errors
    assert ended.output.count("right") == 3, ended.errors
    assert loaded.took()
    return ended, [line for line in ended.errors.splitlines() if line.startswith("contend: ")]


@pytest.mark.parametrize(
    ("any_mpi", "missing"), [("openmpi", 0), ("mpich", 2), ("wheel", 2)], indirect=["any_mpi"]
)
def test_ranks_without_the_library_are_named(
    any_mpi: Mpi, build: Build, tmp_path: Path, missing: int
) -> None:
    _, [line] = _run(any_mpi, build, tmp_path, {missing: "unset LD_PRELOAD\n"})
    assert line.startswith(f"contend: 1 of 3 ranks ({missing}")
    assert "run without the drop-in all-to-all" in line
    assert line.endswith("no all-to-all goes by rules")


def test_ranks_with_other_rules_are_named(openmpi: Mpi, build: Build, tmp_path: Path) -> None:
    other = f"export CONTEND_TUNED={tmp_path / 'others'}\n"
    _, [line] = _run(openmpi, build, tmp_path, {1: other})
    assert line.startswith("contend: 1 of 3 ranks (1")
    assert "have another rules.toml than rank 0" in line


def test_all_agree_and_one_is_asked_for_a_report(mpich: Mpi, build: Build, tmp_path: Path) -> None:
    """The rules' folder is as it was then, but for the library."""
    report = {1: "export CONTEND_TUNED_REPORT=1\n"}
    _, [line] = _run(mpich, build, tmp_path, report, "0")
    assert line == "contend: 3 calls of all-to-alls carried, 0 passed on: shift 3"
    left = {path.name for path in (tmp_path / "rules").iterdir()}
    assert {name for name in left if not name.startswith("tuned-")} == {"rules.toml"}
