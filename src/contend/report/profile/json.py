"""A profile as JSON: its findings; the folder's tables hold every rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from contend.profiling import ALL_SIZES, Awaited, ProgramProfile, UnderWay, circles
from contend.report.profile.tables import communicator_words
from contend.runs import Host, Warned

_MOST_ROWS = 1000


class SpentJson(msgspec.Struct, frozen=True, kw_only=True):
    """Calls of all ranks together.

    Attributes:
        calls: how many.
        bytes: sent; of receives, what arrived.
        seconds: in these calls, of all ranks together.
        share: of the run times of all ranks together.
        longest_s: the longest call.
        waiting_s: for ranks that were late; null where that cannot be told.
    """

    calls: int
    bytes: int
    seconds: float
    share: float
    longest_s: float
    waiting_s: float | None


class RoutineJson(SpentJson, frozen=True, kw_only=True):
    """Calls of one routine.

    Attributes:
        routine: its name.
    """

    routine: str


class CalledPlaceJson(SpentJson, frozen=True, kw_only=True):
    """Calls of one routine from one place in the program.

    Attributes:
        routine: its name.
        place: file and line, or symbol and offset, or module and offset.
        symbol: function of the place, where that is known.
    """

    routine: str
    place: str
    symbol: str


class ProfiledSizeJson(SpentJson, frozen=True, kw_only=True):
    """Calls of one class of sizes.

    Attributes:
        from_bytes: bytes of a call, at least.
        to_bytes: bytes of a call, at most; null for calls whose sizes found no room.
    """

    from_bytes: int
    to_bytes: int | None


class CommunicatorJson(SpentJson, frozen=True, kw_only=True):
    """Calls on one communicator.

    Attributes:
        name: as the program named it, or its number, with kind and extent.
        ranks: how many it has.
    """

    name: str
    ranks: int


class ProfiledRankJson(msgspec.Struct, frozen=True, kw_only=True):
    """One rank.

    Attributes:
        rank: in MPI_COMM_WORLD.
        host: where it ran.
        run_s: between MPI_Init and MPI_Finalize.
        mpi_s: in MPI.
        waiting_s: for ranks that were late.
        caused_s: what others waited for it, in the calls that are recorded.
        sent_bytes: to all peers.
        messages: to all peers.
        neighbours: ranks to which it sent point to point.
    """

    rank: int
    host: str
    run_s: float
    mpi_s: float
    waiting_s: float
    caused_s: float
    sent_bytes: int
    messages: int
    neighbours: int


class WaitJson(msgspec.Struct, frozen=True, kw_only=True):
    """What one rank waits for another.

    Attributes:
        rank: that waits.
        awaited: rank that it waits for.
        kind: for a late rank (in a collective), a late sender or a late receiver.
        seconds: waited.
        share: of the run times of all ranks together.
        uncertainty_s: uncertainty of that, as clocks differ.
        routine: of the call that most of it is in.
        place: of that call.
    """

    rank: int
    awaited: int
    kind: str
    seconds: float
    share: float
    uncertainty_s: float
    routine: str
    place: str


class PhaseJson(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the program that repeats itself, by what one rank called.

    Attributes:
        rank: whose calls were looked at.
        routine: that each round begins with.
        place: of that call.
        rounds: how many.
        calls: of a usual round.
        begun_s: when the first round begins.
        ended_s: when the last round ends.
        mean_s: of a round.
        longest_s: of a round.
        mpi_share: part of the rounds' time in MPI.
    """

    rank: int
    routine: str
    place: str
    rounds: int
    calls: int
    begun_s: float
    ended_s: float
    mean_s: float
    longest_s: float
    mpi_share: float


class StuckJson(msgspec.Struct, frozen=True, kw_only=True):
    """Where a thread of a rank was when the program was ended.

    Attributes:
        rank: in MPI_COMM_WORLD.
        thread: from 0, by first call.
        routine: that it was in; "" for none.
        place: of the call; "" for none.
        since_s: seconds that it had been there.
        at_least: whether it may have been longer, since nobody saw the end.
        ended: how the rank had ended by itself; "" if it had not.
        awaits: what the call waits for: its first eight messages, requests or collectives.
        ranks: that the call waits for, as far as that can be told; at most 256.
        others: of a collective: ranks that are in another one instead.
    """

    rank: int
    thread: int
    routine: str
    place: str
    since_s: float
    at_least: bool
    ended: str
    awaits: list[Awaited]
    ranks: list[int]
    others: list[int]


class ProfileJson(msgspec.Struct, frozen=True, kw_only=True):
    """A profile of an MPI program; seconds and bytes.

    Attributes:
        profile: its folder, which has everything by rank.
        verdict: one sentence.
        command: what ran.
        origin: which of several MPI programs of the command it is; empty of a single one.
        status: its exit status; null when contend ended before it did.
        created: when it began.
        library: first line of what the MPI library says of its version.
        labels: conditions that no program can see.
        place: where ranks were started; empty where the command did it by itself.
        ranks: of MPI_COMM_WORLD.
        hosts: with how many ranks each held.
        run_s: mean run time of a rank, between MPI_Init and MPI_Finalize.
        begin_s: what MPI_Init took a rank, on average.
        end_s: what MPI_Finalize took a rank, on average.
        mpi_share: part of it in MPI.
        waiting_s: of all ranks together, for ranks that were late.
        transfer_s: of all ranks together, in blocking collectives once all had entered.
        balance_s: by how much a rank's run would be shorter, at most, if nobody were late.
        uncertainty_s: of a rank's clock against that of rank 0, at most; null where not known.
        record_bytes: what the record of a rank took at most.
        routines: most time first.
        places: most time first; at most 1,000.
        waits: who waits for whom, most time first; at most 1,000.
        sizes: the smallest first.
        communicators: most time first; at most 1,000.
        by_rank: in order.
        phases: in order.
        hung: whether it is proven that the program could not go on.
        stuck: where ranks were when the program was ended; empty if all had finished.
        circles: of ranks that wait for each other; no rank is in two.
        under_way: messages that ranks waited for then, and that were on their way.
        missing: what is not in the profile, and why.
    """

    profile: str
    verdict: str
    command: list[str]
    origin: str
    status: int | None
    created: str
    library: str
    labels: dict[str, str]
    place: str
    ranks: int
    hosts: list[Host]
    run_s: float
    begin_s: float
    end_s: float
    mpi_share: float
    waiting_s: float
    transfer_s: float
    balance_s: float
    uncertainty_s: float | None
    record_bytes: int
    routines: list[RoutineJson]
    places: list[CalledPlaceJson]
    waits: list[WaitJson]
    sizes: list[ProfiledSizeJson]
    communicators: list[CommunicatorJson]
    by_rank: list[ProfiledRankJson]
    phases: list[PhaseJson]
    hung: bool
    stuck: list[StuckJson]
    circles: list[list[int]]
    under_way: list[UnderWay]
    missing: list[Warned]


class ProfilesJson(msgspec.Struct, frozen=True, kw_only=True):
    """Several profiles.

    Attributes:
        results: in the order given.
    """

    results: list[ProfileJson]


def profiles_json(profiles: Sequence[ProgramProfile]) -> ProfileJson | ProfilesJson:
    """One profile, or several."""
    results = [_profile_json(profile) for profile in profiles]
    return results[0] if len(results) == 1 else ProfilesJson(results=results)


def _profile_json(profile: ProgramProfile) -> ProfileJson:
    record, findings = profile.record, profile.findings
    places = profile.sites["place"]
    return ProfileJson(
        profile=str(profile.folder),
        verdict=findings.verdict,
        command=list(record.command),
        origin=record.origin,
        status=record.status,
        created=record.created,
        library=record.library,
        labels=record.labels,
        place=record.place,
        ranks=record.ranks,
        hosts=list(record.hosts),
        run_s=findings.mean_run_s,
        begin_s=findings.begin_s,
        end_s=findings.end_s,
        mpi_share=findings.mpi_share,
        waiting_s=findings.waiting_s,
        transfer_s=findings.transfer_s,
        balance_s=findings.balance_s,
        uncertainty_s=record.uncertainty_s,
        record_bytes=record.record_bytes,
        routines=_rows(findings.routines.to_dicts(), RoutineJson),
        places=_rows(findings.places.head(_MOST_ROWS).to_dicts(), CalledPlaceJson),
        waits=_rows(findings.waits.head(_MOST_ROWS).to_dicts(), WaitJson),
        sizes=[_size(row) for row in findings.sizes.to_dicts()],
        communicators=[
            msgspec.convert(
                {**row, "name": communicator_words(row), "ranks": row["size"]}, CommunicatorJson
            )
            for row in findings.communicators.head(_MOST_ROWS).to_dicts()
        ],
        by_rank=_rows(findings.ranks.to_dicts(), ProfiledRankJson),
        phases=_rows(
            [
                {
                    **msgspec.structs.asdict(phase),
                    "routine": record.routines[phase.routine],
                    "place": places[phase.site],
                }
                for phase in record.phases
            ],
            PhaseJson,
        ),
        hung=findings.stuck.hung,
        stuck=_rows(
            [
                {
                    **msgspec.structs.asdict(thread),
                    "place": places[thread.site] if thread.routine else "",
                }
                for thread in record.stuck
            ],
            StuckJson,
        ),
        circles=circles(record.stuck),
        under_way=list(record.under_way),
        missing=list(record.missing),
    )


def _rows(rows: Sequence[dict[str, Any]], kind: type[Any]) -> list[Any]:
    names = kind.__struct_fields__
    return [kind(**{name: row[name] for name in names}) for row in rows]


def _size(row: dict[str, Any]) -> ProfiledSizeJson:
    size_class = row["size_class"]
    known = size_class != ALL_SIZES
    low = 2 ** (size_class - 1) if size_class and known else 0
    high = (2**size_class - 1 if size_class else 0) if known else None
    bounds = {"from_bytes": low, "to_bytes": high}
    return _rows([{**row, **bounds}], ProfiledSizeJson)[0]  # type: ignore[no-any-return]
