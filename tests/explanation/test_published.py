"""Published figures: what limits them, and how near their bounds they come."""

from __future__ import annotations

import pytest

import contend
from contend.base.errors import UsageError
from contend.explanation import Limit, Verdict


def verdicts(study: str, start: str, **options: str) -> list[Verdict]:
    explained = contend.explain(study, **options).cells
    return [verdict for verdict in explained if verdict.evidence.cell.startswith(start)]


def ratios(found: list[Verdict], limit: Limit) -> list[float | None]:
    bounds = [(v.evidence, v.evidence.bound(limit)) for v in found]
    return [None if b is None else round(e.ratio(b), 2) for e, b in bounds]


def test_table_5_is_the_injection_port() -> None:
    found = verdicts("mistry2015", "paper, m = 512N,")
    # On one node nothing crosses the network.
    assert ratios(found, Limit.PORT) == [None, 1.41, 1.35, 1.38, 1.35]
    assert [v.proven for v in found] == [(), *[(Limit.PORT,)] * 4]


def test_table_3_is_the_injection_port_but_for_36_nodes() -> None:
    found = verdicts("mistry2015", "paper, m = 512,")
    assert ratios(found, Limit.PORT) == [None, 1.47, 1.45, 1.64, 2.33]
    # Of 0.11 s the port needs less than half: nothing is proven.
    assert [v.proven for v in found] == [(), *[(Limit.PORT,)] * 3, ()]


def test_m_1024_n_is_memory() -> None:
    found = verdicts("mistry2015", "poster, m = 1024N,")
    assert [v.proven for v in found] == [(Limit.MEMORY,)] * 5
    for verdict in found:
        assert "22.78 GiB of data on a host of 24 GiB" in verdict.limits[0].why
        assert verdict.limits[0].enough


def test_the_error_of_m_810_n_is_memory_that_arrays_alone_do_not_explain() -> None:
    *_, failed = verdicts("mistry2015", "poster, m = 810N,")
    assert failed.proven == (Limit.MEMORY,)
    assert failed.limits[0].proof == "18.02 GiB of data on a host of 24 GiB (75 %)"
    assert not failed.limits[0].enough


def test_a_larger_memory_explains_no_failure() -> None:
    *_, failed = verdicts("mistry2015", "poster, m = 810N,", memory="64GiB")
    assert failed.proven == ()


def test_the_sweep_of_2005_is_time_outs() -> None:
    limits = {
        start: [v.proven for v in verdicts("kutzner2005", f"2005, {start},")]
        for start in ("ring", "ring with barrier", "paired", "paired with barrier", "tuned")
    }
    proven = [(Limit.TIME_OUTS,)]
    assert limits == {
        # 69 ms are 2.12 times what the port needs, and hardly spread.
        "ring": [()],
        "ring with barrier": proven,
        "paired": proven,
        "paired with barrier": proven,
        "tuned": proven,
    }
    at_16, at_32 = verdicts("kutzner2005", "2005, collapse")
    assert at_16.proven == ()
    assert at_32.proven == (Limit.TIME_OUTS,)
    # 47 MiB/s at 16 KiB, 4.4 MiB/s at 32 KiB.
    assert at_32.limits[0].ratio == pytest.approx(47 / 4.4)


def test_large_messages_of_2005_are_the_port() -> None:
    # 3 · 2 MiB at 1 Gbit/s take 50.3 ms; at 68.2 MiB/s they took 6 / 68.2 s = 88 ms.
    first, *_ = verdicts("kutzner2005", "2005 LAM, MPI_Alltoall, 2 MiB, 4 ranks on 4 hosts")
    assert first.proven == (Limit.PORT,)
    assert ratios([first], Limit.PORT) == [1.75]


def test_only_measured_studies_are_explained() -> None:
    with pytest.raises(UsageError, match="hoefler2008: expected a study that measures"):
        contend.explain("hoefler2008")
    with pytest.raises(UsageError, match="leave the fabric out"):
        contend.explain("mistry2015", fabric="fig1")
