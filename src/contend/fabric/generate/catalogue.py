"""All families of generated fabrics, and the way from a specification to a fabric."""

from __future__ import annotations

from contend.errors import UsageError
from contend.fabric.fabric import Fabric
from contend.fabric.generate import (
    clos,
    dragonfly,
    grid,
    machines,
    rails,
    random_regular,
    slimfly,
    xgft,
)
from contend.fabric.generate.plan import Family, Parameters
from contend.units import nearest

_FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        clos.CROSSBAR,
        *xgft.FAMILIES,
        *clos.FAMILIES,
        rails.RAILS,
        clos.BENES,
        *grid.FAMILIES,
        *dragonfly.FAMILIES,
        grid.HYPERX,
        *slimfly.FAMILIES,
        *random_regular.FAMILIES,
        *machines.FAMILIES,
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
