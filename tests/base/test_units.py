"""Units at the edge."""

from __future__ import annotations

import re
from enum import StrEnum
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contend.base.errors import UsageError
from contend.base.units import (
    counted,
    format_bytes,
    format_link_speed,
    format_rate,
    format_seconds,
    listed,
    nearest,
    parse_numbers,
    parse_rate,
    parse_seconds,
    parse_share,
    parse_size,
    parse_sizes,
    rate_of,
    round_half_up,
    rounded,
    verb,
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
    assert rate_of("100GbE") == 12.5e9
    assert rate_of("2.5GbE") == 2.5e9 / 8
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
        (2**50, "1,024 TiB"),
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
def test_link_speeds_in_decimal_bits(bytes_per_second: float, text: str) -> None:
    """1 byte per second is 8 bit/s."""
    assert format_link_speed(bytes_per_second) == text


@pytest.mark.parametrize(
    ("bytes_per_second", "text"),
    [
        (0, "0 B/s"),
        (990, "990 B/s"),
        (12_500, "12.5 kB/s"),
        (11.94e6, "11.9 MB/s"),
        (24.14e9, "24.1 GB/s"),
        (11.4e12, "11.4 TB/s"),
    ],
)
def test_what_communication_gets_in_decimal_bytes(bytes_per_second: float, text: str) -> None:
    assert format_rate(bytes_per_second) == text


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("4096", 4096),
        ("1 B", 1),
        ("0", 0),
        ("64K", 65536),
        ("24G", 24 * 2**30),
        ("1M", 2**20),
        ("1MB", 10**6),
        ("1MiB", 2**20),
        ("1T", 2**40),
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
    assert parse_size(text) == count


@pytest.mark.parametrize(
    "text",
    [
        "",
        "GiB",
        "-1",
        "0.9",
        "1.5 B",
        "1e9",
        "1..5",
        ".5GiB",
        "24  GiB",
        "24GiBs",
        "24Gbit",
        "24P",
        "٢٤GiB",
        "9223372036854775808",
        "9" * 30,
        "8388608TiB",
        "inf",
        "nan",
    ],
)
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|is more bytes than 64 bits can count"):
        parse_size(text)


@given(st.integers(0, 2**63 - 1))
def test_bytes_without_a_unit_are_themselves(count: int) -> None:
    assert parse_size(str(count)) == count


def test_sizes_in_a_list_and_in_a_range_that_doubles() -> None:
    assert parse_sizes("1,2,4K") == (1, 2, 4096)
    assert parse_sizes("1K:8K,100") == (1024, 2048, 4096, 8192, 100)
    # The last is not reached by doubling, so it is not measured.
    assert parse_sizes("3:20") == (3, 6, 12)


@pytest.mark.parametrize("text", ["", "1,,2", "1,2,", "8:4", "0:4", "1:2:4", "a:b", "1-4"])
def test_what_is_no_list_of_sizes_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="expected"):
        parse_sizes(text)


def test_numbers_in_a_list_and_in_ranges() -> None:
    assert parse_numbers("2,4,8") == (2, 4, 8)
    assert parse_numbers("2:16") == (2, 4, 8, 16)
    assert parse_numbers("1-4,7") == (1, 2, 3, 4, 7)
    # A blank to strip(), and none to int().
    assert parse_numbers("4\x1d") == (4,)
    assert parse_numbers("0,1,2", least=0) == (0, 1, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected numbers such as 2,4,8 or 1-4, got ''"),
        ("1,,2", "expected numbers such as 2,4,8 or 1-4, got ''"),
        ("2.5", "expected numbers such as 2,4,8 or 1-4, got '2.5'"),
        ("0,1", "expected numbers from 1, got 0"),
        ("4-1", "expected a range such as 1-4, got '4-1'"),
        ("1-9999999999", "expected a range such as 1-4, got '1-9999999999'"),
        ("8:4", "expected a range that doubles from at least 1, got '8:4'"),
        ("2,1-4", "expected every number once, got 2 again in '2,1-4'"),
    ],
)
def test_what_is_no_list_of_numbers_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        parse_numbers(text)


@pytest.mark.parametrize(
    ("text", "share"), [("5%", 0.05), ("0.05", 0.05), ("0.1 %", 0.001), ("100%", 1.0), ("0", 0.0)]
)
def test_shares(text: str, share: float) -> None:
    assert parse_share(text) == share


@pytest.mark.parametrize("text", ["", "%", "-5%", "5%%", "1e-3", "five", ".5"])
def test_what_is_no_share_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected a share such as 5% or 0\.05"):
        parse_share(text)


def test_nearest_name_is_a_hint_only_where_one_is_near() -> None:
    assert nearest("bisct", ["bisect", "alltoall"]) == "; did you mean 'bisect'?"
    assert nearest("xyz", ["bisect", "alltoall"]) == ""
    assert nearest("color", StrEnum("Word", ["colour"])) == "; did you mean 'colour'?"


@pytest.mark.parametrize(
    ("singular", "plural"),
    [
        ("is", "are"),
        ("was", "were"),
        ("has", "have"),
        ("does", "do"),
        ("costs", "cost"),
        ("touches", "touch"),
        ("loses", "lose"),
    ],
)
def test_verbs_agree_with_numbers(singular: str, plural: str) -> None:
    assert [verb(number, singular) for number in (0, 1, 2)] == [plural, singular, plural]


def test_the_last_of_a_list_is_joined_by_and() -> None:
    assert [listed("a"), listed("ab"), listed("abc")] == ["a", "a and b", "a, b and c"]


def test_numbers_agree_with_their_nouns() -> None:
    texts = [counted(1, "host"), counted(3675, "host"), counted(1, "switch"), counted(2, "switch")]
    assert texts == ["1 host", "3,675 hosts", "1 switch", "2 switches"]


@pytest.mark.parametrize(
    ("value", "rounded"), [("40.5", 41), ("20.25", 20), ("2.5", 3), ("-0.5", 0), ("7", 7)]
)
def test_halves_are_rounded_up(value: str, rounded: int) -> None:
    assert round_half_up(Fraction(value)) == rounded


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
def test_what_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected a rate such as 1Gbit/s, 12\.5GB/s or 4xHDR"):
        parse_rate(text)


@pytest.mark.parametrize("text", ["", "-1s", "5d", "min", "1e3"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected a time such as 90s, 5min or 1\.5h"):
        parse_seconds(text)


def test_times() -> None:
    texts = ["90", "90s", "200ms", "5min", "5 m", "1.5h"]
    assert [parse_seconds(text) for text in texts] == [90, 90, 0.2, 300, 300, 5400]
    seconds = [5.4e-6, 0.0015, 3.157, 60, 90, 300, 3600, 9000]
    words = ["5.4 µs", "1.5 ms", "3.16 s", "60 s", "90 s", "5 min", "60 min", "2.5 h"]
    assert [format_seconds(value) for value in seconds] == words


def test_what_rounds_up_to_the_next_unit_is_shown_in_it() -> None:
    assert format_seconds(0.00099999) == "1 ms"
    assert format_seconds(0.9999) == "1 s"
    assert format_seconds(3157) == "52.6 min"
    assert format_link_speed(124.999e6) == "1 Gbit/s"
    assert format_link_speed(12.25e6) == "98 Mbit/s"
    assert format_rate(0.99996e9) == "1 GB/s"
    assert format_rate(0.994e9) == "994 MB/s"


@pytest.mark.parametrize(
    ("value", "digits", "words"),
    [
        (0.0, 3, "0"),
        (0.0000123, 3, "0.0000123"),
        (9.236, 3, "9.24"),
        (99.96, 3, "100"),
        (999.6, 3, "1,000"),
        (11_234.4, 3, "11,234"),
        (-11_234.4, 3, "-11,234"),
        (1234.5, 6, "1,234.5"),
        (123.4, 2, "123"),
        (float("inf"), 3, "inf"),
    ],
)
def test_numbers_have_no_powers_of_ten(value: float, digits: int, words: str) -> None:
    assert rounded(value, digits) == words


@given(st.floats(1e-12, 1e15))
def test_no_number_in_a_text_has_an_exponent(value: float) -> None:
    """Sizes, times and rates too, where they are beyond the largest unit."""
    for words in (
        rounded(value),
        format_bytes(value),
        format_seconds(value),
        format_link_speed(value),
        format_rate(value),
    ):
        assert "e+" not in words
        assert "e-" not in words


@pytest.mark.parametrize("value", [3e-9, 4.7e-5, 2e-3, 1.5, 95.0, 3324.0, 9000.0])
def test_what_is_told_can_be_given_back(value: float) -> None:
    assert parse_seconds(format_seconds(value)) == pytest.approx(value, rel=0.01)
    assert parse_rate(format_rate(1e9 * value)) == pytest.approx(1e9 * value, rel=0.01)
    assert parse_size(format_bytes(round(1e9 * value))) == pytest.approx(1e9 * value, rel=0.01)


def test_rates_as_tc_writes_them() -> None:
    assert parse_rate("10gbit") == parse_rate("10Gbit/s") == 10e9 / 8
    with pytest.raises(UsageError):
        parse_rate("10mb/s")
