"""Profiled programs carried out again: what was recorded, and how long it takes elsewhere."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

import contend
from built_records import Rank, leave_records
from contend.cli.app import run
from contend.emulate import identity
from contend.errors import InputError, ShortfallError, UsageError
from contend.loading import load
from contend.prediction import (
    Calibration,
    Conditions,
    held_against,
    predict_program,
    program_of,
    recorded_hosts,
    save_calibration,
    where_recorded,
)
from contend.profiling import Profile, merge
from contend.schedule import Action, carry_out

ROUTINES = (
    "MPI_Send",
    "MPI_Recv",
    "MPI_Isend",
    "MPI_Irecv",
    "MPI_Waitall",
    "MPI_Allreduce",
    "MPI_Alltoallv",
    "MPI_Probe",
    "MPI_Sendrecv",
    "MPI_Start",
    "MPI_Finalize",
    "MPI_Win_fence",
    "MPI_Ibarrier",
    "MPI_Bcast",
)
MS = 1_000_000
CALL, COMPLETION, PART = range(3)


class Script:
    """What one rank calls, with times in milliseconds."""

    def __init__(self, rank: int, size: int, started: float = 0, host: str | None = None) -> None:
        self.rank = Rank(
            rank,
            size,
            routines=ROUTINES,
            started=round(started * MS) + 1,
            ended=10_000 * MS,
            host=host or f"node{rank + 1}",
        )
        self._end = 0.0

    def call(
        self, routine: str, begin: float, end: float, communicator: int = 0, **more: int
    ) -> Script:
        cell = self.rank.cell(ROUTINES.index(f"MPI_{routine}"), communicator=communicator)
        self._cell, self._times = cell, (round(begin * MS), round(end * MS))
        self.rank.event(*self._times, cell, **more)
        self._end = end
        return self

    def and_(self, kind: int, **more: int) -> Script:
        self.rank.event(*self._times, self._cell, kind=kind, **more)
        return self

    def end(self, at: float | None = None) -> Rank:
        at = self._end if at is None else at
        self.call("Finalize", at, at)
        self.rank.ended = round(at * MS) + 1
        return self.rank


def profile_of(folder: Path, *ranks: Rank, **known: object) -> Profile:
    leave_records(folder, ranks, **known)
    merge(folder)
    return Profile.load(folder)


def crossbar(calibration: Calibration, hosts: int = 4, **changes: object) -> Conditions:
    network = load(f"crossbar:{hosts}", need_routes=True)
    where = Conditions(network, range(hosts), calibration, calibration.wire_Bps)
    return replace(where, **changes)  # type: ignore[arg-type]


def one_message(folder: Path, **known: object) -> Profile:
    """Rank 0 computes for 100 ms and sends 1 MB, which takes 900 ms instead of 1.1 s."""
    sender = Script(0, 2).call("Send", 100, 1000, peer=1, size=1_000_000).end()
    receiver = Script(1, 2).call("Recv", 20, 1000, peer=0, size=1_000_000).end(1050)
    return profile_of(folder, sender, receiver, **known)


def test_pauses_stay_and_messages_take_what_the_network_gives_them(
    calibration: Calibration, tmp_path: Path
) -> None:
    program = program_of(one_message(tmp_path / "p"))
    found = predict_program(held_against(program, 1.05, None), crossbar(calibration, 2))
    # 0.1 s, 1.1 bytes on the wire for each of a million at 1 MB/s, and the receiver's last 50 ms.
    assert found.seconds == pytest.approx(0.1 + 1.1 + 0.05, rel=1e-6)
    assert found.low == pytest.approx(0.1 + 0.99 + 0.05, rel=1e-6)
    assert found.high == pytest.approx(0.1 + 1.21 + 0.05, rel=1e-6)
    slow = crossbar(calibration, 2, rate=calibration.wire_Bps / 2)
    assert predict_program(held_against(program, 1.05, None), slow).seconds == pytest.approx(
        0.1 + 2.2 + 0.05, rel=1e-6
    )
    calls = {row["routine"]: row for row in found.calls.to_dicts()}
    # Of the mean rank: rank 0 is within Send for 1.1 s, which is eager and ends at once.
    assert calls["Recv"]["predicted_s"] == pytest.approx((1.2 - 0.02) / 2, rel=1e-6)
    assert calls["Recv"]["recorded_s"] == pytest.approx(0.98 / 2, rel=1e-6)


def test_what_the_model_is_off_by_where_it_was_recorded_corrects_it(
    calibration: Calibration, tmp_path: Path
) -> None:
    program = program_of(one_message(tmp_path / "p"))
    recorded = held_against(program, 1.05, crossbar(calibration, 2))
    assert recorded.modelled == pytest.approx(1.25, rel=1e-6)
    found = predict_program(recorded, crossbar(calibration, 2))
    assert found.seconds == pytest.approx(1.05, rel=1e-6)
    slow = crossbar(calibration, 2, rate=calibration.wire_Bps / 2)
    assert predict_program(recorded, slow).seconds == pytest.approx(2.35 * 1.05 / 1.25, rel=1e-6)


def test_where_processors_are_shared_looks_are_taken_from_the_recording(
    calibration: Calibration, tmp_path: Path
) -> None:
    crowded = msgspec.structs.replace(calibration, processors=1)
    profile = one_message(tmp_path / "p")
    # 4 ms longer than the model has without any pause between looks.
    recorded = held_against(program_of(profile), 1.254, crossbar(crowded, 2))
    look = recorded.corrections[0].look_every_s
    assert look is not None
    assert look > 0
    found = predict_program(recorded, crossbar(crowded, 2))
    assert found.seconds == pytest.approx(1.254, rel=1e-6)


def test_a_cable_that_two_share_costs_and_any_placement_would_save_it(
    calibration: Calibration, tmp_path: Path
) -> None:
    """Ranks 0 and 1 send to 2 and 3 over the one cable between their leaves."""
    ranks = [
        Script(source, 4).call("Send", 0, 1100, peer=source + 2, size=1_000_000).end()
        for source in (0, 1)
    ] + [
        Script(target, 4).call("Recv", 0, 1100, peer=target - 2, size=1_000_000).end()
        for target in (2, 3)
    ]
    recorded = held_against(program_of(profile_of(tmp_path / "p", *ranks)), 1.1, None)
    narrow = load("xgft:2;2,2;1,1", need_routes=True)
    where = Conditions(narrow, range(4), calibration, calibration.wire_Bps, 1e6)
    found = predict_program(recorded, where)
    assert found.seconds == pytest.approx(2.2, rel=1e-6)
    assert found.crossbar == pytest.approx(1.1, rel=1e-3)
    # There is one cable alone: no routes would do better.
    assert found.perfect_routes == pytest.approx(2.2, rel=1e-6)
    dearest = found.cables[0]
    assert dearest.bytes == pytest.approx(2.2e6)
    assert dearest.busy == pytest.approx(1.0, rel=1e-3)
    assert found.piling is not None
    assert (found.piling.messages, found.piling.bytes) == (2, 2e6)
    # Two messages share a buffer well enough.
    assert not found.collapses


def test_what_overflows_is_told_before_what_is_larger(
    calibration: Calibration, tmp_path: Path
) -> None:
    """Two messages of 1 MB meet at host 4, three of 300 kB at host 5: these do not share well."""
    sends = {0: (4, 1_000_000), 1: (4, 1_000_000), 2: (5, 3e5), 3: (5, 3e5), 6: (5, 3e5)}
    ranks = []
    for rank in range(7):
        script = Script(rank, 7)
        for source, (target, size) in sends.items():
            if rank == target:
                script.call("Irecv", 0, 0, peer=source, size=int(size), request=source + 1)
        for source, (target, size) in sends.items():
            if rank == source:
                script.call("Send", 0, 1, peer=target, size=int(size))
            elif rank == target:
                script.call("Waitall", 0, 1).and_(
                    COMPLETION, peer=source, size=int(size), request=source + 1
                )
        ranks.append(script.end(1))
    recorded = held_against(program_of(profile_of(tmp_path / "p", *ranks)), 0.001, None)
    found = predict_program(recorded, crossbar(calibration, 7, buffer=8e5))
    assert found.piling is not None
    assert (found.piling.messages, found.piling.bytes) == (3, 9e5)
    assert found.collapses
    # A buffer that holds the three leaves the larger two.
    roomy = predict_program(recorded, crossbar(calibration, 7, buffer=1e6))
    assert roomy.piling is not None
    assert (roomy.piling.messages, roomy.piling.bytes) == (2, 2e6)
    assert not roomy.collapses


def test_perfect_routes_use_all_cables_of_a_leaf(calibration: Calibration, tmp_path: Path) -> None:
    """Both messages are routed over the same one of two cables."""
    ranks = [
        Script(0, 4).call("Send", 0, 1, peer=2, size=1_000_000).end(),
        Script(1, 4).call("Send", 0, 1, peer=3, size=1_000_000).end(),
        Script(2, 4).call("Recv", 0, 1, peer=0, size=1_000_000).end(),
        Script(3, 4).call("Recv", 0, 1, peer=1, size=1_000_000).end(),
    ]
    recorded = held_against(program_of(profile_of(tmp_path / "p", *ranks)), 0.001, None)
    fabric = load("xgft:2;4,2;1,2", route="dmodk", need_routes=True)
    # Hosts 4 and 6 of the second leaf have the same residue.
    where = Conditions(fabric, [0, 1, 4, 6], calibration, calibration.wire_Bps)
    found = predict_program(recorded, where)
    assert found.seconds == pytest.approx(2.2, rel=1e-3)
    assert found.perfect_routes == pytest.approx(1.1, rel=1e-3)


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
    assert (program.schedule.action == Action.SEND).sum() == 1 + 2
    calls = {row["routine"]: row["predicted_s"] for row in found.calls.to_dicts()}
    assert calls["Probe"] == pytest.approx(1.1e-3 / 2, rel=1e-3)
    assert calls["Recv"] == pytest.approx(0.0, abs=1e-6)


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
    assert recorded.kept == pytest.approx(0.05, abs=1e-6)
    found = predict_program(recorded, crossbar(calibration, 2))
    assert found.seconds == pytest.approx(2 * 0.05, rel=0.05)


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
    assert found.seconds == pytest.approx(1.1 + 0.001, rel=0.01)
    calls = {row["routine"]: row for row in found.calls.to_dicts()}
    assert calls["Allreduce"]["calls"] == 2


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
    calls = {row["routine"]: row["predicted_s"] for row in found.calls.to_dicts()}
    # Messages come from the ranks one and two before: only 0 and 1 hear from the last one, and
    # rank 2, which begins when rank 1 has, from nobody later than itself.
    assert calls["Waitall"] == pytest.approx((0.3 + 0.2) / 4, abs=1e-3)
    assert found.seconds == pytest.approx(0.3, rel=1e-3)


def test_what_cannot_be_carried_out_takes_what_it_took(
    calibration: Calibration, tmp_path: Path
) -> None:
    ranks = [Script(number, 2).call("Win_fence", 0, 80).end(100) for number in (0, 1)]
    program = program_of(profile_of(tmp_path / "p", *ranks))
    found = predict_program(held_against(program, 0.1, None), crossbar(calibration, 2))
    assert found.seconds == pytest.approx(0.1, rel=1e-3)
    assert program.as_recorded == pytest.approx(0.16, rel=1e-3)
    assert any("MPI_Win_fence" in remark for remark in program.remarks)


def test_a_program_that_relies_on_buffers_is_told_where_it_waits(
    calibration: Calibration, tmp_path: Path
) -> None:
    strict = msgspec.structs.replace(
        calibration, between=(msgspec.structs.replace(calibration.between[0], eager=False),)
    )
    ranks = []
    for number in (0, 1):
        other = 1 - number
        script = Script(number, 2).call("Send", 0, 1, peer=other, size=1000)
        ranks.append(script.call("Recv", 1, 2, peer=other, size=1000).end())
    recorded = held_against(program_of(profile_of(tmp_path / "p", *ranks)), 0.002, None)
    with pytest.raises(UsageError, match=r"rank 0, operation 2 waits for ever, as for its send"):
        predict_program(recorded, crossbar(strict, 2))


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


def test_an_emulated_place_is_known_again(calibration: Calibration, tmp_path: Path) -> None:
    assert where_recorded(one_message(tmp_path / "real"), calibration) is None
    fabric = load("crossbar:2", need_routes=True)
    asked = {**identity(fabric), "rate": "20 Mbit/s", "buffer": "5000 B"}
    where = where_recorded(one_message(tmp_path / "p", asked=asked), calibration)
    assert where is not None
    assert (where.rate, where.buffer, list(where.hosts)) == (2.5e6, 5000, [0, 1])
    other = {**asked, "cables": "0" * len(asked["cables"])}
    assert where_recorded(one_message(tmp_path / "other", asked=other), calibration) is None


def test_the_command_line_says_how_long_and_what_would_help(
    calibration: Calibration, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_calibration(tmp_path / "costs.json", calibration)
    profile = one_message(tmp_path / "p")
    json_file, figure = tmp_path / "it.json", tmp_path / "it.svg"
    arguments = [str(profile.folder), "crossbar:2", "xgft:2;2,2;1,1", "--fabric"]
    arguments += ["crossbar:2", "--calibration", str(tmp_path / "costs.json")]
    arguments += ["--json", str(json_file), "--plot", str(figure)]
    assert run(["predict", *arguments]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith("app (2 ranks) is predicted to take 1.05 s")
    assert "any placement" in said
    assert figure.stat().st_size > 0
    result = json.loads(json_file.read_text())
    assert [case["fabric"] for case in result["cases"]] == ["crossbar:2", "xgft:2;2,2;1,1"]
    assert result["modelled_s"] == pytest.approx(1.25, rel=1e-6)
    assert run(["predict", "program", *arguments[:2], "--calibration", "nowhere"]) == 2
    assert "contend calibrate makes one" in " ".join(capsys.readouterr().err.split())


def test_a_notebook_has_it_in_one_call(calibration: Calibration, tmp_path: Path) -> None:
    save_calibration(tmp_path / "costs.json", calibration)
    one_message(tmp_path / "p")
    profile = contend.Profile.load(tmp_path / "p")
    fabric = contend.load("crossbar:3", route="minhop")
    found = profile.predict(
        fabric,
        tmp_path / "costs.json",
        rate="4 Mbit/s",
        placement="linear",
        recorded_on="crossbar:2",
    )
    assert found.seconds == pytest.approx((0.15 + 2.2) * 1.05 / 1.25, rel=1e-6)
    assert repr(found).startswith("<1.97 s on crossbar:3: ")
    with pytest.raises(UsageError, match="expected places for 2 ranks, got 1"):
        profile.predict(contend.load("crossbar:1", route="minhop"), tmp_path / "costs.json")
    with pytest.raises(UsageError, match="ranks need one placement"):
        profile.predict(fabric, tmp_path / "costs.json", placement="random")


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
        calibration.cables(where.rate),
        calibration.costs(),
        start=program.start,
    )
    # The smallest messages load no channel.
    assert course.channel_bytes.sum() == pytest.approx(2 * 1.1 * sent, rel=0.01)
    assert math.isfinite(course.seconds)
