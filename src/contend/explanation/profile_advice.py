"""What to do about a limit of a profiled program, with the command for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from shlex import join, quote

import numpy as np
import polars as pl
from numpy.typing import NDArray

from contend.base.errors import ContendError
from contend.base.units import rounded
from contend.congestion import channel_bytes
from contend.cure import place
from contend.explanation.evidence import Limit
from contend.explanation.judging import Verdict
from contend.explanation.profiled import ProfileSource
from contend.explanation.remedies import (
    MOST_HOSTS,
    Remedy,
    by_engines,
    by_saving,
    emulation,
    fewer_leaves,
    longer_queue,
    named,
    routed_by,
    tried_engines,
)
from contend.fabric import Fabric
from contend.prediction import PredictionConditions, Recorded, held_against, program_of, run_time
from contend.profiling import cure_of, routines
from contend.routes import fewest_collisions, hashes

# Of the run time: what saves less is no cure.
_WORTH_IT = 0.02
# What saves no more than so many times as much is not worth a rarer way.
_CLEARLY = 1.05
_ALLTOALLS = sorted(f"MPI_{name}" for name in routines.ALL_TO_ALLS)


def profile_remedies(verdicts: Sequence[Verdict], source: ProfileSource) -> tuple[Remedy, ...]:
    """What helps against every limit that some verdict on a profile names.

    What is predicted to save most comes first; the others follow in the order of limits.
    """
    hit = {limit for verdict in verdicts for limit in verdict.proven}
    advice = _Advice(source)
    return by_saving(r for limit in Limit if limit in hit for r in advice.against(limit))


class _Advice:
    def __init__(self, source: ProfileSource) -> None:
        self._source = source
        self._profile = source.profile
        self._record = source.profile.record

    def against(self, limit: Limit) -> Iterator[Remedy]:
        """What helps against one limit."""
        match limit:
            case Limit.HANG | Limit.CRASH:
                yield Remedy(limit, cure_of(self._profile.findings.stuck), self._report(""))
            case Limit.COMPUTATION:
                gain = rounded(100 * self._profile.findings.mpi_share, 2)
                yield Remedy(
                    limit,
                    f"Compute faster or on more ranks: all communication together is {gain} % of "
                    "the run, and no network saves more than that.",
                )
            case Limit.HOST_QUEUES | Limit.TIME_OUTS:
                yield from self._time_outs(limit)
            case Limit.FABRIC:
                yield from self._fabric()
            case Limit.PORT:
                yield self._port()
            case Limit.OVERHEAD:
                yield Remedy(
                    limit,
                    "Send fewer and larger messages: pack what goes to one rank into one message, "
                    "and several small operations into one.",
                    self._report("--csv calls.csv"),
                )
            case Limit.IMBALANCE:
                yield self._imbalance()
            case Limit.FILES:
                yield Remedy(
                    limit,
                    "Read and write less often and in larger pieces, by collective calls "
                    "(MPI_File_..._all) into one file, and spread the file over more servers "
                    "where the file system lets you.",
                    self._report("--csv calls.csv"),
                )
            case Limit.PROCESSORS:
                yield self._processors()

    def _again(self, options: str = "") -> str:
        """The command that profiles the program once more; "" where its ranks start themselves."""
        if not self._source.emulated:
            return ""
        words = [f"contend profile -n {self._record.ranks}"]
        words += emulation(self._emulated, self._source.fabric, self._record.asked, options)
        return " ".join((*filter(None, (*words, options)), "--", join(self._record.command)))

    def _report(self, options: str) -> str:
        return f"contend report {quote(str(self._profile.folder))} {options}".rstrip()

    def _time_outs(self, limit: Limit) -> Iterator[Remedy]:
        cells = self._profile.findings.cells
        lost = self._lost(cells)
        emulated = self._source.emulated
        advice, options = longer_queue(limit, self._record.asked if emulated else None)
        here = f"contend profile {options} -- {join(self._record.command)}"
        yield Remedy(limit, advice, self._again(options) if emulated else here, lost)
        calls = cells.filter(pl.col("routine").cast(pl.String).is_in(_ALLTOALLS))
        if not calls.is_empty():
            yield Remedy(
                limit,
                "An all-to-all in ordered steps fills no buffer: measure which schedule wins "
                "here, and use it for the program's calls.",
                self._tuned(calls),
                self._lost(calls),
            )

    def _tuned(self, alltoalls: pl.DataFrame) -> str:
        """Commands that learn rules for these calls, and run the program by them."""
        ranks = self._record.ranks
        sent, times = int(alltoalls["bytes"].sum()), int(alltoalls["calls"].sum())
        size = max(sent // max(times * ranks, 1), 1)
        place, started = "--on HOSTFILE", ""
        if self._source.emulated:
            asked = self._record.asked
            place = " ".join(emulation(self._emulated, self._source.fabric, asked, ""))
            started = f"-n {ranks} {place} "
        return (
            f"contend measure alltoall -n {ranks} {place} --algorithm library,linear,shift "
            f"--bytes {size} --launches 5 -o measured && contend tune measured -o rules && "
            f"contend run --tuned rules {started}-- {join(self._record.command)}"
        )

    def _lost(self, cells: pl.DataFrame) -> float | None:
        """Seconds that a rank lost in calls of these cells while a message was sent again."""
        stalled = self._source.stalled(cells)
        return None if stalled is None else stalled.lost_s

    @property
    def _emulated(self) -> str:
        return f"emulated:{self._record.asked.get('fabric', '')}"

    def _fabric(self) -> Iterator[Remedy]:
        fabric, network = self._source.fabric, self._source.network
        assert fabric is not None
        assert network is not None
        assert network.numbers is not None
        cures = _Cures(self._source, self._again).best()
        yield from cures
        if not cures:
            tried = ", ".join(tried_engines(fabric))
            routes = f"Neither another placement nor routes by {tried} save"
            who = routes if tried else "No other placement saves"
            yield Remedy(
                Limit.FABRIC,
                f"{who} anything: use hosts on fewer leaves, or add cables.",
                fewer_leaves(fabric, network.numbers),
            )

    def _port(self) -> Remedy:
        advice = "Send less data, or use faster ports: no routing widens a port"
        if self._record.ranks > len(self._record.hosts):
            advice += (
                ", spread the ranks over more hosts, or put those that send each other most on one"
            )
        return Remedy(Limit.PORT, f"{advice}.", self._report("--plot matrix.svg --picture matrix"))

    def _imbalance(self) -> Remedy:
        whom = self._profile.findings.culprit()
        late = f": most lateness begins at {whom}. Give" if whom else ": give"
        return Remedy(
            Limit.IMBALANCE,
            f"The network is not the cause{late} all ranks the same work, bind every rank to a "
            "core, and check what else runs on the late rank's host.",
            self._report("--plot waits.svg --picture waits"),
        )

    def _processors(self) -> Remedy:
        cpus, crowded = self._record.cpus or 1, self._source.crowded or 1.0
        if self._source.emulated:
            return Remedy(
                Limit.PROCESSORS,
                f"{rounded(crowded)} ranks run on every processor of this one machine: emulate "
                "slower cables, so that the network takes most of the time.",
                self._again("--rate 20Mbit"),
            )
        return Remedy(
            Limit.PROCESSORS,
            f"{rounded(crowded)} ranks share a processor: give every rank its own, with at most "
            f"{cpus} of them here.",
            f"contend profile -n {self._record.ranks} --on HOSTFILE --ranks-per-host {cpus} -- "
            "PROGRAM",
        )


class _Cures:
    """What would save time between switches, each tried for what it saves.

    By the calibration the program is carried out again. Without one the fullest channel tells, that
    of a port included, for the bytes of the whole run.
    """

    def __init__(self, source: ProfileSource, again: Callable[[str], str]) -> None:
        """Cures of a profile.

        Args:
            source: its network and fabric are known.
            again: the command that profiles it once more with other options; "" where there is
                none.
        """
        fabric, network = source.fabric, source.network
        assert fabric is not None
        assert network is not None
        assert network.numbers is not None
        assert network.wire is not None
        self._source = source
        self._again = again
        self._fabric = fabric
        self._hosts = network.numbers
        self._wire = network.wire
        self._channel_rate = network.channel_rates(fabric)

    def best(self) -> tuple[Remedy, ...]:
        """The best seats and the best routes, what saves most first; none that saves nothing."""
        worth = _WORTH_IT * self._source.profile.findings.run_s
        cures = (*self._seats(), *self._routes())
        return by_saving(cure for cure in cures if (cure.saves_s or 0.0) > worth)

    def _seats(self) -> Iterator[Remedy]:
        hosts = self._hosts
        in_order = hosts[np.lexsort((hosts, self._fabric.host_switch[hosts]))]
        plain = self._saved(self._fabric, in_order)
        ordered = Remedy(
            Limit.FABRIC,
            "Place ranks in the order of hosts, leaf by leaf.",
            self._again("--placement linear")
            or f"contend fabric hosts {self._named} -n {len(np.unique(hosts))} --placement linear",
            plain,
        )
        try:
            found = place(self._source.profile, self._fabric, rate=self._wire)
        except ContendError:
            yield ordered
            return
        saved = self._saved(self._fabric, found.placement.hosts.astype(np.int64))
        # The plain order is taken where the other saves hardly more.
        if saved <= _CLEARLY * plain:
            yield ordered
            return
        routes = self._fabric.routes
        engine = "" if routes is None else routes.engine
        loaded, asked = self._fabric.command_line
        way = join(asked)
        if not way and not loaded:
            way = f"--route {quote(engine)}" if engine else "--routes FILE"
        yield Remedy(
            Limit.FABRIC,
            "Place ranks that exchange much data where their routes share the fewest channels with "
            "others.",
            f"contend place {self._folder} {self._named} {way} -o rankfile",
            saved,
        )

    def _routes(self) -> Iterator[Remedy]:
        if self._fabric.hosts > MOST_HOSTS or hashes(self._fabric):
            return
        by_engine = by_engines(self._fabric, lambda routed: self._saved(routed, self._hosts))
        sent = self._source.profile.peers
        source, target = (self._hosts[sent[end].to_numpy()] for end in ("source", "destination"))
        demand = source, target, sent["bytes"].to_numpy().astype(np.float64)
        engine = max(by_engine, key=by_engine.__getitem__)
        made = self._saved(fewest_collisions(self._fabric, demand=demand), self._hosts)
        if made > _CLEARLY * by_engine[engine]:
            yield Remedy(
                Limit.FABRIC,
                "Routes computed for this program's traffic.",
                f"contend report {self._folder} --matrix sent.npy && contend route {self._named} "
                "--for sent.npy -o better.lfts",
                made,
            )
        else:
            yield Remedy(
                Limit.FABRIC,
                f"Routes by {engine}.",
                self._again(f"--route {engine}") or routed_by(engine, self._fabric),
                by_engine[engine],
            )

    @property
    def _folder(self) -> str:
        return quote(str(self._source.profile.folder))

    @property
    def _named(self) -> str:
        return named(self._fabric)

    def _saved(self, fabric: Fabric, hosts: NDArray[np.int64]) -> float:
        return self._now - self._seconds(fabric, hosts)

    @cached_property
    def _now(self) -> float:
        return self._seconds(self._fabric, self._hosts)

    def _seconds(self, fabric: Fabric, hosts: NDArray[np.int64]) -> float:
        """Of the run by the calibration, else what the fullest channel takes."""
        if self.recorded is not None:
            return run_time(self.recorded, self._where(fabric, hosts))
        sent = self._source.profile.peers
        source, target = (hosts[sent[end].to_numpy()] for end in ("source", "destination"))
        apart = source != target
        through = channel_bytes(
            fabric, source[apart], target[apart], sent["bytes"].to_numpy()[apart]
        )
        rates = np.full(len(through), self._wire)
        rates[: len(self._channel_rate)] = self._channel_rate
        return float((through / rates).max(initial=0.0))

    @cached_property
    def recorded(self) -> Recorded | None:
        """The program as a schedule; None without a calibration, or where that is not possible."""
        calibration = self._source.calibration
        if calibration is None:
            return None
        profile = self._source.profile
        try:
            program = program_of(profile, calibration.copy_per_byte_s)
            where = self._where(self._fabric, self._hosts)
            return held_against(program, profile.findings.within_s, where)
        except ContendError:
            return None

    def _where(self, fabric: Fabric, hosts: NDArray[np.int64]) -> PredictionConditions:
        calibration = self._source.calibration
        assert calibration is not None
        return PredictionConditions(fabric, hosts, calibration, self._wire, calibration.buffer)
