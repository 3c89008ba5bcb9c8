"""Switches that are named like those of another row."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

from contend.fabric.composition import cables_per_pair
from contend.fabric.fabric import Fabric

# So many of a row must agree for the others to be out of place.
_MOST = 0.75
_NUMBER = re.compile(r"\d+")


def misnamed_switches(fabric: Fabric) -> list[str]:
    """A sentence for every switch that is called like those of another row than it is cabled to.

    A row are switches with the same neighbours, such as the spines above the same leaves. A name is
    out of place where most of its row are called alike, by all but numbers, and it is called as
    most of another row are. Cost: linear in cables.
    """
    stems = [_NUMBER.sub("#", name.strip()) for name in fabric.switch_name]
    rows = _rows(fabric)
    usual: list[tuple[str, int]] = []
    for row in rows:
        stem, times = Counter(stems[switch] for switch in row).most_common(1)[0]
        usual.append((stem, times if len(row) > 2 and times >= _MOST * len(row) else 0))
    of_rows = {stem: row for row, (stem, times) in zip(rows, usual, strict=True) if times and stem}
    found = []
    for row, (stem, times) in zip(rows, usual, strict=True):
        for switch in row if times and stem else ():
            if stems[switch] == stem or stems[switch] not in of_rows:
                continue
            like = [f'"{fabric.switch_name[other]}"' for other in row if stems[other] == stem]
            elsewhere = next(other for other in of_rows[stems[switch]] if stems[other] != stem)
            found.append(
                f'switch "{fabric.switch_label[switch]}" has the same neighbours as '
                f"{' and '.join(like[:2])}, but is named like "
                f'"{fabric.switch_label[elsewhere]}"'
            )
    return found


def _rows(fabric: Fabric) -> list[list[int]]:
    """Switches with the same neighbours."""
    around: dict[int, list[int]] = defaultdict(list)
    low, high, _ = cables_per_pair(fabric)
    for near, far in zip(low.tolist(), high.tolist(), strict=True):
        around[near].append(far)
        around[far].append(near)
    rows: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for switch, neighbours in around.items():
        rows[tuple(sorted(neighbours))].append(switch)
    return list(rows.values())
