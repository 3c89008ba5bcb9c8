"""What a profile says: where the time in MPI goes, who waits for whom, who sends to whom."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from signal import SIGKILL
from typing import TYPE_CHECKING, Any

import polars as pl

from contend.base.schema import Seconds, Share, told, told_once
from contend.base.units import counted, format_seconds
from contend.profiling.hang.stuck_words import StuckWords
from contend.profiling.record_form import ALL_SIZES, WORLD, State
from contend.profiling.routines import is_own
from contend.profiling.rows import (
    CommunicatorTime,
    PlaceTime,
    ProfiledRank,
    RankWait,
    RoutineTime,
    SizeTime,
    rows_of,
)

if TYPE_CHECKING:
    from contend.profiling.profile import ProgramProfile

# The run is what is between them: a network has no part in starting and ending processes.
_BEGIN, _END = ("MPI_Init", "MPI_Init_thread"), ("MPI_Finalize",)
# Parts of the run time that a verdict names.
_NAMED, _WAITING_NAMED, _MOST_NAMED = 0.05, 0.02, 2
_MOST_OF = 0.5
_KEYS = ("rank", "cell")
# Rows of a list that are told.
_MOST_ROWS = 1000


class ProfileFindings:
    """Everything that is found in a profile; shares are of the ranks' run times together.

    A rank's run time is from the end of its MPI_Init to the beginning of its MPI_Finalize, or to
    the end of its record. Neither of the two calls counts as time in MPI.
    """

    def __init__(self, profile: ProgramProfile) -> None:
        """Findings of a profile."""
        self.profile = profile

    @cached_property
    def all_run_s(self) -> float:
        """Seconds of the run times of all ranks together."""
        return float(self.ranks["run_s"].sum())

    @told_once
    def run_s(self) -> Seconds:
        """Mean run time of a rank, between MPI_Init and MPI_Finalize."""
        return self.all_run_s / max(len(self._ranks), 1)

    @told_once
    def begin_s(self) -> Seconds:
        """Seconds that MPI_Init took a rank, on average."""
        return self._outside(_BEGIN)

    @told_once
    def end_s(self) -> Seconds:
        """Seconds that MPI_Finalize took a rank, on average."""
        return self._outside(_END)

    @cached_property
    def within_s(self) -> float:
        """Seconds from when all ranks have left MPI_Init until the last one calls MPI_Finalize.

        How far apart a launcher lets them begin is not the program's.
        """
        begun = self._ranks.sort("rank")["started_s"].to_numpy()
        return float((begun + self.ranks["run_s"].to_numpy()).max() - begun.max())

    @cached_property
    def mpi_s(self) -> float:
        """Time of all ranks in MPI."""
        return float(self.cells["seconds"].sum())

    @told_once
    def mpi_share(self) -> Share:
        """Part of the run time in MPI."""
        return self._share(self.mpi_s)

    @told_once
    def waiting_s(self) -> Seconds:
        """Seconds that all ranks together waited for others that were late."""
        return float(self.cells["waiting_s"].sum())

    @cached_property
    def untold_s(self) -> float:
        """Time that ranks may have waited in calls for which records had no room."""
        full = self.profile.record.left_out
        return 0.0 if full is None else full.seconds

    @told_once
    def transfer_s(self) -> Seconds:
        """Seconds of all ranks together in blocking collectives once all members had entered."""
        compared = self.cells.filter(pl.col("entered_s").is_not_null())
        return float(compared["seconds"].sum()) - float(compared["entered_s"].sum())

    @cached_property
    def cells(self) -> pl.DataFrame:
        """`ProgramProfile.calls` with ``waiting_s``: null where waiting cannot be told.

        ``entered_s`` is that of blocking collectives until the last member entered; where only some
        occurrences are recorded, these stand for all of the cell. What else was waited for is told
        of recorded events alone.
        """
        part = pl.col("waiting_s") / pl.col("compared_s")
        calls = self.profile.calls.filter(
            ~pl.col("routine").is_in([*_BEGIN, *_END]), ~pl.col("routine").is_in(self._own)
        )
        compared = self.profile.collectives.filter(pl.col("seconds") > 0).select(
            *_KEYS, "waiting_s", pl.col("seconds").alias("compared_s")
        )
        joined = calls.join(compared, on=_KEYS, how="left")
        entered = (pl.col("seconds") * part).alias("entered_s")
        others = self.profile.waits.join(compared, on=_KEYS, how="anti")
        others = others.group_by(_KEYS).agg(pl.col("seconds").sum().alias("told_s"))
        return (
            joined.with_columns(entered)
            .join(others, on=_KEYS, how="left", maintain_order="left")
            .with_columns(
                pl.coalesce(
                    "entered_s",
                    pl.when(pl.col("told_s").is_not_null()).then(
                        pl.min_horizontal("told_s", "seconds")
                    ),
                ).alias("waiting_s")
            )
            .drop("compared_s", "told_s")
        )

    @property
    def _own(self) -> list[str]:
        return [name for name in self.profile.record.routines if is_own(name)]

    @cached_property
    def own(self) -> pl.DataFrame:
        """As `place_times`: functions of the program's own that the library called.

        They are not in MPI's time: what calls of MPI take is without these.
        """
        return self.place_times.filter(pl.col("routine").is_in(self._own))

    @told
    def waits(self) -> tuple[RankWait, ...]:
        """Who waits for whom, most time first; at most 1,000."""
        return rows_of(RankWait, self.pair_waits.head(_MOST_ROWS))

    @cached_property
    def pair_waits(self) -> pl.DataFrame:
        """Pairs of ranks of which one waits for the other, by kind, most time first.

        Columns are named as the fields of `RankWait`.
        """
        told = self.profile.waits.filter(pl.col("seconds") > 0)
        calls = self.profile.calls.select(*_KEYS, "routine", "site")
        places = self.profile.sites.select("site", "place")
        table = told.join(calls, on=_KEYS).join(places, on="site").sort("seconds", descending=True)
        keys = ("rank", "awaited", "kind")
        return (
            table.group_by(keys, maintain_order=True)
            .agg(
                pl.col("seconds", "uncertainty_s").sum(),
                pl.col("routine", "place").first(),
            )
            .with_columns((pl.col("seconds") / max(self.all_run_s, 1e-12)).alias("share"))
            .sort("seconds", *keys, descending=[True, False, False, False])
        )

    @told_once
    def balance_s(self) -> Seconds:
        """Seconds by which a rank's run would be shorter, at most, if nobody were late."""
        # The mean of what ranks wait: work that is spread evenly takes every rank the mean time.
        return self.waiting_s / max(len(self._ranks), 1)

    @told
    def routines(self) -> tuple[RoutineTime, ...]:
        """Calls by routine, most time first."""
        return rows_of(RoutineTime, self._by("routine"))

    @told
    def places(self) -> tuple[PlaceTime, ...]:
        """Calls by routine and place, most time first; at most 1,000."""
        return rows_of(PlaceTime, self.place_times.head(_MOST_ROWS))

    @cached_property
    def place_times(self) -> pl.DataFrame:
        """By routine and place in the program, most time first; columns as of `PlaceTime`."""
        places = self.profile.sites.select("site", "place", "symbol")
        return self._by("routine", "site").join(places, on="site", maintain_order="left")

    @told
    def sizes(self) -> tuple[SizeTime, ...]:
        """Calls by class of sizes, the smallest first."""
        # Class c is 2^(c-1) to 2^c - 1 bytes, 0 is 0.
        times = self._by("size_class").sort("size_class")
        classes = times["size_class"].to_list()
        known = [None if number == ALL_SIZES else number for number in classes]
        first = [0 if number is None else (1 << number) >> 1 for number in known]
        last = [None if number is None else (1 << number) - 1 for number in known]
        bounds = pl.Series("from_bytes", first, pl.UInt64), pl.Series("to_bytes", last, pl.UInt64)
        return rows_of(SizeTime, times.with_columns(bounds))

    @told
    def communicators(self) -> tuple[CommunicatorTime, ...]:
        """Calls by communicator, most time first; at most 1,000."""
        return rows_of(CommunicatorTime, self.communicator_times.head(_MOST_ROWS))

    @cached_property
    def communicator_times(self) -> pl.DataFrame:
        """By communicator, most time first; columns as of `CommunicatorTime`."""
        known = self.profile.communicators
        named = pl.Series("name", map(communicator_words, known.iter_rows(named=True)), pl.String)
        known = known.with_columns(named, pl.col("size").alias("ranks"))
        return self._by("communicator").join(known, on="communicator", maintain_order="left")

    @told
    def by_rank(self) -> tuple[ProfiledRank, ...]:
        """All ranks, in order."""
        return rows_of(ProfiledRank, self.ranks)

    @cached_property
    def ranks(self) -> pl.DataFrame:
        """By rank; columns as of `ProfiledRank`."""
        cells = self.cells.group_by("rank").agg(
            pl.col("waiting_s").sum(),
            pl.col("seconds").sum().alias("mpi_s"),
        )
        sent = self.profile.peers.group_by(pl.col("source").alias("rank")).agg(
            pl.col("bytes").sum().alias("sent_bytes"),
            pl.col("messages").sum().alias("messages"),
            pl.col("destination")
            .filter(pl.col("kind") == "point to point")
            .n_unique()
            .alias("neighbours"),
        )
        ending = self.profile.calls.filter(pl.col("routine").is_in(_END))
        ending = ending.group_by("rank").agg(pl.col("seconds").sum().alias("end_s"))
        run = pl.col("ended_s") - pl.col("started_s") - pl.col("end_s").fill_null(0)
        table = self._ranks.join(ending, on="rank", how="left").select(
            "rank", "host", run.clip(0).alias("run_s"), "caused_s"
        )
        joined = table.join(cells, on="rank", how="left").join(sent, on="rank", how="left")
        return joined.with_columns(
            pl.col("mpi_s", "waiting_s", "sent_bytes", "messages", "neighbours").fill_null(0)
        ).sort("rank")

    @cached_property
    def stuck(self) -> StuckWords:
        """Where ranks were when the program was ended; says nothing if all had finished."""
        names = self.profile.communicators["name"].to_list()
        ranks = self._ranks.filter(pl.col("state") == int(State.FINISHED))["rank"].to_list()
        stuck = self.profile.record.stuck
        finished = frozenset(ranks) - {thread.rank for thread in stuck if not thread.ended}
        places = self.profile.sites["place"].to_list()
        record = self.profile.record
        several = len(record.hosts) > 1
        hosts = ["" if at is None else record.hosts[at].name for at in record.rank_hosts]
        return StuckWords(
            stuck,
            places,
            names,
            finished,
            self._anyone(),
            record.under_way,
            hosts if several else (),
            not record.told and record.status in (SIGKILL, 128 + SIGKILL),
        )

    def _anyone(self) -> dict[int, list[int]]:
        """Ranks of communicators on which a stuck call waits for any of them, or for all."""
        numbers = {
            one.communicator
            for thread in self.profile.record.stuck
            for one in thread.awaits
            if one.any_source or one.kind == "members"
        }
        known = self.profile.members.filter(pl.col("communicator").is_in(numbers))
        ranks = {
            int(number): table["rank"].to_list()
            for (number,), table in known.group_by("communicator")
        }
        return {**ranks, WORLD: list(range(self.profile.record.ranks))}

    @told_once
    def verdict(self) -> str:
        """One sentence: how much of the run time is in MPI, and where most of it goes."""
        stuck = self.stuck.verdict()
        return f"{stuck}. {self._shares}" if stuck else self._shares

    @property
    def _shares(self) -> str:
        who, whose = counted(len(self._ranks), "rank"), "its" if len(self._ranks) == 1 else "their"
        head = (
            f"{who} spent {_percent(self.mpi_share)} of {whose} {format_seconds(self.run_s)} in MPI"
        )
        if self.mpi_share > 1:
            head += ", several threads at once"
        parts = [
            f"{_percent(row['share'])} in {row['routine']} called at {row['place']}"
            for row in self.place_times.head(_MOST_NAMED).iter_rows(named=True)
            if row["share"] >= _NAMED and not is_own(row["routine"])
        ]
        whole = f"{head}: {', '.join(parts)}" if parts else head
        if own := self.own_words:
            whole += f"; {own}"
        if self._share(self.untold_s) >= _WAITING_NAMED:
            untold = _percent(self._share(self.untold_s))
            whole += f"; up to {untold} may be waiting in calls that a full record has left out"
        if self._share(self.waiting_s) < _WAITING_NAMED:
            return whole
        waiting = _percent(self._share(self.waiting_s))
        whom = self.culprit()
        mostly = f", mostly because of {whom}" if whom else ""
        return f"{whole}; {waiting} is waiting for late ranks{mostly}"

    @property
    def own_words(self) -> str:
        """Where the program's own functions take long that the library calls; "" if nowhere."""
        return ", ".join(
            f"{_percent(row['share'])} is in the program's {row['routine']}"
            f"{' ' * bool(row['symbol'])}{row['symbol']} at {row['place']}"
            for row in self.own.head(_MOST_NAMED).iter_rows(named=True)
            if row["share"] >= _NAMED
        )

    def culprit(self) -> str:
        """The rank or the host at which most of the lateness began; "" where it is several."""
        caused = self.ranks.sort("caused_s", "rank")
        least = _MOST_OF * float(caused["caused_s"].sum())
        if len(caused) < 3:
            return ""
        by_host = caused.group_by("host").agg(pl.col("caused_s").sum()).sort("caused_s", "host")
        *_, host = by_host["host"]
        if caused["caused_s"][-1] >= least:
            where = f" on {caused['host'][-1]}" if len(by_host) > 1 else ""
            return f"rank {caused['rank'][-1]}{where}"
        if len(by_host) < 3 or by_host["caused_s"][-1] < least:
            return ""
        return f"the ranks on {host}"

    @property
    def _ranks(self) -> pl.DataFrame:
        return self.profile.ranks

    def _outside(self, routines: tuple[str, ...]) -> float:
        calls = self.profile.calls.filter(pl.col("routine").is_in(routines))
        return float(calls["seconds"].sum()) / max(len(self._ranks), 1)

    def _share(self, seconds: float) -> float:
        return seconds / self.all_run_s if self.all_run_s > 0 else 0.0

    def _by(self, *keys: str) -> pl.DataFrame:
        seconds = pl.col("seconds").sum()
        compared = pl.col("waiting_s").is_not_null().any()
        rows = self.cells
        if "routine" in keys and self._own:
            own = self.profile.calls.filter(pl.col("routine").is_in(self._own))
            rows = pl.concat([rows, own], how="diagonal")
        return (
            rows.group_by(keys)
            .agg(
                pl.col("calls").sum(),
                pl.col("bytes").sum(),
                seconds,
                (seconds / max(self.all_run_s, 1e-12)).alias("share"),
                pl.col("longest_s").max(),
                pl.when(compared).then(pl.col("waiting_s").sum()).alias("waiting_s"),
            )
            .sort("seconds", *keys, descending=[True, *(False for _ in keys)])
        )


def communicator_words(row: Mapping[str, Any]) -> str:
    """A communicator for people: its name, else its number; its kind and extent."""
    name: str = row["name"] or f"communicator {row['communicator']}"
    if row["kind"] == "intra":
        return name
    extent = f" {row['extent']}" if row["extent"] else ""
    return f"{name}, {row['kind']}{extent}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.2g} %"
