"""``contend fabric convert`` and ``make``: what they write can be read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from contend.cli.app import run
from contend.fabric import catalogue
from contend.routes import load, save
from sample_fabrics import DATA, described, host_ports
from typed_commands import Typed

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
    assert b"give the kind of file with --to: one of fabric, " in capfdbinary.readouterr().err
    assert run(["fabric", "convert", TINY, "-o", "-", "--to", "graphml"]) == 0
    assert capfdbinary.readouterr().out.startswith(b"<?xml")


def test_generated_fabrics_are_routed_for_kinds_that_need_it(tmp_path: Path) -> None:
    target = tmp_path / "x.lfts"
    assert run(["fabric", "convert", "fig1", "-o", str(target)]) == 0
    assert target.read_text().startswith("Unicast lids [0-")


@pytest.mark.parametrize("read", ["topology", "tables"])
def test_the_file_that_is_read_is_not_overwritten(read: str, tmp_path: Path, typed: Typed) -> None:
    dumps = {"topology": tmp_path / "net.ibnetdiscover", "tables": tmp_path / "net.lfts"}
    dumps["topology"].write_bytes(Path(TINY).read_bytes())
    dumps["tables"].write_bytes(Path(TABLES).read_bytes())
    other_name = tmp_path / "link"
    other_name.symlink_to(dumps[read])
    before = dumps[read].read_bytes()
    arguments = ["fabric", "convert", str(dumps["topology"]), "--routes", str(dumps["tables"])]
    for name in (dumps[read], other_name):
        printed = typed(*arguments, "-o", name, "--to", "ibnetdiscover", status=2)
        assert "this file is being read" in printed.err
    assert dumps[read].read_bytes() == before


def test_what_is_written_can_be_loaded(tmp_path: Path, typed: Typed) -> None:
    file = tmp_path / "tree.fabric"
    arguments = ["--parallel-links", "2", "--remove", "25%", "--seed", "3", "-o", str(file)]
    printed = typed("fabric make kary:2,3", *arguments, "--route", "minhop")
    fabric = load(str(file))
    # (3 - 1) 2^3 = 16 cables, laid twice, a quarter of them removed.
    assert (fabric.hosts, fabric.switches, fabric.cables) == (8, 12, 24)
    assert fabric.routes is not None
    assert "8 hosts, 12 switches, 24 cables" in printed.out


def test_the_file_itself_on_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(["fabric", "make", "ring:3", "--to", "ibnetdiscover", "-o", "-"]) == 0
    written = capfdbinary.readouterr().out
    assert written.count(b"Switch\t") == 3
    assert b"3 switches" not in written


def test_the_list_shows_every_family(typed: Typed) -> None:
    shown = typed("fabric make --list").out
    for family in catalogue():
        assert family.form in shown
        assert family.example in shown


def test_what_ibsim_cannot_read_is_said(tmp_path: Path, typed: Typed) -> None:
    fabric = load("crossbar:3")
    save(fabric.replace(rates=("", "4xNDR")), tmp_path / "ndr.fabric")
    for source, warning in (
        ("ndr.fabric", "ibsim cannot read the rate of 3 links (4xNDR) and takes another for it"),
        ("net.net", ""),
    ):
        if not warning:
            save(fabric.replace(rates=("", "4xSDR")), tmp_path / source, "ibsim")
        written = tmp_path / f"{source}.ibsim"
        said = typed("fabric convert", tmp_path / source, "-o", written).err
        assert said.startswith(f"contend: warning: {warning}") if warning else said == ""
        again = load(str(written))
        assert {again.rates[rate] for rate in again.host_rate} == {"4xNDR" if warning else "4xSDR"}
