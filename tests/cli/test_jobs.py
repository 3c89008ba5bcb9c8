"""``contend jobs`` from outside: who loses what to whom, and where the next job should go."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import contend
from typed_commands import Typed

# Sixteen hosts on four leaves, two cables up from each.
NET = ["xgft:2;4,4;1,2", "--route", "minhop"]


def names(*hosts: int) -> str:
    listed = contend.load("xgft:2;4,4;1,2").host_name
    return ",".join(listed[host] for host in hosts)


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    file = tmp_path / "jobs.csv"
    rows = {"11": names(0, 4, 1, 5), "12": names(2, 6, 3, 7), "13": names(8, 9), "14": names(12)}
    file.write_text("job,hosts\n" + "".join(f"{job},{hosts}\n" for job, hosts in rows.items()))
    return file


def test_jobs_and_the_next(listed: Path, tmp_path: Path, typed: Typed) -> None:
    result, figure = tmp_path / "it.json", tmp_path / "it.svg"
    options = ["--json", str(result), "--plot", str(figure), "--next", "3"]
    printed = typed("jobs", NET[0], listed, *NET[1:], *options)
    said = json.loads(result.read_text())
    jobs = {one["job"]: one for one in said["jobs"]}
    assert list(jobs) == ["11", "12", "13", "14"]
    assert [one["servers"] for one in jobs.values()] == [4, 4, 2, 1]
    assert jobs["13"]["alone"] == jobs["13"]["beside"] == 1
    assert jobs["14"]["alone"] is None
    assert jobs["11"]["loss"] > jobs["11"]["margin"] > 0
    [pair] = said["pairs"]
    assert pair["jobs"] == ["11", "12"]
    assert pair["losses"] == pytest.approx([jobs["11"]["loss"], jobs["12"]["loss"]])
    # Three on the last leaf: node by node beside the job of one host, which sends nothing.
    assert said["next"]["best"]["servers"] == names(13, 14, 15).split(",")
    assert said["next"]["best"]["cost"] == 0
    out = printed.out
    first, second = out.splitlines()[:2]
    assert [first, second] == said["verdict"].splitlines()
    assert first.startswith("2 of 4 jobs lose bandwidth to others, ")
    assert "11 and 12 hurt each other most, on " in first
    # The first free ones share no channel with others either, but hang on two leaves.
    assert said["next"]["gain"] == 0
    assert second.endswith("as on the first free ones, but it takes 1 leaf instead of 2.")
    assert "Jobs that hurt each other" in out
    assert "1 job of one server uses no network" in out
    assert figure.stat().st_size > 0


def test_jobs_whose_own_pattern_is_known(listed: Path, typed: Typed) -> None:
    own = ["--pattern", "12=alltoall", "--pattern", "ring", "--pattern", "13=shift:1"]
    printed = typed("jobs", NET[0], listed, *NET[1:], *own, "--json", "-")
    said = json.loads(printed.out)
    jobs = {one["job"]: one for one in said["jobs"]}
    assert [one["pattern"] for one in jobs.values()] == ["", "alltoall", "shift:1", ""]
    assert [one["waits_for_last"] for one in jobs.values()] == [False, True, False, False]
    # Job 12 alone: two hosts of a leaf have four messages for the other leaf, on two cables up.
    assert jobs["12"]["alone"] == 1
    assert jobs["13"]["beside"] == jobs["13"]["all_at_once"] == 1
    assert {one["job"] for channel in said["hottest"] for one in channel["jobs"]} == {"11", "12"}
    assert "jobs without a pattern of their own send ring" in typed(
        "jobs", NET[0], listed, *NET[1:], *own
    ).out.replace("\n", " ")
    refused = {
        ("--pattern", "99=ring"): "pattern 99=ring: expected a job of 11, 12, 13, 14, got 99",
        ("--pattern", "ring", "--pattern", "bisect"): "expected one for all jobs, got ring and",
        ("--pattern", "11=ring", "--pattern", "11=bisect"): "job 11 has two patterns, ring and",
    }
    for options, words in refused.items():
        assert words in typed("jobs", NET[0], listed, *NET[1:], *options, status=2).err


def test_hosts_that_the_fabric_does_not_know(tmp_path: Path, typed: Typed) -> None:
    file = tmp_path / "jobs.csv"
    file.write_text(f"1,{names(0, 1)},gone[1-3]\n")
    said = typed("jobs", NET[0], file, *NET[1:])
    assert "does not know 3 hosts of jobs: gone[1-3]; they are left out" in said.out
    assert said.out.startswith("Job 1 runs alone.")
    file.write_text("1,gone1\n")
    printed = typed("jobs", NET[0], file, *NET[1:], status=2)
    assert f"contend: {file}: expected hosts of " in printed.err


def test_names_of_jobs_reach_no_terminal(tmp_path: Path, typed: Typed) -> None:
    file = tmp_path / "jobs.json"
    jobs = [
        {"job_id": n, "name": "\x1b[2J\x1b]0;x\x07[red]", "job_state": "RUNNING", "nodes": nodes}
        for n, nodes in ((1, names(0, 4, 1, 5)), (2, names(2, 6, 3, 7)))
    ]
    file.write_text(json.dumps({"jobs": jobs}))
    figure = tmp_path / "it.html"
    said = typed("jobs", NET[0], file, *NET[1:], "--plot", figure).out
    assert "\x1b" not in said
    assert "\x07" not in said
    assert "1 \\x1b[2J\\x1b]0;" in said
    assert "\x1b" not in figure.read_text()


def test_no_job_runs(tmp_path: Path, typed: Typed) -> None:
    file = tmp_path / "none"
    file.write_text("No jobs in the system\n")
    figure = tmp_path / "it.svg"
    assert typed("jobs", NET[0], file, *NET[1:], "--plot", figure).out.startswith("No job runs on ")


def test_without_slurm(tmp_path: Path, typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    said = typed("jobs", *NET, status=3).err
    assert said.startswith("contend: no list of jobs was given, and Slurm gave none: squeue: ")


def test_in_a_notebook(listed: Path) -> None:
    fabric = contend.load("xgft:2;4,4;1,2", route="minhop")
    found = contend.jobs(fabric, listed, following=3)
    assert found.verdict.startswith("2 of 4 jobs lose bandwidth to others")
    assert found.to_frame()["job"].to_list() == ["11", "12", "13", "14"]
    assert found.to_frame("pairs").height == 1
    assert "<table>" in found._repr_html_()
    named = contend.jobs(fabric, {"a": names(0, 4).split(","), "b": names(1, 5).split(",")})
    assert [job.job for job in named.jobs] == ["a", "b"]


def test_what_maintenance_costs_comes_first(tmp_path: Path, typed: Typed) -> None:
    listed = tmp_path / "jobs"
    listed.write_text("a,host [5-8]\nb,host [1-2]\nc,host [9-10]\n")
    said = typed("jobs xgft:2;4,4;1,2", listed, "--without", "leaf 2", "--samples", "9")
    assert said.out.startswith("Without these parts job a stops.\n")
    assert "does not know" not in said.out
    listed.write_text("wide,host [1-8]\nc,host [9-10]\n")
    said = typed("jobs xgft:2;4,4;1,2", listed, "--without", "top 1", "--samples", "9")
    assert said.out.startswith("Without these parts job wide gets ")
    said = typed("jobs xgft:2;4,4;1,2", listed, "--without", "leaf 4", "--samples", "9")
    nobody = "Without these parts no job loses a server, a rail or bandwidth.\n"
    assert said.out.startswith(nobody)
