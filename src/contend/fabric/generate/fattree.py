"""Fat trees of two and three levels built from one kind of switch."""

from __future__ import annotations

from contend.fabric.fabric import Fabric
from contend.fabric.generate.family import Family, Parameters, require
from contend.fabric.generate.xgft import xgft


def fattree2(radix: int, down: int, up: int, links: int = 1) -> Fabric:
    """Leaves with `down` hosts and `up` uplinks below switches that use all their ports downwards.

    There are radix / links leaves and up / links top switches; `links` cables join each pair.

    Raises:
        UsageError: when the numbers do not fit the switches' ports.
    """
    _check("fattree2", radix, down, up, links)
    return xgft([down, radix // links], [1, up // links], [1, links], "fattree2")


def fattree3(radix: int, down: int, up: int, links: int = 1) -> Fabric:
    """The fat tree of three levels: pods of leaves and middle switches below top switches.

    Middle switches have half their ports down and half up, top switches all ports down; a pod has
    radix / 2 links leaves, there are radix / links pods. With down = up = radix / 2 and one link
    it has radix^3 / 4 hosts.

    Source: Al-Fares, Loukissas, Vahdat, "A scalable, commodity data center network architecture",
    SIGCOMM 2008.

    Raises:
        UsageError: when the numbers do not fit the switches' ports.
    """
    _check("fattree3", radix, down, up, links)
    half = radix // 2
    fits = radix % 2 == 0 and half % links == 0
    require(fits, "fattree3", "a radix that is a multiple of twice the links", radix)
    children = [down, half // links, radix // links]
    parents = [1, up // links, half // links]
    return xgft(children, parents, [1, links, links], "fattree3")


def _check(what: str, radix: int, down: int, up: int, links: int) -> None:
    fits = down + up <= radix
    require(fits, what, f"at most {radix} ports on a leaf", f"{down} down and {up} up")
    fits = radix % links == 0 and up % links == 0
    require(fits, what, f"links that divide {radix} ports and {up} uplinks", links)


def _numbers(parameters: Parameters) -> tuple[int, int, int, int]:
    """Radix, down, up, links; a leaf has as many uplinks as hosts when nothing else is said."""
    parameters.expect_groups(1, 3)
    (radix,) = parameters.positive(0, 1)
    if len(parameters.groups) > 1:
        down, up = parameters.positive(1, 2)
    elif radix % 2:
        raise parameters.wrong(f"an odd radix, {radix}, without down,up")
    else:
        down = up = radix // 2
    return radix, down, up, parameters.optional(2, 1)


FAMILIES = (
    Family(
        "fattree2",
        "fattree2:radix[;down,up][;links]",
        "fat tree of two levels from switches of one radix",
        "fattree2:8",
        lambda parameters: fattree2(*_numbers(parameters)),
    ),
    Family(
        "fattree3",
        "fattree3:radix[;down,up][;links]",
        "fat tree of three levels from switches of one radix",
        "fattree3:4",
        lambda parameters: fattree3(*_numbers(parameters)),
    ),
)
