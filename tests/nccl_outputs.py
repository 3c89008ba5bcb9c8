"""What nccl-tests print and write, of any times."""

from __future__ import annotations

import json
from collections.abc import Sequence


def printed(
    program: str,
    hosts: Sequence[str],
    seconds: dict[int, float],
    *,
    factor: float = 1.0,
    redop: str = "none",
    named: bool = True,
    tag: str = "",
) -> str:
    """What a test prints: a line for every rank, then one for every size."""
    lines = [f"# Collective test starting: {program}"] if named else []
    lines += ["# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor)", "#", "# Using devices"]
    lines += [
        f"#  Rank {rank:2} Group  0 Pid {7000 + rank:6} on {host:>10} device {rank % 2:2} [0x8d] G"
        for rank, host in enumerate(hosts)
    ]
    lines += [
        "#",
        "#       size         count      type   redop    root     time   algbw   busbw #wrong",
        "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)",
    ]
    for size, time in seconds.items():
        rate = size / time / 1e9
        timed = f"{1e6 * time:.2f} {rate:.2f} {factor * rate:.2f} 0"
        lines.append(f"  {size} {size // 4} float {redop} -1 {timed} {timed}")
    lines += ["# Out of bounds values : 0 OK", "# Avg bus bandwidth    : 1.0"]
    return "".join(f"{tag}{line}\n" for line in lines)


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
