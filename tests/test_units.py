"""Units at the edge."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contend.units import (
    format_bandwidth,
    format_bytes,
    format_seconds,
    parse_bytes,
    parse_rate,
    parse_seconds,
    rate_of,
    round_half_up,
)


@pytest.mark.parametrize(
    ("label", "gigabits"),
    [("1xSDR", 2), ("4xSDR", 8), ("4xQDR", 32), ("4xEDR", 100), ("4xHDR", 200), ("12xXDR", 2400)],
)
def test_rate_is_lanes_times_lane_rate(label: str, gigabits: float) -> None:
    """Bytes per second = lanes x data bits per second and lane / 8."""
    assert rate_of(label) == gigabits * 1e9 / 8


def test_fdr_loses_two_bits_of_66_to_its_line_code() -> None:
    """FDR signals 14.0625 Gbit/s per lane and codes 64 bits in 66: 4 lanes carry 54.5 Gbit/s."""
    assert rate_of("4xFDR") == pytest.approx(4 * 14.0625e9 * 64 / 66 / 8, rel=1e-9)


@pytest.mark.parametrize("label", ["", "???", "4x???", "HDR", "xHDR", "4xhdr", "4xHDR ", "123xHDR"])
def test_unknown_rate_is_none(label: str) -> None:
    assert rate_of(label) is None


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (1536 * 1024, "1.5 MiB"),
        (3 * 2**30, "3 GiB"),
        (-2048, "-2 KiB"),
        (2**50, "1024 TiB"),
    ],
)
def test_bytes_in_binary_units(count: float, text: str) -> None:
    assert format_bytes(count) == text


@pytest.mark.parametrize(
    ("bytes_per_second", "text"),
    [
        (0, "0 bit/s"),
        (124, "992 bit/s"),
        (125, "1 kbit/s"),
        (12.5e6, "100 Mbit/s"),
        (25e9, "200 Gbit/s"),
        (312.5e9, "2.5 Tbit/s"),
    ],
)
def test_bandwidth_in_decimal_bits(bytes_per_second: float, text: str) -> None:
    """1 byte per second is 8 bit/s."""
    assert format_bandwidth(bytes_per_second) == text


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("4096", 4096),
        ("1 B", 1),
        ("24GiB", 24 * 2**30),
        ("24 gib", 24 * 2**30),
        ("1.5KiB", 1536),
        ("2kB", 2000),
        ("0.1 GB", 10**8),
        ("2.5MB", 2_500_000),
        ("1TiB", 2**40),
        ("3TB", 3 * 10**12),
        ("9223372036854775807", 2**63 - 1),
    ],
)
def test_sizes_are_read_in_binary_and_decimal_units(text: str, count: int) -> None:
    assert parse_bytes(text) == count


@pytest.mark.parametrize(
    "text",
    [
        "",
        "GiB",
        "24G",
        "-1",
        "0",
        "0.9",
        "1e9",
        "1..5",
        ".5GiB",
        "24  GiB",
        "24GiB ",
        "24GiBs",
        "٢٤GiB",
        "9223372036854775808",
        "9" * 30,
        "8388608TiB",
        "inf",
        "nan",
    ],
)
def test_what_is_no_size_is_none(text: str) -> None:
    assert parse_bytes(text) is None


@pytest.mark.parametrize(
    ("value", "nearest"), [("40.5", 41), ("20.25", 20), ("2.5", 3), ("-0.5", 0), ("7", 7)]
)
def test_halves_are_rounded_up(value: str, nearest: int) -> None:
    assert round_half_up(Fraction(value)) == nearest


@given(st.fractions())
def test_rounding_moves_by_half_at_most(value: Fraction) -> None:
    assert -1 <= 2 * (value - round_half_up(value)) < 1


@pytest.mark.parametrize(
    ("text", "bytes_per_second"),
    [
        ("1Gbit", 125e6),
        ("100 Mbit/s", 12.5e6),
        ("800kb", 1e5),
        ("10Gbps", 1.25e9),
        ("12.5GB/s", 12.5e9),
        ("8bit/s", 1),
        ("4xHDR", 25e9),
    ],
)
def test_rates_in_bits_and_bytes(text: str, bytes_per_second: float) -> None:
    assert parse_rate(text) == pytest.approx(bytes_per_second)


@pytest.mark.parametrize("text", ["", "1", "1G", "0Gbit", "-1Gbit", "1Gbit/h", "fast", "4xQDS"])
def test_what_is_no_rate(text: str) -> None:
    assert parse_rate(text) is None


def test_times() -> None:
    texts = ["90", "90s", "5min", "5 m", "1.5h", "", "-1s", "5d", "min"]
    assert [parse_seconds(text) for text in texts] == [90, 90, 300, 300, 5400, *([None] * 4)]
    seconds = [5.4e-6, 0.0015, 3.157, 60, 90, 300, 3600, 9000]
    words = ["5.4 µs", "1.5 ms", "3.16 s", "60 s", "90 s", "5 min", "60 min", "2.5 h"]
    assert [format_seconds(value) for value in seconds] == words
