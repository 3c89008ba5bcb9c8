"""A profile as JSON: its findings; the folder's tables hold every rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec

from contend.profiling import ALL_SIZES, Awaited, ProgramProfile, UnderWay, circles
from contend.report.document import filled
from contend.report.profile.tables import communicator_words
from contend.runs import Host, Warned

_MOST_ROWS = 1000


class SpentJson(msgspec.Struct, frozen=True, kw_only=True):
    """Calls of all ranks together."""

    calls: Annotated[int, "how many."]
    bytes: Annotated[int, "sent; of receives, what arrived."]
    seconds: Annotated[float, "in these calls, of all ranks together."]
    share: Annotated[float, "of the run times of all ranks together."]
    longest_s: Annotated[float, "the longest call."]
    waiting_s: Annotated[float | None, "for ranks that were late; null where that cannot be told."]


class RoutineJson(SpentJson, frozen=True, kw_only=True):
    """Calls of one routine."""

    routine: Annotated[str, "its name."]


class CalledPlaceJson(SpentJson, frozen=True, kw_only=True):
    """Calls of one routine from one place in the program."""

    routine: Annotated[str, "its name."]
    place: Annotated[str, "file and line, or symbol and offset, or module and offset."]
    symbol: Annotated[str, "function of the place, where that is known."]


class ProfiledSizeJson(SpentJson, frozen=True, kw_only=True):
    """Calls of one class of sizes."""

    from_bytes: Annotated[int, "bytes of a call, at least."]
    to_bytes: Annotated[
        int | None, "bytes of a call, at most; null for calls whose sizes found no room."
    ]


class CommunicatorJson(SpentJson, frozen=True, kw_only=True):
    """Calls on one communicator."""

    name: Annotated[str, "as the program named it, or its number, with kind and extent."]
    ranks: Annotated[int, "how many it has."]


class ProfiledRankJson(msgspec.Struct, frozen=True, kw_only=True):
    """One rank."""

    rank: Annotated[int, "in MPI_COMM_WORLD."]
    host: Annotated[str, "where it ran."]
    run_s: Annotated[float, "between MPI_Init and MPI_Finalize."]
    mpi_s: Annotated[float, "in MPI."]
    waiting_s: Annotated[float, "for ranks that were late."]
    caused_s: Annotated[
        float,
        "what others waited for it, or for ranks that it made late, in calls that are recorded.",
    ]
    sent_bytes: Annotated[int, "to all peers."]
    messages: Annotated[int, "to all peers."]
    neighbours: Annotated[int, "ranks to which it sent point to point."]


class WaitJson(msgspec.Struct, frozen=True, kw_only=True):
    """What one rank waits for another."""

    rank: Annotated[int, "that waits."]
    awaited: Annotated[int, "rank that it waits for."]
    kind: Annotated[str, "for a late rank in a collective, sender, receiver or window's partner."]
    seconds: Annotated[float, "waited."]
    share: Annotated[float, "of the run times of all ranks together."]
    uncertainty_s: Annotated[float, "uncertainty of that, as clocks differ."]
    routine: Annotated[str, "of the call that most of it is in."]
    place: Annotated[str, "of that call."]


class PhaseJson(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the program that repeats itself, by what one rank called."""

    rank: Annotated[int, "whose calls were looked at."]
    routine: Annotated[str, "that each round begins with."]
    place: Annotated[str, "of that call."]
    rounds: Annotated[int, "how many."]
    calls: Annotated[int, "of a usual round."]
    begun_s: Annotated[float, "when the first round begins."]
    ended_s: Annotated[float, "when the last round ends."]
    mean_s: Annotated[float, "of a round."]
    longest_s: Annotated[float, "of a round."]
    mpi_share: Annotated[float, "part of the rounds' time in MPI."]


class StuckJson(msgspec.Struct, frozen=True, kw_only=True):
    """Where a thread of a rank was when the program was ended."""

    rank: Annotated[int, "in MPI_COMM_WORLD."]
    thread: Annotated[int, "from 0, by first call."]
    routine: Annotated[str, 'that it was in; "" for none.']
    place: Annotated[str, 'of the call; "" for none.']
    since_s: Annotated[float, "seconds that it had been there."]
    at_least: Annotated[bool, "whether it may have been longer, since nobody saw the end."]
    ended: Annotated[str, 'how the rank had ended by itself; "" if it had not.']
    awaits: Annotated[
        list[Awaited], "what the call waits for: its first eight messages, requests or collectives."
    ]
    ranks: Annotated[list[int], "that the call waits for, as far as that can be told; at most 256."]
    others: Annotated[list[int], "of a collective: ranks that are in another one instead."]


class ProfileJson(msgspec.Struct, frozen=True, kw_only=True):
    """A profile of an MPI program; seconds and bytes."""

    profile: Annotated[str, "its folder, which has everything by rank."]
    verdict: Annotated[str, "one sentence."]
    command: Annotated[list[str], "what ran."]
    origin: Annotated[
        str, "which of several MPI programs of the command it is; empty of a single one."
    ]
    status: Annotated[int | None, "its exit status; null when contend ended before it did."]
    created: Annotated[str, "when it began."]
    library: Annotated[str, "first line of what the MPI library says of its version."]
    labels: Annotated[dict[str, str], "conditions that no program can see."]
    place: Annotated[str, "where ranks were started; empty where the command did it by itself."]
    ranks: Annotated[int, "of MPI_COMM_WORLD."]
    hosts: Annotated[list[Host], "with how many ranks each held."]
    run_s: Annotated[float, "mean run time of a rank, between MPI_Init and MPI_Finalize."]
    begin_s: Annotated[float, "what MPI_Init took a rank, on average."]
    end_s: Annotated[float, "what MPI_Finalize took a rank, on average."]
    mpi_share: Annotated[float, "part of it in MPI."]
    waiting_s: Annotated[float, "of all ranks together, for ranks that were late."]
    transfer_s: Annotated[
        float, "of all ranks together, in blocking collectives once all had entered."
    ]
    balance_s: Annotated[
        float, "by how much a rank's run would be shorter, at most, if nobody were late."
    ]
    uncertainty_s: Annotated[
        float | None, "of a rank's clock against that of rank 0, at most; null where not known."
    ]
    record_bytes: Annotated[int, "what the record of a rank took at most."]
    routines: Annotated[list[RoutineJson], "most time first."]
    places: Annotated[list[CalledPlaceJson], "most time first; at most 1,000."]
    waits: Annotated[list[WaitJson], "who waits for whom, most time first; at most 1,000."]
    sizes: Annotated[list[ProfiledSizeJson], "the smallest first."]
    communicators: Annotated[list[CommunicatorJson], "most time first; at most 1,000."]
    by_rank: Annotated[list[ProfiledRankJson], "in order."]
    phases: Annotated[list[PhaseJson], "in order."]
    hung: Annotated[bool, "whether it is proven that the program could not go on."]
    stuck: Annotated[
        list[StuckJson], "where ranks were when the program was ended; empty if all had finished."
    ]
    circles: Annotated[list[list[int]], "of ranks that wait for each other; no rank is in two."]
    under_way: Annotated[
        list[UnderWay], "messages that ranks waited for then, and that were on their way."
    ]
    missing: Annotated[list[Warned], "what is not in the profile, and why."]


class ProfilesJson(msgspec.Struct, frozen=True, kw_only=True):
    """Several profiles."""

    results: Annotated[list[ProfileJson], "in the order given."]


def profiles_json(profiles: Sequence[ProgramProfile]) -> ProfileJson | ProfilesJson:
    """One profile, or several."""
    results = [_profile_json(profile) for profile in profiles]
    return results[0] if len(results) == 1 else ProfilesJson(results=results)


def _profile_json(profile: ProgramProfile) -> ProfileJson:
    record, findings = profile.record, profile.findings
    places = profile.sites["place"]
    return filled(
        ProfileJson,
        record,
        findings,
        profile=str(profile.folder),
        run_s=findings.mean_run_s,
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
