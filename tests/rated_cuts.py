"""A rated bisection whose figures are made up."""

from __future__ import annotations

from contend.fabric import Bisection

CUT = Bisection(
    hosts=16,
    capacity=1.0,
    full=2.0,
    share=0.5,
    exact=True,
    unit="cables",
    cut_cables=1,
    cut_host_links=0,
    found_by="hand",
    random_pairs=0.75,
)
