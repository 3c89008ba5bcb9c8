"""What a profile says: where the time in MPI goes, who waits for whom, who sends to whom."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from contend.profiling.hang.stuck_words import StuckWords
from contend.profiling.record_form import WORLD, State
from contend.profiling.routines import is_own
from contend.units import counted, format_seconds

if TYPE_CHECKING:
    from contend.profiling.profile import ProgramProfile

# The run is what is between them: a network has no part in starting and ending processes.
_BEGIN, _END = ("MPI_Init", "MPI_Init_thread"), ("MPI_Finalize",)
# Parts of the run time that a verdict names.
_NAMED, _WAITING_NAMED, _MOST_NAMED = 0.05, 0.02, 2
_MOST_OF = 0.5
_KEYS = ("rank", "cell")


@dataclass(frozen=True)
class ProfileFindings:
    """Everything that is found in a profile; shares are of the ranks' run times together.

    A rank's run time is from the end of its MPI_Init to the beginning of its MPI_Finalize, or to
    the end of its record. Neither of the two calls counts as time in MPI.

    Attributes:
        profile: that was looked at.
    """

    profile: ProgramProfile

    @cached_property
    def run_s(self) -> float:
        """Run times of all ranks together."""
        return float(self.ranks["run_s"].sum())

    @cached_property
    def begin_s(self) -> float:
        """What MPI_Init took a rank, on average."""
        return self._outside(_BEGIN)

    @cached_property
    def end_s(self) -> float:
        """What MPI_Finalize took a rank, on average."""
        return self._outside(_END)

    @cached_property
    def within_s(self) -> float:
        """Seconds from the first rank's leaving MPI_Init to the last one's calling MPI_Finalize."""
        begun = self._ranks.sort("rank")["started_s"].to_numpy()
        return float((begun + self.ranks["run_s"].to_numpy()).max() - begun.min())

    @cached_property
    def mean_run_s(self) -> float:
        """Run time of a rank."""
        return self.run_s / max(len(self._ranks), 1)

    @cached_property
    def mpi_s(self) -> float:
        """Time of all ranks in MPI."""
        return float(self.cells["seconds"].sum())

    @cached_property
    def mpi_share(self) -> float:
        """Part of the run time in MPI."""
        return self._share(self.mpi_s)

    @cached_property
    def waiting_s(self) -> float:
        """Time of all ranks in which they waited for others that were late."""
        return float(self.cells["waiting_s"].sum())

    @cached_property
    def untold_s(self) -> float:
        """Time that ranks may have waited in calls for which records had no room."""
        full = self.profile.record.left_out
        return 0.0 if full is None else full.seconds

    @cached_property
    def transfer_s(self) -> float:
        """Time of all ranks in blocking collectives after the last member had entered."""
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
        """As `places`: functions of the program's own that the library called; not in MPI's time.

        What calls of MPI take is without these.
        """
        return self.places.filter(pl.col("routine").is_in(self._own))

    @cached_property
    def waits(self) -> pl.DataFrame:
        """Who waits for whom: pairs of ranks by kind, most ``seconds`` first.

        Columns ``rank``, ``awaited``, ``kind``, ``seconds``, ``share`` of all run times,
        ``uncertainty_s``, and ``routine`` and ``place`` of the call that most of it was in.
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
            .with_columns((pl.col("seconds") / max(self.run_s, 1e-12)).alias("share"))
            .sort("seconds", *keys, descending=[True, False, False, False])
        )

    @cached_property
    def balance_s(self) -> float:
        """What the run would be shorter by, at most, if nobody came late.

        The mean of what ranks wait: work that is spread evenly takes every rank the mean time.
        """
        return self.waiting_s / max(len(self._ranks), 1)

    @cached_property
    def routines(self) -> pl.DataFrame:
        """By routine, most time first: ``calls``, ``bytes``, ``seconds``, ``share`` ..."""
        return self._by("routine")

    @cached_property
    def places(self) -> pl.DataFrame:
        """By routine and place in the program, most time first."""
        places = self.profile.sites.select("site", "place", "symbol")
        return self._by("routine", "site").join(places, on="site", maintain_order="left")

    @cached_property
    def communicators(self) -> pl.DataFrame:
        """By communicator, most time first, with its kind, size and name."""
        return self._by("communicator").join(
            self.profile.communicators, on="communicator", maintain_order="left"
        )

    @cached_property
    def sizes(self) -> pl.DataFrame:
        """By class of sizes, the smallest first: class c is 2^(c-1) to 2^c - 1 bytes, 0 is 0."""
        return self._by("size_class").sort("size_class")

    @cached_property
    def ranks(self) -> pl.DataFrame:
        """By rank: ``run_s``, ``mpi_s``, ``waiting_s``, ``caused_s``, ``sent_bytes``, peers.

        ``caused_s`` is what others waited for this rank, or for those that it had made late, in the
        calls that were recorded.
        """
        cells = self.cells.group_by("rank").agg(
            pl.col("waiting_s").sum(),
            pl.col("seconds").sum().alias("mpi_s"),
            pl.col("seconds").filter(pl.col("entered_s").is_not_null()).sum().alias("collective_s"),
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
            pl.col(
                "mpi_s", "waiting_s", "collective_s", "sent_bytes", "messages", "neighbours"
            ).fill_null(0)
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

    @cached_property
    def verdict(self) -> str:
        """One sentence: how much of the run time is in MPI, and where most of it goes."""
        stuck = self.stuck.verdict()
        return f"{stuck}. {self._shares}" if stuck else self._shares

    @property
    def _shares(self) -> str:
        who, whose = counted(len(self._ranks), "rank"), "its" if len(self._ranks) == 1 else "their"
        head = (
            f"{who} spent {_percent(self.mpi_share)} of {whose} {format_seconds(self.mean_run_s)} "
            "in MPI"
        )
        if self.mpi_share > 1:
            head += ", several threads at once"
        parts = [
            f"{_percent(row['share'])} in {row['routine']} called at {row['place']}"
            for row in self.places.head(_MOST_NAMED).iter_rows(named=True)
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
        return f"{whole}; {waiting} is waiting for late ranks{self._culprit()}"

    @property
    def own_words(self) -> str:
        """Where the program's own functions take long that the library calls; "" if nowhere."""
        return ", ".join(
            f"{_percent(row['share'])} is in the program's {row['routine']}"
            f"{' ' * bool(row['symbol'])}{row['symbol']} at {row['place']}"
            for row in self.own.head(_MOST_NAMED).iter_rows(named=True)
            if row["share"] >= _NAMED
        )

    def _culprit(self) -> str:
        """The rank that most of the waiting is for, if there is one."""
        caused = self.ranks.sort("caused_s", "rank")
        total = float(caused["caused_s"].sum())
        if len(caused) < 3 or caused["caused_s"][-1] < _MOST_OF * total:
            return ""
        return f", mostly for rank {caused['rank'][-1]}"

    @property
    def _ranks(self) -> pl.DataFrame:
        return self.profile.ranks

    def _outside(self, routines: tuple[str, ...]) -> float:
        calls = self.profile.calls.filter(pl.col("routine").is_in(routines))
        return float(calls["seconds"].sum()) / max(len(self._ranks), 1)

    def _share(self, seconds: float) -> float:
        return seconds / self.run_s if self.run_s > 0 else 0.0

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
                (seconds / max(self.run_s, 1e-12)).alias("share"),
                pl.col("longest_s").max(),
                pl.when(compared).then(pl.col("waiting_s").sum()).alias("waiting_s"),
            )
            .sort("seconds", *keys, descending=[True, *(False for _ in keys)])
        )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.2g} %"
