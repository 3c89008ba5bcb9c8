"""What nccl-tests print and write is read, and held against what ports and routes allow."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contend
from contend.errors import ContendError, InputError, UsageError
from contend.explanation import Limit
from contend.explanation.nccl_tests import read_nccl_tests
from nccl_outputs import printed, written

HDR = 25e9
NAMES = ["s1", "s2", "s3", "s4"]


def named(fabric: contend.Fabric) -> contend.Fabric:
    """Servers s1, s2, ... with adapters as drivers call them."""
    words = [name.split() for name in fabric.host_name]
    return fabric.replace(host_name=tuple(f"s{w[1]} mlx5_{int(w[3]) - 1}" for w in words))


@pytest.fixture
def units() -> contend.Fabric:
    """Two units of two servers with two rails, one cable from each leaf to the only spine."""
    return named(contend.load("rails:2,2,2,1", route="minhop"))


RANKS = [name for name in NAMES for _ in range(2)]


def test_text_and_json_say_the_same(tmp_path: Path) -> None:
    seconds = {1024: 2e-5, 1 << 20: 1e-3}
    text, tagged, document = (tmp_path / name for name in ("a.txt", "tagged.log", "a.json"))
    text.write_text(printed("all_gather_perf", RANKS, seconds))
    tagged.write_text(printed("all_gather_perf", RANKS, seconds, tag="[1,0]<stdout>:"))
    document.write_text(written("all_gather_perf", RANKS, seconds))
    of_text, of_tagged, of_json = map(read_nccl_tests, (text, tagged, document))
    assert of_text == of_tagged == of_json
    assert of_text is not None
    assert (of_text[0].collective, of_text[0].hosts) == ("all-gather", tuple(RANKS))
    assert of_text[0].servers == tuple(NAMES)
    assert [(one.bytes, one.seconds) for one in of_text[0].sizes] == [
        (size, pytest.approx(time)) for size, time in seconds.items()
    ]


@pytest.mark.parametrize(
    ("factor", "redop", "collective"),
    [
        (7 / 4, "sum", "all-reduce"),
        (7 / 8, "sum", "reduce-scatter"),
        # An all-gather and an all-to-all have the same.
        (7 / 8, "none", ""),
    ],
)
def test_bandwidths_tell_what_older_versions_do_not(
    tmp_path: Path, factor: float, redop: str, collective: str
) -> None:
    path = tmp_path / "out.txt"
    path.write_text(printed("", RANKS, {1 << 30: 0.01}, factor=factor, redop=redop, named=False))
    found = read_nccl_tests(path)
    assert found is not None
    assert found[0].collective == collective


def test_an_all_to_all_that_the_spine_holds_back(tmp_path: Path, units: contend.Fabric) -> None:
    """With PXN a cable to the spine carries 4 blocks of a quarter where a port carries 3.

    So 8 GB take 8 / 25 s by the fabric and 6 / 25 s by the ports, and a measured time 1.2 times the
    former is limited by the fabric; of 10 times the bound nothing is proven.
    """
    path = tmp_path / "alltoall.txt"
    bound = 8e9 / HDR
    path.write_text(printed("alltoall_perf", RANKS, {8 * 10**9: 1.2 * bound}))
    found = contend.explain(path, fabric=units)
    evidence = found.verdicts[0].evidence
    assert found.verdicts[0].limits == (Limit.FABRIC,)
    by_fabric, by_port = evidence.bound(Limit.FABRIC), evidence.bound(Limit.PORT)
    assert by_fabric is not None
    assert by_port is not None
    assert by_fabric.seconds == pytest.approx(bound)
    assert by_port.seconds == pytest.approx(0.75 * bound)
    assert "spine" in by_fabric.channels[0]
    assert evidence.hosts == 4
    path.write_text(printed("alltoall_perf", RANKS, {8 * 10**9: 10 * bound}))
    assert contend.explain(path, fabric=units).verdicts[0].limits == ()


def test_rings_that_fill_the_ports(tmp_path: Path, units: contend.Fabric) -> None:
    """An all-reduce of 1 GB by rings takes 7/8 of a second over 25 GB/s, within servers first 3/4.

    Twice that is still the port's.
    """
    path = tmp_path / "all_reduce.txt"
    path.write_text(printed("all_reduce_perf", RANKS, {10**9: 1.4 * 0.75e9 / HDR}, redop="sum"))
    verdict = contend.explain(path, fabric=units).verdicts[0]
    assert verdict.limits == (Limit.PORT,)
    bound = verdict.evidence.bound(Limit.PORT)
    assert bound is not None
    assert bound.seconds == pytest.approx(0.75e9 / HDR)


def test_small_messages_are_latency(tmp_path: Path, units: contend.Fabric) -> None:
    path = tmp_path / "all_reduce.txt"
    seconds = {1024: 30e-6, 4096: 30e-6, 16384: 31e-6}
    path.write_text(printed("all_reduce_perf", RANKS, seconds, redop="sum"))
    found = contend.explain(path, fabric=units)
    assert {verdict.limits for verdict in found.verdicts} == {(Limit.OVERHEAD,)}
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
    assert found.verdicts[0].limits == (Limit.FABRIC,)
    remedy = found.remedies[0]
    assert "Routes by dmodk" in remedy.advice
    assert "--route dmodk" in remedy.command
    assert remedy.saves_s == pytest.approx(bound - 7 / 8 * 8e9 / HDR)


def test_a_slow_server_is_told_from_a_slow_network(tmp_path: Path) -> None:
    """Where all pairs with s3 get half it is named; where s1 - s2 alone does, no server is."""
    pairs = [(a, b) for a in NAMES for b in NAMES if a < b]
    for a, b in pairs:
        slow = 2.0 if "s3" in (a, b) else 1.0
        test = printed("sendrecv_perf", [a, a, b, b], {1 << 20: slow * 1e-3})
        (tmp_path / f"{a}-{b}.txt").write_text(test)
    remarks = contend.explain(tmp_path).remarks
    assert any(line.startswith("s3 is in each of the 3 slow pairs") for line in remarks)
    for a, b in pairs:
        slow = 2.0 if (a, b) == ("s1", "s2") else 1.0
        test = printed("sendrecv_perf", [a, a, b, b], {1 << 20: slow * 1e-3})
        (tmp_path / f"{a}-{b}.txt").write_text(test)
    remarks = contend.explain(tmp_path).remarks
    assert any("the network between them" in line for line in remarks)


def test_what_cannot_be_told_is_said(tmp_path: Path, units: contend.Fabric) -> None:
    path = tmp_path / "all_reduce.txt"
    path.write_text(printed("all_reduce_perf", [*RANKS, "s4"], {1 << 20: 1e-3}, redop="sum"))
    assert any("2 or 3 GPUs" in line for line in contend.explain(path, fabric=units).remarks)
    assert any("--fabric" in line for line in contend.explain(path).remarks)
    path.write_text(printed("all_reduce_perf", ["s1", "nobody"], {1 << 20: 1e-3}, redop="sum"))
    with pytest.raises(InputError, match="nobody"):
        contend.explain(path, fabric=units)
    with pytest.raises(UsageError, match="memory"):
        contend.explain(path, memory="1GiB")


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (" 1000.00 1.05", " often 1.05", r"all_reduce.txt:\d+: expected a time in microseconds"),
        ("Rank  1 ", "Rank  9 ", "expected a line of rank 1, got none"),
    ],
)
def test_damage_is_one_line(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    path = tmp_path / "all_reduce.txt"
    text = printed("all_reduce_perf", RANKS, {1 << 20: 1e-3}, redop="sum")
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=complaint):
        read_nccl_tests(path)


@given(st.binary(max_size=400), st.booleans())
def test_anything_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, noise: bytes, json_like: bool
) -> None:
    folder = tmp_path_factory.getbasetemp()
    path = folder / "noise"
    if json_like:
        path.write_bytes(b'{"results":[],"devices":' + noise)
    else:
        path.write_bytes(printed("all_reduce_perf", RANKS, {8: 1e-5}).encode() + noise)
    with contextlib.suppress(ContendError):
        read_nccl_tests(path)


def test_a_file_that_ends_before_its_times_says_what_was_expected(tmp_path: Path) -> None:
    """A job that was ended early leaves the heading and the ranks, or half of the JSON."""
    text = printed("alltoall_perf", ["a", "b"], {1 << 20: 1e-3})
    for name, content in (
        ("empty.txt", ""),
        ("cut.txt", "".join(text.splitlines(keepends=True)[:4])),
        ("cut.json", written("alltoall_perf", ["a", "b"], {1 << 20: 1e-3})[:60]),
    ):
        (tmp_path / name).write_text(content)
        with pytest.raises(InputError, match=f"{name}: expected .* output of nccl-tests with time"):
            contend.explain(tmp_path / name)
