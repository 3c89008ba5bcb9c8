"""What nccl-tests print and write, of any times."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

NAMES = ["s1", "s2", "s3", "s4"]
RANKS = [name for name in NAMES for _ in range(2)]
"""Two on each server."""


def printed(
    program: str,
    hosts: Sequence[str],
    seconds: dict[int, float],
    *,
    factor: float = 1.0,
    redop: str = "none",
    named: bool = True,
    tag: str | Callable[[int], str] = "",
    columns: str = "size count type redop root time algbw busbw #wrong time algbw busbw #wrong",
    each: int = 1,
) -> str:
    """What a test prints: a line for every rank, then one for every size.

    Args:
        program: its name.
        hosts: of every rank.
        seconds: of every size.
        factor: bus bandwidth by algorithm bandwidth.
        redop: what is reduced.
        named: whether the program's name is printed.
        tag: what stands before every line, by its number where that changes.
        columns: of the table.
        each: sizes are so many times the count of elements.
    """
    lines = [f"# Collective test starting: {program}"] if named else []
    lines += ["# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor)", "#", "# Using devices"]
    lines += [
        f"#  Rank {rank:2} Group  0 Pid {7000 + rank:6} on {host:>10} device {rank % 2:2} [0x8d] G"
        for rank, host in enumerate(hosts)
    ]
    lines += [
        "#",
        f"#       {columns.replace(' ', '   ')}",
        "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)",
    ]
    for size, time in seconds.items():
        rate = size / time / 1e9
        row = {
            "size": size,
            "count": size // 4 // each,
            "type": "float",
            "redop": redop,
            "root": -1,
        }
        row |= {"time": f"{1e6 * time:.2f}", "algbw": f"{rate:.2f}", "#wrong": 0}
        row |= {"cputime": row["time"], "busbw": f"{factor * rate:.2f}"}
        lines.append(f"  {' '.join(str(row.get(name, '-')) for name in columns.split())}")
    lines += ["# Out of bounds values : 0 OK", "# Avg bus bandwidth    : 1.0"]
    before = tag if callable(tag) else lambda _: tag
    return "".join(f"{before(number)}{line}\n" for number, line in enumerate(lines, 1))


def written(program: str, hosts: Sequence[str], seconds: dict[int, float]) -> str:
    """The same as JSON."""
    devices = [
        {"rank": rank, "hostname": host, "device": rank % 2} for rank, host in enumerate(hosts)
    ]
    results = [
        {"size": size, "out_of_place": {"time": 1e6 * time, "alg_bw": 1.0}, "in_place": None}
        for size, time in seconds.items()
    ]
    return json.dumps(
        {
            "version": 3,
            "args": [f"/opt/{program}"],
            "config": {"devices": devices},
            "results": results,
        }
    )
