"""Lists of jobs as Slurm and people write them, and what else such a file may hold."""

from __future__ import annotations

import json
import lzma
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contend.base.errors import InputError, MissingError
from contend.base.process import Finished
from contend.traffic.placement import ListedJob, jobs_of_slurm, parse_jobs, read_jobs
from sample_fabrics import DATA

SLURM = DATA / "slurm"
# What a real Slurm 22.05 had to say of four jobs that run and one that waits.
REAL = {
    "1": ("alpha beta", [f"node{n}" for n in range(1, 5)]),
    "2": ("wrap", [f"node{n}" for n in (5, 7, 9, 11)]),
    "3_1": ("wrap", ["node12", "node13"]),
    "3_2": ("wrap", ["node14", "node15"]),
}


def listed(text: str | bytes) -> list[ListedJob]:
    return parse_jobs([text.encode() if isinstance(text, str) else text], "jobs")


def failure(text: str | bytes) -> str:
    with pytest.raises(InputError) as caught:
        listed(text)
    return str(caught.value)


@pytest.mark.parametrize("name", ["squeue.json.xz", "scontrol.txt", "scontrol.oneliner.txt"])
def test_what_slurm_says(name: str) -> None:
    jobs = read_jobs(str(SLURM / name))
    assert {job.id: (job.name, list(job.nodes)) for job in jobs} == REAL
    assert all(job.runs for job in jobs)


def test_lines_of_squeue() -> None:
    jobs = read_jobs(str(SLURM / "squeue.csv"))
    assert {job.id: list(job.nodes) for job in jobs} == {job: REAL[job][1] for job in REAL}
    # Its first line is of a job that waits.
    assert [job.line for job in jobs] == [2, 3, 4, 5]


@pytest.mark.parametrize("between", [",", ", ", "|", " | ", "\t", "   ", ";", ":", ": "])
@pytest.mark.parametrize("head", ["", "JOBID{}NODELIST\n"])
def test_lines_of_a_job_and_its_hosts(between: str, head: str) -> None:
    text = f"{head.format(between)}17{between}n[01-02,7]\n18_3{between}n3\n"
    assert {job.id: job.nodes for job in listed(text)} == {
        "17": ("n01", "n02", "n7"),
        "18_3": ("n3",),
    }


def test_the_table_that_squeue_prints() -> None:
    table = """$ squeue
             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)
              1790    batch run nccl     user R       0:02      2 cpn-m11-[01-02]
              1791    batch run-n2     user PD       0:00      2 (Nodes are DOWN, or (so))
          1792_3    batch   wide     user CG 1-02:00:00      2 cpn-m12-[01,03]
        """
    jobs = listed(table)
    assert [(job.id, job.name, job.nodes, job.runs, job.line) for job in jobs] == [
        ("1790", "run nccl", ("cpn-m11-01", "cpn-m11-02"), True, 3),
        ("1792_3", "wide", ("cpn-m12-01", "cpn-m12-03"), False, 5),
    ]
    assert failure("JOBID ST NODES NODELIST\n1 R n1\n") == (
        "jobs:2: expected 4 words as in the heading, got '1 R n1'"
    )


SACCT = """JobID|JobName|State|NodeList
101|a b|RUNNING|n[1-2]
101.batch|batch|RUNNING|n1
101.0|x|RUNNING|n[1-2]
102|b|PENDING|None assigned
103_4|c|SUSPENDED|n[3-4]
"""
QSTAT = """Job Id: 101.pbs01
    Job_Name = a b
    job_state = R
    exec_host = n1/0*32+n2/0*32
    exec_vnode = (n1:ncpus=32)+(n2:ncpus=32)

Job Id: 102.pbs01
    Job_Name = b
    job_state = Q

Job Id: 103[4].pbs01
    Job_Name = c
    job_state = S
    exec_host = n3/0*32+
\tn4/0*32
"""
BJOBS = """JOBID   USER    STAT  QUEUE      FROM_HOST   EXEC_HOST   JOB_NAME   SUBMIT_TIME
101     me      RUN   normal     login1      32*n1       a          Nov 28 10:00
                                             32*n2
102     me      PEND  normal     login1                  b          Nov 28 10:00
103     me      USUSP normal     login1      n3:n4       c[4]       Nov 28 10:00
"""


@pytest.mark.parametrize(
    ("text", "second"), [(SACCT, "103_4"), (QSTAT, "103[4]"), (BJOBS, "103[4]")]
)
def test_what_sacct_pbs_and_lsf_print(text: str, second: str) -> None:
    one, two = parse_jobs([text.encode()], "jobs")
    assert (one.id, one.name.split()[0], one.nodes, one.runs) == ("101", "a", ("n1", "n2"), True)
    assert (two.id, two.nodes, two.runs) == (second, ("n3", "n4"), False)


QSTAT_N = """
mgmt.cluster:
                                                            Req'd  Req'd   Elap
Job ID          Username Queue    Jobname    SessID NDS TSK Memory Time  S Time
--------------- -------- -------- ---------- ------ --- --- ------ ----- - -----
101.mgmt        ann      workq    a            4711   2  16    --  24:00 R 01:12
   n1/0*8
   +n2/0*8
102.mgmt        ann      workq    b             --    1   8    --  24:00 Q   --
   --
103[4].mgmt     bob      workq    c            4713   2  16    --  24:00 S 00:02
   n3/0-7+n4/0-7
   Job was suspended on Sat Nov 28 at 10:02
"""
QHOST = """HOSTNAME                ARCH         NCPU NSOC NCOR NTHR  LOAD  MEMTOT  MEMUSE
-------------------------------------------------------------------------------
global                  -               -    -    -    -     -       -       -
n1                      lx-amd64        8    2    8    8  8.01   62.9G    8.1G
   job-ID     prior   name       user         state submit/start at     queue      master ja-task-ID
   ------------------------------------------------------------------------------------------------
       101 0.55500 a          ann          r     11/28/2026 10:00:00 all.q@n1   MASTER
                                                                     all.q@n1   SLAVE
n2                      lx-amd64        8    2    8    8  8.01   62.9G    8.1G
       101 0.55500 a          ann          r     11/28/2026 10:00:00 all.q@n2   SLAVE
n3                      lx-amd64        8    2    8    8  0.01   62.9G    1.1G
       103 0.55500 c d        bob          S     11/28/2026 10:00:00 all.q@n3   MASTER
n4                      lx-amd64        8    2    8    8  0.01   62.9G    1.1G
       103 0.55500 c d        bob          S     11/28/2026 10:00:00 all.q@n4   SLAVE
"""
QSTAT_F = """queuename                      qtype resv/used/tot. load_avg arch          states
---------------------------------------------------------------------------------
all.q@n1                       BIP   0/8/8          8.01     lx-amd64
    101 0.55500 a          ann          r     11/28/2026 10:00:00     8
---------------------------------------------------------------------------------
all.q@n2                       BIP   0/8/8          8.01     lx-amd64
    101 0.55500 a          ann          r     11/28/2026 10:00:00     8
---------------------------------------------------------------------------------
all.q@n3                       BIP   0/8/8          0.01     lx-amd64      S
    103 0.55500 c          bob          S     11/28/2026 10:00:00     8 7
---------------------------------------------------------------------------------
gpu.q@n4.a.long.domain.example BIP   0/8/8          0.01     lx-amd64      S
    103 0.55500 c          bob          S     11/28/2026 10:00:00     8 7

############################################################################
 - PENDING JOBS - PENDING JOBS - PENDING JOBS - PENDING JOBS - PENDING JOBS
############################################################################
    102 0.55500 b          ann          qw    11/28/2026 10:00:00     8
"""
_SGE = "job-ID  prior   name       user         state submit/start at     queue "
_AT = "11/28/2026 10:00:00 all.q@"
QSTAT_G_T = f"""{_SGE}                         master ja-task-ID
---------------------------------------------------------------------------------
    101 0.55500 a          ann          r     {_AT}n1                       MASTER
    101 0.55500 a          ann          r     {_AT}n2                       SLAVE
    103 0.55500 c          bob          ts    {_AT}n3                       MASTER 7
    103 0.55500 c          bob          ts    {_AT}n4                       SLAVE  7
    102 0.55500 b          ann          qw    11/28/2026 10:00:00
"""
QSTAT_OF_SGE = f"""{_SGE}                         slots ja-task-ID
---------------------------------------------------------------------------------
    100 0.55500 a          ann          r     {_AT}n1                           1
    101 0.55500 a          ann          r     {_AT}n1                           8
"""
FLUX = """       JOBID QUEUE    USER     NAME       ST NTASKS NNODES     TIME INFO
   \u0192ZZZ2 batch    ann      b b         S      4      2        - eta:now
         101 batch    ann      a +         R      4      2   1.234m n[1-2]
   \u0192AbC1 batch    bob      c           C      2      2   2.234s n3,n4
"""
FLUX_JSON = """{"jobs": [{"id": 101, "name": "a", "state": "RUN", "nodelist": "n[1-2]"},
{"id": "\u0192AbC1", "name": "c", "state": "CLEANUP", "nodelist": "n3,n4"},
{"id": "\u0192ZZZ2", "name": "b", "state": "SCHED", "nodelist": ""}]}"""
PBS_JSON = """{"timestamp": 1, "pbs_version": "22.05", "Jobs": {
"101.mgmt": {"Job_Name": "a", "job_state": "R", "exec_host": "n1/0*8+n2/0*8"},
"102.mgmt": {"Job_Name": "b", "job_state": "Q"},
"103[4].mgmt": {"Job_Name": "c", "job_state": "S", "exec_host": "n3/0*8+n4/0*8"}}}"""


@pytest.mark.parametrize(
    ("text", "second"),
    [
        (QSTAT_N, "103[4]"),
        (QSTAT_N.replace(" 01:12\n   n1/0*8\n   +n", " 01:12   n1/0*8+n"), "103[4]"),
        (QHOST, "103"),
        (QSTAT_F, "103.7"),
        (QSTAT_G_T, "103.7"),
        (FLUX, "\u0192AbC1"),
        (FLUX_JSON, "\u0192AbC1"),
        (PBS_JSON, "103[4]"),
    ],
)
def test_what_pbs_grid_engine_and_flux_print(text: str, second: str) -> None:
    one, two = listed(text)
    assert (one.id, one.name[:1], one.nodes, one.runs) == ("101", "a", ("n1", "n2"), True)
    assert (two.id, two.name[:1], two.nodes, two.runs) == (second, "c", ("n3", "n4"), False)


def test_lines_by_hand() -> None:
    jobs = listed('# mine\nJob,Hosts\n\nrelax,"n[1-2,4]"\n7,n5\nrelax,n9,n2\n8,(Resources)\n9,\n')
    assert jobs == [
        ListedJob("relax", "", ("n1", "n2", "n4", "n9"), line=4),
        ListedJob("7", "", ("n5",), line=5),
    ]
    assert listed("") == []
    assert listed("No jobs in the system\n") == []


def test_states_of_newer_versions() -> None:
    """Since 23.02 states are lists, and numbers say whether they are set."""
    state = {"set": True, "infinite": False, "number": 12}
    unset = {"set": False, "infinite": False, "number": 0}
    jobs = [
        {"job_id": 13, "job_state": ["RUNNING"], "nodes": "a[1-2]", "array_job_id": unset},
        {"job_id": 14, "job_state": ["CANCELLED", "COMPLETING"], "nodes": "b1"},
        {"job_id": 15, "job_state": ["COMPLETED"], "nodes": "b2"},
        {"job_id": 16, "job_state": ["RUNNING"], "nodes": "c", "array_job_id": state}
        | {"array_task_id": {"set": True, "number": 0}},
        {"job_id": 17, "job_state": "PENDING", "nodes": None},
        {"job_id": 18, "job_state": "SUSPENDED", "nodes": "d"},
    ]
    found = listed(json.dumps({"jobs": jobs, "warnings": []}))
    assert [(job.id, job.nodes, job.runs) for job in found] == [
        ("13", ("a1", "a2"), True),
        ("14", ("b1",), False),
        ("12_0", ("c",), True),
        ("18", ("d",), False),
    ]


def test_a_name_of_a_job_says_nothing_of_it() -> None:
    text = (SLURM / "scontrol.txt").read_text()
    evil = text.replace("alpha beta", "x JobState=PENDING NodeList=node16 ExcNodeList=y \x1b[2J")
    first = listed(evil)[0]
    assert first.nodes == ("node1", "node2", "node3", "node4")
    assert first.name == "x JobState=PENDING NodeList=node16 ExcNodeList=y \x1b[2J"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1,node[1-x]\n", 'jobs:1: expected ranges of numbers within brackets, got "node[1-x]"'),
        ("job,hosts\n17\n", "jobs:2: expected a job and its hosts with a comma between, got '17'"),
        ("1,node[1-600000]\n" * 2, "jobs:2: expected at most 1,048,576 hosts of all jobs, got"),
        ("1,a[1-9999][1-9999]\n", "jobs:1: expected at most 1000000 names"),
        (
            '{"jobs": 3}',
            "jobs: expected jobs in JSON of squeue, PBS or Flux, got Expected `array",
        ),
        ('{"jobs": [', "jobs: expected jobs in JSON of squeue, PBS or Flux, got "),
        (
            "{" * 100_000,
            "jobs: expected jobs in JSON of squeue, PBS or Flux, got ",
        ),
        (SACCT + "104|d\n", "jobs:7: expected 4 columns as in the heading, got '104|d'"),
        (BJOBS + "104 me RUN\n", "jobs:6: expected 6 words or more, as in the heading, got"),
        (BJOBS.replace(" n3:n4", "*n3:n4"), "jobs:5: expected whole names of hosts, as bjobs -w"),
        (
            QSTAT_N.replace("   n1/0*8\n   +n2/0*8\n", ""),
            "jobs:6: expected the job's hosts, as qstat",
        ),
        (QSTAT_N.replace("01:12", ""), "jobs:6: expected 11 words or more, as below the heading"),
        (
            "Job id  Name  User  Time Use S Queue\n",
            "jobs:1: expected hosts of jobs, as qstat -n or",
        ),
        (
            QSTAT_OF_SGE,
            "jobs:4: expected all hosts of a job, as qstat -g t or qhost -j prints, got",
        ),
        (QHOST.partition("   job-ID")[0], "jobs:1: expected jobs below their hosts, as qhost -j"),
        (
            QSTAT_G_T.replace("all.q@n2   ", "all.q@a-rather-long-nameof-host"),
            "jobs:4: expected whole names of hosts, as with SGE_LONG_QNAMES=-1",
        ),
        (
            FLUX.replace("INFO", "RANKS"),
            "jobs:1: expected hosts, as flux jobs -A -o '{id},{nodelist}'",
        ),
        (
            "STATE NNODES NCORES NODELIST\n",
            "jobs:1: expected jobs, as squeue or flux jobs -A prints",
        ),
        ("\nJobId=7 JobName=x\n", "jobs:2: expected a record of scontrol show job, got 'JobId=7"),
    ],
)
def test_what_is_no_list_of_jobs(text: str, said: str) -> None:
    assert failure(text).startswith(said)


_NAMES = st.from_regex(r"[a-z]{1,4}[0-9]{0,3}", fullmatch=True)


@given(st.dictionaries(_NAMES, st.lists(_NAMES, min_size=1, max_size=5, unique=True), max_size=5))
def test_lines_come_back(jobs: Mapping[str, Sequence[str]]) -> None:
    text = "job,hosts\n" + "".join(f"{job},{','.join(nodes)}\n" for job, nodes in jobs.items())
    assert {job.id: list(job.nodes) for job in listed(text)} == jobs


def answer(**answers: Finished) -> Sequence[ListedJob]:
    """What is made of answers of programs by their name."""
    return jobs_of_slurm(lambda command, _, __: answers[command[0]], {})


def test_slurm_is_asked() -> None:
    told = Finished(0, lzma.decompress((SLURM / "squeue.json.xz").read_bytes()))
    assert {job.id for job in answer(squeue=told)} == set(REAL)
    # As squeue does without its plugin for JSON.
    lacking = Finished(1, b"", b"squeue: error: Unable to find plugin: serializer/json\n")
    plain = Finished(0, (SLURM / "scontrol.oneliner.txt").read_bytes())
    assert {job.id for job in answer(squeue=lacking, scontrol=plain)} == set(REAL)


def test_no_slurm_is_here() -> None:
    nothing = Finished(127, b"", b"squeue: No such file or directory")
    with pytest.raises(MissingError, match=r"Slurm gave none: squeue: No such file"):
        answer(squeue=nothing, scontrol=Finished(127, b"", b"scontrol: No such file or directory"))
    lacking = Finished(1, b"", b"squeue: error: Unable to contact slurm controller\n")
    with pytest.raises(MissingError, match=r"Unable to contact slurm controller$"):
        answer(squeue=lacking, scontrol=lacking)
