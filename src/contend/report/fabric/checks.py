"""What is wrong with a fabric."""

from __future__ import annotations

from contend.base.units import counted, listed
from contend.fabric import Check, Status, size_of
from contend.report.document import Document, Metric
from contend.report.fabric.network import fabric_figure
from contend.report.page.explorable import explored
from contend.report.table import ResultTable, table_of
from contend.report.words import of_words, percent
from contend.routes import CheckReport, Repair, RepairFigure

# So many clauses a verdict has of what may be meant.
_MOST_CAUSES = 4
# Gains below this read as nothing; of means over samples, losses that may be chance.
_SAME, _CHANCE = 0.0005, 0.005
_TONES = {str(Status.OK): "green", str(Status.WARNING): "yellow", str(Status.WRONG): "bold red"}


def check_document(report: CheckReport) -> Document:
    """Every check with what it found; what is not in order with its places and its remedy."""
    wrong = [item.name for item in report.checks if item.status == Status.WRONG]
    return Document(
        verdict=check_verdict(report),
        tables=[_checks(report), *_repairs(report)],
        record=report,
        pictures={"network": lambda: fabric_figure(report.fabric)},
        explorable=lambda: explored(report.fabric),
        metrics=_metrics(report),
        shortfall=f"{report.fabric.name} fails: {', '.join(wrong)}" if wrong else "",
    )


def _metrics(report: CheckReport) -> list[Metric]:
    """How many checks end how, and what is wrong by name."""
    of = {"fabric": report.fabric.name}
    meaning = "Checks of a fabric by how they ended."
    ended = [
        Metric(
            "contend_checks",
            meaning,
            sum(item.status == status for item in report.checks),
            {**of, "status": str(status)},
        )
        for status in Status
    ]
    meaning = "A check of a fabric that found something wrong."
    return ended + [
        Metric("contend_check_failed", meaning, 1, {**of, "check": item.name})
        for item in report.checks
        if item.status == Status.WRONG
    ]


def check_verdict(report: CheckReport) -> str:
    """What is wrong and why, with the places where they are few; and what was not checked."""
    name = report.fabric.name
    of_status = {status: [c for c in report.checks if c.status == status] for status in Status}
    wrong, skipped = of_status[Status.WRONG], of_status[Status.NOT_CHECKED]
    made = counted(len(report.checks) - len(skipped), "check")
    doubts = [cause for item in of_status[Status.WARNING] for cause in _causes(item)]
    if len(doubts) > _MOST_CAUSES:
        more = len(doubts) - _MOST_CAUSES + 1
        doubts = [*doubts[: _MOST_CAUSES - 1], f"{more} more warnings"]
    if wrong:
        failed = "; ".join(f"{item.name} ({', '.join(_causes(item))})" for item in wrong)
        line = f"{name} fails {len(wrong)} of {made}: {failed}"
        line += f". Besides, {listed(doubts)}" if doubts else ""
    else:
        line = (
            f"{name} works, but {listed(doubts)}" if doubts else f"{name} is sound: {made} passed"
        )
    if report.repair is not None:
        line += f". {_gain(report.repair)}"
    if skipped:
        line += f". Not checked: {', '.join(f'{i.name} ({i.summary})' for i in skipped)}"
    return f"{line}."


def _gain(repair: Repair) -> str:
    """What a repair gains most, in the figures that people wait for."""
    what = [f"{counted(repair.cables, 'cable')} more"] if repair.cables else []
    what += [f"{counted(repair.adapters, 'adapter')} on the right leaf"] if repair.adapters else []
    if repair.not_counted:
        return f"What {listed(what)} would gain was not counted: {repair.not_counted}"
    what.append(f"routes by {repair.engine}")
    best = max(repair.figures, key=lambda figure: figure.after - figure.before)
    worst = min(repair.figures, key=lambda figure: figure.after - figure.before)
    if best.after - best.before < _SAME:
        who = "collectives of GPUs" if _of_gpus(repair) else "all-to-alls and random pairs"
        line = f"With {listed(what)}, {who} get no more"
        line += f" than by {repair.engine} without" if best.in_use is not None else ""
    else:
        gains = f"{percent(best.after)} of {_of(best)} instead of {percent(best.before)}"
        line = f"With {listed(what)}, {best.name} would get {gains}"
        if best.in_use is not None and abs(best.in_use - best.before) >= _SAME:
            line += f"; the tables in use give {percent(best.in_use)} now"
    if worst.before - worst.after > (_SAME if _waits(worst) else _CHANCE):
        less = f"{percent(worst.after)} of {_of(worst)} instead of {percent(worst.before)}"
        line += f"; {worst.name} would get less, {less}"
    news = [(f.before - f.in_use, f) for f in repair.figures if f.in_use is not None]
    gain, other = max(news, key=lambda new: new[0], default=(0.0, best))
    told = other is best and best.after - best.before >= _SAME
    if gain >= _SAME and other.in_use is not None and not told:
        line += (
            f". Routes by {repair.engine} alone let {other.name} get {percent(other.before)} "
            f"instead of {percent(other.in_use)} by the tables in use"
        )
    return line


def _waits(figure: RepairFigure) -> bool:
    return figure.pattern != "bisect"


def _of(figure: RepairFigure) -> str:
    return of_words(waits_for_last=_waits(figure))


def _of_gpus(repair: Repair) -> bool:
    return all(_waits(figure) for figure in repair.figures)


def _repairs(report: CheckReport) -> list[ResultTable]:
    """What traffic gets before and after a repair."""
    if report.repair is None or not report.repair.figures:
        return []
    gpus, engine = _of_gpus(report.repair), report.repair.engine
    rate = "bus bandwidth" if gpus else "each host"
    others = any(figure.in_use is not None for figure in report.repair.figures)
    now = "routed anew" if others else "now"
    return [
        table_of(
            f"What a repair gains, routes by {engine} before and after",
            report.repair.figures,
            {
                "traffic": "name",
                **({"tables in use": "in_use"} if others else {}),
                now: "before",
                "repaired": "after",
                f"{rate} {now}": "before_Bps",
                f"{rate} repaired": "after_Bps",
            },
            note="shares of what ports allow, until the last message is done; "
            + ("servers by name" if gpus else "of random pairs the mean over messages"),
        )
    ]


def _causes(item: Check) -> tuple[str, ...]:
    return item.causes or (item.summary,)


def _checks(report: CheckReport) -> ResultTable:
    rows = []
    for item in report.checks:
        rows.append((str(item.status), item.name, item.summary))
        rows += [("", "", f"- {detail}") for detail in item.details]
        if item.remedy:
            rows.append(("", "", f"=> {item.remedy}"))
    size = size_of(report.fabric)
    sizes = ((size.hosts, "host"), (size.switches, "switch"), (size.channels, "channel"))
    return ResultTable(
        title=f"{size.name}: {', '.join(counted(number, thing) for number, thing in sizes)}",
        columns=("", "", ""),
        rows=tuple(rows),
        tones=_TONES,
    )
