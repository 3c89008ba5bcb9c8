"""`contend simulate` from the outside: tables, JSON, figures, and one line for any error."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Simulate
from contend.routes import save
from contend.traffic.pattern import FORMS
from processes import CONTEND, finished
from sample_fabrics import mixed_rates
from small_fabrics import unequal_planes


def test_several_stand_side_by_side_before_each_by_itself(simulate: Simulate) -> None:
    """One row for each, with what tells them apart; then the tables of each."""
    engines = ("--route", "minhop", "--route", "dmodk", "--samples", "20", "--placement", "linear")
    status, out, _ = simulate("xgft:2;4,4;1,2", "xgft:2;4,4;1,4", *engines, "-p", "shift:4")
    assert status == 0
    tables = out[out.index("shift:4 on 4 simulations, side by side") :].split("\n\n")
    rows = [re.split(r" {2,}", line.strip())[:3] for line in tables[0].splitlines()[4:8]]
    assert rows == [
        ["xgft:2;4,4;1,2", "minhop", "50.0 %"],
        ["xgft:2;4,4;1,2", "dmodk", "50.0 %"],
        ["xgft:2;4,4;1,4", "minhop", "100.0 %"],
        ["xgft:2;4,4;1,4", "dmodk", "100.0 %"],
    ]
    assert out.count("1 / mean π") == 4
    assert out.index("side by side") < out.index("1 / mean π")


@pytest.mark.parametrize(
    ("engine", "said"),
    [
        ("minhop", ""),
        ("ecmp", " Routes by ecmp are drawn anew for every sample."),
        ("spray", " Routes by spray send every message over several paths at once."),
        (
            "ecmp,flows=4",
            " Routes by ecmp,flows=4 are drawn anew for every sample and send every message over "
            "several paths at once.",
        ),
    ],
)
def test_the_verdict_says_which_ways_messages_take(
    simulate: Simulate, measure: Any, engine: str, said: str
) -> None:
    asked = ("fig1", "--route", engine, "--samples", "20")
    verdict = measure(*asked)["verdict"]
    assert verdict.partition(").")[2] == said
    assert simulate(*asked)[1].startswith(f"{verdict}\n")


def test_patterns_are_listed(simulate: Simulate) -> None:
    status, out, err = simulate("--list")
    assert (status, err) == (0, "")
    assert len(out.splitlines()) == len(FORMS)
    for line, form in zip(out.splitlines(), FORMS, strict=True):
        assert line.startswith(form.form)
        assert line.endswith(form.meaning)


def test_an_engine_that_refuses_leaves_the_others(simulate: Simulate, tmp_path: Path) -> None:
    """dmodk wants a tree; a ring is none."""
    file = tmp_path / "results.json"
    engines = ("--route", "dmodk", "--route", "minhop")
    status, out, err = simulate("ring:4;2", *engines, "--samples", "20", "--json", file)
    assert status == 1
    assert err.startswith("contend: 1 of 2 simulations failed: ring:4;2 with dmodk: ")
    assert err.count("\n") == 1
    assert out.count("Hottest channels") == 1
    assert [result["engine"] for result in json.loads(file.read_text())["results"]] == ["minhop"]


def test_environment_asks_for_more_threads_than_any_machine_has() -> None:
    """Engines, checks and simulation: the OpenMP runtime does not survive 100,000 threads."""
    process = finished(
        [*CONTEND, "simulate", "chic", "--route", "dmodk", "--samples", "50"],
        env={**os.environ, "OMP_NUM_THREADS": "100000"},
    )
    assert (process.returncode, process.stderr) == (0, "")


def test_an_all_to_all_prints_what_can_be_read(simulate: Simulate, measure: Any) -> None:
    """1/35 of a link on a crossbar of 36, and all of it times 35."""
    status, out, _ = simulate("tara", "--route", "dmodk", "--pattern", "alltoall")
    assert status == 0
    assert "times 35" in out
    assert measure("tara", "--route", "dmodk", "--pattern", "alltoall")["scale"] == 35
    _, out, _ = simulate("crossbar:4000", "--pattern", "gather", "--placement", "linear")
    assert "0.025 %" in out
    assert " 0.0 %" not in out


def test_singular_and_plural(simulate: Simulate) -> None:
    _, out, _ = simulate("fig1", "--pattern", "shifts", "--placement", "linear")
    assert "1 sample of 15 rounds, 16 ranks, seed 1" in out
    assert "every possible outcome was counted" in out


@pytest.mark.parametrize(
    ("ends", "status", "line"),
    [(KeyboardInterrupt(), 130, "contend: interrupted\n"), (SystemExit(143), 143, "")],
)
def test_what_ends_it_early_prints_what_was_counted(
    simulate: Simulate,
    monkeypatch: pytest.MonkeyPatch,
    ends: BaseException,
    status: int,
    line: str,
) -> None:
    """As Ctrl-C and SIGTERM do; the result is said to be partial."""
    core = sys.modules["contend.congestion.simulation.counting"]._core
    count, batches = core.simulate, []

    def interrupted(*arguments: Any) -> Any:
        if batches:
            raise ends
        batches.append(count(*arguments))
        return batches[0]

    monkeypatch.setattr(core, "simulate", interrupted)
    if isinstance(ends, SystemExit):
        with pytest.raises(SystemExit) as ended:
            simulate("fig1", "--precision", "0.00001")
        assert ended.value.code == status
        return
    ended_with, out, err = simulate("fig1", "--precision", "0.00001")
    assert (ended_with, err) == (status, line)
    assert re.match(r"A partial result, of the [\d,]+ samples counted before the end:\n", out)


@pytest.fixture
def mixed(tmp_path: Path) -> str:
    """The file of a tree whose cables to one of two spines are half as fast."""
    save(mixed_rates(), tmp_path / "mixed.fabric")
    return str(tmp_path / "mixed.fabric")


def test_links_of_different_rates_are_said_and_weighed(
    simulate: Simulate, measure: Any, mixed: str
) -> None:
    asked = (mixed, "--samples", "200")
    status, out, _ = simulate(*asked)
    assert status == 0
    assert "Links have different rates" in " ".join(out.split())
    assert "of port speed" in out
    found = measure(*asked)
    assert found["weighed_by_rates"]
    assert found["links"] == [
        {"rate": "4xQDR", "rate_Bps": 4e9, "links": 20},
        {"rate": "4xDDR", "rate_Bps": 2e9, "links": 4},
    ]
    alike = measure(*asked, "--equal-rates")
    assert not alike["weighed_by_rates"]
    assert alike["congestion"] == found["congestion"]
    assert found["effective_bandwidth"]["mean"] < 0.9 * alike["effective_bandwidth"]["mean"]
    # All ports carry the same, so that a share is one bandwidth.
    assert found["effective_bandwidth"]["mean_Bps"] == pytest.approx(
        4e9 * found["effective_bandwidth"]["mean"]
    )
    assert alike["effective_bandwidth"]["mean_Bps"] is None


@pytest.mark.parametrize(
    ("hosts", "share", "rate", "cables"),
    [(range(8), 1.0, "4xHDR", 8), (range(8, 16), 0.5, "4xEDR", 4)],
    ids=["wide plane", "narrow plane"],
)
def test_rated_bisection_and_links_are_those_of_the_hosts_that_take_part(
    simulate: Simulate,
    measure: Any,
    tmp_path: Path,
    hosts: range,
    share: float,
    rate: str,
    cables: int,
) -> None:
    save(unequal_planes(), tmp_path / "planes.fabric")
    chosen = ",".join(f"host {host}" for host in hosts)
    asked = (tmp_path / "planes.fabric", "--route", "minhop", "--hosts", chosen, "--samples", "50")
    found = measure(*asked)
    assert (found["rated_bisection"], found["rated_bisection_exact"]) == (share, True)
    assert found["effective_bandwidth"]["ci95"][0] <= found["random_pairs_bound"] <= 1
    assert [(link["rate"], link["links"]) for link in found["links"]] == [(rate, cables + 8)]
    assert not found["weighed_by_rates"]
    _, out, _ = simulate(*asked)
    assert "the narrowest cut between halves of 8 hosts" in out


def test_links_that_count_alike_are_rated_alike(measure: Any, mixed: str) -> None:
    rated = measure(mixed, "--samples", "5")["rated_bisection"]
    alike = measure(mixed, "--samples", "5", "--equal-rates")["rated_bisection"]
    assert alike == measure(mixed, "--samples", "5", "--rate", "4xNDR")["rated_bisection"]
    assert rated < alike


def test_every_bandwidth_is_also_in_gigabytes(simulate: Simulate, measure: Any) -> None:
    """An all-to-all of 528 hosts: 0.19 % of a link for a message, all of it for a host."""
    crossbar = ("crossbar:528", "--pattern", "alltoall", "--placement", "linear")
    _, out, _ = simulate(*crossbar)
    rows = {line.split("  ")[0].strip(): line.split() for line in out.split("\n")}
    assert rows["each host, until the last message is done"][8:11] == ["100.0", "%", "25"]
    assert rows["a message, on average"][4:7] == ["0.2", "%", "47.4"]
    scaled = rows["times 527, as if no host waited for its last message"]
    assert scaled[11:14] == ["100.0", "%", "25"]
    assert "links of 4xHDR, assumed: 25 GB/s each way" in out
    found = measure(*crossbar, "--rate", "4xNDR")["effective_bandwidth"]
    assert found["mean_Bps"] == pytest.approx(50e9 / 527)
    assert found["of_max_congestion_Bps"] == pytest.approx(50e9 / 527)
