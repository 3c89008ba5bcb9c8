"""Specifications of placements, host files and choices of hosts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from contend.base.errors import InputError, UsageError
from contend.fabric import Fabric
from contend.routes import load
from contend.traffic import placement
from contend.traffic.placement import Placement, parse


def hosts_of(text: str, fabric: Fabric, folder: Path, **options: object) -> list[int]:
    path = folder / "hosts"
    path.write_text(text)
    return placement.parse(f"file:{path}", fabric, **options).hosts.tolist()  # type: ignore[arg-type]


def test_rank_sits_on_the_slot_of_its_quotient(fabric: Fabric) -> None:
    placed = placement.parse("linear", fabric, ranks_per_host=2)
    assert placed.ranks == 12
    assert placed.host_of_rank.tolist() == [placed.hosts[r // 2] for r in range(12)]


def test_random_shuffles_and_the_others_do_not(fabric: Fabric) -> None:
    assert placement.parse("random", fabric).random
    for spec in ("linear", "guid", "bfs", "round-robin"):
        assert not placement.parse(spec, fabric).random


def test_round_robin_alternates_leaves(fabric: Fabric) -> None:
    assert placement.parse("round-robin", fabric).hosts.tolist() == [0, 1, 2, 3, 4, 5]
    assert placement.parse("bfs", fabric).hosts.tolist() == [0, 2, 4, 1, 3, 5]


def test_unknown_specifications_name_the_known(fabric: Fabric) -> None:
    with pytest.raises(UsageError, match=r"random, linear, .*, port-group:K, file:PATH"):
        placement.parse("scattered", fabric)


def test_no_rank_without_host(fabric: Fabric) -> None:
    with pytest.raises(UsageError, match="no host is left"):
        Placement("empty", np.array([], dtype=np.uint32))
    with pytest.raises(UsageError, match="at least 1"):
        placement.parse("linear", fabric, ranks_per_host=0)


def test_hosts_cannot_be_written(fabric: Fabric) -> None:
    with pytest.raises(ValueError, match="read-only"):
        placement.parse("linear", fabric).hosts[0] = 1


def test_a_server_in_a_host_file_stands_for_its_rails(fabric: Fabric, tmp_path: Path) -> None:
    assert hosts_of("n2\nn1 b # second rail only\n\n# n10\n", fabric, tmp_path) == [2, 3, 1]


@pytest.mark.parametrize(
    ("text", "slots"),
    [
        ("n1 slots=4", [0, 0, 1, 1]),
        ("n1 slots=3 max_slots=8", [0, 0, 1]),
        ("n1:1\nn10 b:2", [0, 5, 5]),
        ("n[1-2]:2", [0, 1, 2, 3]),
        ("n10 a,n2 a slots=1", [4, 2]),
        ("n1 a\nn1 a\r\nn2 a", [0, 0, 2]),
    ],
)
def test_slots_are_shared_by_rails_in_blocks(
    text: str, slots: list[int], fabric: Fabric, tmp_path: Path
) -> None:
    assert hosts_of(text, fabric, tmp_path) == slots


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("n1\nn3", r"hosts:2: expected a host of rails, got \"n3\""),
        ("n1 slots=0", "hosts:1: expected 1 to 100000 slots"),
        ("n1 slots=many", "hosts:1: expected 1 to 100000 slots"),
        ("n1:999999999", "hosts:1: expected 1 to 100000 slots"),
        ("# nobody", "hosts: expected at least one host, got none"),
        ("n1 rank=4", "hosts:1: expected a host of rails"),
    ],
)
def test_bad_host_files_name_the_line(
    text: str, complaint: str, fabric: Fabric, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=complaint):
        hosts_of(text, fabric, tmp_path)


def test_a_file_with_slots_says_it_all(fabric: Fabric, tmp_path: Path) -> None:
    assert hosts_of("n1 a\nn2 a", fabric, tmp_path, ranks_per_host=2) == [0, 2]
    with pytest.raises(UsageError, match="leave ranks per host at 1"):
        hosts_of("n1 slots=2", fabric, tmp_path, ranks_per_host=2)


def test_a_host_file_that_is_no_text(fabric: Fabric, tmp_path: Path) -> None:
    path = tmp_path / "binary"
    path.write_bytes(b"n1\n\xff\xfe")
    with pytest.raises(InputError, match="UTF-8"):
        placement.parse(f"file:{path}", fabric)


@pytest.mark.parametrize(
    ("choice", "hosts"),
    [
        ("3", [0, 1, 2]),
        ("n1*", [0, 1, 4, 5]),
        ("n?", [0, 1, 2, 3]),
        ("* b", [1, 3, 5]),
        ("n10,n1 a", [0, 4, 5]),
        ("n[1-2]", [0, 1, 2, 3]),
        ("n1,n?0*", [0, 1, 4, 5]),
        ("!n1", [2, 3, 4, 5]),
        ("n*,!n1 a,!n[2,10]", [1]),
        ("3,!n1", [2, 3, 4]),
        ("!n1?", [0, 1, 2, 3]),
    ],
)
def test_choices_of_hosts(choice: str, hosts: list[int], fabric: Fabric) -> None:
    assert placement.parse("random", fabric, hosts=choice).hosts.tolist() == hosts


def test_a_choice_by_file(fabric: Fabric, tmp_path: Path) -> None:
    path = tmp_path / "some"
    path.write_text("n10 slots=8\n")
    for choice in (str(path), f"file:{path}"):
        assert placement.parse("linear", fabric, hosts=choice).hosts.tolist() == [4, 5]


@pytest.mark.parametrize("choice", ["0", "7", "99999999999", "n1,nobody", "z*", "n1[", ""])
def test_choices_that_fail(choice: str, fabric: Fabric) -> None:
    with pytest.raises((UsageError, InputError)):
        placement.parse("linear", fabric, hosts=choice)


def test_a_choice_narrows_a_host_file(fabric: Fabric, tmp_path: Path) -> None:
    assert hosts_of("n10\nn1", fabric, tmp_path, hosts="* a") == [4, 0]


def test_given_hosts_come_in_the_order_that_names_them(tmp_path: Path) -> None:
    tree = load("xgft:2;2,3;1,1")
    assert parse("given", tree, hosts="host 5,host 2").hosts.tolist() == [4, 1]
    assert parse("given", tree, hosts=[3, 0]).host_of_rank.tolist() == [3, 0]
    (tmp_path / "job").write_text("host 4 slots=2\nhost 1\n")
    placed = parse("given", tree, hosts=str(tmp_path / "job"))
    assert (placed.name, placed.host_of_rank.tolist()) == ("given", [3, 3, 0])
    assert parse("given", tree).hosts.tolist() == parse("linear", tree).hosts.tolist()


def test_more_ranks_than_any_machine_has_are_refused() -> None:
    with pytest.raises(UsageError, match=r"at most 67,108,864 ranks, got 9,000,000 on each of 16"):
        parse("linear", load("fig1"), ranks_per_host=9_000_000)
