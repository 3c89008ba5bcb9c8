"""Rules for all-to-alls beside what they were learnt from: verdict and table."""

from __future__ import annotations

from contend.base.units import counted, format_seconds
from contend.cure import LIBRARY, Lesson, Lessons, Proof
from contend.report.document import Document
from contend.report.table import Number, ResultTable, table_of
from contend.report.words import BEYOND_WIRE, UNKNOWN, factor_words, size_words


def tuning_document(lessons: Lessons) -> Document:
    """What was learnt, and where the rules are."""
    folder = lessons.folder
    apply = f"written to {folder}: contend run --tuned {folder} -- COMMAND"
    return Document(
        verdict=_verdict(lessons),
        tables=[_table(lessons)],
        record=lessons,
        closing=(apply,) if folder else (),
    )


def _verdict(lessons: Lessons) -> str:
    """What the rules save at most, and at which sizes."""
    changed = [lesson for lesson in lessons.cells if lesson.schedule != LIBRARY]
    measured = counted(len(lessons.cells), "cell")
    if not changed:
        return (
            f"No schedule is proven faster than {lessons.mpi}'s own all-to-all in any of "
            f"{measured}: there is nothing to tune."
        )
    # What went into buffers promises nothing to calls that follow one another at once.
    best = max(changed, key=lambda lesson: (not lesson.beyond_wire, lesson.gain.value))
    sizes = sorted({lesson.bytes for lesson in changed})
    where = size_words(sizes[0])
    if len(sizes) > 1:
        where += f" to {size_words(sizes[-1])}"
    largest = "the largest gain of these rules"
    if best.beyond_wire:
        largest = "beyond the wire, so calls that follow one another at once gain otherwise"
    elif any(lesson.beyond_wire for lesson in changed):
        largest += " at sizes that do not fit into buffers"
    return (
        f"With {best.schedule} an all-to-all of {size_words(best.bytes)} blocks between "
        f"{counted(best.ranks, 'rank')} takes {format_seconds(best.best_s)} instead of "
        f"{format_seconds(best.library_s)}: {factor_words(best.gain)} times faster, "
        f"{largest}. They change {len(changed)} of {measured}, at {where}; "
        "elsewhere the library's own calls stay."
    )


def _table(lessons: Lessons) -> ResultTable:
    """What was learnt, a row for every size under every condition."""

    def gain(lesson: Lesson) -> str:
        return UNKNOWN if lesson.schedule == LIBRARY else factor_words(lesson.gain)

    return table_of(
        f"Rules for all-to-alls, {lessons.mpi}",
        lessons.cells,
        {
            "ranks": "ranks",
            "per host": "ranks_per_host",
            "bytes": "bytes",
            "library": "library_s",
            "fastest": "best",
            "takes": "best_s",
            "gain": Number(gain),
            "proof": lambda lesson: UNKNOWN if lesson.proof == Proof.NONE else lesson.proof.value,
            "rule": lambda lesson: UNKNOWN if lesson.schedule == LIBRARY else lesson.schedule,
            "": lambda lesson: BEYOND_WIRE if lesson.beyond_wire else "",
        },
        note="Medians or, where some samples stall, means of both kinds; gain is the library's "
        "time over the rule's, with its 95 % interval. The rank test is that of contend report; "
        "where the library's call stalls, the gain's interval is proof too. No proof, no rule. "
        "Gains are of single calls on a network at rest: calls that follow one another at once may "
        "gain more or less, above all where a time is beyond the wire.",
    )
