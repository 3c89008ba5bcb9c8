"""All families of generated fabrics, and the way from a specification to a fabric.

A specification is ``family:parameters``; parameters are groups between semicolons, of numbers
between commas.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Self

from contend.base.errors import UsageError
from contend.base.schema import PythonOnly
from contend.base.units import nearest
from contend.fabric.fabric import Fabric
from contend.fabric.generate import clos, grid, low_diameter, trees

# Nine digits are beyond every size that is built, and keep products small.
_NUMBER = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True)
class Parameters:
    """What stands after the colon.

    Every method raises UsageError, naming the family's form, when the text is not of that form.
    """

    spec: str
    form: str
    text: str

    @property
    def groups(self) -> list[str]:
        """The groups between semicolons; none for an empty text."""
        return self.text.split(";") if self.text else []

    def wrong(self, got: str) -> UsageError:
        """The error that tells the expected form."""
        return UsageError(f"{self.spec}: expected {self.form}, got {got}")

    def with_groups(self, least: int, most: int) -> Self:
        """The same, their number of groups checked."""
        count = len(self.groups)
        if not least <= count <= most:
            got = "no parameters" if count == 0 else f'"{self.text}"'
            raise self.wrong(got)
        return self

    def integers(
        self, group: int, least: int, most: int | None = None, separator: str = ","
    ) -> list[int]:
        """The numbers of a group, each at least 0; `least` to `most` of them."""
        words = self.groups[group].split(separator)
        most = least if most is None else most
        if not least <= len(words) <= most:
            raise self.wrong(f'"{self.groups[group]}"')
        for word in words:
            if not _NUMBER.fullmatch(word):
                raise self.wrong(f'"{word}" for a number')
        return [int(word) for word in words]

    def positive(
        self, group: int, least: int, most: int | None = None, separator: str = ","
    ) -> list[int]:
        """The numbers of a group, each at least 1."""
        return self.without_zero(group, self.integers(group, least, most, separator))

    def without_zero(self, group: int, numbers: list[int]) -> list[int]:
        """Numbers of a group, none of which may be 0."""
        if 0 in numbers:
            raise self.wrong(f'0 in "{self.groups[group]}"')
        return numbers

    def dimensions(self) -> list[int]:
        """Sizes written as ``4x4x8``, the first group."""
        return self.positive(0, 1, 16, separator="x")

    def optional(self, group: int, default: int) -> int:
        """One number that may be left out with its group."""
        return self.positive(group, 1)[0] if group < len(self.groups) else default


@dataclass(frozen=True)
class Family:
    """One kind of generated fabric."""

    name: str
    """What stands before the colon."""
    form: str
    """Whole specification with its parameters' names; optional ones in brackets."""
    summary: str
    """What it makes, in a line."""
    example: str
    """Small specification that works."""
    build: PythonOnly[Callable[[Parameters], Fabric]] = field(repr=False, compare=False)
    """Makes the fabric from its parameters."""


def _xgft(parameters: Parameters) -> Fabric:
    parameters.with_groups(3, 4)
    (height,) = parameters.positive(0, 1)
    if height > 20:
        raise parameters.wrong(f"{height} levels (at most 20)")
    children, parents, *links = (
        parameters.positive(group, height) for group in range(1, len(parameters.groups))
    )
    return trees.xgft(children, parents, links[0] if links else None)


def _of_one_radix(parameters: Parameters) -> tuple[int, int, int, int]:
    """Radix, down, up, links; a leaf has as many uplinks as hosts when nothing else is said."""
    (radix,) = parameters.with_groups(1, 3).positive(0, 1)
    if len(parameters.groups) > 1:
        down, up = parameters.positive(1, 2)
    elif radix % 2:
        raise parameters.wrong(f"an odd radix, {radix}, without down,up")
    else:
        down = up = radix // 2
    return radix, down, up, parameters.optional(2, 1)


def _rails(parameters: Parameters) -> Fabric:
    units, servers, rails, spines = parameters.with_groups(1, 3).integers(0, 4)
    parameters.without_zero(0, [units, servers, rails])
    groups = len(parameters.groups)
    links = [*(parameters.positive(1, 1, groups - 1) if groups > 1 else []), 1, 1]
    if groups < 3:
        return trees.rail_optimised(units, servers, rails, spines, links[0])
    switches, *more = parameters.integers(2, 1, 3)
    groups, blocks = [*parameters.without_zero(2, more), 1, 1][:2]
    cores = trees.Cores(switches, groups, blocks, links[1])
    return trees.rail_optimised(units, servers, rails, spines, links[0], cores)


def _hyperx(parameters: Parameters) -> Fabric:
    sizes, links = parameters.with_groups(1, 3).dimensions(), [1]
    if len(parameters.groups) == 3:
        links = parameters.positive(2, 1, len(sizes))
        if len(links) not in (1, len(sizes)):
            raise parameters.wrong(f"{len(links)} links for {len(sizes)} dimensions")
    return grid.hyperx(sizes, parameters.optional(1, 1), links)


def _slimfly(parameters: Parameters) -> Fabric:
    (order,) = parameters.with_groups(1, 2).positive(0, 1)
    return low_diameter.slimfly(order, parameters.optional(1, 0) or None)


def _random(parameters: Parameters) -> Fabric:
    switches, degree, hosts, *seed = parameters.with_groups(1, 1).integers(0, 3, 4)
    parameters.without_zero(0, [switches, degree, hosts])
    return low_diameter.random_regular(switches, degree, hosts, *seed)


def _thunderbird(parameters: Parameters) -> Fabric:
    leaves = parameters.with_groups(0, 1).optional(0, clos.THUNDERBIRD.leaves)
    # Every leaf has at least one host, and one port on each of the directors of 288 ports.
    if not 275 <= leaves <= 288:
        raise parameters.wrong(f"{leaves} leaves (275 to 288 hold its hosts)")
    return replace(clos.THUNDERBIRD, leaves=leaves).build(parameters.spec)


def _machine(name: str, summary: str, build: Callable[[], Fabric]) -> Family:
    """A family of one: a machine that is known by its name and takes no parameters."""

    def without_parameters(parameters: Parameters) -> Fabric:
        parameters.with_groups(0, 0)
        return build()

    return Family(name, name, summary, name, without_parameters)


_FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family(
            "crossbar",
            "crossbar:n",
            "one switch with n hosts, the reference without congestion",
            "crossbar:16",
            lambda given: clos.crossbar(*given.with_groups(1, 1).positive(0, 1)),
        ),
        Family(
            "xgft",
            "xgft:h;m1,..,mh;w1,..,wh[;p1,..,ph]",
            "extended generalised fat tree: children, parents and parallel cables of every level",
            "xgft:2;18,36;1,18",
            _xgft,
        ),
        Family(
            "kary",
            "kary:k,n",
            "k-ary n-tree",
            "kary:4,3",
            lambda given: trees.kary(*given.with_groups(1, 1).positive(0, 2)),
        ),
        Family(
            "fattree2",
            "fattree2:radix[;down,up][;links]",
            "fat tree of two levels from switches of one radix",
            "fattree2:8",
            lambda given: trees.fattree2(*_of_one_radix(given)),
        ),
        Family(
            "fattree3",
            "fattree3:radix[;down,up][;links]",
            "fat tree of three levels from switches of one radix",
            "fattree3:4",
            lambda given: trees.fattree3(*_of_one_radix(given)),
        ),
        Family(
            "clos",
            "clos:n,m,r",
            "folded Clos network: r leaves with n hosts each, m spines",
            "clos:4,4,8",
            lambda given: clos.clos(*given.with_groups(1, 1).positive(0, 3)),
        ),
        Family(
            "director",
            "director:ports[;radix]",
            "one director switch of line and spine chips, a host on every port",
            "director:288",
            lambda given: clos.director(
                given.with_groups(1, 2).positive(0, 1)[0], given.optional(1, 24)
            ),
        ),
        Family(
            "rails",
            "rails:units,servers,rails,spines[;links[,up][;cores[,groups[,blocks]]]]",
            "rail-optimised fat tree: adapter r of every server of a unit on the unit's leaf r; "
            "rails with spines of their own and core switches above, or with 0 cores rails alone",
            "rails:2,4,2,4",
            _rails,
        ),
        Family(
            "benes",
            "benes:n",
            "Beneš network with n inputs and n outputs, hosts on both sides",
            "benes:8",
            lambda given: clos.benes(*given.with_groups(1, 1).positive(0, 1)),
        ),
        Family(
            "torus",
            "torus:AxBx..[;hosts]",
            "torus with any number of dimensions",
            "torus:4x4x4",
            lambda given: grid.grid(
                given.with_groups(1, 2).dimensions(), given.optional(1, 1), wrap=True
            ),
        ),
        Family(
            "mesh",
            "mesh:AxBx..[;hosts]",
            "mesh with any number of dimensions",
            "mesh:4x4",
            lambda given: grid.grid(
                given.with_groups(1, 2).dimensions(), given.optional(1, 1), wrap=False
            ),
        ),
        Family(
            "ring",
            "ring:n[;hosts]",
            "ring of n switches",
            "ring:8",
            lambda given: grid.grid(
                given.with_groups(1, 2).positive(0, 1), given.optional(1, 1), wrap=True
            ),
        ),
        Family(
            "hypercube",
            "hypercube:d[;hosts]",
            "binary hypercube of d dimensions",
            "hypercube:4",
            lambda given: grid.hypercube(
                given.with_groups(1, 2).positive(0, 1)[0], given.optional(1, 1)
            ),
        ),
        Family(
            "dragonfly",
            "dragonfly:p,a,h[,g]",
            "dragonfly: p hosts a switch, a switches a group, h global cables a switch, g groups",
            "dragonfly:2,4,2",
            lambda given: low_diameter.dragonfly(*given.with_groups(1, 1).positive(0, 3, 4)),
        ),
        Family(
            "hyperx",
            "hyperx:AxBx..[;hosts][;links]",
            "HyperX: a grid whose lines are fully joined",
            "hyperx:4x4",
            _hyperx,
        ),
        Family(
            "slimfly",
            "slimfly:q[;p]",
            "Slim Fly of order q (a prime power) with p hosts a switch",
            "slimfly:5",
            _slimfly,
        ),
        Family(
            "random",
            "random:switches,degree,hosts[,seed]",
            "random regular network (Jellyfish), hosts counted per switch",
            "random:20,4,2",
            _random,
        ),
        _machine("fig1", "16 hosts on 8-port switches, figure 1 of the 2008 paper", clos.fig1),
        _machine(
            "chic",
            "CHiC 2008: 528 hosts, 2 directors of 288 ports",
            lambda: clos.CHIC.build("chic"),
        ),
        _machine(
            "atlas",
            "Atlas 2008: 1142 hosts, 4 directors of 288 ports",
            lambda: clos.ATLAS.build("atlas"),
        ),
        Family(
            "thunderbird",
            "thunderbird[:leaves]",
            "Thunderbird 2008: 4391 hosts, 8 directors of 288 ports, half bisection",
            "thunderbird",
            _thunderbird,
        ),
        _machine(
            "ranger",
            "Ranger 2008: 3936 hosts, 2 switches of 3456 ports",
            lambda: clos.RANGER.build("ranger"),
        ),
        _machine("tara", "tara 2013: 36 hosts on two leaf modules", clos.tara),
    )
}


def catalogue() -> tuple[Family, ...]:
    """All families, in the order in which a list shows them."""
    return tuple(_FAMILIES.values())


def is_generator(spec: str) -> bool:
    """Whether a text names a family, whatever its parameters: ``torus:4x4``, ``fig1``."""
    return spec.partition(":")[0] in _FAMILIES


def make(spec: str) -> Fabric:
    """Makes the fabric that ``family:parameters`` describes; it is called by its specification.

    Raises:
        UsageError: when there is no such family, its parameters are not of its form, or the fabric
            would be too large.
    """
    name, colon, text = spec.partition(":")
    family = _FAMILIES.get(name)
    if family is None:
        known = ", ".join(_FAMILIES)
        raise UsageError(f'{spec}: expected one of {known}, got "{name}"{nearest(name, _FAMILIES)}')
    if colon and not text:
        raise UsageError(f"{spec}: expected {family.form}, got nothing after the colon")
    return family.build(Parameters(spec, family.form, text)).replace(name=spec)
