"""Evidence from the profile of a program: of its run, its communication, and places in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from contend.base.units import format_bytes, format_rate, format_seconds, rounded
from contend.explanation.calls import (
    awaited,
    costs_by_calibration,
    costs_by_calls,
    stalled_calls,
    waited_for,
    worst_stalls,
)
from contend.explanation.evidence import (
    REACHED,
    SMALL_SHARE,
    Bound,
    Evidence,
    Limit,
    ProgramEvidence,
    Stalled,
)
from contend.explanation.network import (
    KnownNetwork,
    ProgramTraffic,
    fabric_of_traffic,
    port_of_traffic,
    seat,
)
from contend.fabric import Fabric
from contend.prediction import Calibration
from contend.profiling import ProgramProfile, cure_of
from contend.profiling.routines import AWAITING, SYNCHRONISING, is_own

RUN, COMMUNICATION = "the run", "its communication"
"""What the first two verdicts on a profile are of."""
_WORLD, _OTHERS = 0, 2
# Waiting of all ranks: no place is too small for it.
_LONG_S = 1.0


@dataclass(frozen=True, eq=False)
class ProfileSource:
    """A profile with what is known beside it; times are means over ranks."""

    profile: ProgramProfile
    """Profile that was recorded."""
    fabric: Fabric | None = None
    """Fabric with the routes that it ran on; None where they are not known."""
    wire: float | None = None
    """Bytes per second of a port, said now; None for what is known of the place."""
    calibration: Calibration | None = None
    """What messages cost there; None: the profile itself tells."""
    remarks: list[str] = field(default_factory=list)

    def evidence(self) -> Iterator[Evidence]:
        """Of the run; where not nearly all of it computes, of communication and places in it."""
        findings = self.profile.findings
        if self.ended_early:
            why = findings.stuck.verdict()
            yield ProgramEvidence(**self._common(RUN), measured_s=findings.run_s, crashed=why)
            return
        if self.stood_still:
            # What that has cost is no cost of communication: nothing else is judged.
            since = (
                findings.stuck.since_when(self.profile.record.run_s) if findings.stuck.hung else ""
            )
            yield ProgramEvidence(**self._common(RUN), measured_s=findings.run_s, hung=since)
            return
        whole = findings.cells
        computes = findings.mpi_share < SMALL_SHARE
        beside = () if computes else (*self._network_bounds, *self._of_calls(whole))
        yield ProgramEvidence(
            **self._common(RUN),
            measured_s=findings.run_s,
            bounds=(*self._computation(), *beside),
            stalled=None if computes else self.stalled(whole),
        )
        if computes:
            return
        yield ProgramEvidence(
            **self._common(COMMUNICATION),
            measured_s=self._mean(findings.mpi_s),
            bounds=tuple(map(self._in_communication, beside)),
            stalled=self.stalled(whole),
        )
        # Where waits are long, few calls among many short ones may have a large part of them.
        latest = float(findings.place_times["waiting_s"].max() or 0.0)  # type: ignore[arg-type]
        long = max(min(SMALL_SHARE * findings.waiting_s, latest), _LONG_S)
        for place in findings.place_times.iter_rows(named=True):
            told = place["share"] >= SMALL_SHARE and not is_own(place["routine"])
            if told or (place["waiting_s"] or 0.0) >= long:
                here = whole.filter(
                    (pl.col("routine") == place["routine"]) & (pl.col("site") == place["site"])
                )
                yield ProgramEvidence(
                    **self._common(f"{place['routine']} called at {place['place']}"),
                    measured_s=self._mean(place["seconds"]),
                    bounds=tuple(self._of_calls(here)),
                    stalled=self.stalled(here),
                )

    def unknown(self) -> Iterator[str]:
        """What could not be known, and what would tell it."""
        findings = self.profile.findings
        for mistake in self.profile.record.mistakes:
            yield f"{mistake.text[0].upper()}{mistake.text[1:]}."
        if findings.stuck.hung or self.ended_early:
            how = "hung" if findings.stuck.hung else "ended early"
            yield f"No other limit is judged in a program that {how}."
            return
        if self.stood_still:
            since = findings.stuck.since_when(self.profile.record.run_s)
            yield (
                f"No limit is judged in a run that stood still: {since}. It is not proven that it "
                "could never have gone on."
            )
            if findings.stuck.untold:
                yield (
                    "It is not known whether the messages that ranks waited for had been sent, "
                    "because the record had no room for all events: a larger --record keeps more."
                )
            yield cure_of(findings.stuck)
            return
        if stuck := findings.stuck.verdict():
            yield f"{stuck}. {cure_of(findings.stuck)}".rstrip()
        if findings.mpi_share < SMALL_SHARE:
            share = 100 * findings.mpi_share
            yield (
                f"MPI takes {rounded(share, 2)} % of the run, so limits of communication are not "
                "judged."
            )
            return
        yield from self._unjudged()
        yield from self._untold()
        if self.network is None and len(self.profile.record.hosts) > 1:
            yield "Some ranks left no record, so ports and cables cannot be judged."
        elif self.network is not None and self.network.wire is None:
            yield "The rate of the hosts' ports is not known: give it with --wire."
        elif self.network is not None and self.network.fabric is None:
            yield "The fabric is not known: name it with --fabric and its routes."

    def _unjudged(self) -> Iterator[str]:
        """Collectives whose communicators found no room, where waiting in them could matter."""
        findings = self.profile.findings
        names = [f"MPI_{routine}{wide}" for routine in SYNCHRONISING for wide in ("", "_c")]
        here = findings.cells.filter(
            pl.col("waiting_s").is_null(),
            pl.col("communicator") == _OTHERS,
            pl.col("routine").is_in(names),
        )
        share = float(here["seconds"].sum()) / max(findings.all_run_s, 1e-12)
        if share >= SMALL_SHARE:
            yield (
                f"{rounded(100 * share, 2)} % of the run is in collectives on communicators that "
                "found no room in the record. How much of that is waiting for late ranks is not "
                "known, and could change the verdict; a larger --record keeps more."
            )

    def _untold(self) -> Iterator[str]:
        """Calls after the records were full, where waiting in them could matter."""
        findings = self.profile.findings
        # What so many calls cost alone is no waiting.
        names = [f"MPI_{routine}{wide}" for routine in AWAITING for wide in ("", "_c")]
        here = findings.cells.filter(pl.col("routine").is_in(names))
        cost = sum(bound.seconds for bound in self._overhead(here)) * len(self.profile.ranks)
        full = self.profile.record.left_out
        unmatched = 0.0 if full is None else full.unmatched_s
        untold = max(findings.untold_s - unmatched - cost, 0.0) + unmatched
        share = untold / max(findings.all_run_s, 1e-12)
        if share >= SMALL_SHARE:
            yield (
                f"Up to {rounded(100 * share, 2)} % of the run may be more waiting for late ranks, "
                "in calls for which the record had no room. That could change the verdict; a "
                "larger --record keeps more."
            )

    @cached_property
    def stood_still(self) -> bool:
        """Whether the run hung, or nothing moved for so long that this is what it took."""
        stuck = self.profile.findings.stuck
        long = stuck.still_s >= SMALL_SHARE * self.profile.findings.run_s
        return stuck.hung or (stuck.stood_still and long)

    @property
    def ended_early(self) -> bool:
        """Whether a rank died or called MPI_Abort, and the run ended with it."""
        stuck = self.profile.findings.stuck
        return stuck.ended_first is not None or stuck.killed_unseen

    def _common(self, what: str) -> dict[str, Any]:
        record = self.profile.record
        return {
            "cell": what,
            "series": what,
            "schedule": what,
            "condition": (what,),
            "bytes": None,
            "ranks": record.ranks,
            "hosts": len(record.hosts),
            "crowded": self.crowded,
            "drops": record.drops,
            "drops_by_place": record.drops_by_place,
            "late": self.profile.findings.culprit(),
        }

    @cached_property
    def crowded(self) -> float | None:
        """Ranks on each processor of the fullest host that is known; None where each has one."""
        record = self.profile.record
        if not record.cpus:
            return None
        here = sum(host.ranks for host in record.hosts if host.name == record.machine)
        ranks = record.ranks if self.emulated else here
        return ranks / record.cpus if ranks > record.cpus else None

    @property
    def emulated(self) -> bool:
        """Whether all hosts share the processors of one machine."""
        return bool(self.profile.record.asked)

    @cached_property
    def network(self) -> KnownNetwork | None:
        """Between the ranks; None where they are on one host, or hosts of ranks are not known."""
        record = self.profile.record
        hosts = [record.hosts[at].name for at in record.rank_hosts if at is not None]
        if len(hosts) < record.ranks or len(record.hosts) < 2:
            return None
        wire = record.wire_Bps if self.wire is None else self.wire
        if wire is None and self.calibration is not None:
            wire = self.calibration.wire_Bps
        return seat(hosts, wire, self.fabric)

    @cached_property
    def traffic(self) -> ProgramTraffic | None:
        """What hosts have sent each other; None where no network is known."""
        if self.network is None:
            return None
        sent = self.profile.peers
        source, target, size = (sent[of].to_numpy() for of in ("source", "destination", "bytes"))
        return ProgramTraffic.between(self.network.hosts, source, target, size)

    @cached_property
    def _network_bounds(self) -> tuple[Bound, ...]:
        network, traffic = self.network, self.traffic
        if network is None or traffic is None or network.wire is None:
            return ()
        bounds = (port_of_traffic(traffic, network.wire), fabric_of_traffic(traffic, network))
        return tuple(bound for bound in bounds if bound is not None)

    def _in_communication(self, bound: Bound) -> Bound:
        """A bound as it is held against time in MPI; a port's against that of its host's ranks."""
        if bound.limit is not Limit.PORT or self.traffic is None:
            return bound
        there = np.flatnonzero(self.traffic.host_of_rank == self.traffic.fullest)
        ranks = self.profile.findings.ranks.filter(pl.col("rank").is_in(there.tolist()))
        seconds = float(ranks["mpi_s"].mean() or 0.0)  # type: ignore[arg-type]
        return Bound(bound.limit, bound.seconds, bound.of, measured_s=seconds)

    def _computation(self) -> Iterator[Bound]:
        findings = self.profile.findings
        seconds = findings.run_s - self._mean(findings.mpi_s)
        if seconds <= 0:
            return
        share = 100 * (1 - findings.mpi_share)
        of = f"{share:.0f} % of the run, outside of MPI"
        if findings.own_words:
            of += f"; {findings.own_words}"
        yield Bound(Limit.COMPUTATION, seconds, of)
        if self.crowded is not None:
            own = seconds / self.crowded
            of = (
                f"computing with {rounded(self.crowded)} ranks on each processor; with a processor "
                f"for each rank it takes {format_seconds(own)}"
            )
            yield Bound(Limit.PROCESSORS, seconds - own, of)

    def _of_calls(self, cells: pl.DataFrame) -> Iterator[Bound]:
        """Waiting for late ranks, files, and what calls cost by their number."""
        yield from self._waiting(cells)
        yield from self._files(cells)
        yield from self._overhead(cells)

    def _waiting(self, cells: pl.DataFrame) -> Iterator[Bound]:
        waiting = self._mean(float(cells["waiting_s"].sum()) - self._stalled_waiting(cells))
        if waiting <= 0:
            return
        saved = 100 * waiting / max(self.profile.findings.run_s, waiting)
        of = (
            f"{waited_for(self.profile, cells)}{awaited(self.profile, cells)}; if no rank were "
            f"late, the run would be at most {rounded(saved, 2)} % shorter"
        )
        yield Bound(self._lateness, waiting, of)

    @cached_property
    def _lateness(self) -> Limit:
        """What makes ranks late: shared processors only where these can have taken so long.

        Ranks that compute in turns are late by what computing takes longer so. Where that is less
        than half of the waiting, the ranks are late for another reason, such as a slow wire.
        """
        if self.crowded is None:
            return Limit.IMBALANCE
        findings = self.profile.findings
        computing = findings.run_s - self._mean(findings.mpi_s)
        slowed = computing * (1 - 1 / self.crowded)
        waiting = self._mean(findings.waiting_s)
        return Limit.PROCESSORS if REACHED * slowed >= waiting else Limit.IMBALANCE

    def _files(self, cells: pl.DataFrame) -> Iterator[Bound]:
        """What file operations take, at what rate where their bytes are known."""
        files = cells.filter(pl.col("routine").cast(pl.String).str.starts_with("MPI_File_"))
        seconds = self._mean(float(files["seconds"].sum()))
        if seconds <= 0:
            return
        collective = files.filter(
            pl.col("routine").cast(pl.String).str.contains("_all|_ordered|_open|_close|_sync|_size")
        )
        part = 100 * float(collective["seconds"].sum()) / float(files["seconds"].sum())
        moved = float(files["bytes"].sum())
        rate = ""
        if moved:
            each = moved / float(files["seconds"].sum())
            rate = f" for {format_bytes(moved)}, {format_rate(each)} by each rank"
        routine = files.group_by("routine").agg(pl.col("seconds").sum())
        most = routine.sort("seconds", "routine", descending=[True, False])["routine"][0]
        of = f"in file operations{rate}, most in {most}; {part:.0f} % of it in collective calls"
        yield Bound(Limit.FILES, seconds, of)

    def _stalled_waiting(self, cells: pl.DataFrame) -> float:
        """What stalled collectives of all ranks lost; nobody computed meanwhile."""
        if self._stalls is None or self._stalls.is_empty():
            return 0.0
        compared = cells.filter(pl.col("waiting_s").is_not_null()).select("rank", "cell")
        return float(self._stalls.join(compared, on=("rank", "cell"), how="semi")["lost_s"].sum())

    def _overhead(self, cells: pl.DataFrame) -> Iterator[Bound]:
        """What so many calls cost at least, cell by cell no more than they took."""
        here = self._costs.join(cells, on=("rank", "cell"), how="semi")
        cost = pl.min_horizontal(pl.col("calls") * pl.col("cost_s"), "seconds")
        seconds = self._mean(float(here.select(cost.sum()).item() or 0.0))
        if seconds <= 0:
            return
        most = here.group_by("routine").agg(
            cost.sum().alias("whole"), pl.col("calls").sum(), pl.col("cost_s").mean()
        )
        routine, _, calls, each = most.sort("whole", "routine", descending=True).row(0)
        by = "on average" if self._in_turns else "while nobody is late"
        if self.profile.findings.untold_s:
            by = "among those that were recorded"
        if self.calibration is not None:
            by = "by the calibration"
        sharing = f", with {rounded(self.crowded)} ranks on a processor" if self.crowded else ""
        of = (
            f"what a rank's calls cost with empty messages, {self._mean(calls):,.0f} of "
            f"{routine} {format_seconds(each)} each {by}{sharing}"
        )
        yield Bound(Limit.OVERHEAD if self.crowded is None else Limit.PROCESSORS, seconds, of)

    @cached_property
    def _costs(self) -> pl.DataFrame:
        if self.calibration is not None:
            return costs_by_calibration(self.profile, self.calibration, self._spans)
        network = self.network
        wire = None if network is None else network.wire
        return costs_by_calls(self.profile, wire, in_turns=self._in_turns)

    @property
    def _in_turns(self) -> bool:
        """Whether ranks wait for each other's turns on processors, and for no network."""
        return self.crowded is not None and len(self.profile.record.hosts) == 1

    @property
    def _spans(self) -> dict[int, int]:
        """On how many hosts the members of every communicator are."""
        record = self.profile.record
        spans = {_WORLD: len(record.hosts)}
        of_rank = [-1 if at is None else at for at in record.rank_hosts]
        members = self.profile.members.filter(pl.col("rank").is_between(0, len(of_rank) - 1))
        hosts = members.with_columns(
            pl.Series("host", [of_rank[rank] for rank in members["rank"]], pl.Int64)
        )
        return spans | dict(hosts.group_by("communicator").agg(pl.n_unique("host")).iter_rows())

    @cached_property
    def _stalls(self) -> pl.DataFrame | None:
        network = self.network
        # Emulated cables count what they drop.
        if network is None or self.profile.record.drops == 0:
            return None
        stalls = stalled_calls(self.profile, known_wire=network.wire is not None)
        if stalls is None:
            self.remarks.append(
                "Some calls took a time-out or longer, but the events that show what other ranks "
                "did meanwhile are incomplete: a larger --record keeps more."
            )
        return stalls

    def stalled(self, cells: pl.DataFrame) -> Stalled | None:
        """Calls of these cells that lost a time-out; None where none is known to have."""
        if self._stalls is None:
            return None
        return worst_stalls(self.profile, self._stalls, cells)

    def _mean(self, seconds: float) -> float:
        return seconds / max(len(self.profile.ranks), 1)
