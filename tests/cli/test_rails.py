"""``--rails``: what a file tells counts in every command, and standard error says what it tells."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from contend import check, collectives, engines, load
from typed_commands import Typed

SWAPPED = '"server 1" "rail 2" "rail 1" "rail 3" "rail 4"\n* "rail 1" "rail 2" "rail 3" "rail 4"\n'


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("rails.txt").write_text(SWAPPED)
    return "rails.txt"


def result(typed: Typed, *words: str) -> dict[str, Any]:
    printed = typed(*words, "--json", "-")
    if "rails.txt" in words:
        assert "rails as rails.txt has them: 8 servers with 4 rails" in printed.err
    return json.loads(printed.out)


def test_rings_of_told_rails_cross_the_spine(file: str, typed: Typed) -> None:
    """Server 1's rail 1 is on leaf 2 and its rail 2 on leaf 1.

    A ring enters and leaves it over the spine: leaf 1 sends up rail 1's message to server 1 and
    rail 2's of server 1, where a port sends one. With PXN seven others send to it as well.
    """
    for told, share in (([], 1.0), (["--rails", file], 0.5)):
        found = result(typed, "predict collectives rails:1,8,4,1", *told)["gpu"]["collectives"]
        assert found[0]["share"] == pytest.approx(share)
        assert found[-1]["share"] == pytest.approx(share)


def test_a_fabric_file_keeps_them(file: str, typed: Typed) -> None:
    """Rings are halved as where the file of rails is given, and another one may be given still."""
    typed("fabric convert rails:1,8,4,1 --route dmodk --rails", file, "-o", "net.fabric")
    Path("right.txt").write_text(SWAPPED.partition("\n")[2])
    for told, share in (([], 0.5), (["--rails", "right.txt"], 1.0)):
        found = result(typed, "predict collectives net.fabric", *told)["gpu"]["collectives"]
        assert found[0]["share"] == pytest.approx(share)


def test_a_job_sends_within_told_rails(file: str, typed: Typed) -> None:
    """On one leaf a rail nothing meets; two swapped servers may send over one cable."""
    Path("jobs").write_text("".join(f'1,"server {number}"\n' for number in range(1, 9)))
    Path(file).write_text(SWAPPED + '"server 5" "rail 2" "rail 1" "rail 3" "rail 4"\n')
    words = "jobs rails:1,8,4,1 jobs --samples 40"
    assert result(typed, words)["jobs"][0]["alone"] == pytest.approx(1)
    assert result(typed, words, "--rails", file)["jobs"][0]["alone"] < 0.99


def test_rings_follow_names_in_every_judgement() -> None:
    """As libraries number servers, and not as a file lists them: one question has one answer."""
    whole = load("rails:4,4,8,2", route="minhop", without=["unit 1 leaf 1:5"])
    turn = re.compile(r"server (\d+)")
    names = [
        turn.sub(lambda name: f"server {int(name[1]) * 5 % 17}", one) for one in whole.host_name
    ]
    mixed = whole.replace(host_name=tuple(names))
    gpu = collectives(mixed).gpu
    assert gpu is not None
    told = [one.share for one in gpu.collectives]
    assert min(told) < 0.5
    engine = engines(mixed, ["minhop"]).engines[0]
    assert engine.gpu is not None
    assert [one.share for one in engine.gpu.collectives] == told
    repair = check(mixed).repair
    assert repair is not None
    assert [one.in_use or one.before for one in repair.figures] == told
