"""Totals hold whatever there is room for; requests are told apart whoever gets their handles."""

from __future__ import annotations

import numpy as np

from probe_programs import Build, Mpi
from rank_records import CALL, COMPLETION, OTHERS
from tracer.conftest import Run

LEAST = {"CONTEND_PROFILE_MEMORY": "262144"}


def test_communicators_of_every_step_are_as_one(
    any_mpi: Mpi, build: Build, run_recorded: Run
) -> None:
    """1,500 where 18 fit: none is lost, and ranks can match the collective of each step."""
    program = build(any_mpi.wrapper, "room.c")
    recorded = run_recorded(any_mpi, 2, program, "alike", 1500, environment=LEAST)
    assert recorded.ended.status == 0, recorded.ended.errors
    kept = []
    for record in recorded.records:
        assert record.totals()["MPI_Allreduce"] == (1500, 1500 * 8)
        assert (record.lost["communicators"], record.lost["cells"]) == (0, 0)
        assert record.communicators["more"][OTHERS + 1 :].tolist() == [1, 1, 1, 1497]
        occurrences = record.collectives[record.collectives["communicator"] > OTHERS]
        ids = record.communicators["id"][occurrences["communicator"]].tolist()
        turns, numbers = occurrences["turn"].tolist(), occurrences["number"].tolist()
        kept.append(set(zip(ids, turns, numbers, strict=True)))
        assert len(kept[-1]) == len(occurrences) > 100
    assert kept[0] == kept[1]


def test_calls_without_room_of_their_own_are_in_the_totals(
    any_mpi: Mpi, build: Build, run_recorded: Run
) -> None:
    program = build(any_mpi.wrapper, "room.c")
    recorded = run_recorded(any_mpi, 2, program, "unlike", 40, environment=LEAST)
    assert recorded.ended.status == 0, recorded.ended.errors
    calls, moved = map(int, recorded.ended.output.split())
    for record in recorded.records:
        assert record.totals()["MPI_Allreduce"] == (calls, moved)
        assert record.totals()["MPI_Bcast"] == (calls, moved)
        coarse = record.cells[record.cells["size_class"] == 255]
        assert 0 < record.lost["cells"] == int(coarse["calls"].sum())
        assert set(coarse["communicator"].tolist()) == {OTHERS}


def test_requests_whose_handles_another_thread_gets_are_told_apart(
    any_mpi: Mpi, build: Build, run_recorded: Run
) -> None:
    """Each completion of a receive has the tag of the call that began it, and its bytes."""
    program = build(any_mpi.wrapper, "reuse.c", "-pthread")
    recorded = run_recorded(any_mpi, 1, program)
    assert recorded.ended.status == 0, recorded.ended.errors
    [record] = recorded.records
    if record.header["thread_level"] < 3:
        return
    messages = int(recorded.ended.output)
    assert record.totals()["MPI_Isend"][0] == record.totals()["MPI_Irecv"][0] == messages
    assert record.totals()["MPI_Irecv"][1] == record.totals()["MPI_Isend"][1]
    events = record.events
    begun = events[(events["kind"] == CALL) & (events["request"] > 0)]
    names = np.array(record.routines)[record.cells["routine"][begun["cell"]]]
    tags = {
        int(event["request"]): int(event["tag"])
        for event, name in zip(begun, names, strict=True)
        if name == "MPI_Irecv"
    }
    ended = events[events["kind"] == COMPLETION]
    assert len(ended) == len(set(ended["request"].tolist())) == 2 * messages
    for event in ended[ended["turn"] & 3 == 1]:
        expected = tags[int(event["request"])]
        assert (int(event["tag"]), int(event["bytes"])) == (expected, 10 * expected)
