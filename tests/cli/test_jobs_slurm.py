"""``contend jobs`` and the scripts of docs/howto/slurm in a real Slurm of sixteen nodes."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

import slurm_machine
from contend.base.process import Finished, run_process
from contend.cli.app import run
from contend.traffic.placement import jobs_of_slurm
from processes import finished

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
# The same with one cable each, so that jobs on two leaves get clearly less than on one.
THIN = TOPOLOGY.replace("SwitchName=top2 Switches=leaf[1-4]\n", "")
SCRIPTS = Path(__file__).parents[2] / "docs" / "howto" / "slurm"


@pytest.fixture(scope="module")
def slurm(
    tmp_path_factory: pytest.TempPathFactory, require_program: Callable[[str], str]
) -> Iterator[dict[str, str]]:
    """The environment of a Slurm with jobs that run, and one that waits."""
    require_program("squeue")
    daemons = [require_program(name) for name in ("munged", "slurmctld", "slurmd")]
    folder = tmp_path_factory.mktemp("slurm")
    (folder / "topology.conf").write_text(THIN)
    fabric = ["fabric", "convert", str(folder / "topology.conf"), "--route", "minhop"]
    assert run([*fabric, "--output", str(folder / "net.fabric")]) == 0
    shutil.copy(SCRIPTS / "job_submit.lua", folder)
    prolog = task_prolog(folder, fabric=str(folder / "net.fabric"), limit="60")
    settings = f"JobSubmitPlugins=lua\nTaskProlog={prolog}\n"
    with slurm_machine.running(folder, *daemons, NODES, settings) as configuration:
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


def task_prolog(folder: Path, **settings: str) -> Path:
    """The script with this Python and these settings, as an administrator would change it."""
    text = (SCRIPTS / "task_prolog.sh").read_text()
    for name, value in {"python": sys.executable, **settings}.items():
        text, changed = re.subn(rf"^{name}=.*", f"{name}={value}", text, flags=re.MULTILINE)
        assert changed == 1
    script = folder / "task_prolog.sh"
    script.write_text(text)
    script.chmod(0o755)
    return script


def ask(environment: Mapping[str, str], *words: str) -> str:
    told = finished(words, env=environment, check=True)
    return told.stdout


def submit(environment: Mapping[str, str], nodes: str, *options: str) -> str:
    said = Path(environment["SLURM_CONF"]).with_name("said-%A")
    program = "srun --ntasks=1 --nodes=1 echo began; exec sleep 600"
    what = ["--exclusive", f"--output={said}", "--wrap", program]
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


def said_by(environment: Mapping[str, str], job: str) -> str:
    """A job's output, once its program has begun."""
    ends = time.monotonic() + 60
    said = Path(environment["SLURM_CONF"]).with_name(f"said-{job}")
    while not (said.exists() and "began\n" in said.read_text()):
        assert time.monotonic() < ends, said
        time.sleep(0.05)
    return said.read_text()


def test_a_job_on_bad_nodes_says_so_once(slurm: dict[str, str]) -> None:
    """Two leaves with a cable between: of random pairs two thirds cross, half of them one way.

    These get half, all others all: 1 - 1/3 * 1/2 in the mean.
    """
    told = re.fullmatch(
        r"contend: the 4 nodes of this job are on 2 leaf switches; 1 would do\. Its messages get "
        r"(\d+) % of a port's rate; on the best nodes they would get 100 %\.\nbegan\n",
        said_by(slurm, "1"),
    )
    assert int(told[1]) == pytest.approx(100 * 5 / 6, abs=5)
    assert said_by(slurm, "3") == "began\n"


def warned(environment: Mapping[str, str], *words: str) -> list[str]:
    told = finished(["sbatch", "--test-only", *words, "--wrap", "true"], env=environment)
    assert told.returncode == 0, told.stderr
    return [line for line in told.stderr.splitlines() if "contend" in line]


def test_slurm_warns_at_submission(slurm: dict[str, str]) -> None:
    assert warned(slurm, "--nodelist=node[9-10,13,14]") == [
        "sbatch: contend: the 4 nodes of --nodelist are on 2 leaf switches; 1 would do"
    ]
    assert warned(slurm, "--nodes=9") == [
        "sbatch: contend: 9 nodes need 3 leaf switches; 8 nodes would fit on 2"
    ]
    for well in ("--nodelist=node[9-12]", "--nodelist=node[1-6]", "--nodes=4", "--nodes=7"):
        assert warned(slurm, well) == []
    assert warned(slurm, "--ntasks=2") == []


def test_a_submission_goes_on_without_a_topology(slurm: dict[str, str]) -> None:
    folder = Path(slurm["SLURM_CONF"]).parent
    (folder / "topology.conf").unlink()
    # Slurm loads the script again when it has changed.
    os.utime(folder / "job_submit.lua", times=(time.time() + 10,) * 2)
    assert warned(slurm, "--nodelist=node[9-10,13,14]") == []


@pytest.mark.parametrize("settings", [{"fabric": "missing"}, {"python": "missing"}, {"limit": "1"}])
def test_a_job_goes_on_whatever_happens_in_its_prolog(
    tmp_path: Path, settings: dict[str, str]
) -> None:
    # As a file system that does not answer.
    os.mkfifo(tmp_path / "stalled")
    script = task_prolog(tmp_path, **{"fabric": str(tmp_path / "stalled"), **settings})
    job = {"SLURM_JOB_ID": "1", "SLURM_JOB_NUM_NODES": "4", "SLURM_JOB_NODELIST": "node[1-4]"}
    ended = finished([script], env={**os.environ, **job, "SLURM_PROCID": "0", "SLURM_STEP_ID": "0"})
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "export CONTEND_TOLD=1\n", "")
