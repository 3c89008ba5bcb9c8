"""Time shared over launches, and where new runs go."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from contend.lab.session import Budget, new_folder


def test_a_budget_is_shared_over_launches_and_kept() -> None:
    now = [100.0]
    budget = Budget(60, clock=lambda: now[0])
    # 20 s each, 3 of them to start and end; one may take half as much again and 3 s.
    assert budget.share(3) == pytest.approx(17)
    assert budget.limit(3) == pytest.approx(33)
    now[0] += 50
    # 5 s each: less than starting takes leaves a second.
    assert budget.share(2) == pytest.approx(2)
    assert budget.limit(2) == pytest.approx(10)
    budget.wait(20)
    assert budget.left == pytest.approx(30)
    now[0] += 40
    assert (budget.left, budget.share(1), budget.limit(1)) == (0, 0, 0)


def test_new_folders_have_the_day_and_a_number(tmp_path: Path) -> None:
    today = date(2026, 3, 1)
    assert new_folder("sort", today, tmp_path) == tmp_path / "sort-2026-03-01-1"
    (tmp_path / "sort-2026-03-01-1").mkdir()
    assert new_folder("sort", today, tmp_path) == tmp_path / "sort-2026-03-01-2"
