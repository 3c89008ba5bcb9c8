"""What networks are called, where cables tell it for certain."""

from __future__ import annotations

import pytest

import contend
from contend.fabric import remove_cables, structure

SHAPES = {
    "crossbar:16": "single switch",
    "xgft:2;4,4;1,4": "tree of 2 levels",
    "kary:4,3": "tree of 3 levels",
    "ranger": "tree of 4 levels",
    "torus:5x6": "torus of 5 x 6",
    "torus:4x4x8": "torus of 4 x 4 x 8",
    "mesh:4x5": "mesh of 4 x 5",
    "mesh:16": "line of 16 switches",
    "ring:8": "ring of 8 switches",
    "ring:4": "ring of 4 switches",
    "hypercube:4": "hypercube of 4 dimensions",
    "hyperx:4x5": "HyperX of 4 x 5",
    "hyperx:7": "full mesh of 7 switches",
    "dragonfly:2,4,2": "dragonfly of 9 groups of 4 switches",
    "slimfly:5": "Slim Fly of 50 switches",
    "random:20,4,2": "irregular",
}


@pytest.mark.parametrize(("spec", "shape"), SHAPES.items(), ids=SHAPES)
def test_generated_networks_are_called_what_they_are(spec: str, shape: str) -> None:
    assert structure(contend.load(spec)).shape == shape


@pytest.mark.parametrize("spec", ["torus:5x6", "hyperx:4x5", "dragonfly:2,4,2", "slimfly:5"])
def test_one_cable_less_is_no_certainty(spec: str) -> None:
    # 2 % of 60, 70, 90 and 175 cables.
    assert structure(remove_cables(contend.load(spec), 2.0, 1)).shape == "irregular"


def test_tree_may_lack_cables() -> None:
    assert structure(remove_cables(contend.load("kary:4,3"), 5.0, 1)).shape == "tree of 3 levels"
