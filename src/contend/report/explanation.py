"""Explanations: which limit was hit, with evidence and remedy."""

from __future__ import annotations

import math
from collections.abc import Sequence

from contend.base.units import counted, format_seconds, grouped, listed, rounded
from contend.explanation import (
    NOT_ENOUGH,
    Bound,
    Evidence,
    Explanation,
    Limit,
    ProgramEvidence,
    Reason,
    Remedy,
    Verdict,
)
from contend.report.document import Document
from contend.report.profile.tables import stuck_table
from contend.report.table import Number, ResultTable, table_of
from contend.report.words import BEYOND_WIRE, shared_phrases

_HEADS = {
    Limit.COMPUTATION: "computation",
    Limit.PORT: "port",
    Limit.FABRIC: "fabric",
    Limit.OVERHEAD: "overhead",
    Limit.IMBALANCE: "late ranks",
    Limit.PROCESSORS: "processors",
}
_PLURAL = (Limit.HOST_QUEUES, Limit.TIME_OUTS, Limit.PROCESSORS)
_MOST_SERIES = 4
_UNPROVEN = "not proven"


def explanation_sentence(explanation: Explanation) -> str:
    """The verdict in one sentence."""
    verdicts = explanation.cells
    if not verdicts:
        return "Nothing was measured, so nothing is proven."
    if explanation.stuck is not None:
        return f"{explanation.stuck.stuck.verdict()}."
    parts = []
    for limit in Limit:
        hit = [verdict for verdict in verdicts if limit in verdict.proven]
        if hit:
            verb = "limit" if limit in _PLURAL else "limits"
            rest = _ratios(hit, limit) + _unexplained(hit, limit, verdicts)
            parts.append(f"{limit} {verb} {_series(hit, verdicts)}{rest}")
    open_ = [verdict for verdict in verdicts if not verdict.limits]
    found = explanation.findings[:1]
    if not parts:
        return found[0] if found else f"Not proven: {_nearest(verdicts)}."
    if open_:
        parts.append(f"for {counted(len(open_), 'cell')} of {len(verdicts)} nothing is proven")
    sentence = "; ".join(parts)
    return " ".join((*found, f"{sentence[0].upper()}{sentence[1:]}."))


def _series(hit: Sequence[Verdict], verdicts: Sequence[Verdict]) -> str:
    """Cells by series, such as ``shift at 64 KiB to 1 MiB``."""
    shared = _shared(verdicts)
    members, every = (
        grouped((one.evidence for one in each), lambda evidence: _name(evidence, shared))
        for each in (hit, verdicts)
    )
    texts = [_places(name, cells, every[name]) for name, cells in members.items()]
    if len(texts) > _MOST_SERIES:
        others = len(texts) - _MOST_SERIES + 1
        texts = [*texts[: _MOST_SERIES - 1], f"{others} others"]
    return listed(texts)


def _name(evidence: Evidence, shared: Sequence[str]) -> str:
    """What a series is called beside others that have the same conditions."""
    bare = evidence.series.removesuffix(f" ({', '.join(evidence.phrases[1:])})")
    rest = ", ".join(phrase for phrase in evidence.phrases[1:] if phrase not in shared)
    return evidence.series if bare == evidence.series else f"{bare} ({rest})" if rest else bare


def _places(name: str, cells: Sequence[Evidence], every: Sequence[Evidence]) -> str:
    places = list(dict.fromkeys(cell.at for cell in cells if cell.at))
    order = list(dict.fromkeys(cell.at for cell in every if cell.at))
    if not places:
        return name
    if len(places) == 1:
        return f"{name} {places[0]}"
    first, last = order.index(places[0]), order.index(places[-1])
    bare = [place.partition(" ")[2] for place in places]
    if order[first : last + 1] == places:
        return f"{name} {places[0]} to {bare[-1]}"
    return f"{name} {places[0]}{''.join(f', {place}' for place in bare[1:])}"


def _unexplained(hit: Sequence[Verdict], limit: Limit, verdicts: Sequence[Verdict]) -> str:
    """Cells that failed with less than the limit, and so for something else too."""
    those = [
        verdict
        for verdict in hit
        if any(reason.limit is limit and not reason.enough for reason in verdict.limits)
    ]
    if not those:
        return ""
    return f" ({NOT_ENOUGH} {_series(those, verdicts)} failed)"


def _ratios(hit: Sequence[Verdict], limit: Limit) -> str:
    """How near the bound they come that proves the limit."""
    ratios = [
        reason.ratio
        for verdict in hit
        for reason in verdict.limits
        if reason.limit is limit and reason.bound is not None and reason.ratio is not None
        # Rivals prove it by what they do, and not by a bound.
        if reason.ratio == verdict.evidence.ratio(reason.bound)
    ]
    if not ratios:
        return ""
    low, high = f"{rounded(min(ratios))}", f"{rounded(max(ratios))}"
    told = [f"{low} times its bound" if low == high else f"{low} to {high} times its bound"]
    if limit is Limit.IMBALANCE:
        began = {v.evidence.late for v in hit if isinstance(v.evidence, ProgramEvidence)}
        told += [f"most lateness begins at {whom}" for whom in began if whom]
    return f" ({'; '.join(told)})"


def _nearest(verdicts: Sequence[Verdict]) -> str:
    """The bound that explains most, where nothing is proven."""
    near = [
        (verdict.evidence.ratio(bound), bound)
        for verdict in verdicts
        for bound in verdict.evidence.possible
        if not math.isnan(verdict.evidence.ratio(bound))
    ]
    if not near:
        failed = [verdict for verdict in verdicts if verdict.evidence.failed]
        if len(failed) == len(verdicts):
            return "every cell failed, and nothing points to a limit"
        if any(verdict.evidence.bounds for verdict in verdicts):
            return f"the measurement is {BEYOND_WIRE}"
        return "no bound is known to compare the measurement with"
    ratio, bound = min(near, key=lambda pair: pair[0])
    return (
        f"no limit explains half of the time; the nearest bound is that of {bound.limit}, and the "
        f"measurement takes {rounded(ratio)} times as long"
    )


def explanation_tables(explanation: Explanation) -> list[ResultTable]:
    """Cells with their bounds, the evidence of every verdict, and what helps."""
    stuck = explanation.stuck
    tables = [_cells(explanation)] if stuck is None else [*stuck_table(stuck)]
    if any(verdict.limits for verdict in explanation.cells):
        tables.append(_evidence(explanation))
    if explanation.remedies:
        tables.append(_remedies(explanation.remedies))
    return tables


def _remedies(remedies: Sequence[Remedy]) -> ResultTable:
    """What helps, and what it saves where that is predicted of any."""
    predicted = any(remedy.saves_s is not None for remedy in remedies)

    def saves(remedy: Remedy) -> str:
        return "-" if remedy.saves_s is None else format_seconds(remedy.saves_s)

    note = "Saved: the predicted gain for a program's run, or for one measured operation."
    return table_of(
        "What helps",
        remedies,
        {
            "limit": "limit",
            **({"saves": saves} if predicted else {}),
            "remedy": "advice",
            "command": "command",
        },
        note=note if predicted else "",
    )


def _cells(explanation: Explanation) -> ResultTable:
    verdicts, shared = explanation.cells, _shared(explanation.cells)
    memory = any(v.evidence.memory is not None and Limit.MEMORY in v.proven for v in verdicts)

    def bound(limit: Limit) -> Number[Verdict]:
        return Number(lambda verdict: _bound(verdict.evidence, verdict.evidence.bound(limit)))

    def data(verdict: Verdict) -> str:
        needed = verdict.evidence.memory
        return "" if needed is None else f"{100 * needed.share:.0f} %"

    note = (
        "The least time that each limit allows, and how many times as long the measurement takes."
    )
    return table_of(
        ", ".join((explanation.name, *shared)),
        verdicts,
        {
            "cell": lambda verdict: _without(shared, verdict.evidence.cell),
            "measured": Number(lambda verdict: _measured(verdict.evidence)),
            **{
                head: bound(limit)
                for limit, head in _HEADS.items()
                if any(verdict.evidence.bound(limit) is not None for verdict in verdicts)
            },
            **({"data": Number(data)} if memory else {}),
            "limit": lambda verdict: ", ".join(map(str, verdict.proven)) or _UNPROVEN,
        },
        note=f"{note} Data: share of a host's memory." if memory else note,
    )


def _shared(verdicts: Sequence[Verdict]) -> list[str]:
    """Phrases that stand in the tables' titles, as every cell would repeat them."""
    every = [verdict.evidence.phrases for verdict in verdicts]
    return shared_phrases(every) if len(every) > 1 else []


def _without(shared: Sequence[str], text: str) -> str:
    """A cell without the phrases that a title has."""
    kept = f", {text}, "
    for phrase in shared:
        kept = kept.replace(f", {phrase}, ", ", ", 1)
    return kept[2:-2] or text


def _measured(evidence: Evidence) -> str:
    if evidence.measured_s is None:
        return "ERR"
    text = format_seconds(evidence.measured_s)
    if evidence.mean_s is not None:
        text += f", mean {format_seconds(evidence.mean_s)}"
    return text


def _bound(evidence: Evidence, bound: Bound | None) -> str:
    if bound is None:
        return ""
    ratio = evidence.ratio(bound)
    times = "" if math.isnan(ratio) else f" ({rounded(ratio)})"
    return f"{format_seconds(bound.seconds)}{times}"


def _evidence(explanation: Explanation) -> ResultTable:
    shared = _shared(explanation.cells)
    proven = [(verdict, reason) for verdict in explanation.cells for reason in verdict.limits]

    def times(pair: tuple[Verdict, Reason]) -> str:
        return "" if pair[1].ratio is None else rounded(pair[1].ratio)

    return table_of(
        ", ".join(("Evidence", *shared)),
        proven,
        {
            "cell": lambda pair: _without(shared, pair[0].evidence.cell),
            "limit": lambda pair: str(pair[1].limit),
            "because": lambda pair: pair[1].why,
            "times": Number(times),
        },
        note="Times: the measurement as a multiple of what it is compared with.",
    )


def explanation_document(explanation: Explanation) -> Document:
    """Which limits were hit, why, and what helps."""
    return Document(
        verdict=explanation_sentence(explanation),
        tables=explanation_tables(explanation),
        record=explanation,
        remarks=(*explanation.findings[1:], *explanation.remarks),
    )
