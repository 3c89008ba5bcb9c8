"""Fabrics from a few numbers: ``family:parameters`` becomes hosts, switches and cables."""

from contend.fabric.generate.catalogue import catalogue, is_generator, make
from contend.fabric.generate.family import Family

__all__ = ["Family", "catalogue", "is_generator", "make"]
