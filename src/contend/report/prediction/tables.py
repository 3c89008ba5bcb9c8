"""Calibrations and predictions as documents: verdicts, tables, times against message sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from contend.base.units import counted, format_bytes, format_rate, format_seconds, rounded
from contend.prediction import (
    Calibration,
    Comparison,
    Elsewhere,
    PacketPrediction,
    Parameter,
    Prediction,
    Predictions,
    SizeClass,
    TcpPrediction,
)
from contend.report.charts import Curves, charted
from contend.report.document import Document
from contend.report.series import Axis, Series, Unit
from contend.report.style import COLUMN_WIDTH, HOLLOW, looks
from contend.report.table import Number, ResultTable, table_of
from contend.report.words import percent, share_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_GOAL = 0.15


def prediction_document(found: Predictions) -> Document:
    """All-to-alls by size and algorithm, beside what was measured where it is known."""
    comparison = found.comparison
    tables = [] if comparison is None else [_comparison_table(found, comparison)]
    return Document(
        verdict=verdict(found.cells, assumed=found.where.calibration.assumed),
        tables=[*tables, _cells_table(found)],
        record=found,
        pictures={"times": lambda: prediction_figure(found.cells, found.fabric, comparison)},
    )


def calibration_document(calibration: Calibration) -> Document:
    """What messages cost."""
    return Document(
        verdict=calibration_verdict(calibration),
        tables=calibration_tables(calibration),
        record=calibration,
    )


def calibration_verdict(calibration: Calibration) -> str:
    """What the shortest message takes between two hosts, and what the longest get."""
    shortest, longest = calibration.between[0], calibration.between[-1]
    least = _words(shortest.latency_s, format_seconds)
    rate = 1 / longest.gap_per_byte_s.value if longest.gap_per_byte_s.value > 0 else None
    most = "" if rate is None else f", and a long one gets {format_rate(rate)}"
    within = calibration.within[0].latency_s if calibration.within else None
    inside = "" if within is None else f"; within a host {_words(within, format_seconds)}"
    return f"A short message takes {least} between two hosts{inside}{most}."


def calibration_tables(calibration: Calibration) -> list[ResultTable]:
    """The parameters by size, then those of the place."""
    rows = [
        _class_row(name, size_class)
        for name, classes in (("hosts", calibration.between), ("one host", calibration.within))
        for size_class in classes
    ]
    columns = ("between", "up to", "protocol", "latency", "overhead", "gap", "gap per byte")
    sizes = ResultTable(
        title=f"Costs of messages: {calibration.library}, {calibration.place}",
        columns=columns,
        rows=tuple(rows),
        numeric=frozenset(columns[1:2] + columns[3:]),
        note="Brackets hold 95 % intervals.",
    )
    place = [
        ("bytes of a send that the host buffers", _words(calibration.send_buffer, format_bytes)),
        ("waiting ranks poll every", _words(calibration.look_every_s, format_seconds)),
        ("spread of starts, per rank", _words(calibration.scatter_per_rank_s, format_seconds)),
        ("processors that ranks share", str(calibration.processors or "none")),
    ]
    other = ResultTable(
        title="Costs of the place",
        columns=("", "value"),
        rows=tuple(place),
        note=remarks_words(calibration.remarks),
    )
    return [sizes, other]


def remarks_words(remarks: Sequence[str]) -> str:
    """Remarks as sentences."""
    return " ".join(f"{text[:1].upper()}{text[1:]}." for text in remarks)


def _class_row(name: str, size_class: SizeClass) -> tuple[str, ...]:
    gap = size_class.gap_per_byte_s
    return (
        name,
        "any" if size_class.up_to is None else f"{size_class.up_to:,.0f} B",
        "eager" if size_class.eager else "rendezvous",
        _words(size_class.latency_s, format_seconds),
        _words(size_class.overhead_s, format_seconds),
        _words(size_class.gap_s, format_seconds),
        "{} ns ({} to {})".format(
            *(rounded(1e9 * seconds, 4) for seconds in (gap.value, gap.low, gap.high))
        ),
    )


def _words(parameter: Parameter, words: Callable[[float], str]) -> str:
    if parameter.low == parameter.high:
        return words(parameter.value)
    return f"{words(parameter.value)} ({words(parameter.low)} to {words(parameter.high)})"


ASSUMED = "The costs of messages are assumed, not measured: --calibration takes measured ones."


def verdict(predictions: Sequence[Prediction], *, assumed: bool = False) -> str:
    """The first sentence: which schedule is predicted to be fastest, and what cannot be told."""
    doubtful = sum(prediction.collapses for prediction in predictions)
    parts = []
    if best := fastest(predictions):
        parts.append(
            f"With {format_bytes(best.bytes)} {best.algorithm} is predicted to be fastest: "
            f"{format_seconds(best.predicted_s)}; its hottest channel, {best.fullest_channel}, is "
            f"busy {percent(best.fullest_share, 0)} of the time."
        )
    if doubtful:
        worst = max(
            (p for p in predictions if p.piling is not None and p.collapses),
            key=lambda p: 0.0 if p.piling is None else p.piling.bytes,
        )
        assert worst.piling is not None
        parts.append(
            f"In {counted(doubtful, 'cell')} more may pile up in front of a channel than its "
            f"buffer holds ({worst.algorithm}, {format_bytes(worst.bytes)}: "
            f"{worst.piling.messages} messages, {format_bytes(worst.piling.bytes)} against "
            f"{format_bytes(worst.piling.buffer)}): packets are dropped, and because of time-outs "
            "the prediction is only a lower bound."
        )
    if assumed:
        parts.append(ASSUMED)
    return " ".join(parts)


def fastest(predictions: Sequence[Prediction]) -> Prediction | None:
    """The fastest schedule at the largest size that is predicted; None if all are lower bounds."""
    sound = [prediction for prediction in predictions if not prediction.collapses]
    return min(
        sound, key=lambda prediction: (-prediction.bytes, prediction.predicted_s), default=None
    )


def _cells_table(found: Predictions) -> ResultTable:
    """One row for every cell."""

    def interval(cell: Prediction) -> str:
        low, high = cell.interval_s
        return f"{format_seconds(low)} to {format_seconds(high)}"

    return table_of(
        f"All-to-all of {counted(found.cells[0].ranks, 'rank')} on {found.fabric}, predicted",
        sorted(found.cells, key=lambda one: (one.bytes, one.predicted_s)),
        {
            "bytes": "bytes",
            "schedule": schedule_words,
            "predicted": "predicted_s",
            "interval": Number(interval),
            "rate": "rate_Bps_per_rank",
            "of a port": Number(lambda cell: share_words(cell.rate_Bps_per_rank, cell.limit)),
            "counted": "counted_s",
            "": doubt,
        },
        note="The rate is what a rank sends. The interval spans draws of when ranks begin and "
        "the intervals of all costs. "
        "Counted: rounds one after the other, each as long as its fullest channel takes. "
        "Small and crowded: messages that go off at once on more ranks than processors take up "
        "to three times as long. " + remarks_words(found.where.calibration.doubts),
    )


def _comparison_table(found: Predictions, comparison: Comparison) -> ResultTable:
    """Predicted and measured, the ratio of every cell."""
    missing = len(found.cells) - len(comparison.cells)
    notes = [
        agreement_words(comparison),
        f"{counted(missing, 'prediction')} were not measured." if missing else "",
        remarks_words(found.rates_apart),
    ]
    return table_of(
        f"Predicted and measured, {found.fabric}",
        sorted(comparison.cells, key=lambda cell: (cell.bytes, cell.algorithm)),
        {
            "bytes": "bytes",
            "schedule": schedule_words,
            "predicted": "predicted_s",
            "measured": "measured_s",
            "ratio": Number(lambda cell: f"{cell.ratio:.2f}"),
            "": _comparison_doubt,
        },
        note=" ".join(filter(None, notes)),
    )


def _comparison_doubt(cell: Prediction) -> str:
    """What makes it doubtful, and whether measured samples, or launches, are of two kinds."""
    measured, ratio = cell.measured, cell.ratio
    assert measured is not None
    assert ratio is not None
    of_two_kinds = measured.two_kinds is not None or measured.two_kinds_of_launches is not None
    words = [
        doubt(cell),
        "measured in two kinds" if of_two_kinds else "",
        "" if abs(ratio - 1) <= _GOAL else f"off by more than {percent(_GOAL, 0)}",
    ]
    return ", ".join(filter(None, words))


def agreement_words(comparison: Comparison) -> str:
    """How near predictions come, in a sentence."""
    cells, error = comparison.foreseeable, comparison.median_error
    if error is None:
        return "Every cell is marked as a lower bound, because of time-outs."
    doubtful = len(comparison.cells) - len(cells)
    bounds = "was marked as a lower bound" if doubtful == 1 else "were marked as lower bounds"
    said = f" {counted(doubtful, 'other cell')} {bounds}." if doubtful else ""
    return (
        f"{comparison.within(_GOAL)} of {counted(len(cells), 'cell')} within {percent(_GOAL, 0)}, "
        f"median error {percent(error)}.{said}"
    )


def schedule_words(prediction: Prediction | PacketPrediction | TcpPrediction) -> str:
    """The algorithm, and what the library carries it out by."""
    if prediction.algorithm == prediction.carried_out:
        return prediction.algorithm
    return f"{prediction.algorithm} ({prediction.carried_out})"


def doubt(prediction: Prediction | Elsewhere) -> str:
    """What makes a prediction doubtful; "" where nothing does."""
    if prediction.collapses:
        return "at least: drops"
    return "doubtful: small and crowded" if prediction.crowded else ""


# Of the legend.
_COLUMNS = 4
_AT_LEAST = {"marker": "^", "markersize": 4.5}


def prediction_figure(
    predictions: Sequence[Prediction], name: str, comparison: Comparison | None = None
) -> Figure:
    """A curve for every algorithm with its interval; what was measured as points with theirs.

    Triangles, and hollow points of what was measured, are cells that the prediction calls a lower
    bound, as time-outs may rule.

    Args:
        predictions: at least one.
        name: of the fabric.
        comparison: with what was measured.
    """
    styles = looks(prediction.algorithm for prediction in predictions)
    series: list[Series] = []
    for algorithm, look in styles.items():
        curve = sorted(
            (prediction for prediction in predictions if prediction.algorithm == algorithm),
            key=lambda prediction: prediction.bytes,
        )
        lows, highs = zip(*(prediction.interval_s for prediction in curve), strict=True)
        series.append(
            Series(
                [prediction.bytes for prediction in curve],
                [prediction.predicted_s for prediction in curve],
                "",
                look.colour,
                look.line,
                low=lows,
                high=highs,
                band=True,
            )
        )
        # What the legend shows: the line of predictions and the mark of measurements.
        mark = _mark(algorithm) if comparison else {}
        series.append(Series([], (), algorithm, look.colour, look.line, mark=mark))
    bounds = [prediction for prediction in predictions if prediction.collapses]
    for one in bounds:
        colour = styles[one.algorithm].colour
        series.append(Series([one.bytes], [one.predicted_s], colour=colour, mark=_AT_LEAST))
    if bounds:
        series.append(Series([], name="at least: drops", colour="0.15", mark=_AT_LEAST))
    for cell in () if comparison is None else comparison.cells:
        look = styles[cell.algorithm]
        mark = _mark(cell.algorithm)
        if cell.collapses:
            mark = {**mark, **HOLLOW}
        series.append(Series([cell.bytes], [cell.measured_s or 0.0], colour=look.colour, mark=mark))
    measured = ", points measured" if comparison else ""
    sizes = sorted({prediction.bytes for prediction in predictions})
    chart = Curves(
        series=series,
        x=Axis("bytes to each other rank", Unit.SIZE, ticks=sizes),
        y=Axis(f"time of an all-to-all{measured}", Unit.SECONDS),
    )
    finding = f"{name}: {_times_finding(predictions, comparison)}"
    # Below, as a dozen curves leave no room among them.
    rows = -(-(len(styles) + bool(bounds)) // _COLUMNS)
    height = 2.9 + 0.16 * rows
    return charted(finding, chart, height=height, width=1.4 * COLUMN_WIDTH, legend=_COLUMNS)


def _mark(algorithm: str) -> dict[str, Any]:
    return {"marker": "s" if "barrier" in algorithm else "o", "markersize": 3.5}


def _times_finding(predictions: Sequence[Prediction], comparison: Comparison | None) -> str:
    if comparison is not None:
        return agreement_words(comparison)
    best = fastest(predictions)
    if best is None:
        return "time-outs may decide every all-to-all"
    return (
        f"{best.algorithm} takes {format_seconds(best.predicted_s)} with {format_bytes(best.bytes)}"
    )
