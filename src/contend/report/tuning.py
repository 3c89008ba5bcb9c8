"""Rules for all-to-alls beside what they were learnt from."""

from __future__ import annotations

from typing import Annotated

import msgspec

from contend.cure import LIBRARY, Lesson, Lessons, Proof, typical
from contend.report.document import Document, filled
from contend.report.run.findings import EstimateJson
from contend.report.table import ResultTable
from contend.report.words import BEYOND_WIRE, UNKNOWN, factor_words, size_words
from contend.runs import CellSummary
from contend.units import counted, format_seconds


def tuning_verdict(lessons: Lessons) -> str:
    """What the rules save at most, and at which sizes."""
    changed = [lesson for lesson in lessons.lessons if lesson.schedule != LIBRARY]
    measured = counted(len(lessons.lessons), "cell")
    if not changed:
        return (
            f"No schedule is proven faster than {lessons.rules.mpi}'s own all-to-all in any of "
            f"{measured}: there is nothing to tune."
        )
    best = max(changed, key=lambda lesson: lesson.gain.value)
    sizes = sorted({lesson.bytes for lesson in changed})
    where = size_words(sizes[0])
    if len(sizes) > 1:
        where += f" to {size_words(sizes[-1])}"
    return (
        f"With {best.schedule} an all-to-all of {size_words(best.bytes)} blocks between "
        f"{counted(best.ranks, 'rank')} takes {_seconds(best.best)} instead of "
        f"{_seconds(best.library)}: {factor_words(best.gain)} times faster, the "
        f"largest gain of these rules. They change {len(changed)} of {measured}, at {where}; "
        "elsewhere the library's own calls stay."
    )


def tuning_table(lessons: Lessons) -> ResultTable:
    """What was learnt, a row for every size under every condition."""
    return ResultTable(
        title=f"Rules for all-to-alls, {lessons.rules.mpi}",
        columns=(
            "ranks",
            "per host",
            "bytes",
            "library",
            "fastest",
            "takes",
            "gain",
            "proof",
            "rule",
            "",
        ),
        rows=tuple(_row(lesson) for lesson in lessons.lessons),
        numeric=frozenset({"ranks", "per host", "bytes", "library", "takes", "gain"}),
        note="Medians or, where some samples stall, means of both kinds; gain is the library's "
        "time over the rule's, with its 95 % interval. The rank test is that of contend report; "
        "where the library's call stalls, the gain's interval is proof too. No proof, no rule. "
        "Gains are of single calls on a network at rest: calls that follow one another at once may "
        "gain more or less, above all where a time is beyond the wire.",
    )


def _seconds(cell: CellSummary) -> str:
    return format_seconds(typical(cell).value)


def _row(lesson: Lesson) -> tuple[str, ...]:
    ruled = lesson.schedule != LIBRARY
    return (
        f"{lesson.ranks:,}",
        f"{lesson.ranks_per_host:,}",
        size_words(lesson.bytes),
        _seconds(lesson.library),
        lesson.best.schedule,
        _seconds(lesson.best),
        factor_words(lesson.gain) if ruled else UNKNOWN,
        UNKNOWN if lesson.proof == Proof.NONE else lesson.proof.value,
        lesson.schedule if ruled else UNKNOWN,
        BEYOND_WIRE if _is_beyond(lesson) else "",
    )


def _is_beyond(lesson: Lesson) -> bool:
    """Whether what was compared went into buffers, of the library's call or the fastest."""
    return lesson.library.beyond_wire or lesson.best.beyond_wire


def tuning_document(lessons: Lessons) -> Document:
    """What was learnt, and where the rules are."""
    folder = lessons.folder
    apply = f"written to {folder}: contend run --tuned {folder} -- COMMAND"
    return Document(
        tables=[tuning_table(lessons)],
        record=TuningJson(
            verdict=tuning_verdict(lessons),
            mpi=lessons.rules.mpi,
            folder="" if folder is None else str(folder),
            cells=[
                filled(
                    LessonJson,
                    lesson,
                    library_s=typical(lesson.library).value,
                    best=lesson.best.schedule,
                    best_s=typical(lesson.best).value,
                    beyond_wire=_is_beyond(lesson),
                )
                for lesson in lessons.lessons
            ],
            rules=len(lessons.rules.rules),
        ),
        closing=() if folder is None else (apply,),
    )


class LessonJson(msgspec.Struct, frozen=True, kw_only=True):
    """What was learnt about one size under one condition."""

    ranks: Annotated[int, "of the all-to-all."]
    ranks_per_host: Annotated[int, "the most on one host."]
    bytes: Annotated[int, "of a block."]
    schedule: Annotated[str, "what calls are to go by, or ``library``."]
    library_s: Annotated[
        float,
        "what the library's call takes: the median or, where some samples stall, the mean of "
        "both kinds.",
    ]
    best: Annotated[str, "the fastest schedule."]
    best_s: Annotated[float, "what it takes."]
    gain: Annotated[EstimateJson, "`library_s` over what `schedule` takes."]
    proof: Annotated[str, "``rank test``, ``stalls`` or ``nothing``."]
    beyond_wire: Annotated[
        bool,
        "whether either is less than ports and cables allow, as blocks that go into buffers: calls "
        "that follow one another at once take longer, and may gain more or less.",
    ]
    p: Annotated[float | None, "of the rank test; null where that is not the proof."]


class TuningJson(msgspec.Struct, frozen=True, kw_only=True):
    """Rules and what they were learnt from."""

    verdict: Annotated[str, "what they save at most, in words."]
    mpi: Annotated[str, "the library."]
    folder: Annotated[str, 'where the rules are; "" where they were not written.']
    cells: Annotated[list[LessonJson], "what was learnt."]
    rules: Annotated[int, "how many rules there are."]
