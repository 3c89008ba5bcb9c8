"""``contend predict collectives``: bandwidths of operations of all ranks at the rates of links."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from contend import congestion, report
from contend.base.errors import UsageError
from contend.base.units import parse_rate, parse_sizes
from contend.cli.common import RoutedLoading, cost_of_missing
from contend.cli.options.option import BytesPerSecond, option
from contend.cli.options.shared import (
    BYTES,
    PLACEMENT,
    PLACEMENTS,
    FabricArgument,
)
from contend.cli.simulate import CountingOptions
from contend.report import Document

BytesOption = Annotated[str, BYTES(": 1M, several (4K,1M), or 4K:1M for powers of two.", many=True)]
PlacementOption = Annotated[str, PLACEMENT(PLACEMENTS)]
NvlinkOption = Annotated[
    BytesPerSecond | None,
    option(
        "--nvlink",
        takes="RATE",
        means="Bandwidth at which a GPU sends to others of its server, such as 450GB/s",
        by=parse_rate,
    )(default="unlimited"),
]
# Columns of times that a table has room for.
_MOST_SIZES = 12


def collectives(
    counting: CountingOptions,
    routed: RoutedLoading,
    fabric: FabricArgument,
    bytes: BytesOption = "1M",  # noqa: A002
    placement: PlacementOption = "linear",
    nvlink: NvlinkOption = None,
) -> Document:
    """Predict the bandwidth of all-to-alls, shifts, rings and trees from the rates of links.

    Nothing needs to be measured: latency and overhead are left out. Where servers have several
    adapters, all-reduces and all-to-alls of GPUs are predicted too.

    Example: contend predict collectives net.ibnetdiscover --routes net.lfts --bytes 64K,1M
    """
    sizes = parse_sizes(bytes)
    if len(sizes) > _MOST_SIZES:
        raise UsageError(f"--bytes: expected up to {_MOST_SIZES} sizes, got {len(sizes)}")
    loaded = routed.load(fabric)
    without = cost_of_missing(fabric, loaded, routed.loading, "alltoall", placement)
    found = congestion.collectives(
        loaded,
        placement=placement,
        nvlink=nvlink,
        bytes=sizes,
        progress=True,
        **vars(counting),
    )
    return replace(report.collectives_document(found), without=without)
