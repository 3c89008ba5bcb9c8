"""Studies as documents: simulated, measured, verified, and the list of those that are shipped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import UNSET
from msgspec.structs import replace

from contend.measurement import Agreement, DrawnAgreement
from contend.report.document import Document, Drawn
from contend.report.pairwise.drawn_pairs import drawn_tables
from contend.report.pairwise.pairs import agreement_tables
from contend.report.study.json import StudyJson, study_json
from contend.report.study.measured import measured_tables
from contend.report.study.measured_json import MeasuredStudyJson, measured_json
from contend.report.study.simulated import PlanEntry, plan_list, study_tables
from contend.report.words import percent, percent_range
from contend.studies import MeasuredStudy, SimulatedStudy, VerifiedFabric, VerifiedStudy
from contend.units import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plans_document(entries: Sequence[PlanEntry]) -> Document:
    """The studies that come with contend."""
    return Document(
        verdict=f"{counted(len(entries), 'study')} {_comes(len(entries))} with contend.",
        tables=[plan_list(entries)],
        record=entries,
    )


def _comes(number: int) -> str:
    return "comes" if number == 1 else "come"


def study_document(study: SimulatedStudy) -> Document:
    """Simulated cells beside what is known of them."""
    record = study_json(study)
    failed = sum(cell.status == "failed" for cell in record.cells)
    verdict = _simulated_verdict(record)
    return Document(
        verdict=verdict,
        tables=study_tables(study.plan, study.outcomes),
        record=replace(record, verdict=verdict),
        pictures={"study": partial(_simulated_figures, study)},
        shortfall=_failed(failed, len(study.outcomes), study.folder),
    )


def _simulated_verdict(record: StudyJson) -> str:
    """How many cells there are, and how far they are from what is known."""
    done = [cell for cell in record.cells if cell.status == "done"]
    of = f"{len(done):,} of {counted(len(record.cells), 'cell')}"
    verdict = f"{of} {'is' if len(done) == 1 else 'are'} simulated"
    differences = [
        abs(known.difference)
        for cell in done
        if cell.references is not UNSET
        for known in cell.references
    ]
    if differences:
        most = f"{100 * max(differences):.1f} percentage points"
        verdict += f"; averages known from elsewhere differ from them by {most} at most"
    return f"{verdict}."


def _simulated_figures(study: SimulatedStudy) -> Iterator[tuple[str, Figure]]:
    # Here: studies are told without what draws.
    from contend.report.study.simulated_figures import study_figures

    return study_figures(study.plan, study.outcomes)


def measured_document(study: MeasuredStudy) -> Document:
    """Measured cells beside what others published."""
    record = measured_json(study)
    verdict = _measured_verdict(record)
    failed = sum(answer.failed for answer in study.answers)
    launches = sum(len(answer.launches) for answer in study.answers)
    short = [_failed(failed, launches, study.folder)]
    if study.left:
        left = counted(len(study.left), "cell")
        short.append(f"no time was left for {left}: give the command again")
    return Document(
        verdict=verdict,
        tables=measured_tables(study),
        record=replace(record, verdict=verdict),
        pictures={"study": partial(_measured_figures, study)},
        shortfall="; ".join(filter(None, short)),
    )


def _measured_verdict(record: MeasuredStudyJson) -> str:
    """How many points there are, what is missing, and how many published times are beaten."""
    done = [point for point in record.points if point.status == "done"]
    parts = [f"{len(done):,} of {counted(len(record.points), 'point')} {_has(len(done))} a result"]
    if record.left:
        parts.append(f"no time was left for {counted(len(record.left), 'cell')}")
    ratios = [
        point.median_s / known.seconds
        for point in done
        for known in point.published
        if point.median_s is not None and known.seconds
    ]
    if ratios:
        faster = sum(ratio < 1 for ratio in ratios)
        parts.append(f"{faster:,} of {counted(len(ratios), 'published time')} {_is(faster)} longer")
    return f"{'; '.join(parts)}."


def _has(number: int) -> str:
    return "has" if number == 1 else "have"


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


def _measured_figures(study: MeasuredStudy) -> Iterator[tuple[str, Figure]]:
    from contend.report.study.measured_figures import measured_figures

    return measured_figures(study.plan, study.results)


def _failed(failed: int, of: int, folder: Path) -> str:
    return f"{failed} of {counted(of, 'cell')} failed; {folder} says why" if failed else ""


def verification_document(study: VerifiedStudy) -> Document:
    """Measured bandwidths of random pairs beside simulated ones, on every fabric."""
    told, drawn = study.results, study.drawn or []
    tables = [
        *(
            table
            for one in told
            for table in agreement_tables(one.fabric, one.agreement, one.rate_Bps)
        ),
        *(
            table
            for one in drawn
            for table in drawn_tables(one.fabric, one.agreement, one.rate_Bps)
        ),
    ]
    pictures: dict[str, Callable[[], Drawn]] = {}
    if told:
        pictures["agreement"] = partial(_agreement_figure, told)
    if drawn:
        agreements = {one.fabric: one.agreement for one in drawn}
        pictures["draws"] = partial(_drawn_figure, agreements)
    return Document(
        verdict=_verification_verdict(
            [one.agreement for one in told], [one.agreement for one in drawn]
        ),
        tables=tables,
        record=study,
        pictures=pictures,
        shortfall="; ".join(study.failures),
    )


def _verification_verdict(told: Sequence[Agreement], drawn: Sequence[DrawnAgreement]) -> str:
    if not told and not drawn:
        return "Nothing was compared."
    apart = [abs(one.effective - one.models[0].effective) for one in told]
    apart += [abs(one.effective - one.simulated) for one in drawn]
    words = [
        f"On {counted(len(apart), 'fabric')} measured and simulated effective bisection "
        f"bandwidth differ by {100 * max(apart):.1f} percentage points at most"
    ]
    if told:
        within = [one.models[0].within for one in told]
        words.append(
            f"{percent_range(min(within), max(within))} of the pairs whose routes are known get "
            f"what the simulation says, within {percent(0.1, 0)}"
            if drawn
            else f"{percent_range(min(within), max(within))} of the pairs get what the simulation "
            f"says, within {percent(0.1, 0)}"
        )
    return f"{'; '.join(words)}."


def _agreement_figure(verified: Sequence[VerifiedFabric]) -> Figure:
    from contend.report.pairwise.pair_figures import ComparedFabric, agreement_figure

    return agreement_figure(
        [ComparedFabric(one.fabric, one.pairs, one.agreement) for one in verified]
    )


def _drawn_figure(agreements: Mapping[str, DrawnAgreement]) -> Figure:
    from contend.report.pairwise.pair_figures import drawn_figure

    return drawn_figure(agreements)
