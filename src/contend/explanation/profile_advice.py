"""What to do about a limit of a profiled program, with the command for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import join, quote

import polars as pl

from contend.explanation.advice import Remedy, by_saving, emulation, longer_queue
from contend.explanation.cures import ENGINES, Cures, fewer_leaves
from contend.explanation.evidence import Limit
from contend.explanation.judging import Verdict
from contend.explanation.profiled import ProfileSource
from contend.profiling import routines
from contend.units import rounded

_ALLTOALLS = sorted(f"MPI_{name}" for name in routines.ALL_TO_ALLS)


def profile_remedies(verdicts: Sequence[Verdict], source: ProfileSource) -> tuple[Remedy, ...]:
    """What helps against every limit that some verdict on a profile names.

    What is predicted to save most comes first; the others follow in the order of limits.
    """
    hit = {limit for verdict in verdicts for limit in verdict.limits}
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
                yield self._hang(limit)
            case Limit.COMPUTATION:
                yield self._computation()
            case Limit.HOST_QUEUES | Limit.TIME_OUTS:
                yield from self._time_outs(limit)
            case Limit.FABRIC:
                yield from self._fabric()
            case Limit.PORT:
                yield self._port()
            case Limit.OVERHEAD:
                yield self._overhead()
            case Limit.IMBALANCE:
                yield self._imbalance()
            case Limit.FILES:
                yield self._files()
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

    def _hang(self, limit: Limit) -> Remedy:
        return Remedy(limit, self._profile.findings.stuck.cure(), self._report(""))

    def _computation(self) -> Remedy:
        gain = 100 * self._profile.findings.mpi_share
        return Remedy(
            Limit.COMPUTATION,
            f"Compute faster or on more ranks: all communication together is {rounded(gain, 2)} % "
            "of the run, and no network saves more than that.",
        )

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
        cures = Cures(self._source, self._again).best()
        for cure in cures:
            yield Remedy(Limit.FABRIC, cure.advice, cure.command, cure.seconds)
        if not cures:
            yield Remedy(
                Limit.FABRIC,
                f"Neither another placement nor routes by {', '.join(ENGINES)} save anything: use "
                "hosts on fewer leaves, or add cables.",
                fewer_leaves(fabric, network.numbers),
            )

    def _port(self) -> Remedy:
        advice = "Send less data, or use faster ports: no routing widens a port"
        if self._record.ranks > len(self._record.hosts):
            advice += (
                ", spread the ranks over more hosts, or put those that send each other most on one"
            )
        return Remedy(Limit.PORT, f"{advice}.", self._report("--plot matrix.svg --picture matrix"))

    def _overhead(self) -> Remedy:
        return Remedy(
            Limit.OVERHEAD,
            "Send fewer and larger messages: pack what goes to one rank into one message, and "
            "several small operations into one.",
            self._report("--csv calls.csv"),
        )

    def _imbalance(self) -> Remedy:
        return Remedy(
            Limit.IMBALANCE,
            "The network is not the cause: give all ranks the same work, bind every rank to a "
            "core, and check what else runs on the late rank's host.",
            self._report("--plot waits.svg --picture waits"),
        )

    def _files(self) -> Remedy:
        return Remedy(
            Limit.FILES,
            "Read and write less often and in larger pieces, by collective calls "
            "(MPI_File_..._all) into one file, and spread the file over more "
            "servers where the file system lets you.",
            self._report("--csv calls.csv"),
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
