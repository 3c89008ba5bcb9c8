"""Measured bandwidths against models, on bandwidths that are known."""

from __future__ import annotations

import polars as pl
import pytest

from contend.base.errors import ShortfallError
from contend.lab.measurement import agreement


def _pairs(rows: list[tuple[int, int, float, float, bool]]) -> pl.DataFrame:
    """Sample, pi, fair share, bandwidth, late."""
    names = ["sample", "congestion", "fair_share", "bandwidth_Bps", "late"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    return frame.with_columns(
        launch=pl.lit(0),
        pattern=pl.col("sample"),
        share=1 / pl.col("congestion"),
        port=pl.lit(1.0),
    )


def test_known_bandwidths() -> None:
    # Uncontended pairs get 100; of two that share, one is exact and one 20 % above its half, which
    # is what its fair share says.
    found = agreement(
        _pairs(
            [
                (0, 1, 1.0, 100.0, False),
                (0, 2, 0.5, 50.0, False),
                (1, 1, 1.0, 100.0, False),
                (1, 2, 0.6, 60.0, False),
                (2, 1, 1.0, 100.0, False),
                (2, 1, 1.0, 100.0, False),
                (3, 1, 1.0, 7.0, True),
            ]
        )
    )
    assert found.gamma == 100.0
    assert (found.messages, found.late, found.patterns) == (6, 1, 3)
    # (0.75 + 0.8 + 1) / 3 over the three samples.
    assert found.effective == pytest.approx(0.85)
    assert [one.congestion for one in found.by_congestion] == [1, 2]
    assert found.by_congestion[1].median == pytest.approx(0.55)
    assert found.by_congestion[1].within == 0.5
    by_name = {model.name: model for model in found.models}
    assert by_name["γ/π"].effective == pytest.approx(5 / 6)
    assert by_name["γ/π"].within == pytest.approx(5 / 6)
    assert by_name["max-min fair share"].within == 1.0
    # The models differ about the message that got 60: one is right, the other 20 % off.
    assert found.apart == 1
    assert by_name["γ/π"].error_apart == pytest.approx(0.2)
    assert by_name["max-min fair share"].error_apart == 0.0
    assert found.nearest == "max-min fair share"


def test_models_that_never_differ() -> None:
    found = agreement(_pairs([(k, 1, 1.0, 100.0 + k, False) for k in range(4)]))
    assert found.apart == 0
    assert [model.error_apart for model in found.models] == [None, None]
    assert found.nearest == found.models[0].name


def test_the_nearest_model_is_nearest_where_models_differ() -> None:
    # Most messages are a little off what both say; the one about which they differ decides.
    alike = [(0, 2, 0.5, 45.0, False)] * 5
    free = [(0, 1, 1.0, 100.0, False)] * 3
    found = agreement(_pairs([*free, *alike, (0, 3, 0.5, 100 / 3, False)]))
    assert found.apart == 1
    assert found.nearest == "γ/π"


def test_late_samples_are_used_when_all_are() -> None:
    found = agreement(_pairs([(k, 1, 1.0, 10.0, True) for k in range(4)]))
    assert (found.messages, found.late) == (4, 0)


def test_too_few_uncontended_pairs() -> None:
    with pytest.raises(ShortfallError, match="2 messages shared no channel"):
        agreement(_pairs([(k, 1, 1.0, 10.0, False) for k in range(2)]))


def test_messages_within_a_host_have_no_model() -> None:
    """Two ranks of one host share no channel: π = 0, and nothing is divided by it."""
    found = agreement(
        _pairs([*((k, 1, 1.0, 100.0, False) for k in range(4)), (0, 0, 1.0, 5000.0, False)])
    )
    assert (found.messages, found.same_host, found.gamma) == (4, 1, 100.0)
    assert [group.congestion for group in found.by_congestion] == [1]


def test_samples_of_a_pattern_count_once_and_few_patterns_widen_the_interval() -> None:
    # Two patterns of means 0.9 and 1.1 whose samples repeat them: mean 1, standard error 0.1, and
    # Student's quantile of one degree of freedom is 12.706.
    rows = [(k, 1, 1.0, 90.0 if k % 2 else 110.0, False) for k in range(20)]
    pairs = _pairs(rows).with_columns(pattern=pl.col("sample") % 2)
    found = agreement(pairs)
    assert found.patterns == 2
    assert found.effective == pytest.approx(1.0)
    half = 12.7062 * 0.1
    assert found.effective_ci95 == pytest.approx((1 - half, 1 + half), abs=1e-4)


def test_links_of_different_rates() -> None:
    """Alone over links of half the rate, and between slower ports, a pair tells γ as well."""
    columns = ["sample", "congestion", "share", "fair_share", "port", "bandwidth_Bps"]
    rows = [
        (0, 1, 1.0, 1.0, 1.0, 100.0),
        (0, 1, 0.5, 0.5, 1.0, 51.0),
        (1, 1, 1.0, 1.0, 0.25, 24.5),
        # Three share a link; one of them is held back elsewhere and leaves the others more.
        (1, 3, 1 / 3, 0.45, 1.0, 45.0),
        (1, 3, 0.1, 0.1, 1.0, 10.0),
    ]
    frame = pl.DataFrame(rows, schema=columns, orient="row")
    found = agreement(
        frame.with_columns(launch=pl.lit(0), pattern=pl.col("sample"), late=pl.lit(value=False))
    )
    assert found.weighed
    # Of 100, 51 / 0.5 and 24.5 / 0.25.
    assert found.gamma == pytest.approx(100.0)
    assert [model.name for model in found.models] == ["rate over load", "max-min fair share"]
    of_three = found.by_congestion[1]
    assert of_three.of_fair_share == pytest.approx(1.0)
    assert of_three.of_share == pytest.approx((1.35 + 1.0) / 2)
    assert found.apart == 1
