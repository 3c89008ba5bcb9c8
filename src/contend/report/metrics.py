"""Figures of a result as Prometheus reads them: the text format of exporters."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from contend.report.words import printable

_ESCAPED = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


@dataclass(frozen=True)
class Metric:
    """A figure with its name."""

    name: str
    """Name for Prometheus, with its unit at the end."""
    meaning: str
    """Meaning in a sentence."""
    value: float
    """Value; nan is left out."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """What it is of."""


def metrics_text(metrics: Iterable[Metric]) -> str:
    """All figures, those of one name together, as node_exporter's textfile collector takes them."""
    by_name: dict[str, list[Metric]] = {}
    for metric in metrics:
        if not math.isnan(metric.value):
            by_name.setdefault(metric.name, []).append(metric)
    lines = []
    for name, alike in by_name.items():
        lines += [f"# HELP {name} {alike[0].meaning}", f"# TYPE {name} gauge"]
        lines += [f"{name}{_labels(metric.labels)} {metric.value!r}" for metric in alike]
    return "".join(f"{line}\n" for line in lines)


def _labels(labels: Mapping[str, str]) -> str:
    told = (f'{name}="{printable(text).translate(_ESCAPED)}"' for name, text in labels.items())
    return f"{{{','.join(told)}}}"
