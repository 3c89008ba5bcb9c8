"""What is recorded of a program that calls nearly everything, against another way of counting."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest

from probe_programs import Build, Mpi
from rank_records import CALL, COMPLETION, FINISHED, NO_PEER, PART, RankRecord
from tracer.conftest import Recorded, Run, tracer_of

PYTHON = """\
from mpi4py import MPI
import numpy
world = MPI.COMM_WORLD
given, got = numpy.ones(10), numpy.zeros(10)
world.Allreduce(given, got)
request = world.Irecv(got, source=(world.rank - 1) % world.size)
world.Send(given[:5], dest=(world.rank + 1) % world.size)
request.Wait()
"""
RANKS = 4
# Persistent sends, which the other count leaves out: four starts of eleven integers.
STARTED = (4 * 44, 4)
RECEIVES = ("MPI_Recv", "MPI_Irecv", "MPI_Mrecv", "MPI_Imrecv")


@pytest.fixture
def counted(any_mpi: Mpi, build: Build, run_recorded: Run) -> Recorded:
    program = build(any_mpi.wrapper, "everything.c")
    counter = build(any_mpi.wrapper, "counter.c", "-shared", "-fPIC")
    environment = {"COUNTER_FOLDER": str(counter.parent)}
    recorded = run_recorded(any_mpi, RANKS, program, before=counter, environment=environment)
    assert recorded.ended.status == 0, recorded.ended.errors
    assert recorded.ended.output.count("all as expected") == RANKS
    for rank in range(RANKS):
        (counter.parent / f"{rank}.count").replace(recorded.folder / f"{rank}.count")
    return recorded


def test_totals_are_those_of_an_independent_counter(counted: Recorded) -> None:
    assert len(counted.records) == RANKS
    for rank, record in enumerate(counted.records):
        assert record.header["state"] == FINISHED
        assert (record.header["rank"], record.header["size"]) == (rank, RANKS)
        assert not any(record.lost.values())
        assert record.header["requests_lost"] == 0
        totals = record.totals()
        names = 0
        for line in (counted.folder / f"{rank}.count").read_text().splitlines():
            kind, name, *numbers = line.split()
            if kind == "routine":
                names += 1
                assert totals[name] == tuple(map(int, numbers)), name
            else:
                started = STARTED if int(name) == (rank + 1) % RANKS else (0, 0)
                expected = list(map(int, numbers))
                expected[:2] = [expected[0] + started[0], expected[1] + started[1]]
                assert record.peers[int(name)].tolist() == tuple(expected), (rank, name)
        assert names > 55
    _check_arrivals(counted.records)
    _check_communicators(counted.records)


def _check_arrivals(records: list[RankRecord]) -> None:
    """All that was sent has arrived, as much as was sent and not as there was room for."""
    sent: Counter[int] = Counter()
    arrived: Counter[int] = Counter()
    for rank, record in enumerate(records):
        totals = record.totals()
        for peer in range(RANKS):
            sent[peer] += int(record.peers[peer]["bytes"])
        arrived[rank] += sum(totals[name][1] for name in RECEIVES)
        parts = record.events[(record.events["kind"] == PART) & (record.events["turn"] & 3 == 1)]
        parts = parts[parts["request"] == 0]
        arrived[rank] += int(parts["bytes"].sum())
        # What was started counts once as sent and once as arrived.
        arrived[rank] += sum(totals[name][1] for name in ("MPI_Start", "MPI_Startall")) // 2
    assert sent == arrived
    assert records[0].totals()["MPI_Startall"] == (3, 3 * 2 * 44)


def _check_communicators(records: list[RankRecord]) -> None:
    """Members agree on ids, and nobody else has them."""
    members: defaultdict[int, set[tuple[int, ...]]] = defaultdict(set)
    holders: defaultdict[int, set[int]] = defaultdict(set)
    for rank, record in enumerate(records):
        kinds = record.communicators["kind"].tolist()
        for index, item in enumerate(record.communicators):
            if index < 2 or item["name"] == b"others":
                continue
            holders[int(item["id"])].add(rank)
            if kinds[index] != 4:
                members[int(item["id"])].add(record.members_of(index))
        assert [kinds.count(kind) for kind in (1, 2, 3, 4)] == [2, 1, 1, 1]
        grid = record.communicators[kinds.index(1)]
        assert (grid["dimensions"], grid["extent"][:2].tolist()) == (2, [2, 2])
        assert [name for name in record.communicators["name"].tolist() if name] == [
            b"MPI_COMM_WORLD",
            b"MPI_COMM_SELF",
            b"others",
            b"halves",
            b"a window of MPI_COMM_WORLD",
        ]
    for identity, groups in members.items():
        assert len(groups) == 1
        assert holders[identity] == set(next(iter(groups)))


def test_events_tell_requests_and_where_calls_are(
    any_mpi: Mpi, build: Build, run_recorded: Run
) -> None:
    program = build(any_mpi.wrapper, "everything.c")
    recorded = run_recorded(any_mpi, RANKS, program)
    assert recorded.ended.status == 0, recorded.ended.errors
    assert recorded.ended.output.count("all as expected") == RANKS
    for record in recorded.records:
        assert {record.module_of(int(site)) for site in record.cells["site"]} == {str(program)}
        _check_requests(record)
        assert np.all(record.events["start"] <= record.events["end"])
        assert np.all(record.collectives["entry"] <= record.collectives["exit"])
        clock = record.header["clock"]
        assert clock["known"] == 2
        assert clock["begun_ticks"] < clock["start_ticks"] < clock["end_ticks"]
        assert record.header["fortran_calls"] == 0
    _check_version_4(recorded.records[0])


def _check_requests(record: RankRecord) -> None:
    """Every completion is of a request that was begun before it, and completes it once."""
    begun: set[int] = set()
    for event in record.events:
        number = int(event["request"])
        if event["kind"] in (CALL, PART) and number:
            assert number not in begun
            begun.add(number)
        if event["kind"] == COMPLETION:
            begun.remove(number)
    # The one that was freed while it was under way.
    assert len(begun) == 1
    completions = record.events[record.events["kind"] == COMPLETION]
    last = (int(record.header["rank"]) + RANKS - 1) % RANKS
    assert set(completions["peer"].tolist()) <= {last, NO_PEER, *range(RANKS)}


def _check_version_4(record: RankRecord) -> None:
    totals = record.totals()
    if "MPI_Allreduce_init" in record.routines:
        assert totals["MPI_Allreduce_init"] == (1, 0)
        assert totals["MPI_Isendrecv"] == (1, 24)
    if "MPI_Bcast_c" in record.routines:
        assert totals["MPI_Bcast_c"] == (1, 36)
        assert totals["MPI_Sendrecv_c"] == (1, 24)
        assert totals["MPI_Psend_init"] == (1, 0)
        # Persistent ones, and four partitions of two integers, sent and arrived.
        assert totals["MPI_Startall"] == (4, 3 * 2 * 44 + 2 * 32)


def test_python(any_mpi: Mpi, run_recorded: Run, tmp_path: Path) -> None:
    """mpi4py loads MPI for itself, so that nothing of it is there when Python starts."""
    script = tmp_path / "script.py"
    script.write_text(PYTHON)
    environment = any_mpi.variables(tmp_path)
    recorded = run_recorded(any_mpi, 2, Path(sys.executable), script, environment=environment)
    assert recorded.ended.status == 0, recorded.ended.errors
    assert len(recorded.records) == 2
    # Where there are big counts, mpi4py has nothing but them.
    big = "_c" if any_mpi.name == "mpich" else ""
    for rank, record in enumerate(recorded.records):
        totals = record.totals()
        assert totals[f"MPI_Allreduce{big}"] == (1, 80)
        assert totals[f"MPI_Send{big}"] == totals[f"MPI_Irecv{big}"] == (1, 40)
        assert [int(sent) for sent in record.peers["bytes"]] == [40 * (rank != 0), 40 * (rank != 1)]
        [site] = record.sites(f"MPI_Send{big}")
        assert record.module_of(site) == str(script)


def test_python_for_another_library_than_the_recorder_s(
    openmpi: Mpi, run_recorded: Run, tmp_path: Path, mpich: Mpi
) -> None:
    """Open MPI has no big counts, and MPICH's recorder must not make mpi4py believe so."""
    script = tmp_path / "script.py"
    script.write_text(f"{PYTHON}if world.rank == 0: print(f'{{world.size}} {{got[0]}}')\n")
    recorded = run_recorded(openmpi, 2, Path(sys.executable), script, tracer=tracer_of(mpich))
    assert (recorded.ended.status, recorded.ended.output) == (0, "2 1.0\n")
    assert recorded.records == []
