"""Bisect patterns, or others, measured: those that a simulation of the same seed counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from contend.congestion import DrawnPattern, draw_patterns, write_destinations
from contend.errors import MissingError, UsageError
from contend.fabric import make
from contend.measurement.carry_out import measure_workload
from contend.measurement.conditions import Conditions
from contend.measurement.folder import new_folder
from contend.measurement.observer import Observer
from contend.measurement.place import Place
from contend.measurement.workload import OptionValue, make_workload
from contend.pattern import parse
from contend.runs import Run

PATTERNS = "patterns.txt"
"""File of a run's folder that says which rank sent to which, a pattern in every line."""


@dataclass(frozen=True)
class BisectWork:
    """What a measurement of bisect patterns sends.

    Attributes:
        patterns: how many patterns are drawn; of one that leaves nothing to chance only one is.
        pattern: what is drawn, as `contend.simulate` takes it: any pattern in whose rounds every
            rank sends and receives one message at most. Each round is measured by itself.
        two_way: whether both of a pair send.
        bytes: of a packet.
        packets: that make up a message.
        repeats: samples of every pattern, one after the other.
    """

    patterns: int = 100
    pattern: str = "bisect"
    two_way: bool = False
    bytes: int = 1 << 20
    packets: int = 10
    repeats: int = 1

    def __post_init__(self) -> None:
        """Refuses what sends nothing."""
        if min(self.patterns, self.bytes, self.packets, self.repeats) < 1:
            raise UsageError("expected at least 1 pattern, byte, packet and sample of each pattern")
        if self.two_way and self.pattern != "bisect":
            raise UsageError(f"two ways: both of a pair send in bisect, not in {self.pattern}")


def measure_bisect(
    work: BisectWork,
    conditions: Conditions,
    *,
    libraries: Sequence[str | None] = (None,),
    place: Place | None = None,
    folder: Path | None = None,
    observer: Observer | None = None,
) -> list[Run]:
    """Measures random bisect patterns under one MPI library, or several in turns.

    Messages between ranks depend on the seed and the number of ranks alone: `contend.simulate`
    counts the same ones where its placement is the one that the ranks have. Of an odd number of
    ranks one sits out, another one in every pattern.

    Args:
        work: what is sent.
        conditions: with one number of ranks; its seed is that of the patterns.
        libraries: names, folders or wrappers, see `contend.mpi.select`.
        place: where; None for this machine or the hosts of a batch system's job.
        folder: of the run; None for a new one in ``contend-runs``.
        observer: is told what happens.

    Raises:
        UsageError: for what does not fit together.
        MissingError: the machine lacks something.
        ShortfallError: nothing was measured.
    """
    if len(conditions.ranks) != 1 or conditions.ranks[0] < 2:
        raise UsageError("bisect patterns are drawn for one number of ranks, at least 2")
    drawn = _draw(work, conditions.ranks[0], conditions.seed)
    target = folder or new_folder("bisect", datetime.now(UTC).date())
    made = not target.exists()
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{target}: {error.strerror}") from None
    path = target / PATTERNS
    samples = write_destinations(path, drawn) * work.repeats
    options: dict[str, OptionValue] = {
        "patterns": str(path.resolve()),
        "bytes": work.bytes,
        "packets": work.packets,
        "repeats": work.repeats,
        "repetitions": f"{samples}:{samples}",
        "precision": 0,
    }
    try:
        return measure_workload(
            make_workload("bisect", options),
            conditions,
            libraries=libraries,
            place=place,
            folder=target,
            observer=observer,
        )
    except (UsageError, MissingError):
        # Refused before anything was measured.
        if made and list(target.iterdir()) == [path]:
            path.unlink()
            target.rmdir()
        raise


def _draw(work: BisectWork, ranks: int, seed: int) -> list[DrawnPattern]:
    """What is measured; raises UsageError for patterns of which a rank has several messages."""
    pattern = parse("bisect:two-way" if work.two_way else work.pattern, ranks)
    drawn = list(
        draw_patterns(
            # On a crossbar, as who sends to whom does not depend on the fabric.
            make(f"crossbar:{ranks}"),
            pattern,
            placement="linear",
            ranks=ranks,
            seed=seed,
            count=work.patterns if pattern.random else 1,
        )
    )
    for number in range(pattern.rounds):
        drawn[0].destinations(number)
    return drawn
