"""A larger fabric: what is new, the cables to lay, and what its traffic gets."""

from __future__ import annotations

from collections import Counter

from contend.base.units import counted, listed
from contend.congestion import EACH_HOST
from contend.cure import Growth
from contend.report.cure.improvement import collectives_table
from contend.report.document import Document
from contend.report.fabric.marks import Mark
from contend.report.fabric.network import fabric_figure
from contend.report.page.explorable import explored
from contend.report.table import Number, ResultTable, table_of
from contend.report.words import first_clause, of_words, percent, rate_words

# Cables that a terminal shows; files have all.
_SHOWN = 20


def _verdict(found: Growth) -> str:
    """What is new, how many cables that takes, and what traffic gets then."""
    what = []
    if found.servers:
        adapters = f" ({counted(found.hosts, 'adapter')})" if found.hosts > found.servers else ""
        what.append(f"{counted(found.servers, 'more server')}{adapters}")
    levels = Counter(switch.level for switch in found.switches)
    for level, count in sorted(levels.items()):
        above = f" of level {level}" if level > 1 else ""
        what.append(counted(count, "more switch" if above else "more leaf switch") + above)
    kinds = Counter(cable.what for cable in found.cables)
    faster = kinds.pop("faster", 0)
    cables = [f"{counted(kinds.total(), 'cable')} to lay"] if kinds else []
    cables += [f"{counted(faster, 'cable')} to replace by faster ones"] if faster else []
    of = of_words(waits_for_last=found.simulation_after.judged == EACH_HOST)
    before, after = percent(found.before, 2), percent(found.after, 2)
    gets = f"get {after} of {of} instead of {before}"
    gets = f"get {after} of {of} as before" if before == after else gets
    verdict = (
        f"{listed(what) if what else 'Faster uplinks'}: {' and '.join(cables) or 'no new cable'}; "
        f"{_who(found)} then {gets}."
    )
    if (other := found.otherwise) is None:
        return verdict
    shares = f"{percent(other.after, 2)} instead of {percent(other.before, 2)}"
    return (
        f"{verdict} They lose by how {found.engine} spreads routes over what is there now; by "
        f"{other.engine} they get {shares}."
    )


def _who(found: Growth) -> str:
    return "all-to-alls of GPUs within rails" if found.collectives else "random pairs"


def _tables(found: Growth) -> list[ResultTable]:
    states = [("as it is", found.old, found.simulation_before)]
    states.append(("extended", found.fabric, found.simulation_after))
    size = table_of(
        f"{found.old.name}, routes by {found.engine}",
        states,
        {
            "fabric": lambda state: state[0],
            "hosts": Number(lambda state: f"{state[1].hosts:,}"),
            "switches": Number(lambda state: f"{state[1].switches:,}"),
            "cables between switches": Number(lambda state: f"{state[1].cables:,}"),
            f"{_who(found)} get": Number(lambda state: percent(state[2].judged_share, 2)),
            "rate": Number(lambda state: rate_words(state[2].judged_Bps)),
        },
    )
    words = {"host": "of a host", "switch": "between switches", "faster": "instead of a slower one"}
    left = len(found.cables) - _SHOWN
    cables = table_of(
        "Cables to lay",
        found.cables[:_SHOWN],
        {
            "from": "source",
            "to": "target",
            "rate": "rate",
            "what": lambda cable: words[cable.what],
        },
        note=f"and {left:,} more: --csv FILE has all" if left > 0 else "",
    )
    tables = [size, cables]
    if found.collectives:
        tables.append(collectives_table(found.collectives, "extended"))
    return tables


def growth_document(found: Growth, file: str = "") -> Document:
    """What is new, every cable to lay, and which file has the larger fabric."""
    verdict = _verdict(found)
    return Document(
        verdict=verdict,
        tables=_tables(found),
        record=found,
        pictures={
            "network": lambda: fabric_figure(
                found.fabric, finding=first_clause(verdict), marks=_marks(found)
            )
        },
        explorable=lambda: explored(found.fabric, marks=_marks(found)),
        remarks=(found.remark,) if found.remark else (),
        closing=(f"written to {file}",) if file else (),
    )


def _marks(found: Growth) -> list[Mark]:
    """New switches; their cables are easily seen, and all are in the table."""
    return [
        Mark("added", "switch", number, f"{switch.name}, like {switch.like}")
        for number, switch in enumerate(found.switches, found.old.switches)
    ]
