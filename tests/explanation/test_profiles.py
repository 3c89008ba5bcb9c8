"""Profiles: records that a test builds, of programs that hit one limit each; times in ns."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import contend
from built_records import (
    ALLREDUCE,
    ALLTOALL,
    RECEIVE,
    ROUTINES,
    SEND,
    Rank,
)
from contend.base.errors import UsageError
from contend.explanation import Explanation, Limit, Remedy
from contend.profiling import ProgramProfile
from contend.report.explanation import explanation_sentence
from typed_commands import Typed
from written_programs import Script, profile_of

from .built_profiles import FINALIZE, MS, RUN, SECOND, explained, finish, of, pair


def test_a_program_that_computes_has_no_other_limit(tmp_path: Path) -> None:
    ranks = pair()
    for rank in ranks:
        rank.cell(ALLREDUCE, ticks=90 * MS)
        rank.collective(100 * MS + 80 * MS * rank.rank, 190 * MS, 0)
    explanation = explained(tmp_path / "p", ranks)
    (whole,) = explanation.cells
    assert whole.proven == (Limit.COMPUTATION,)
    # 1 s over 0.91 s of computing.
    assert whole.limits[0].ratio == pytest.approx(1 / 0.91)
    assert "MPI takes 9 % of the run" in explanation.remarks[0]


def late(cpus: int | None = None) -> tuple[list[Rank], dict[str, Any]]:
    """Rank 0 enters at 0.2 s, rank 1 at 0.79 s; both leave at 0.8 s."""
    ranks = pair()
    for rank, entry in zip(ranks, (200 * MS, 790 * MS), strict=True):
        cell = rank.cell(ALLREDUCE, ticks=800 * MS - entry)
        rank.collective(entry, 800 * MS, cell)
    return ranks, {"machine": "node1", "cpus": cpus}


def test_waiting_for_a_late_rank_is_imbalance(tmp_path: Path) -> None:
    explanation = explained(tmp_path / "p", *late(cpus=2))
    whole, communication, place = explanation.cells
    assert whole.proven == (Limit.COMPUTATION,)
    # 610 ms of both ranks in MPI, 590 ms of it until rank 1 entered: 295 ms of a run of 1 s.
    assert communication.proven == place.proven == (Limit.IMBALANCE,)
    (reason,) = communication.limits
    assert reason.ratio == pytest.approx(610 / 590)
    assert "rank 1 in 100 % of it" in reason.why
    assert "the run would be at most 30 % shorter" in reason.why
    assert place.evidence.cell.startswith("MPI_Allreduce called at app+0x")
    assert "--picture waits" in explanation.remedies[1].command


def test_a_place_of_long_waits_is_told_however_small_its_share(tmp_path: Path) -> None:
    """Of 40 s of two ranks 30 s are in sends; rank 0 waits 1.2 s for rank 1, or 0.6 s."""
    told = []
    for waited in (12, 6):
        ranks = [Rank(n, 2, **RUN | {"ended": 20 * SECOND}) for n in range(2)]
        for rank, entry in zip(ranks, (0, waited * 100 * MS), strict=True):
            rank.cell(SEND, ticks=15 * SECOND)
            cell = rank.cell(ALLREDUCE, ticks=waited * 100 * MS - entry + MS)
            rank.collective(18 * SECOND + entry, 18 * SECOND + waited * 100 * MS + MS, cell)
        cells = [v.evidence.cell for v in explained(tmp_path / f"{waited}", ranks).cells]
        told.append(any(cell.startswith("MPI_Allreduce called at") for cell in cells))
    assert told == [True, False]


def test_late_ranks_on_shared_processors_are_those(tmp_path: Path) -> None:
    explanation = explained(tmp_path / "p", *late(cpus=1))
    assert of(explanation).proven == (Limit.PROCESSORS,)
    # Here nobody knows the processors.
    assert of(explained(tmp_path / "q", *late())).proven == (Limit.IMBALANCE,)


def exchange(*hosts: str) -> list[Rank]:
    """Each of two ranks sends 8 MB in 0.9 s of MPI."""
    ranks = pair(*hosts)
    for rank in ranks:
        rank.cell(SEND, ticks=900 * MS, size=8_000_000, size_class=23)
        rank.sent = {1 - rank.rank: (8_000_000, 1)}
    return ranks


def test_bytes_through_a_port(tmp_path: Path) -> None:
    explanation = explained(tmp_path / "p", exchange("n0", "n1"), {"wire_Bps": 1e7})
    reason = of(explanation).limits[0]
    # 8 MB at 10 MB/s take 0.8 s.
    assert (reason.limit, reason.ratio) == (Limit.PORT, pytest.approx(0.9 / 0.8))
    assert "out of the port of n0 at 80 Mbit/s" in reason.why
    assert explanation.remarks == (
        "The fabric is not known: name it with --fabric and its routes.",
    )


def test_a_wire_that_is_not_known_is_asked_for_and_what_is_said_counts(tmp_path: Path) -> None:
    explanation = explained(tmp_path / "p", exchange("n0", "n1"))
    assert of(explanation).proven == ()
    assert explanation.remarks == (
        "The rate of the hosts' ports is not known: give it with --wire.",
    )
    assert of(contend.explain(tmp_path / "p", wire="80Mbit/s")).proven == (Limit.PORT,)
    # At 40 Mbit/s it would have taken 1.6 s: more bytes than that went through.
    assert of(contend.explain(tmp_path / "p", wire="40Mbit/s")).proven == ()


def test_bytes_within_a_host_load_no_port(tmp_path: Path) -> None:
    explanation = explained(tmp_path / "p", exchange(), {"wire_Bps": 1e7})
    assert of(explanation).evidence.network_s == 0


def test_the_fullest_cables_of_the_programs_routes(tmp_path: Path) -> None:
    fabric = contend.load("xgft:2;4,4;1,1", route="dmodk")
    ranks = [Rank(n, 16, host=name, **RUN) for n, name in enumerate(fabric.host_name)]
    for rank in ranks:
        rank.cell(ALLTOALL, ticks=600 * MS, size=16_000, size_class=14)
        rank.sent = {n: (0, 0, 10_000, 10) for n in range(16) if n != rank.rank}
    explanation = explained(tmp_path / "p", ranks, {"wire_Bps": 1e6}, fabric=fabric)
    (reason,) = of(explanation).limits
    # 48 pairs send 10 kB each over the one cable of a leaf at 1 MB/s: 0.48 s of 0.6.
    assert (reason.limit, reason.ratio) == (Limit.FABRIC, pytest.approx(0.6 / 0.48))
    assert reason.bound.load == 48
    assert 'switch "leaf 1" port 5 -> switch "top 1" port 1' in reason.bound.channels
    # All hosts are taken, so that none are on fewer leaves.
    assert explanation.remedies[-1].command == "contend fabric improve 'xgft:2;4,4;1,1'"


def sent_between(
    fabric: contend.Fabric, pairs: Iterable[tuple[int, int]], ticks: int
) -> list[Rank]:
    """Ranks on all hosts in their order, each for so long in MPI; 100 kB from source to target."""
    ranks = [Rank(n, fabric.hosts, host=name, **RUN) for n, name in enumerate(fabric.host_name)]
    for source, target in pairs:
        ranks[source].sent[target] = (100_000, 1)
    for rank in ranks:
        rank.cell(SEND, ticks=ticks, size=100_000 * len(rank.sent), size_class=17)
    return ranks


def cures(explanation: Explanation) -> list[Remedy]:
    return [remedy for remedy in explanation.remedies if remedy.limit is Limit.FABRIC]


def test_seats_and_routes_are_told_by_what_they_save(tmp_path: Path) -> None:
    fabric = contend.load("xgft:2;4,4;1,4", route="dmodk")
    # Hosts 4, 8 and 12 are reached over the same spine: three messages share a cable, for 0.3 s.
    ranks = sent_between(fabric, [(0, 4), (1, 8), (2, 12)], ticks=350 * MS)
    explanation = explained(tmp_path / "p", ranks, {"wire_Bps": 1e6}, fabric=fabric)
    assert of(explanation).proven == (Limit.FABRIC,)
    seats, routes = cures(explanation)
    # Then ports take 0.1 s, whatever is done.
    assert (seats.saves_s, routes.saves_s) == (pytest.approx(0.2), pytest.approx(0.2))
    profile, tree = tmp_path / "p", "'xgft:2;4,4;1,4'"
    assert seats.command == f"contend place {profile} {tree} --route dmodk -o rankfile"
    assert routes.command == (
        f"contend report {profile} --matrix sent.npy && contend route {tree} --for sent.npy "
        "-o better.lfts"
    )


def test_an_engine_that_does_as_well_is_named(tmp_path: Path) -> None:
    fabric = contend.load("xgft:2;4,4;1,4", route="dor")
    everyone = [(a, b) for a in range(16) for b in range(16) if a != b]
    # One spine is used, over which a leaf sends 48 messages; then ports take 15.
    ranks = sent_between(fabric, everyone, ticks=500 * MS)
    (routes,) = cures(explained(tmp_path / "p", ranks, {"wire_Bps": 1e7}, fabric=fabric))
    assert routes.saves_s == pytest.approx(0.48 - 0.15)
    assert routes.command == "contend fabric check 'xgft:2;4,4;1,4' --route dmodk"


def test_what_saves_nothing_is_no_cure(tmp_path: Path) -> None:
    fabric = contend.load("xgft:2;4,4;1,1", route="dmodk")
    everyone = [(a, b) for a in range(16) for b in range(16) if a != b]
    # The cable of a leaf carries 48 messages, whoever sits there: 0.48 s.
    ranks = sent_between(fabric, everyone, ticks=500 * MS)
    (remedy,) = cures(explained(tmp_path / "p", ranks, {"wire_Bps": 1e7}, fabric=fabric))
    assert remedy.saves_s is None
    assert remedy.advice.startswith("Neither another placement nor routes")
    assert remedy.command == "contend fabric improve 'xgft:2;4,4;1,1'"


def stalled(outside: bool = False) -> list[Rank]:
    """Two of twenty sends take 0.3 s instead of 1 ms; the other rank waits, or computes then."""
    ranks = pair("n0", "n1")
    send = ranks[0].cell(SEND, calls=20, ticks=618 * MS, longest=300 * MS)
    at = 0
    for step in range(20):
        long = 300 * MS if step in (5, 10) else MS
        ranks[0].event(at, at + long, send)
        at += long
    receive = ranks[1].cell(RECEIVE, calls=1, ticks=at)
    if outside:
        ranks[1].event(0, MS, receive)
        ranks[1].event(at - MS, at, receive)
    else:
        ranks[1].event(0, at, receive)
    for rank in ranks:
        finish(rank)
    return ranks


def test_calls_that_lose_time_outs(tmp_path: Path) -> None:
    explanation = explained(tmp_path / "p", stalled(), {"drops": 12, "wire_Bps": 1e9})
    communication = of(explanation)
    assert communication.proven == (Limit.TIME_OUTS,)
    # Rank 0 lost 598 ms: 299 ms in the mean of 618 ms.
    assert communication.limits[0].ratio == pytest.approx(618 / (618 - 299))
    assert "2 calls waited for a time-out" in communication.limits[0].why
    assert "12 packets" in communication.limits[0].why


@pytest.mark.parametrize(
    ("ranks", "known"),
    [
        # The other rank computed in the meantime: it may have been late.
        (stalled(outside=True), {"wire_Bps": 1e9}),
        # The emulated cables have counted: nothing was dropped.
        (stalled(), {"wire_Bps": 1e9, "drops": 0}),
    ],
)
def test_long_calls_that_are_no_time_outs(
    ranks: list[Rank], known: dict[str, Any], tmp_path: Path
) -> None:
    assert of(explained(tmp_path / "p", ranks, known)).proven == ()


def test_events_that_are_missing_are_told(tmp_path: Path) -> None:
    ranks = stalled()
    ranks[1].events = []
    explanation = explained(tmp_path / "p", ranks, {"wire_Bps": 1e9})
    assert of(explanation).proven == ()
    assert "a larger --record keeps more" in explanation.remarks[0]


def test_a_profile_object_will_do_and_what_it_lacks_is_refused(tmp_path: Path) -> None:
    explained(tmp_path / "p", *late())
    profile = ProgramProfile.load(tmp_path / "p")
    assert contend.explain(profile).name == "p"
    with pytest.raises(UsageError, match="says nothing about memory"):
        contend.explain(profile, memory="1GiB")
    with pytest.raises(UsageError, match="explains profiles only"):
        contend.explain("mistry2015", calibration=tmp_path)
    with pytest.raises(UsageError, match="contend calibrate makes one"):
        contend.explain(profile, calibration=tmp_path / "none")


def test_a_run_that_ended_at_once_proves_nothing(tmp_path: Path) -> None:
    ranks = [Rank(n, 2, **(RUN | {"ended": 0})) for n in range(2)]
    explanation = explained(tmp_path / "p", ranks)
    assert [verdict.proven for verdict in explanation.cells] == [()]


@pytest.mark.parametrize(
    ("damage", "status"),
    [
        ({"wire_Bps": 0}, 2),
        ({"rank_hosts": [0, 7]}, 2),
        ({"cpus": -1}, 2),
        ({"asked": {"fabric": "crossbar:0", "buffer": "lots"}}, 0),
        ({"cpus": 0, "machine": "n0", "drops": 0}, 0),
    ],
)
def test_damaged_profiles_end_in_no_traceback(
    damage: dict[str, Any], status: int, tmp_path: Path, typed: Typed
) -> None:
    folder = tmp_path / "p"
    explained(folder, stalled(), {"wire_Bps": 1e9})
    record = json.loads((folder / "profile.json").read_text())
    (folder / "profile.json").write_text(json.dumps(record | damage))
    assert "Traceback" not in typed("explain", folder, status=status).err


def test_late_ranks_that_hardly_compute_are_not_late_by_shared_processors(tmp_path: Path) -> None:
    """Two ranks on one processor compute 150 ms of 1 s, which sharing lengthened by 75 ms at most.

    Rank 1 sends for 800 ms while rank 0 waits for it: a wait of 400 ms in the mean, which is more
    than twice as much.
    """
    ranks = pair()
    for rank, entry in zip(ranks, (100 * MS, 900 * MS), strict=True):
        rank.collective(entry, 950 * MS, rank.cell(ALLREDUCE, ticks=950 * MS - entry))
    ranks[1].cell(SEND, ticks=800 * MS)
    explanation = explained(tmp_path / "p", ranks, {"machine": "node1", "cpus": 1})
    assert of(explanation, "MPI_Allreduce called at app+0x1100").proven == (Limit.IMBALANCE,)


def test_files_are_a_limit_with_the_rate_that_they_reach(tmp_path: Path) -> None:
    """Each of two ranks writes 8 MB in 0.8 s of 1 s, in a collective call."""
    ranks = pair()
    for rank in ranks:
        rank.routines = (*ROUTINES, "MPI_File_write_at_all")
        rank.cell(FINALIZE, ticks=800 * MS, size=8_000_000, size_class=23)
    explanation = explained(tmp_path / "p", ranks)
    assert explanation.cells[0].proven == (Limit.FILES,)
    (reason,) = of(explanation).limits
    assert "most in MPI_File_write_at_all; 100 % of it in collective calls" in reason.why
    assert "10 MB/s by each rank" in reason.why
    assert explanation.remedies[0].limit is Limit.FILES


def test_lateness_is_followed_to_where_it_began(tmp_path: Path) -> None:
    """Rank 0 computes for a second; rank 1 waits for it, and rank 2 for rank 1."""
    ranks = [Script(rank, 3) for rank in range(3)]
    ranks[0].call("Send", 1000, 1000.1, peer=1, size=8)
    ranks[1].call("Recv", 0, 1000.2, peer=0, size=8).call("Send", 1000.3, 1000.4, peer=2, size=8)
    ranks[2].call("Recv", 0, 1000.5, peer=1, size=8)
    profile = profile_of(tmp_path / "p", *(script.end(1001) for script in ranks))
    assert "waiting for late ranks, mostly because of rank 0 on node1" in profile.findings.verdict
    explained = contend.explain(profile)
    sentence = explanation_sentence(explained)
    assert sentence.startswith("Imbalance limits the run")
    assert "times its bound; most lateness begins at rank 0 on node1)" in sentence
    assert "imbalance" in explained.cells[0].proven
    [remedy] = [one for one in explained.remedies if one.limit == "imbalance"]
    assert "most lateness begins at rank 0 on node1. Give all ranks" in remedy.advice
    [why] = [reason.why for cell in explained.cells[2:3] for reason in cell.limits]
    assert "rank 0" in why


def test_a_late_host_is_named_where_none_of_its_ranks_is_most_of_it(tmp_path: Path) -> None:
    """Ranks 3, 4 and 5 of one of three hosts come 400 ms late, each to two ranks of the others."""
    ranks = [Script(rank, 9, host=f"node{rank // 3}") for rank in range(9)]
    for late in (3, 4, 5):
        for other in (late - 3, late + 3):
            ranks[late].call("Send", 400 + 0.1 * other, 400.05 + 0.1 * other, peer=other, size=8)
            ranks[other].call("Recv", 0, 401, peer=late, size=8)
    profile = profile_of(tmp_path / "p", *(script.end(1000) for script in ranks))
    assert profile.findings.culprit() == "the ranks on node1"
    assert profile.findings.verdict.endswith("late ranks, mostly because of the ranks on node1")
