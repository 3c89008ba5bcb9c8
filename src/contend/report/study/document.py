"""Studies as documents: simulated, measured, verified, and the list of those that are shipped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from contend.measurement import Agreement, DrawnAgreement
from contend.report.document import Document, Drawn
from contend.report.pairwise.pairs import agreement_tables, drawn_tables
from contend.report.study.simulated import PlanEntry, plan_list, study_tables
from contend.report.words import percent, percent_range
from contend.studies import SimulatedStudy, VerifiedFabric, VerifiedStudy
from contend.units import counted, verb

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plans_document(entries: Sequence[PlanEntry]) -> Document:
    """The studies that come with contend."""
    return Document(
        verdict=f"{counted(len(entries), 'study')} {verb(len(entries), 'comes')} with contend.",
        tables=[plan_list(entries)],
        record=entries,
    )


def study_document(study: SimulatedStudy) -> Document:
    """Simulated cells beside what is known of them."""
    failed = sum(record.status == "failed" for record in study.records)
    return Document(
        verdict=_simulated_verdict(study),
        tables=study_tables(study),
        record=study,
        pictures={"study": partial(_simulated_figures, study)},
        shortfall=failed_words(failed, len(study.outcomes), study.folder),
    )


def _simulated_verdict(study: SimulatedStudy) -> str:
    """How many cells there are, and how far they are from what is known."""
    done = [cell for cell in study.cells if cell.status == "done"]
    of = f"{len(done):,} of {counted(len(study.cells), 'cell')}"
    verdict = f"{of} {verb(len(done), 'is')} simulated"
    differences = [abs(known.difference) for cell in done for known in cell.references or ()]
    if differences:
        most = f"{100 * max(differences):.1f} percentage points"
        verdict += f"; averages known from elsewhere differ from them by {most} at most"
    return f"{verdict}."


def _simulated_figures(study: SimulatedStudy) -> Iterator[tuple[str, Figure]]:
    # Here: studies are told without what draws.
    from contend.report.study.figures import study_figures

    return study_figures(study.plan, study.outcomes)


def failed_words(failed: int, of: int, folder: Path) -> str:
    """How many cells failed, and where is told why; "" where none did."""
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
    from contend.report.pairwise.figures import ComparedFabric, agreement_figure

    return agreement_figure(
        [ComparedFabric(one.fabric, one.pairs, one.agreement) for one in verified]
    )


def _drawn_figure(agreements: Mapping[str, DrawnAgreement]) -> Figure:
    from contend.report.pairwise.figures import drawn_figure

    return drawn_figure(agreements)
