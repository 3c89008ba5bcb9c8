"""Rules by which nothing is carried: the calls are the library's."""

from __future__ import annotations

import re
from pathlib import Path

from contend.cure import Rule, Rules, write_rules
from probe_programs import Build, Mpi
from tuned.conftest import run_carried


def test_without_a_rule_every_call_is_the_librarys(
    openmpi: Mpi, build: Build, tmp_path: Path
) -> None:
    program = build(openmpi.wrapper, "conformance.c")
    write_rules(Rules((Rule((7, 7), (1, 7), (1, 9), "shift"),)), tmp_path / "rules")
    out = tmp_path / "out"
    out.mkdir()
    ended = run_carried(openmpi, tmp_path / "rules", 2, program, out, 5, 1)
    assert ended.status == 0, ended.errors
    assert re.search(r"contend: 0 calls of all-to-alls carried, \d+ passed on\n", ended.errors)


def test_rules_that_cannot_be_read_are_one_line(openmpi: Mpi, build: Build, tmp_path: Path) -> None:
    program = build(openmpi.wrapper, "sized.c")
    folder = tmp_path / "rules"
    write_rules(Rules(()), folder)
    (folder / "rules.toml").write_text("version = 1\n[[rule]]\nranks = 16\n")
    ended = run_carried(openmpi, folder, 1, program, 50)
    assert ended.status == 0, ended.errors
    assert f"contend: {folder}/rules.toml:3: expected a value that this key takes" in ended.errors
