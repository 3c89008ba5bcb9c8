"""``make campaign``: mutated inputs of every kind, counted by what came of them.

A worker process for each slice of a kind, so that one that dies is a fault of one input.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from dataclasses import asdict

from campaign.driving import Counts, Fault, content_of, drive
from campaign.kinds import kinds

_SLICE = 3000
_SLICE_SECONDS = 900


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m campaign", description=__doc__)
    parser.add_argument("--kind", action="append", help="one of the table's; all without it")
    parser.add_argument("--seed", type=int, default=1, help="of all mutations")
    parser.add_argument("--count", type=int, default=6000, help="inputs of each kind")
    parser.add_argument("--first", type=int, default=0, help="the first input's number")
    parser.add_argument("--only", type=int, help="one input, whose error is shown whole")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> int:
    """Returns 0 when every input was borne."""
    given = _arguments()
    chosen = [kind for kind in kinds() if given.kind is None or kind.name in given.kind]
    if not chosen:
        print("kinds:", ", ".join(kind.name for kind in kinds()))
        return 2
    if given.only is not None:
        content = content_of(chosen[0], given.seed, given.only)
        sys.stdout.buffer.write(content[:4000] + b"\n")
        sys.stdout.flush()
        faults = drive(chosen[0], given.seed, given.only, 1).faults
        print(*faults, sep="\n")
        return len(faults)
    if given.worker:
        resource.setrlimit(resource.RLIMIT_CPU, (_SLICE_SECONDS, _SLICE_SECONDS + 5))
        print(json.dumps(asdict(drive(chosen[0], given.seed, given.first, given.count))))
        return 0
    total = Counts()
    print(f"{'kind':<30} {'tried':>8} {'accepted':>8} {'refused':>8} {'commands':>8} {'faults':>6}")
    for kind in chosen:
        started = time.monotonic()
        counts = Counts()
        for first in range(given.first, given.first + given.count, _SLICE):
            last = min(first + _SLICE, given.first + given.count)
            _add(counts, _in_worker(kind.name, given.seed, first, last - first))
        _show(kind.name, counts, time.monotonic() - started)
        _add(total, counts)
    _show("all", total, 0.0)
    for fault in total.faults:
        print(fault)
    return min(len(total.faults), 1)


def _in_worker(kind: str, seed: int, first: int, count: int) -> Counts:
    """A slice in a process of its own; where that dies, halves of it, down to one input."""
    words = ["--kind", kind, "--seed", str(seed), "--first", str(first), "--count", str(count)]
    command = [sys.executable, "-m", "campaign", "--worker", *words]
    process = subprocess.run(command, capture_output=True, check=False)
    if process.returncode == 0:
        found = json.loads(process.stdout.splitlines()[-1])
        return Counts(**{**found, "faults": [Fault(**fault) for fault in found["faults"]]})
    if count == 1:
        why = process.stderr.decode(errors="replace").strip()[-300:]
        what = f"the process ended with {process.returncode}: {why!r}"
        return Counts(tried=1, faults=[Fault(kind, seed, first, what)])
    halves = Counts()
    for start, size in ((first, count // 2), (first + count // 2, count - count // 2)):
        _add(halves, _in_worker(kind, seed, start, size))
    return halves


def _add(total: Counts, more: Counts) -> None:
    for name in ("tried", "accepted", "refused", "commands"):
        setattr(total, name, getattr(total, name) + getattr(more, name))
    total.faults += more.faults


def _show(name: str, counts: Counts, seconds: float) -> None:
    print(
        f"{name:<30} {counts.tried:8,} {counts.accepted:8,} {counts.refused:8,} "
        f"{counts.commands:8,} {len(counts.faults):6,}"
        + (f"  {seconds:5.0f} s" if seconds else ""),
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
