from __future__ import annotations

import json
from pathlib import Path

import pytest

from contend.cli.app import run
from contend.fabric import catalogue
from contend.loading import load


def test_what_is_written_can_be_loaded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "tree.fabric"
    arguments = ["--parallel-links", "2", "--remove", "25%", "--seed", "3", "-o", str(file)]
    assert run(["fabric", "make", "kary:2,3", *arguments, "--route", "minhop"]) == 0
    fabric = load(str(file))
    # (3 - 1) 2^3 = 16 cables, laid twice, a quarter of them removed.
    assert (fabric.hosts, fabric.switches, fabric.cables) == (8, 12, 24)
    assert fabric.routes is not None
    assert "8 hosts, 12 switches, 24 cables" in capsys.readouterr().out


def test_json_alone_on_standard_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "ring.fabric"
    arguments = ["ring:8", "--remove", "12.5%", "-o", str(file), "--json", "-"]
    assert run(["fabric", "make", *arguments]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["fabric"]["cables"] == 7
    assert [finding["kind"] for finding in result["findings"]] == ["removed cable"]
    assert result["engine"] is None
    assert result["file"] == str(file)


def test_the_file_itself_on_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(["fabric", "make", "ring:3", "--as", "ibnetdiscover", "-o", "-"]) == 0
    written = capfdbinary.readouterr().out
    assert written.count(b"Switch\t") == 3
    assert b"3 switches" not in written


def test_the_list_shows_every_family(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["fabric", "make", "--list"]) == 0
    shown = capsys.readouterr().out
    for family in catalogue():
        assert family.form in shown
        assert family.example in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["chic"], "expected a fabric and -o FILE"),
        (["chic", "-o", "x", "--remove", "some"], 'expected a percentage such as 5%, got "some"'),
        (["chic", "-o", "x", "--remove", "200%"], "expected a percentage within 0 .. 100"),
        (["chic", "-o", "-"], "expected --as KIND"),
        (["torus:4x", "-o", "x"], 'torus:4x: expected torus:AxBx..[;hosts], got "" for a number'),
    ],
)
def test_wrong_usage_is_one_line_and_writes_nothing(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["fabric", "make", *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith("contend: ")
    assert error.count("\n") == 1
    assert message in error
    assert list(tmp_path.iterdir()) == []
