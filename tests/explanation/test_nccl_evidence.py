"""What nccl-tests got is held against what ports and routes allow."""

from __future__ import annotations

from pathlib import Path

import pytest

import contend
from contend.base.errors import InputError, UsageError
from contend.explanation import Limit
from nccl_outputs import NAMES, RANKS, printed

HDR = 25e9
PAIRS = [(a, b) for a in NAMES for b in NAMES if a < b]


def named(fabric: contend.Fabric) -> contend.Fabric:
    """Servers s1, s2, ... with adapters as drivers call them."""
    words = [name.split() for name in fabric.host_name]
    return fabric.replace(host_name=tuple(f"s{w[1]} mlx5_{int(w[3]) - 1}" for w in words))


@pytest.fixture
def units() -> contend.Fabric:
    """Two units of two servers with two rails, one cable from each leaf to the only spine."""
    return named(contend.load("rails:2,2,2,1", route="minhop"))


def test_an_all_to_all_that_the_spine_holds_back(tmp_path: Path, units: contend.Fabric) -> None:
    """With PXN a cable to the spine carries 4 blocks of a quarter where a port carries 3.

    So 8 GB take 8 / 25 s by the fabric and 6 / 25 s by the ports, and a measured time 1.2 times the
    former is limited by the fabric; of 10 times the bound nothing is proven.
    """
    path = tmp_path / "alltoall.txt"
    bound = 8e9 / HDR
    path.write_text(printed("alltoall_perf", RANKS, {8 * 10**9: 1.2 * bound}))
    found = contend.explain(path, fabric=units)
    evidence = found.cells[0].evidence
    assert found.cells[0].proven == (Limit.FABRIC,)
    by_fabric, by_port = evidence.bound(Limit.FABRIC), evidence.bound(Limit.PORT)
    assert by_fabric.seconds == pytest.approx(bound)
    assert by_port.seconds == pytest.approx(0.75 * bound)
    assert "spine" in by_fabric.channels[0]
    assert evidence.hosts == 4
    path.write_text(printed("alltoall_perf", RANKS, {8 * 10**9: 10 * bound}))
    assert contend.explain(path, fabric=units).cells[0].proven == ()


def test_rings_that_fill_the_ports(tmp_path: Path, units: contend.Fabric) -> None:
    """An all-reduce of 1 GB by rings takes 7/8 of a second over 25 GB/s, within servers first 3/4.

    Twice that is still the port's.
    """
    path = tmp_path / "all_reduce.txt"
    path.write_text(printed("all_reduce_perf", RANKS, {10**9: 1.4 * 0.75e9 / HDR}, redop="sum"))
    verdict = contend.explain(path, fabric=units).cells[0]
    assert verdict.proven == (Limit.PORT,)
    bound = verdict.evidence.bound(Limit.PORT)
    assert bound.seconds == pytest.approx(0.75e9 / HDR)


def test_small_messages_are_latency(tmp_path: Path, units: contend.Fabric) -> None:
    path = tmp_path / "all_reduce.txt"
    seconds = {1024: 30e-6, 4096: 30e-6, 16384: 31e-6}
    path.write_text(printed("all_reduce_perf", RANKS, seconds, redop="sum"))
    found = contend.explain(path, fabric=units)
    assert {verdict.proven for verdict in found.cells} == {(Limit.OVERHEAD,)}
    assert any("NCCL_ALGO=Tree" in remedy.advice for remedy in found.remedies)


def test_other_routes_are_tried(tmp_path: Path) -> None:
    """By dimension order all 4 adapters of a leaf share a cable to one of four spines.

    With PXN 4 blocks of an eighth leave by each for the other unit: 16 where a port sends 7. By
    d-mod-k each has a cable of its own, and the ports limit it.
    """
    fabric = named(contend.load("rails:2,4,2,4", route="dor"))
    path = tmp_path / "alltoall.txt"
    bound = 16 / 8 * 8e9 / HDR
    hosts = [f"s{number}" for number in range(1, 9) for _ in range(2)]
    path.write_text(printed("alltoall_perf", hosts, {8 * 10**9: 1.1 * bound}))
    found = contend.explain(path, fabric=fabric)
    assert found.cells[0].proven == (Limit.FABRIC,)
    remedy = found.remedies[0]
    assert "Routes by dmodk" in remedy.advice
    assert "--route dmodk" in remedy.command
    assert remedy.saves_s == pytest.approx(bound - 7 / 8 * 8e9 / HDR)


def test_a_slow_server_is_told_from_a_slow_network(tmp_path: Path) -> None:
    """Where all pairs with s3 get half it is named; where s1 - s2 alone does, no server is."""
    for a, b in PAIRS:
        slow = 2.0 if "s3" in (a, b) else 1.0
        test = printed("sendrecv_perf", [a, a, b, b], {1 << 20: slow * 1e-3})
        (tmp_path / f"{a}-{b}.txt").write_text(test)
    verdict = contend.explain(tmp_path).verdict
    assert verdict.startswith("s3 is in each of the 3 slow pairs")
    assert verdict.endswith("of what the others' median gets.")
    for a, b in PAIRS:
        slow = 2.0 if (a, b) == ("s1", "s2") else 1.0
        test = printed("sendrecv_perf", [a, a, b, b], {1 << 20: slow * 1e-3})
        (tmp_path / f"{a}-{b}.txt").write_text(test)
    assert "the network between them" in contend.explain(tmp_path).verdict


@pytest.mark.parametrize(
    ("slow", "left_out", "words"),
    [
        # The median itself is slow: 3 of 5, and of 4.
        ({"s3": 2.0}, [("s1", "s2")], "s3 is in each of the 3 slow pairs"),
        ({"s3": 2.0}, [("s1", "s2"), ("s1", "s4")], "s3 is in each of the 3 slow pairs"),
        ({"s1": 2.0, "s3": 4.0}, [], "Each of the 7 slow pairs has s1 or s3 in it"),
        # Slower than most, but faster than the slowest.
        ({"s3": 1.3}, [], "s3 is in each of the 3 slow pairs"),
    ],
)
def test_the_slow_server_is_found_whatever_part_of_the_pairs_is_slow(
    slow: dict[str, float], left_out: list[tuple[str, str]], words: str, tmp_path: Path
) -> None:
    names = [*NAMES, "s5"] if len(slow) > 1 else NAMES
    pairs = [(a, b) for a in names for b in names if a < b and (a, b) not in left_out]
    for number, pair in enumerate(pairs):
        time = 1e-3 * max(slow.get(name, 1.0) for name in pair) * (1 + 0.01 * number)
        hosts = [name for name in pair for _ in range(2)]
        path = tmp_path / f"{number}.txt"
        path.write_text(printed("sendrecv_perf", hosts, {1 << 20: time}))
    assert contend.explain(tmp_path).verdict.startswith(words)


def test_pairs_are_compared_by_collective_number_of_gpus_and_size(tmp_path: Path) -> None:
    """More GPUs take longer, and a test that stopped early has small sizes alone."""
    for number, (a, b) in enumerate(PAIRS):
        seconds = {1 << 10: 1e-5, 1 << 20: 1e-3} if number else {1 << 10: 1e-5}
        for each, time in ((1, 1), (4, 3)):
            hosts = [name for name in (a, b) for _ in range(each)]
            slow = {size: time * each for size, each in seconds.items()}
            text = printed("sendrecv_perf", hosts, slow).replace("maxBytes 8", "maxBytes 1048576")
            begun, *_ = text.replace("2(", "1024(").partition("# Out of bounds")
            (tmp_path / f"{a}-{b}-{each}.txt").write_text(begun)
    (told,) = contend.explain(tmp_path).findings
    assert told.startswith("2 tests stopped before the end (send and receive on s1 and s2, ")
    for a, b in PAIRS[:3]:
        path = tmp_path / f"{a}-{b}-4.txt"
        path.write_text(
            path.read_text().replace(" 3000.00", " 9000.00").replace(" 30.00", " 90.00")
        )
    (slow, _) = contend.explain(tmp_path).findings
    assert slow.startswith("Send and receive of 8 GPUs: s1 is in each of the 3 slow pairs")


def test_damaged_data_leads(tmp_path: Path) -> None:
    path = tmp_path / "alltoall.txt"
    text = printed("alltoall_perf", ["a", "b"], {8: 1e-3})
    row = next(line for line in text.splitlines() if line.startswith("  "))
    path.write_text(text.replace(row, " ".join([*row.split()[:8], "12", *row.split()[9:]])))
    assert contend.explain(path).verdict.startswith("12 values arrived wrong in the all-to-all of")


def test_many_tests_that_fall_are_one_sentence(tmp_path: Path) -> None:
    for a, b in PAIRS:
        seconds = {1 << (20 + place): 1e-3 * 2.6**place for place in range(4)}
        (tmp_path / f"{a}-{b}").write_text(printed("sendrecv_perf", [a, a, b, b], seconds))
    (told,) = contend.explain(tmp_path).findings
    assert told.startswith(
        "Send and receive on s1 and s2: the bandwidth falls from 1.05 GB/s at 1 "
    )
    assert told.endswith("5 more do so, less than this one.")


def test_one_fast_pair_makes_no_server_slow(tmp_path: Path) -> None:
    for a, b in PAIRS:
        time = 5e-4 if (a, b) == ("s1", "s2") else 1e-3
        (tmp_path / f"{a}-{b}").write_text(printed("sendrecv_perf", [a, a, b, b], {1 << 20: time}))
    assert not any("slow" in line for line in contend.explain(tmp_path).findings)


def test_what_is_faster_than_the_network_was_not_there(
    tmp_path: Path, units: contend.Fabric
) -> None:
    """A bound that one size beats proves nothing of another."""
    path = tmp_path / "all_reduce.txt"
    port = 0.75 / HDR
    seconds = {10**8: 1.5e8 * port, 10**9: 0.7e9 * port}
    path.write_text(printed("all_reduce_perf", RANKS, seconds, redop="sum"))
    found = contend.explain(path, fabric=units)
    assert all(Limit.PORT not in verdict.proven for verdict in found.cells)
    assert "did not run on this fabric" in found.verdict
    assert found.verdict.startswith(
        "All-reduce on 4 servers took 0.7 times the least time that the "
    )


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [
        ([3.1, 6.0, 12.0, 49.5, 47.5], "1 GiB took 49.5 ms, longer than 2 GiB (47.5 ms)"),
        ([3.1, 6.0, 12.0, 75.0, 150.0], "falls from 44.7 GB/s at 512 MiB to 14.3 GB/s at 1 GiB"),
        ([0.1, 0.1, 0.1, 0.1, 0.1], ""),
        ([3.1, 6.0, 12.0, 30.0, 60.0], ""),
    ],
)
def test_sizes_that_fall_out_of_line_are_told(
    milliseconds: list[float], words: str, tmp_path: Path
) -> None:
    path = tmp_path / "alltoall.txt"
    seconds = {1 << (27 + place): ms / 1e3 for place, ms in enumerate(milliseconds)}
    path.write_text(printed("alltoall_perf", RANKS, seconds))
    found = contend.explain(path)
    assert len(found.findings) == bool(words)
    assert words in found.verdict
    assert found.verdict.startswith("All-to-all on 4 servers: ") == bool(words)


def test_a_test_on_one_host_says_nothing_about_the_network(tmp_path: Path) -> None:
    path = tmp_path / "all_reduce.txt"
    path.write_text(printed("all_reduce_perf", ["s1"] * 8, {1 << 30: 1e-2}, redop="sum"))
    (told,) = contend.explain(path).remarks
    assert "all GPUs are on s1, so no message crossed the network" in told


@pytest.mark.parametrize("hosts", [["s1"], []])
def test_a_single_gpu_sends_nothing(hosts: list[str], tmp_path: Path) -> None:
    path = tmp_path / "all_reduce.txt"
    path.write_text(printed("all_reduce_perf", hosts, {1 << 30: 3e-3}, redop="sum", factor=0))
    (told,) = contend.explain(path).remarks
    assert "a single GPU took part, so nothing was sent. If several were meant, build" in told


def test_what_cannot_be_told_is_said(tmp_path: Path, units: contend.Fabric) -> None:
    path = tmp_path / "all_reduce.txt"
    path.write_text(printed("all_reduce_perf", [*RANKS, "s4"], {1 << 20: 1e-3}, redop="sum"))
    assert any("2 or 3 GPUs" in line for line in contend.explain(path, fabric=units).remarks)
    assert any("--fabric" in line for line in contend.explain(path).remarks)
    path.write_text(printed("all_reduce_perf", ["s1", "nobody"], {1 << 20: 1e-3}, redop="sum"))
    with pytest.raises(InputError, match='"nobody": pods go by names of their own'):
        contend.explain(path, fabric=units)
    with pytest.raises(UsageError, match="memory"):
        contend.explain(path, memory="1GiB")
