from __future__ import annotations

import os
from pathlib import Path

import pytest

from contend.cli.app import run
from contend.loading import load
from sample_fabrics import DATA, described, host_ports

TINY = str(DATA / "tiny.ibnetdiscover")
TABLES = str(DATA / "tiny.opensm-lfts.dump")


@pytest.mark.parametrize("suffix", ["fabric", "dot", "dot.zst"])
def test_topology_and_tables_become_one_file(tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"tiny.{suffix}"
    # ORCS has no LIDs for ports that share an adapter, but keeps them apart.
    arguments = ["fabric", "convert", TINY, "--routes", TABLES, "-o", str(target)]
    assert run(arguments) == 0
    again, source = load(str(target)), load(TINY, routes=TABLES)
    assert described(again)["cables"] == described(source)["cables"]
    if suffix == "fabric":
        assert host_ports(again) == host_ports(source)


def test_standard_output_needs_a_kind(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(["fabric", "convert", TINY, "-o", "-"]) == 2
    assert b"say with --to what to write: one of fabric, " in capfdbinary.readouterr().err
    assert run(["fabric", "convert", TINY, "-o", "-", "--to", "graphml"]) == 0
    assert capfdbinary.readouterr().out.startswith(b"<?xml")


def test_generated_fabrics_are_routed_for_kinds_that_need_it(tmp_path: Path) -> None:
    target = tmp_path / "x.lfts"
    assert run(["fabric", "convert", "fig1", "-o", str(target)]) == 0
    assert target.read_text().startswith("Unicast lids [0-")


def test_files_are_not_and_nothing_is_left_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["fabric", "convert", TINY, "-o", str(tmp_path / "x.lfts")]) == 2
    assert "holds no routes: give --routes FILE or --route ENGINE" in capsys.readouterr().err
    assert os.listdir(tmp_path) == []
    assert run(["fabric", "convert", TINY, "-o", str(tmp_path / "no" / "x.fabric")]) == 2
    assert "no/x.fabric: No such file or directory" in capsys.readouterr().err


@pytest.mark.parametrize("read", ["topology", "tables"])
def test_the_file_that_is_read_is_not_overwritten(
    read: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dumps = {"topology": tmp_path / "net.ibnetdiscover", "tables": tmp_path / "net.lfts"}
    dumps["topology"].write_bytes(Path(TINY).read_bytes())
    dumps["tables"].write_bytes(Path(TABLES).read_bytes())
    other_name = tmp_path / "link"
    other_name.symlink_to(dumps[read])
    before = dumps[read].read_bytes()
    arguments = ["fabric", "convert", str(dumps["topology"]), "--routes", str(dumps["tables"])]
    for name in (dumps[read], other_name):
        assert run([*arguments, "-o", str(name), "--to", "ibnetdiscover"]) == 2
        assert "this file is being read" in capsys.readouterr().err
    assert dumps[read].read_bytes() == before
