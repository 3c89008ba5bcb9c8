"""``contend measure pingpong``: latency and bandwidth between two ranks."""

from __future__ import annotations

from typing import Annotated

import typer

from contend.cli.measure.command import Asked, measures
from contend.cli.options import ALGORITHM, BYTES

AlgorithmOption = Annotated[
    str | None,
    ALGORITHM(
        ": pingpong, bounce (the reply is sent from the buffer received into), stream (windows "
        "of messages one way), both-ways, or all.",
        many=True,
        default="pingpong",
    ),
]
BytesOption = Annotated[
    str | None, BYTES(": 1,2,4K, or 1:1M for powers of two.", many=True, default="1:1M")
]
PairsOption = Annotated[
    str | None,
    typer.Option(
        "--pairs", metavar="A-B,...", help="Pairs of ranks, or all-shifts. \\[default: 0-1]"
    ),
]
InnerOption = Annotated[
    int | None,
    typer.Option(
        "--inner", metavar="N", min=1, help="Round trips or windows in a sample. \\[default: 1]"
    ),
]
WindowOption = Annotated[
    int | None,
    typer.Option("--window", metavar="N", min=1, help="Messages in a window. \\[default: 64]"),
]


@measures
def pingpong(
    algorithm: AlgorithmOption = None,
    bytes: BytesOption = None,  # noqa: A002
    pairs: PairsOption = None,
    inner: InnerOption = None,
    window: WindowOption = None,
) -> Asked:
    """Measure messages between two ranks, back and forth or streamed.

    Example: contend measure pingpong -n 2 --bytes 1:4M --on hosts.txt --ranks-per-host 1
    """
    return Asked(
        "pingpong",
        {
            "algorithm": algorithm,
            "bytes": bytes,
            "pairs": pairs,
            "inner": inner,
            "window": window,
        },
    )
