"""``contend measure sort``: a parallel sort whose data exchange is timed."""

from __future__ import annotations

from typing import Annotated

import typer

from contend.cli.measure.command import Asked, measures
from contend.cli.options import LENGTH, VECTORS

VectorsOption = Annotated[str | None, VECTORS(many=True, default="1492992")]
LengthOption = Annotated[str | None, LENGTH(many=True, default="8")]
InputOption = Annotated[
    str | None,
    typer.Option(
        "--input",
        metavar="NAME,...",
        help="What is sorted: built, uniform, normal, zipf, sorted, reversed, equal, or all. "
        "\\[default: built, which leaves the local sorts nothing to do]",
    ),
]
ExchangeOption = Annotated[
    str | None,
    typer.Option(
        "--exchange",
        metavar="NAME,...",
        help="The algorithms that exchange the data, or all. \\[default: library-v]",
    ),
]


@measures
def sort(
    vectors: VectorsOption = None,
    length: LengthOption = None,
    input: InputOption = None,  # noqa: A002
    exchange: ExchangeOption = None,
) -> Asked:
    """Measure the data exchange of a parallel sort, and the steps around it.

    Example: contend measure sort -n 8 -m 512 --input built,uniform
    """
    return Asked(
        "sort", {"vectors": vectors, "length": length, "input": input, "exchange": exchange}
    )
