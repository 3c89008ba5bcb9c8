"""``contend jobs`` beside a real Slurm of sixteen nodes on this machine."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

import slurm_machine
from contend.cli.app import run
from contend.placement import jobs_of_slurm
from contend.process import Finished, run_process

NODES = tuple(f"node{number}" for number in range(1, 17))
# Each of four leaves has a cable to each of two switches above.
TOPOLOGY = """\
SwitchName=leaf1 Nodes=node[1-4]
SwitchName=leaf2 Nodes=node[5-8]
SwitchName=leaf3 Nodes=node[9-12]
SwitchName=leaf4 Nodes=node[13-16]
SwitchName=top1 Switches=leaf[1-4]
SwitchName=top2 Switches=leaf[1-4]
"""


@pytest.fixture(scope="module")
def slurm(
    tmp_path_factory: pytest.TempPathFactory, require_program: Callable[[str], str]
) -> Iterator[dict[str, str]]:
    """The environment of a Slurm with jobs that run, and one that waits."""
    require_program("squeue")
    daemons = [require_program(name) for name in ("munged", "slurmctld", "slurmd")]
    folder = tmp_path_factory.mktemp("slurm")
    with slurm_machine.running(folder, *daemons, nodes=NODES) as configuration:
        environment = {**os.environ, "SLURM_CONF": str(configuration)}
        try:
            submit(environment, "node[1-2,5-6]", "--job-name=two leaves")
            submit(environment, "node[3-4,7-8]", "--job-name=\x1b[31mtwo more")
            submit(environment, "node[9-10]", "--array=1")
            submit(environment, "node[1-16]")
            await_jobs(environment, 3)
            yield environment
        finally:
            # Daemons leave what they started alone when they end.
            ask(environment, "scancel", "--user", os.environ.get("USER") or "root")
            await_jobs(environment, 0, "RUNNING", "COMPLETING", "PENDING")


def ask(environment: Mapping[str, str], *words: str) -> str:
    told = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    return told.stdout


def submit(environment: Mapping[str, str], nodes: str, *options: str) -> str:
    what = ["--exclusive", "--output=/dev/null", "--wrap", "exec sleep 600"]
    told = ask(environment, "sbatch", "--parsable", f"--nodelist={nodes}", *options, *what)
    return told.strip()


def await_jobs(environment: Mapping[str, str], count: int, *states: str) -> None:
    """Waits until so many jobs run or, with other states, are in one of them."""
    ends = time.monotonic() + 20
    command = ["squeue", "--noheader", f"--states={','.join(states) or 'RUNNING'}"]
    while len(ask(environment, *command).splitlines()) != count:
        assert time.monotonic() < ends, ask(environment, "squeue")
        time.sleep(0.05)


@pytest.fixture
def judge(
    slurm: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., dict[str, object]]:
    monkeypatch.setenv("SLURM_CONF", slurm["SLURM_CONF"])
    net = tmp_path / "topology.conf"
    net.write_text(TOPOLOGY)

    def judged(*words: str) -> dict[str, object]:
        status = run(["jobs", str(net), *words, "--route", "minhop", "--json", "-"])
        told = capsys.readouterr()
        assert status == 0, told.err
        said: dict[str, object] = json.loads(told.out)
        del said["seconds"]
        return said

    return judged


def test_what_runs(judge: Callable[..., dict[str, object]]) -> None:
    said = judge()
    jobs = {job["job"]: job for job in said["jobs"]}  # type: ignore[attr-defined]
    # The one that waits for all nodes has none.
    assert {job: len(found["hosts"]) for job, found in jobs.items()} == {"1": 4, "2": 4, "3_1": 2}
    assert jobs["1"]["name"] == "two leaves"
    assert jobs["2"]["name"] == "\x1b[31mtwo more"
    assert jobs["1"]["hosts"] == ["node1", "node2", "node5", "node6"]
    # Two leaves, as the other leaf that has room has two free hosts, and the last one four.
    assert [job["leaves"] for job in jobs.values()] == [2, 2, 1]
    assert [job["fewest_leaves"] for job in jobs.values()] == [1, 1, 1]
    assert jobs["1"]["loss"] > jobs["1"]["margin"]
    assert jobs["3_1"]["beside"] == 1
    assert [pair["jobs"] for pair in said["pairs"]] == [["1", "2"]]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "words",
    [
        ["squeue", "--json"],
        ["scontrol", "show", "job"],
        ["scontrol", "--oneliner", "show", "job"],
        ["squeue", "--noheader", "--format=%i,%N"],
        ["squeue", "--format=%i,%N"],
    ],
)
def test_files_say_the_same(
    judge: Callable[..., dict[str, object]], slurm: dict[str, str], tmp_path: Path, words: list[str]
) -> None:
    file = tmp_path / "jobs"
    file.write_text(ask(slurm, *words))
    asked, read = judge(), judge(str(file))
    if "--json" not in words and "show" not in words:
        for job in (*asked["jobs"], *read["jobs"]):  # type: ignore[misc]
            # Lines have no names; verdicts tell them.
            job["name"] = ""
        asked["verdict"] = read["verdict"]

    def by_name(said: dict[str, object]) -> object:
        jobs: list[dict[str, object]] = said["jobs"]  # type: ignore[assignment]
        return {str(job["job"]): (job["name"], job["hosts"], job["leaves"]) for job in jobs}

    # The order of jobs, and with it what chance gives each, is each program's own.
    assert by_name(asked) == by_name(read)


def test_slurm_without_json(slurm: dict[str, str]) -> None:
    """What squeue says where its plugin is missing; all others answer themselves."""

    def lacking(command: Sequence[str], environment: Mapping[str, str], limit: float) -> Finished:
        if "--json" in command:
            return Finished(1, b"", b"squeue: error: Unable to find plugin: serializer/json\n")
        return run_process(command, environment, limit)

    plain = {job.id: job.nodes for job in jobs_of_slurm(lacking, slurm)}
    assert plain == {job.id: job.nodes for job in jobs_of_slurm(run_process, slurm)}


def test_slurm_runs_the_next_job_where_it_was_told_to(
    judge: Callable[..., dict[str, object]], slurm: dict[str, str]
) -> None:
    ask(slurm, "scontrol", "update", "nodename=node16", "state=drain", "reason=test")
    said = judge("--next", "3", "--hosts", "!node16")
    best = said["next"]["best"]  # type: ignore[index]
    # Three on the leaf that no job touches.
    assert best["nodelist"] == "node[13-15]"
    assert best["cost"] == 0
    # What waits for all nodes does not hold it up.
    ask(slurm, "scancel", "--state=PENDING")
    number = submit(slurm, best["nodelist"])
    await_jobs(slurm, 4)
    after = {job["job"]: job for job in judge()["jobs"]}  # type: ignore[attr-defined]
    assert after[number]["hosts"] == ["node13", "node14", "node15"]
    assert after[number]["beside"] == pytest.approx(best["beside"])
