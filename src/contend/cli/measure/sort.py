"""``contend measure sort``: a parallel sort whose data exchange is timed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from contend.cli.measure.command import probe_command
from contend.measurement import OptionValue

VectorsOption = Annotated[
    str | None,
    typer.Option(
        "--vectors", metavar="N,...", help="Vectors that are sorted. \\[default: 1492992]"
    ),
]
LengthOption = Annotated[
    str | None,
    typer.Option("--length", "-m", metavar="M,...", help="Doubles in a vector. \\[default: 8]"),
]
InputOption = Annotated[
    str | None,
    typer.Option(
        "--input",
        metavar="NAME,...",
        help="What is sorted: built, uniform, normal, zipf, sorted, reversed, equal, or all. "
        "\\[default: built, which leaves local sorts nothing to do]",
    ),
]
ExchangeOption = Annotated[
    str | None,
    typer.Option("--exchange", metavar="NAME,...", help="How data is exchanged, or all."),
]


@probe_command
def sort(
    vectors: VectorsOption = None,
    length: LengthOption = None,
    input: InputOption = None,  # noqa: A002
    exchange: ExchangeOption = None,
) -> Mapping[str, OptionValue]:
    """Measure the data exchange of a parallel sort, and the steps around it.

    Example: contend measure sort -n 8 -m 512 --input built,uniform
    """
    return {"n": vectors, "m": length, "input": input, "exchange": exchange}
