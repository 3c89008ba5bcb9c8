"""Averages of a simulation and the words for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from contend.congestion import Average, SampleMean
from contend.report.simulation.tables import engine_labels, labels


def test_bandwidth_of_a_sample_by_average(make_simulation: Any) -> None:
    simulation = make_simulation(scale=2.0)
    # scale * bandwidth, scale / mean π, scale / largest π
    expected = {
        Average.EFFECTIVE_BANDWIDTH: [0.8, 1.0, 1.2, 1.4],
        Average.OF_MEAN_CONGESTION: [1, 1, 0.5, 0.5],
        Average.OF_MAX_CONGESTION: [0.4, 0.4, 0.2, 0.2],
    }
    for average, values in expected.items():
        assert 2 * simulation.bandwidths(average) == pytest.approx(values)


def test_what_a_pattern_does_to_its_own_ends_is_taken_out_of_mean_and_interval() -> None:
    scaled = SampleMean(0.125, 0.0625, 0.25).times(6)
    assert (scaled.mean, scaled.low, scaled.high) == (0.75, 0.375, 1.5)
    assert SampleMean(0.125, None, None).times(6) == SampleMean(0.75, None, None)


def test_a_single_sample_has_no_interval(make_simulation: Any) -> None:
    simulation = make_simulation(bandwidth=np.array([0.5]), samples=1)
    mean = simulation.averaged(Average.EFFECTIVE_BANDWIDTH)
    assert mean == SampleMean(0.5, None, None)


def test_the_interval_is_the_simulations_own(make_simulation: Any) -> None:
    simulation = make_simulation()
    estimate = simulation.averaged(Average.EFFECTIVE_BANDWIDTH)
    assert (estimate.low, estimate.high) == pytest.approx(simulation.effective_bandwidth.ci95)


def test_the_interval_follows_from_the_standard_error(make_simulation: Any) -> None:
    # 1/π is 1/2, 1/2, 1/4, 1/4: mean 3/8, standard deviation 1/8 * sqrt(4/3); Student's quantile
    # for 3 degrees of freedom is 3.182.
    estimate = make_simulation().averaged(Average.OF_MEAN_CONGESTION)
    half = 3.182 * np.sqrt(4 / 3) / 8 / np.sqrt(4)
    assert estimate.mean == pytest.approx(3 / 8)
    assert estimate.high - estimate.mean == pytest.approx(half, rel=1e-3)
    assert estimate.mean - estimate.low == pytest.approx(half, rel=1e-3)


def test_exhaustive_results_have_no_interval(make_simulation: Any) -> None:
    estimate = make_simulation(exhaustive=True).averaged(Average.OF_MAX_CONGESTION)
    assert estimate.low == estimate.mean == estimate.high


def test_labels_say_only_what_differs(make_simulation: Any) -> None:
    ftree = make_simulation(engine="opensm:ftree")
    updn = make_simulation(engine="opensm:updn")
    assert labels([ftree, updn]) == ["ftree", "updn"]
    assert labels([ftree]) == ["duo, ftree"]
    assert labels([make_simulation(engine="")]) == ["duo"]
    other = make_simulation(name="trio", pattern="tree")
    assert labels([updn, other]) == ["duo, bisect", "trio, tree"]


def test_engines_of_one_name_stay_apart() -> None:
    assert engine_labels(["updn", "opensm:updn"]) == ["updn", "opensm:updn"]
    assert engine_labels(["opensm:ftree", "updn"]) == ["ftree", "updn"]


def test_ranks_and_placements_are_named_only_where_nothing_else_differs(
    make_simulation: Any,
) -> None:
    small, large = make_simulation(ranks=64), make_simulation(ranks=128)
    assert labels([small, large]) == ["duo, updn, 64 ranks", "duo, updn, 128 ranks"]
    linear = make_simulation(placement="linear")
    assert labels([make_simulation(), linear]) == ["duo, updn, random", "duo, updn, linear"]
    other = make_simulation(name="trio", ranks=9)
    assert labels([small, other]) == ["duo", "trio"]
