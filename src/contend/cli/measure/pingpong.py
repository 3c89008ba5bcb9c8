"""``contend measure pingpong``: latency and bandwidth between two ranks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from contend.cli.measure.command import probe_command
from contend.measurement import OptionValue

AlgorithmOption = Annotated[
    str | None,
    typer.Option(
        "--algorithm",
        "-a",
        metavar="NAME,...",
        help="pingpong, bounce (back from where it arrived), stream (windows one way), both-ways, "
        "or all. \\[default: pingpong]",
    ),
]
BytesOption = Annotated[
    str | None,
    typer.Option(
        "--bytes",
        metavar="SIZE,...",
        help="Bytes of a message: 1,2,4K, or 1:1M for powers of two. \\[default: 1:1M]",
    ),
]
PairsOption = Annotated[
    str | None,
    typer.Option(
        "--pairs", metavar="A-B,...", help="Pairs of ranks, or all-shifts. \\[default: 0-1]"
    ),
]
InnerOption = Annotated[
    int | None,
    typer.Option("--inner", metavar="N", min=1, help="Round trips or windows in a sample."),
]
WindowOption = Annotated[
    int | None, typer.Option("--window", metavar="N", min=1, help="Messages in a window.")
]


@probe_command
def pingpong(
    algorithm: AlgorithmOption = None,
    bytes: BytesOption = None,  # noqa: A002
    pairs: PairsOption = None,
    inner: InnerOption = None,
    window: WindowOption = None,
) -> Mapping[str, OptionValue]:
    """Measure messages between two ranks, to and fro or as many as fit.

    Example: contend measure pingpong -n 2 --bytes 1:4M --on hosts.txt --ranks-per-host 1
    """
    return {
        "algorithm": algorithm,
        "bytes": bytes,
        "pairs": pairs,
        "inner": inner,
        "window": window,
    }
