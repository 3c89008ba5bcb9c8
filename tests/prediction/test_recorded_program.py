"""What was recorded of a program, as a schedule that can be carried out again."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from contend.base.errors import InputError, ShortfallError, UsageError
from contend.prediction import (
    Calibration,
    held_against,
    predict_program,
    program_of,
    record_of,
    recorded_hosts,
    save_calibration,
)
from contend.routes import load
from contend.traffic.schedule import Action, carry_out
from typed_commands import Typed
from written_programs import COMPLETION, MS, PART, Script, crossbar, profile_of


def test_a_receive_from_anybody_is_from_whom_it_was(tmp_path: Path) -> None:
    first = Script(0, 3).call("Isend", 1, 2, peer=2, size=10, tag=7, request=1)
    second = Script(1, 3).call("Isend", 1, 2, peer=2, size=20, tag=8, request=1)
    third = (
        Script(2, 3)
        .call("Irecv", 0, 0, peer=-1, size=99, tag=-1, request=1)
        .call("Irecv", 0, 0, peer=-1, size=99, tag=-1, request=2)
        .call("Waitall", 1, 5)
        .and_(COMPLETION, peer=1, size=20, tag=8, request=1)
        .and_(COMPLETION, peer=0, size=10, tag=7, request=2)
    )
    program = program_of(profile_of(tmp_path / "p", first.end(), second.end(), third.end()))
    begin, end = program.schedule.begin[2:4]
    receives = program.schedule.action[begin:end] == Action.RECEIVE
    assert program.schedule.peer[begin:end][receives][:2].tolist() == [1, 0]


def test_a_probed_message_is_received_once(calibration: Calibration, tmp_path: Path) -> None:
    sender = Script(0, 2).call("Send", 0, 10, peer=1, size=1000, tag=3).end(20)
    receiver = (
        Script(1, 2)
        .call("Probe", 0, 10, peer=0, size=1000, tag=3)
        .call("Recv", 15, 16, peer=0, size=1000, tag=3)
        .end(20)
    )
    program = program_of(profile_of(tmp_path / "p", sender, receiver))
    found = predict_program(held_against(program, 0.02, None), crossbar(calibration, 2))
    assert (program.schedule.action == Action.SEND).sum() == 1
    calls = {calls.routine: calls.predicted_s for calls in found.calls}
    assert calls["MPI_Probe"] == pytest.approx(1.1e-3 / 2, rel=1e-3)
    assert calls["MPI_Recv"] == pytest.approx(0.0, abs=1e-6)


def test_the_librarys_start_and_end_are_not_the_programs(
    calibration: Calibration, tmp_path: Path
) -> None:
    """Ranks leave MPI_Init at 200 and 205 ms and call MPI_Finalize, of 300 ms, at 240 and 230.

    It begins when both have left, at 205.
    """
    sender = Script(0, 2, started=200).call("Send", 210, 220, peer=1, size=10_000)
    receiver = Script(1, 2, started=205).call("Recv", 205, 225, peer=0, size=10_000)
    for script, at in ((sender, 240), (receiver, 230)):
        script.call("Finalize", at, at + 300).rank.ended = (at + 300) * MS
    profile = profile_of(tmp_path / "p", sender.rank, receiver.rank)
    assert profile.findings.within_s == pytest.approx(0.035, abs=1e-6)
    recorded = record_of(profile, calibration)
    assert recorded.recorded_s == recorded.kept_s == profile.findings.within_s
    found = predict_program(recorded, crossbar(calibration, 2))
    # From 210 ms on 11 on the wire and the receiver's last 5; the sender's 20 end later, at 230.
    assert found.predicted_s == pytest.approx(0.025, rel=1e-3)
    assert {calls.routine for calls in found.calls} == {"MPI_Send", "MPI_Recv"}


def test_the_launchers_spread_of_starts_is_not_the_programs(
    calibration: Calibration, tmp_path: Path
) -> None:
    """Rank 1 leaves MPI_Init 5 or 400 ms after rank 0: the run from then on is the same."""
    times = []
    for late in (5, 400):
        sender = Script(0, 2).call("Send", 450, 460, peer=1, size=10_000).end(470)
        receiver = Script(1, 2, started=late).call("Recv", 450, 465, peer=0, size=10_000).end(470)
        profile = profile_of(tmp_path / f"{late}", sender, receiver)
        found = predict_program(record_of(profile, calibration), crossbar(calibration, 2))
        times.append(profile.findings.within_s)
        assert found.predicted_s == pytest.approx(times[-1], rel=0.1)
    assert times == pytest.approx([0.465, 0.07], abs=1e-6)


def test_the_command_says_what_it_predicts_for(
    calibration: Calibration, tmp_path: Path, typed: Typed
) -> None:
    sender = Script(0, 2).call("Send", 0, 10, peer=1, size=1000, tag=3).end(20)
    receiver = Script(1, 2).call("Recv", 0, 16, peer=0, size=1000, tag=3).end(20)
    profile_of(tmp_path / "p", sender, receiver)
    costs = tmp_path / "calibration.json"
    save_calibration(costs, calibration)
    tables = tmp_path / "it.lfts"
    tables.write_text("")
    given = ["predict", str(tmp_path / "p"), "crossbar:2", "--calibration", str(costs)]
    printed = typed(*given, "--rate", "8Mbit")
    assert "Cables: 8 Mbit/s. Ranks sit on the profile's hosts" in printed.out
    printed = typed(*given, "fig1", "--routes", tables, status=2)
    assert "--routes: expected one FABRIC that it is of, got 2" in printed.err


def test_what_one_side_alone_kept_is_left_out(calibration: Calibration, tmp_path: Path) -> None:
    """Events of rank 1 end after 50 ms; half of the run is carried out, and taken for all of it."""
    sender = Script(0, 2)
    receiver = Script(1, 2)
    for step in range(10):
        sender.call("Send", 10 * step + 9, 10 * step + 9, peer=1, size=1000)
        if step < 5:
            receiver.call("Recv", 10 * step, 10 * step + 10, peer=0, size=1000)
    receiver.rank.ended = 100 * MS
    profile = profile_of(tmp_path / "p", sender.end(100), receiver.rank)
    program = program_of(profile)
    assert program.until == pytest.approx(0.05, abs=1e-6)
    assert (program.schedule.action == Action.SEND).sum() == 5
    recorded = held_against(program, 0.1, None)
    assert recorded.kept_s == pytest.approx(0.05, abs=1e-6)
    found = predict_program(recorded, crossbar(calibration, 2))
    assert found.predicted_s == pytest.approx(2 * 0.05, rel=0.05)


def test_collectives_are_those_of_their_communicator(
    calibration: Calibration, tmp_path: Path
) -> None:
    """Ranks 1 and 3 reduce 1 MB on a communicator of their own, the others wait at the end."""
    ranks = []
    for number in range(4):
        script = Script(number, 4)
        if number % 2:
            own = script.rank.communicator(77, [1, 3], name="odd")
            script.call("Allreduce", 0, 1, communicator=own, size=1_000_000)
        ranks.append(script.end(1))
    program = program_of(profile_of(tmp_path / "p", *ranks))
    found = predict_program(held_against(program, 0.001, None), crossbar(calibration))
    # Halves there and back: as many bytes through each port as there are data.
    assert found.predicted_s == pytest.approx(1.1 + 0.001, rel=0.01)
    calls = {calls.routine: calls for calls in found.calls}
    assert calls["MPI_Allreduce"].calls == 2


def test_amounts_of_an_exchange_go_where_they_went(tmp_path: Path) -> None:
    amounts = {0: {1: 500, 2: 300}, 1: {}, 2: {1: 200}}
    ranks = []
    for number, to in amounts.items():
        script = Script(number, 3).call("Alltoallv", 0, 1, size=sum(to.values()))
        for peer, size in to.items():
            script.and_(PART, peer=peer, size=size)
        ranks.append(script.end(1))
    schedule = program_of(profile_of(tmp_path / "p", *ranks)).schedule
    sends = (schedule.action == Action.SEND) & (schedule.amount > 0)
    assert sorted(schedule.amount[sends].tolist()) == [200, 300, 500]


def test_halves_of_an_exchange_and_requests_started_again(
    calibration: Calibration, tmp_path: Path
) -> None:
    ranks = []
    for number in (0, 1):
        other = 1 - number
        script = Script(number, 2)
        script.call("Sendrecv", 0, 1, peer=other, size=1000).and_(
            PART, peer=other, size=1000, role=1
        )
        for request in (1, 3):
            begin = 2.0 * request
            script.call("Start", begin, begin, peer=other, size=2000, request=request)
            script.call("Start", begin, begin, peer=other, size=2000, request=request + 1, role=1)
            script.call("Waitall", begin, begin + 1).and_(COMPLETION, request=request)
            script.and_(COMPLETION, peer=other, size=2000, request=request + 1)
        ranks.append(script.end())
    program = program_of(profile_of(tmp_path / "p", *ranks))
    schedule = program.schedule
    data = (schedule.action == Action.SEND) & (schedule.amount > 0)
    assert schedule.amount[data].sum() == 2 * (1000 + 2 * 2000)
    found = predict_program(held_against(program, 0.007, None), crossbar(calibration, 2))
    assert found.communication > 0


def test_begun_collectives_end_when_they_are_waited_for(
    calibration: Calibration, tmp_path: Path
) -> None:
    ranks = []
    for number in range(4):
        script = Script(number, 4)
        script.call("Ibarrier", 100 * number, 100 * number, request=1)
        script.call("Waitall", 100 * number, 300).and_(COMPLETION, request=1)
        ranks.append(script.end(300))
    program = program_of(profile_of(tmp_path / "p", *ranks))
    found = predict_program(held_against(program, 0.3, None), crossbar(calibration))
    calls = {calls.routine: calls.predicted_s for calls in found.calls}
    # Messages come from the ranks one and two before: only 0 and 1 hear from the last one, and
    # rank 2, which begins when rank 1 has, from nobody later than itself.
    assert calls["MPI_Waitall"] == pytest.approx((0.3 + 0.2) / 4, abs=1e-3)
    assert found.predicted_s == pytest.approx(0.3, rel=1e-3)


def test_what_cannot_be_carried_out_takes_what_it_took(
    calibration: Calibration, tmp_path: Path
) -> None:
    ranks = [Script(number, 2).call("Win_fence", 0, 80).end(100) for number in (0, 1)]
    program = program_of(profile_of(tmp_path / "p", *ranks))
    found = predict_program(held_against(program, 0.1, None), crossbar(calibration, 2))
    assert found.predicted_s == pytest.approx(0.1, rel=1e-3)
    assert program.as_recorded == pytest.approx(0.16, rel=1e-3)
    assert any("MPI_Win_fence" in remark for remark in program.remarks)


def test_what_is_missing_is_refused(tmp_path: Path) -> None:
    alone = profile_of(tmp_path / "one", Script(0, 2).end(1))
    with pytest.raises(ShortfallError, match="1 of 2 ranks left no record"):
        program_of(alone)
    threads = Script(0, 1).call("Send", 0, 1, peer=-1).call("Send", 1, 2, peer=-1, thread=1)
    with pytest.raises(UsageError, match="several threads of rank 0 called MPI"):
        program_of(profile_of(tmp_path / "threads", threads.end()))
    reduces = Script(0, 2).call("Allreduce", 0, 1).end()
    broadcasts = Script(1, 2).call("Bcast", 0, 1, peer=0).end()
    with pytest.raises(InputError, match="one routine as collective 0 of communicator 0"):
        program_of(profile_of(tmp_path / "mixed", reduces, broadcasts))


def test_ranks_stay_on_the_hosts_that_the_profile_names(tmp_path: Path) -> None:
    ranks = [Script(number, 3, host=f"host {3 - number}").end(1) for number in range(3)]
    profile = profile_of(tmp_path / "p", *ranks)
    fabric = load("crossbar:3", need_routes=True).replace(host_name=("host 1", "host 2", "host 3"))
    assert recorded_hosts(profile, fabric) == [2, 1, 0]
    assert recorded_hosts(profile, load("crossbar:2", need_routes=True)) is None


def test_random_programs_carry_every_byte_and_end(calibration: Calibration, tmp_path: Path) -> None:
    """Random rounds of messages between random pairs: bytes are those that were sent."""
    random = np.random.default_rng(5)
    scripts = [Script(rank, 6) for rank in range(6)]
    sent, now = 0, 1.0
    for number in range(1, 40):
        order = random.permutation(6)
        for source, target in zip(order[:3], order[3:], strict=True):
            size = int(random.integers(0, 5000))
            sent += size
            scripts[source].call("Isend", now, now, peer=int(target), size=size, request=number)
            scripts[target].call("Irecv", now, now, peer=int(source), size=size, request=number)
            for end in (source, target):
                scripts[end].call("Waitall", now, now + 1).and_(
                    COMPLETION, request=number, peer=int(source), size=size
                )
        now += 2
    program = program_of(profile_of(tmp_path / "p", *(script.end(now) for script in scripts)))
    sends = program.schedule.action == Action.SEND
    assert program.schedule.amount[sends].sum() == sent
    where = crossbar(calibration, 6)
    course = carry_out(
        where.fabric,
        program.schedule,
        range(6),
        where.cables,
        calibration.costs(),
        start=program.start,
    )
    # The smallest messages load no channel.
    assert course.channel_bytes.sum() == pytest.approx(2 * 1.1 * sent, rel=0.01)
    assert math.isfinite(course.seconds)
