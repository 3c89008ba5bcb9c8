"""The all-to-all connection picture."""

from __future__ import annotations

import pytest
from matplotlib.collections import LineCollection

from contend.base.errors import UsageError
from contend.report import alltoall_figure


def test_every_pair_is_joined_once() -> None:
    figure = alltoall_figure([2, 9, 18, 36])
    counted = []
    for panel in figure.axes:
        for lines in panel.collections:
            assert isinstance(lines, LineCollection)
            counted.append(len(lines.get_segments()))
    # N (N - 1) / 2 pairs.
    assert counted == [1, 36, 153, 630]
    assert figure.axes[1].get_title() == "N = 9: 72 messages"


@pytest.mark.parametrize("counts", [[], [1], [4, 0], [1001]])
def test_numbers_out_of_range_are_refused(counts: list[int]) -> None:
    with pytest.raises(UsageError, match="from 2 to 1,000"):
        alltoall_figure(counts)
