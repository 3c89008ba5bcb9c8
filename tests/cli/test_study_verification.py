"""The simulation held against a real, emulated network, at a size that fits a test."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contend.cli.app import run
from contend.lab.measurement import beside_predictions, patterns_of
from contend.lab.runs import Run, find_runs
from contend.routes import load
from contend.traffic.pattern import parse
from typed_commands import Typed

_SMALL = ["--rate", "20Mbit", "--bytes", "20K", "--packets", "5", "--mpi", "openmpi"]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory, permitted: None) -> Path:
    """The 16-node figure, six patterns."""
    folder = tmp_path_factory.mktemp("verification")
    out = ["--output", str(folder / "out"), "--json", str(folder / "found.json")]
    fabric = ["--case", "fig1@fig1", "--patterns", "6"]
    status = run(["study", "verification", *fabric, *_SMALL, *out, "--plot", str(folder / "f.svg")])
    assert status == 0
    return folder


def test_pairs_that_share_get_less(measured: Path) -> None:
    found = json.loads((measured / "found.json").read_text())["results"][0]
    assert found["messages"] + found["late"] == 6 * 8
    medians = {one["congestion"]: one["median"] for one in found["by_congestion"]}
    # By definition an uncontended pair gets γ. Two that share get half each, with room here for a
    # machine that does much else.
    assert medians[1] == pytest.approx(1.0)
    assert 0.3 < medians[2] < 0.75
    assert abs(found["effective"] - found["models"][0]["effective"]) < 0.15
    assert (measured / "f.svg").stat().st_size > 0


def test_patterns_are_those_that_are_simulated(measured: Path) -> None:
    (path,) = find_runs(measured / "out")
    found = Run.load(path)
    fabric = load("fig1", route="fig1")
    pairs = beside_predictions(found, fabric, list(range(16)))
    assert len(pairs) == 6 * 8
    drawn = parse("bisect", 16)
    for number, to in enumerate(patterns_of(found)):
        source, target = drawn.messages(0, seed=1, sample=number)
        assert {(int(s), int(t)) for s, t in zip(source, target, strict=True)} == {
            (rank, int(peer)) for rank, peer in enumerate(to) if peer >= 0
        }


def test_kept_fabrics_are_not_measured_again(
    measured: Path, typed: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor emulated: whoever may not do that can look at what is kept."""
    out = ["--output", str(measured / "out"), "--json", "-"]
    before = json.loads((measured / "found.json").read_text())
    monkeypatch.setattr("contend.lab.studies.verification.bring_up", None)
    arguments = ["study", "verification", "--case", "fig1@fig1", "--patterns", "6", *_SMALL]
    assert json.loads(typed(*arguments, *out).out) == before


@pytest.mark.parametrize(
    "changed",
    [
        ["--rate", "30Mbit"],
        ["--buffer", "50kB"],
        ["--mpi", "mpich"],
        ["--patterns", "7"],
        ["--bytes", "21K"],
        ["--packets", "6"],
        ["--two-way"],
        ["--seed", "2"],
        ["--case", "fig1@minhop"],
    ],
)
def test_no_condition_shows_the_results_of_another(
    changed: list[str], measured: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is asked for otherwise is emulated and measured, whatever is kept."""

    class EmulatedError(Exception):
        pass

    def emulated(*_: object) -> None:
        raise EmulatedError

    monkeypatch.setattr("contend.lab.studies.verification.bring_up", emulated)
    fabric = [] if "--case" in changed else ["--case", "fig1@fig1"]
    small = list(_SMALL)
    if changed[0] in small:
        index = small.index(changed[0])
        del small[index : index + 2]
    arguments = ["--patterns", "6"] if "--patterns" not in changed else []
    out = ["--output", str(measured / "out")]
    with pytest.raises(EmulatedError):
        run(["study", "verification", *fabric, *arguments, *small, *changed, *out])


def test_hashed_and_sprayed_routes_are_held_against_what_they_are(
    permitted: None, tmp_path: Path, typed: Typed
) -> None:
    """Two flows a message, by two connections of each pair of ranks; and packets over all ways."""
    cases = ["--case", "xgft:2;2,2;1,2@ecmp,flows=2", "--case", "xgft:2;2,2;1,2@spray"]
    out = ["--output", str(tmp_path / "out"), "--json", str(tmp_path / "found.json")]
    asked = ["--patterns", "8", "--rate", "20Mbit", "--bytes", "256K", "--packets", "1"]
    printed = typed("study verification", *cases, *asked, "--mpi", "openmpi", *out)
    assert "measured against simulated draws" in printed.out
    found = json.loads((tmp_path / "found.json").read_text())
    (drawn,), (told,) = found["drawn"], found["results"]
    assert (drawn["engine"], drawn["launches"], drawn["messages"]) == ("ecmp,flows=2", 1, 16)
    assert 0.6 < drawn["effective"] < 1.2
    # Of four hosts, any two pairs have the wire to themselves when their packets are sprayed.
    assert (told["engine"], told["models"][0]["effective"]) == ("spray", 1.0)
    assert abs(told["effective"] - 1) < 0.2
    assert [one["congestion"] for one in told["by_congestion"]] == [1]
