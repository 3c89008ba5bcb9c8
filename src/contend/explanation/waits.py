"""What ranks wait for in some cells of a profile, and for whom, in words."""

from __future__ import annotations

import polars as pl

from contend.profiling import WAITS, ProgramProfile, rank_words

# Ranks that others wait for are named where so many of them make up half of the waiting.
_NAMED = 3
_HALF = 0.5


def waited_for(profile: ProgramProfile, cells: pl.DataFrame) -> str:
    """What most of the waiting is for."""
    here = profile.waits.join(cells, on=("rank", "cell"), how="semi")
    kinds = here.group_by("kind").agg(pl.col("seconds").sum())
    by_kind = {kind: seconds for kind, seconds in kinds.iter_rows() if seconds > 0}
    most = max(by_kind, key=by_kind.__getitem__, default=WAITS[0])
    words = {
        "a late rank": "until the last rank enters a collective",
        "a late sender": "for messages that were sent late",
        "a late receiver": "to send to ranks that were not ready to receive",
        "a late partner in a window": "for other ranks to post, complete or unlock a window",
    }[most]
    part = by_kind.get(most, 0.0) / max(sum(by_kind.values()), 1e-12)
    most_of_it = "" if not by_kind or part > 0.99 else f", {100 * part:.0f} % of it"
    return f"waiting{most_of_it} {words}"


def _passed_on(profile: ProgramProfile, ranks: list[int]) -> str:
    """Where the lateness of ranks began, if most of it is that they waited for another one."""
    findings = profile.findings
    direct = findings.pair_waits.filter(pl.col("awaited").is_in(ranks))["seconds"].sum()
    by_rank = findings.ranks.sort("caused_s", "rank", descending=[True, False])
    own = by_rank.filter(pl.col("rank").is_in(ranks))["caused_s"].sum()
    first = int(by_rank["rank"][0])
    if first in ranks or own >= _HALF * float(direct):
        return ""
    return f", {'which waited' if len(ranks) == 1 else 'most of whom waited'} for rank {first}"


def awaited(profile: ProgramProfile, cells: pl.DataFrame) -> str:
    """The ranks that most of the waiting is for, where a few are."""
    findings = profile.findings
    here = profile.waits.join(cells, on=("rank", "cell"), how="semi")
    if len(cells) == len(findings.cells):
        by_rank = findings.ranks.select("rank", pl.col("caused_s").alias("times"))
    elif not here.is_empty():
        by_rank = here.group_by(pl.col("awaited").alias("rank")).agg(
            pl.col("seconds").sum().alias("times")
        )
    else:
        of = profile.collectives.join(cells, on=("rank", "cell"), how="semi")
        by_rank = of.group_by("rank").agg(pl.col("last").sum().alias("times"))
    ordered = by_rank.sort("times", "rank", descending=[True, False])
    total, ranks, share = float(ordered["times"].sum()), [], 0.0
    for rank, times in ordered.head(_NAMED).iter_rows():
        ranks.append(rank)
        share += times / total if total else 0.0
        if share >= _HALF:
            return (
                f" ({rank_words(ranks)} in {100 * share:.0f} % of it{_passed_on(profile, ranks)})"
            )
    return ", a different one each time"
