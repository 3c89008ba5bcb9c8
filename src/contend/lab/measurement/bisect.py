"""Bisect patterns, or others, measured: those that a simulation of the same seed counts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from contend.base.errors import ArgumentError, InputError, ShortfallError, UsageError
from contend.base.files import read_bounded
from contend.base.schema import LeftOut, PythonOnly, Rate, told
from contend.base.units import parse_numbers, parse_size
from contend.congestion import DrawnPattern, draw_patterns, message_shares, write_destinations
from contend.fabric import Fabric, make
from contend.lab.measurement.draws import DrawnAgreement, drawn_agreement
from contend.lab.measurement.models import Agreement, agreement, usable
from contend.lab.measurement.place import Place
from contend.lab.measurement.question import MeasuredCell, OptionValue, options_of
from contend.lab.runs import IMPOSSIBLE, Run, rate_limit
from contend.routes import Ways
from contend.traffic.pattern import parse

_COUNTS = ("patterns", "packets", "repeats")
PATTERNS = "patterns.txt"
"""File of a run's folder that says which rank sent to which, a pattern in every line."""


def bisect_options(**options: OptionValue) -> dict[str, str]:
    """What a measurement of bisect patterns sends, as `options_of` has it.

    Args:
        **options: the probe's own: ``patterns`` (how many are drawn; of one that leaves nothing to
            chance only one is), ``pattern`` (what is drawn, as `contend.simulate` takes it: any in
            whose rounds every rank sends and receives one message at most; each round is measured
            by itself), ``two_way``, ``bytes`` (of a packet), ``packets`` (of a message),
            ``repeats`` (samples of every pattern, one after the other).

    Raises:
        UsageError: nothing is sent, or both of a pair are to send in another pattern than bisect.
    """
    words = options_of("bisect", options)
    if min(_size(words, "bytes"), *(_number(words, name) for name in _COUNTS)) < 1:
        raise UsageError("expected at least 1 pattern, byte, packet and sample of each pattern")
    if "two_way" in words and words["pattern"] != "bisect":
        raise UsageError(f"two-way pairs are for the pattern bisect, not for {words['pattern']}")
    return words


def draw(cell: MeasuredCell) -> list[DrawnPattern]:
    """The patterns that a cell measures.

    Messages between ranks depend on the seed and the number of ranks alone: `contend.simulate`
    counts the same ones where its placement is the one that the ranks have. Of an odd number of
    ranks one sits out, another one in every pattern.

    Raises:
        UsageError: for several numbers of ranks, or patterns of which a rank has several messages.
    """
    if len(cell.ranks) != 1 or cell.ranks[0] < 2:
        raise UsageError("bisect takes one number of ranks, at least 2")
    options, ranks = bisect_options(**cell.options), cell.ranks[0]
    pattern = parse("bisect:two-way" if "two_way" in options else options["pattern"], ranks)
    drawn = list(
        draw_patterns(
            # On a crossbar, as who sends to whom does not depend on the fabric.
            make(f"crossbar:{ranks}"),
            pattern,
            placement="linear",
            ranks=ranks,
            seed=cell.seed,
            count=_number(options, "patterns") if pattern.random else 1,
        )
    )
    for number in range(pattern.rounds):
        drawn[0].destinations(number)
    return drawn


def bisect_arguments(cell: MeasuredCell, folder: Path) -> tuple[str, ...]:
    """What the probe is told; its patterns are written into the folder of its run."""
    options, path = bisect_options(**cell.options), folder / PATTERNS
    repeats = _number(options, "repeats")
    samples = write_destinations(path, draw(cell)) * repeats
    return (
        f"--patterns={path.resolve()}",
        f"--bytes={_size(options, 'bytes')}",
        f"--packets={_number(options, 'packets')}",
        f"--repeats={repeats}",
        f"--repetitions={samples}:{samples}",
        "--precision=0",
        f"--warmups={cell.options.get('warmups', '1')}",
        *(["--verify"] if "verify" in cell.options else []),
    )


def _number(options: Mapping[str, str], name: str) -> int:
    numbers = parse_numbers(options[name])
    if len(numbers) != 1:
        raise ArgumentError(name, f"expected one number, got {options[name]!r}")
    return numbers[0]


def _size(options: Mapping[str, str], name: str) -> int:
    try:
        return parse_size(options[name])
    except UsageError as error:
        raise ArgumentError(name, error) from None


def read_destinations(path: Path) -> list[NDArray[np.int64]]:
    """The rank that every rank sends to, -1 for none, by pattern.

    Raises:
        InputError: naming the line, when it is not what `contend.write_destinations` writes.
    """
    try:
        lines = read_bounded(path).decode("ascii").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(str(path), 0, "a file of patterns", str(error)) from None
    patterns: list[NDArray[np.int64]] = []
    for number, line in enumerate(lines, start=1):
        if not line or line.startswith("#"):
            continue
        words = line.split()
        if not all(word == "-" or (word.isdecimal() and len(word) < 10) for word in words):
            raise InputError(str(path), number, "ranks or -", line[:60])
        to = np.array([-1 if word == "-" else int(word) for word in words], dtype=np.int64)
        if (patterns and len(to) != len(patterns[0])) or (to >= len(to)).any():
            raise InputError(str(path), number, "ranks of all other lines", line[:60])
        patterns.append(to)
    return patterns


def patterns_of(run: Run) -> list[NDArray[np.int64]]:
    """The patterns that a run measured.

    Raises:
        UsageError: the run is of another probe.
        InputError: its file of patterns is not there or damaged.
    """
    if run.record.probe != "bisect":
        raise UsageError(f"{run.folder}: expected a run of bisect, got {run.record.probe}")
    near = (run.folder / PATTERNS, run.folder.parent / PATTERNS)
    return read_destinations(next((path for path in near if path.is_file()), near[0]))


def pair_bandwidths(run: Run) -> pl.DataFrame:
    """The bandwidth of every message of a run of bisect patterns.

    Returns:
        One row a message: ``launch``, ``sample`` (from 0, without warm-ups), ``pattern``,
        ``source_rank``, ``target_rank``, ``seconds`` (from the agreed start until the receiver had
        everything), ``bandwidth_Bps``, ``late`` (a rank of the sample had started late) and
        ``beyond_wire`` (it is more than hosts' ports carry).

    Raises:
        UsageError: the run is of another probe.
        InputError: its file of patterns is not there or damaged.
        ShortfallError: nothing was measured.
    """
    patterns = patterns_of(run)
    if not run.record.cells:
        raise ShortfallError(f"{run.folder}: no sample was written")
    cell = run.record.cells[0]
    repeats, packets = (int(cell.labels[name] or 1) for name in ("repeats", "packets"))
    size = (cell.bytes or 0) * packets
    limit = rate_limit(run.record.probe, cell, run.record.wire_Bps) or math.inf
    messages = pl.DataFrame(
        {
            "pattern": np.repeat(np.arange(len(patterns)), [int((p >= 0).sum()) for p in patterns]),
            "source_rank": np.concatenate([np.flatnonzero(p >= 0) for p in patterns]),
            "target_rank": np.concatenate([p[p >= 0] for p in patterns]),
        }
    )
    timed = run.samples.filter(~pl.col("warmup")).with_columns(
        # Warm-ups are counted before: the first sample that is timed is the first pattern's.
        sample=pl.col("repetition").cast(pl.Int64)
        - pl.col("repetition").min().over("launch").cast(pl.Int64)
    )
    received = timed.select(
        "launch",
        "sample",
        "late",
        pattern=(pl.col("sample") // repeats) % len(patterns),
        target_rank=pl.col("rank").cast(pl.Int64),
        seconds=pl.col("received") - pl.col("agreed_s"),
    )
    return (
        received.join(messages, on=["pattern", "target_rank"])
        .with_columns(bandwidth_Bps=size / pl.col("seconds"))
        .with_columns(beyond_wire=IMPOSSIBLE * pl.col("bandwidth_Bps") > limit)
        .sort("launch", "sample", "source_rank")
        .select(
            *("launch", "sample", "pattern", "source_rank", "target_rank"),
            *("seconds", "bandwidth_Bps", "late", "beyond_wire"),
        )
    )


def beside_predictions(run: Run, fabric: Fabric, hosts: Sequence[int]) -> pl.DataFrame:
    """Measured bandwidths with what the routes message_shares.

    Args:
        run: of bisect patterns.
        fabric: with routes.
        hosts: number in the fabric of every rank's host.

    Returns:
        `pair_bandwidths` with ``congestion`` (pi), ``share`` (rate over load), ``fair_share``
        (max-min) and ``port``, as `contend.congestion.predict` has them.
    """
    load = fabric.routes is not None and Ways.SPLIT in fabric.routes.ways
    foreseen = message_shares(fabric, measured_patterns(run, hosts)).select(
        pl.col("pattern").cast(pl.Int64),
        pl.col("source_rank").cast(pl.Int64),
        # Load, where messages take several ways at once, may be no whole number.
        pl.col("congestion").cast(pl.Float64 if load else pl.Int64),
        *("share", "fair_share", "port"),
    )
    ends = ["pattern", "source_rank"]
    return pair_bandwidths(run).join(foreseen, on=ends)


def measured_patterns(run: Run, hosts: Sequence[int]) -> list[DrawnPattern]:
    """The patterns that a run measured, on the hosts of its ranks.

    Args:
        run: of bisect patterns.
        hosts: number in a fabric of every rank's host.
    """
    placed = np.asarray(hosts, dtype=np.uint32)
    return [_drawn(number, to, placed) for number, to in enumerate(patterns_of(run))]


def _drawn(number: int, to: NDArray[np.int64], hosts: NDArray[np.uint32]) -> DrawnPattern:
    source = np.flatnonzero(to >= 0)
    messages = (source.astype(np.uint32), to[source].astype(np.uint32))
    return DrawnPattern("bisect", "measured", 0, number, hosts, (messages,))


@dataclass(frozen=True, eq=False)
class MeasuredPairs:
    """Bandwidths of all messages; each of them is in what ``--messages`` writes."""

    run: PythonOnly[Run]
    """Run in which they were measured."""
    bandwidths: PythonOnly[pl.DataFrame]
    """A row for each, as of `pair_bandwidths`; beside predictions where routes are known and
    nothing is drawn in them."""
    agreement: LeftOut[Agreement] = None
    """Agreement with the predictions; there if the routes are known and enough was measured."""
    draws: LeftOut[DrawnAgreement] = None
    """Agreement with simulated draws; there if hashes draw the routes."""

    @cached_property
    def used(self) -> pl.DataFrame:
        """Those that count."""
        return usable(self.bandwidths)

    @told
    def messages(self) -> int:
        """Number of messages that count."""
        return len(self.used)

    @told
    def late(self) -> int:
        """Number of messages left out because a rank had started late."""
        return len(self.bandwidths) - len(self.used)

    @told
    def patterns(self) -> int:
        """Number of patterns."""
        return self.used["pattern"].n_unique()

    @told
    def beyond_wire(self) -> int:
        """Number of messages that got more than hosts' ports carry."""
        return int(self.used["beyond_wire"].sum())

    @told
    def mean_Bps(self) -> Rate | None:
        """Mean bandwidth of a message in bytes per second."""
        return cast("float | None", self.used["bandwidth_Bps"].mean())

    @told
    def median_Bps(self) -> Rate | None:
        """Median bandwidth in bytes per second."""
        return cast("float | None", self.used["bandwidth_Bps"].median())


def measured_pairs(run: Run, place: Place | None = None) -> MeasuredPairs:
    """What the pairs of a run got, beside what the routes of its place predict.

    Args:
        run: of bisect patterns, with samples.
        place: where it was measured, while that is there; None where nobody knows it any more.
    """
    fabric = None if place is None else place.fabric
    if place is None or fabric is None or not run.record.measured:
        return MeasuredPairs(run, pair_bandwidths(run))
    hosts = place.numbers_of(run.record.measured[0].rank_hosts)
    try:
        return compared_pairs(run, fabric, hosts)
    except ShortfallError:
        return MeasuredPairs(run, _beside_routes(run, fabric, hosts))


def compared_pairs(run: Run, fabric: Fabric, hosts: Sequence[int]) -> MeasuredPairs:
    """What the pairs of a run got, compared with what routes predict.

    Args:
        run: of bisect patterns.
        fabric: with routes.
        hosts: number in the fabric of every rank's host.

    Raises:
        ShortfallError: too few messages are uncontended.
    """
    messages = _beside_routes(run, fabric, hosts)
    if fabric.draws_routes:
        found = drawn_agreement(messages, fabric, measured_patterns(run, hosts))
        return MeasuredPairs(run, messages, draws=found)
    return MeasuredPairs(run, messages, agreement(messages))


def _beside_routes(run: Run, fabric: Fabric, hosts: Sequence[int]) -> pl.DataFrame:
    """Bandwidths of pairs; beside predictions, unless routes are drawn."""
    if fabric.draws_routes:
        return pair_bandwidths(run)
    return beside_predictions(run, fabric, hosts)
