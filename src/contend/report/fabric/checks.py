"""What is wrong with a fabric."""

from __future__ import annotations

# What draws is imported when somebody looks.
from contend import report as face
from contend.base.units import counted, listed
from contend.fabric import Check, Status, size_of
from contend.report.document import Document
from contend.report.metrics import Metric
from contend.report.table import ResultTable
from contend.routes import CheckReport

# So many clauses a verdict has of what may be meant.
_MOST_CAUSES = 4
_TONES = {str(Status.OK): "green", str(Status.WARNING): "yellow", str(Status.WRONG): "bold red"}


def check_document(report: CheckReport) -> Document:
    """Every check with what it found; what is not in order with its places and its remedy."""
    wrong = [item.name for item in report.checks if item.status == Status.WRONG]
    return Document(
        verdict=check_verdict(report),
        tables=[_checks(report)],
        record=report,
        pictures={"network": lambda: face.fabric_figure(report.fabric)},
        explorable=lambda: face.explored(report.fabric),
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
    if skipped:
        line += f". Not checked: {', '.join(f'{i.name} ({i.summary})' for i in skipped)}"
    return f"{line}."


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
