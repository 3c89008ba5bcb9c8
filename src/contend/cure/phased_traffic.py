"""What ranks send each other, phase by phase: from a profile, a matrix or a pattern.

The phases of a profile are steps of the program. What a rank sends between two waits is a round,
and the n-th rounds that ranks begin at the same place in the program are one step. Steps in which
the same pairs exchange messages are one phase, with the bytes of all of them: the step of a loop
comes again and again, and it is the sum that counts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from contend.base.errors import ShortfallError, UsageError
from contend.base.units import rounded
from contend.congestion import PhasedTraffic
from contend.cure.tables import pattern_of
from contend.prediction import ProfiledProgram, program_of
from contend.profiling import KINDS, ProgramProfile, is_profile, load_profile
from contend.traffic.pattern import FORMS, holds_nccl_graphs, open_matrix, parse, read_messages
from contend.traffic.schedule import Action

# More phases than this are put together, those alike first: each takes a row of channels.
_MOST_PHASES = 64
# What messages of a pattern weigh: a size at which bandwidth counts.
UNSAID_BYTES = 1 << 20
# Each takes some dozens of bytes in a search, and longer than a search is to take.
_MOST_MESSAGES = 1 << 23
# Beyond this many calls a profile's matrices are read instead: carrying them out takes minutes.
_MOST_EVENTS = 1_000_000


@dataclass(frozen=True, eq=False)
class RankTraffic:
    """What ranks send, and where that is known from."""

    name: str
    """Name in results."""
    traffic: PhasedTraffic
    """What they send, by phase."""
    profile: ProgramProfile | None = None
    """Profile that it was taken from; None for a matrix or a pattern."""
    remarks: tuple[str, ...] = ()
    """Remarks that a reader must know."""


def sent_by(source: str | Path | ProgramProfile, ranks: int) -> RankTraffic:
    """What ranks send in a profile, a matrix or a pattern.

    Args:
        source: a profile or its folder, a matrix of bytes from rank to rank in a .npy file, or a
            pattern (see `contend.pattern.FORMS`) whose rounds are the phases.
        ranks: of a pattern.

    Raises:
        UsageError: there is none of these, nobody sends anything, or the pattern is random.
        InputError: a file that is not what it should be.
    """
    if isinstance(source, ProgramProfile):
        return _of_profile(source)
    if os.path.isdir(source) and is_profile(Path(source)):
        return _of_profile(load_profile(Path(source)))
    source = str(source)
    spec = pattern_of(source)
    if spec.startswith("file:") and not holds_nccl_graphs(spec.removeprefix("file:")):
        return _of_file(spec.removeprefix("file:"))
    if _family(source) not in {_family(form.form) for form in FORMS}:
        raise UsageError(
            f"{source}: expected a profile, a .npy matrix or a pattern (contend simulate --list)"
        )
    return _of_pattern(spec, ranks)


def _family(pattern: str) -> str:
    """What a pattern begins with, of several copies (``8 * ring``) what each does."""
    one = re.sub(r"^(\s*\d+\s*\*)*\s*", "", pattern)
    return one.partition(":")[0].partition(" ")[0]


def _of_file(path: str) -> RankTraffic:
    rounds, source, target, size = read_messages(path)
    last = int(max(source.max(), target.max()))
    numbers = np.unique(rounds, return_inverse=True)[1].astype(np.int64)
    phases = _few(numbers, int(numbers.max()) + 1)
    # A matrix may have ranks that neither send nor receive.
    ranks = len(open_matrix(path)) if path.endswith(".npy") else last + 1
    try:
        return RankTraffic(path, _traffic(ranks, phases, source, target, size.astype(np.float64)))
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None


def _few(numbers: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Phases of rounds: neighbouring ones together where there are too many."""
    return numbers * min(_MOST_PHASES, count) // count


def _of_pattern(name: str, ranks: int) -> RankTraffic:
    pattern = parse(name, ranks)
    if pattern.random:
        raise UsageError(
            f"{name}: its messages are random and differ every time, so no placement suits them"
        )
    rounds, sources, targets = [], [], []
    for number in range(pattern.rounds):
        source, target = pattern.messages(number)
        # Those of a round are not merged, which takes long with so many.
        _expect_few(len(source))
        rounds.append(np.full(len(source), number, dtype=np.int64))
        sources.append(source)
        targets.append(target)
    phases = _few(np.concatenate(rounds), pattern.rounds)
    size = np.full(len(phases), float(UNSAID_BYTES))
    columns = (phases, np.concatenate(sources), np.concatenate(targets), size)
    return RankTraffic(name, _traffic(pattern.ranks, *columns))


def _expect_few(messages: int) -> None:
    if messages > _MOST_MESSAGES:
        raise UsageError(f"expected at most {_MOST_MESSAGES:,} messages, got {messages:,}")


def _of_profile(profile: ProgramProfile) -> RankTraffic:
    """The steps of the program, or what each kind of communication sent where they are unknown."""
    events = int(profile.ranks["events"].sum())
    try:
        if events > _MOST_EVENTS:
            raise UsageError(f"{events:,} calls are too many to order")
        program = program_of(profile)
    except (ShortfallError, UsageError) as error:
        why = str(error).removeprefix(f"{profile.folder}: ")
        remark = f"phases are kinds of communication, not steps of the program: {why}"
        return RankTraffic(profile.name, _by_kind(profile), profile, (remark,))
    remarks = program.remarks
    if np.isfinite(program.until):
        remarks += (
            f"only the first {rounded(program.until)} s of the program count: "
            "later calls were not kept",
        )
    return RankTraffic(profile.name, _steps(program, profile.size), profile, remarks)


def _by_kind(profile: ProgramProfile) -> PhasedTraffic:
    matrices = [profile.matrix(kind=kind) for kind in KINDS]
    ends = [np.nonzero(matrix) for matrix in matrices]
    phases = [np.full(len(source), number) for number, (source, _) in enumerate(ends)]
    sizes = [matrix[at].astype(np.float64) for matrix, at in zip(matrices, ends, strict=True)]
    return _traffic(
        profile.size,
        np.concatenate(phases),
        np.concatenate([source for source, _ in ends]),
        np.concatenate([target for _, target in ends]),
        np.concatenate(sizes),
    )


def _steps(program: ProfiledProgram, ranks: int) -> PhasedTraffic:
    """Phases from the rounds of all ranks."""
    schedule = program.schedule
    waits = np.isin(schedule.action, (Action.WAIT, Action.WAIT_FOR, Action.WAIT_ALL))
    begins = np.concatenate(([True], waits[:-1] & ~waits[1:]))[: len(waits)]
    begins[schedule.begin[:-1][schedule.begin[:-1] < len(begins)].astype(np.int64)] = True
    round_of = np.cumsum(begins) - 1
    lengths = np.diff(schedule.begin.astype(np.int64)).astype(np.int64)
    strand_of = np.repeat(np.arange(len(lengths)), lengths)
    sends = np.flatnonzero((schedule.action == Action.SEND) & (schedule.amount > 0))
    if len(sends) == 0:
        raise UsageError("expected messages between ranks, got none: no placement is better")
    rounds, first, of_send = np.unique(round_of[sends], return_index=True, return_inverse=True)
    operation = program.calls["operation"].to_numpy()
    call = np.searchsorted(operation, sends[first], side="right") - 1
    steps = pl.DataFrame(
        {
            "rank": strand_of[sends[first]],
            "site": program.calls["site"].to_numpy()[call],
            "routine": program.calls["routine"].gather(call),
            "within": rounds - round_of[operation[call]],
        }
    ).with_columns(nth=pl.int_range(pl.len()).over("rank", "site", "routine", "within"))
    table = pl.DataFrame(
        {
            "round": of_send,
            "source": schedule.rank_of_strand[strand_of[sends]].astype(np.int64),
            "target": schedule.rank_of_strand[schedule.peer[sends]].astype(np.int64),
            "bytes": np.rint(schedule.amount[sends]),
        }
    ).join(steps.drop("rank").with_row_index("round").cast({"round": pl.Int64}), on="round")
    return _phases(table, ranks)


def _phases(table: pl.DataFrame, ranks: int) -> PhasedTraffic:
    """Puts steps together: with the same pairs; at the same place and round; at the same place."""
    pairs = pl.concat_str("source", pl.lit(">"), "target")
    step = ("site", "routine", "within", "nth")
    # What a step is told by: its pairs, as text, whatever their sizes.
    shape = table.group_by(step).agg(pairs.unique().sort().str.join(" ").hash().alias("pairs"))
    table = table.join(shape, on=step)
    for key in (("pairs",), ("site", "routine", "within"), ("site", "routine")):
        numbered = table.with_columns(phase=pl.struct(key).rank("dense") - 1)
        if numbered["phase"].n_unique() <= _MOST_PHASES:
            break
    else:
        totals = numbered.group_by("phase").agg(pl.col("bytes").sum())
        heaviest = totals.sort("bytes", descending=True)["phase"].to_list()[: _MOST_PHASES - 1]
        other = int(numbered["phase"].max()) + 1  # type: ignore[arg-type]
        inside = pl.col("phase").is_in(heaviest)
        numbered = numbered.with_columns(pl.when(inside).then("phase").otherwise(other))
    return _traffic(ranks, *(numbered[name].to_numpy() for name in _COLUMNS))


_COLUMNS: Sequence[str] = ("phase", "source", "target", "bytes")


def _traffic(
    ranks: int,
    phase: NDArray[np.integer],
    source: NDArray[np.integer],
    target: NDArray[np.integer],
    size: NDArray[np.floating],
) -> PhasedTraffic:
    """Messages of a pair in a phase as one; phases by number, from the first to the last."""
    table = pl.DataFrame({"phase": phase, "source": source, "target": target, "bytes": size})
    merged = (
        table.filter((pl.col("source") != pl.col("target")) & (pl.col("bytes") > 0))
        .group_by("phase", "source", "target")
        .agg(pl.col("bytes").sum())
        .with_columns(pl.col("phase").rank("dense") - 1)
        .sort("phase", "source", "target")
    )
    if merged.is_empty():
        raise UsageError("expected messages between ranks, got none: no placement is better")
    _expect_few(len(merged))
    columns = {name: merged[name].to_numpy().astype(np.uint32) for name in _COLUMNS[:3]}
    return PhasedTraffic(
        ranks=ranks,
        phases=int(columns["phase"].max()) + 1,
        **columns,
        bytes=np.rint(merged["bytes"].to_numpy()).astype(np.float64),
    )
