"""Effective bisection bandwidth and seconds of routing engines, beside each other, as Markdown.

    python tools/route_engines.py [--data FOLDER] [--kept FILE] [--only FABRIC] [ENGINE ...]

FOLDER holds the dumps of Selene (see CONTRIBUTING.md). FILE keeps results, so that engines that are
slow, or did not change, run once. An engine that refuses a fabric is told with its reason.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import contend
from contend.base.errors import ContendError
from contend.fabric import Fabric, remove_cables
from contend.routes import compute

ENGINES = (
    *("contend", "contend,lanes=8", "dmodk"),
    *(
        f"opensm:{name},limit=600"
        for name in ("minhop", "updn", "ftree", "dor", "sssp", "nue", "lash", "dfsssp")
    ),
)


def fabrics(data: Path) -> dict[str, Callable[[], Fabric]]:
    """Every fabric by its name; real ones only where their dumps are."""
    made: dict[str, Callable[[], Fabric]] = {}
    for part in ("compute", "storage"):
        path = data / f"selene.{part}.ibnetdiscover.xz"
        if path.exists():
            made[f"Selene {part}"] = lambda path=path: contend.load(path)
    for name in ("chic", "atlas", "thunderbird", "ranger"):
        made[name] = lambda name=name: contend.load(name)
    for spec, share, seed in (
        ("xgft:3;8,8,8;1,6,6", 15.0, 1),
        ("xgft:2;4,6;1,4", 17.0, 2),
    ):
        made[f"{spec} less {share:g} %"] = lambda spec=spec, share=share, seed=seed: remove_cables(
            contend.load(spec), share, seed
        )
    for spec in (
        *("torus:6x6;2", "torus:4x4x4;2", "random:40,8,4", "random:64,6,3"),
        *("dragonfly:2,4,2", "dragonfly:3,6,3", "hyperx:5x5;3", "slimfly:5;3"),
    ):
        made[spec] = lambda spec=spec: contend.load(spec)
    return made


def measure(fabric: Fabric, engine: str) -> dict[str, Any]:
    """Seconds that the engine took and the effective bisection bandwidth of what it made."""
    seconds = float("inf")
    # The first run of an engine of contend also loads what it needs; the least counts.
    for _ in range(1 if engine.startswith("opensm:") else 3):
        started = time.perf_counter()
        try:
            routed = compute(fabric, engine)
        except ContendError as error:
            return {"refused": str(error)}
        seconds = min(seconds, time.perf_counter() - started)
    try:
        simulated = contend.simulate(routed, "bisect", equal_rates=True)
    except ContendError as error:
        return {"seconds": seconds, "refused": str(error)}
    return {"seconds": seconds, "percent": 100 * simulated.effective_bandwidth.mean}


def cell(result: dict[str, Any] | None) -> str:
    """One result as ``70.4 (0.95 s)``."""
    if result is None:
        return ""
    if "percent" not in result:
        return "-"
    seconds = result["seconds"]
    digits = 0 if seconds >= 10 else 1 if seconds >= 1 else 2
    return f"{result['percent']:.1f} ({seconds:.{digits}f} s)"


def main() -> None:
    """Measures what is not kept yet and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--kept", type=Path)
    parser.add_argument("--only", action="append")
    parser.add_argument("engines", nargs="*", default=ENGINES)
    asked = parser.parse_args()
    kept = json.loads(asked.kept.read_text()) if asked.kept and asked.kept.exists() else {}
    made = fabrics(asked.data)
    for engine in asked.engines:
        for name, make in made.items():
            if (asked.only and name not in asked.only) or f"{name} {engine}" in kept:
                continue
            kept[f"{name} {engine}"] = measure(make(), engine)
            print(f"{name} {engine}: {kept[f'{name} {engine}']}", flush=True)
            if asked.kept:
                asked.kept.write_text(json.dumps(kept, indent=1))
    engines = [engine.partition(",limit")[0] for engine in asked.engines]
    print(f"| fabric | {' | '.join(engines)} |\n|---|{'---:|' * len(engines)}")
    for name in asked.only or made:
        cells = [cell(kept.get(f"{name} {engine}")) for engine in asked.engines]
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
