"""The 3,456-port switch: a folded Clos network of five stages in one cabinet."""

from __future__ import annotations

import numpy as np

from contend.fabric.generate.clos import ExternalPorts
from contend.fabric.generate.plan import Plan, numbered

_CARDS = 24
_CHIPS = 12


def place_magnum(plan: Plan, name: str) -> ExternalPorts:
    """Adds a 3,456-port switch of 24-port chips: 24 line cards and 144 spine chips.

    A line card has 12 leaf chips and 12 middle chips, one cable between each pair. Leaf chip l
    has its external ports on 1 .. 12 and middle chip m on port 13 + m; middle chip m has leaf chip
    l on port 1 + l and spine chip 12 m + t on port 13 + t; a spine chip has line card c on port
    1 + c (all but ports counted from 0). External port e is port e mod 12 + 1 of leaf chip
    (e div 12) mod 12 of line card e div 144.
    """
    leaves, middles = [], []
    for number in range(1, _CARDS + 1):
        card_name = f"{name} card {number}"
        leaves.append(plan.add_switches(numbered(f"{card_name} leaf", _CHIPS), 2 * _CHIPS))
        middles.append(plan.add_switches(numbered(f"{card_name} middle", _CHIPS), 2 * _CHIPS))
    leaf_chips, middle_chips = np.stack(leaves), np.stack(middles)
    spine_chips = plan.add_switches(numbered(f"{name} spine", _CHIPS * _CHIPS), _CARDS)
    card, leaf, middle = np.ogrid[:_CARDS, :_CHIPS, :_CHIPS]
    plan.add_cables(
        leaf_chips[card, leaf], _CHIPS + middle + 1, middle_chips[card, middle], leaf + 1
    )
    card, middle, up = np.ogrid[:_CARDS, :_CHIPS, :_CHIPS]
    plan.add_cables(
        middle_chips[card, middle], _CHIPS + up + 1, spine_chips[middle * _CHIPS + up], card + 1
    )
    external = np.arange(_CARDS * _CHIPS * _CHIPS)
    return ExternalPorts(leaf_chips.ravel()[external // _CHIPS], external % _CHIPS + 1)
