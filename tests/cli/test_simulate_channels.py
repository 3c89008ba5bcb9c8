"""`contend simulate` on single channels: who loads one, and what ports counted beside it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from cli.conftest import Simulate
from contend.fabric import make
from contend.routes import load
from contend.routes import save as save_topology


def test_who_loads_a_channel(simulate: Simulate, tmp_path: Path) -> None:
    """Host 1 alone sends over the first uplink of its leaf when all send four places on."""
    told, drawn = tmp_path / "told.json", tmp_path / "drawn.svg"
    shift = ("fig1", "--pattern", "shift:4", "--placement", "linear")
    status, out, err = simulate(*shift, "--channel", "leaf 1:5", "--json", told, "--plot", drawn)
    assert (status, err) == (0, "")
    assert out.splitlines()[:2] == [
        'switch "leaf 1" port 5 -> switch "top 1" port 1 carries 1 message per round, from host '
        '"1" alone to host "5" alone.',
        'switch "top 1" port 1 -> switch "leaf 1" port 5 carries 1 message per round, from host '
        '"13" alone to host "1" alone.',
    ]
    assert "12 of 240 routes between hosts (5.0 %) lead there" in out
    up, _ = json.loads(told.read_text())["channels"]
    assert (up["messages_per_round"], up["routes"], up["routes_in_all"]) == (1, 12, 240)
    assert [leaf["name"] for leaf in up["to_leaves"]] == ["leaf 2", "leaf 3", "leaf 4"]
    assert [leaf["share"] for leaf in up["to_leaves"]] == [1, 0, 0]
    assert [host["routes_share"] for host in up["from_hosts"]] == [0.25] * 4
    assert "share of the routes there" in drawn.read_text()


def test_a_channel_that_this_pattern_does_not_use(simulate: Simulate) -> None:
    """No host of leaf 1 sends to another leaf where all send to their neighbour on it."""
    status, out, _ = simulate("fig1", "--pattern", "ring", "--hosts", "4", "--channel", "1")
    assert status == 0
    status, out, _ = simulate(
        *("fig1", "--pattern", "ring", "--hosts", "4", "--channel", "leaf 1:5")
    )
    assert (status, out.splitlines()[0]) == (
        0,
        'switch "leaf 1" port 5 -> switch "top 1" port 1: no route between these hosts leads '
        "there.",
    )
    status, out, _ = simulate(
        *("fig1", "--pattern", "shift:1", "--placement", "linear", "--channel", "leaf 1:7")
    )
    assert out.splitlines()[0] == (
        'switch "leaf 1" port 7 -> switch "top 2" port 1 carries nothing here; 12 of 240 routes '
        "between hosts (5.0 %) lead there."
    )


def test_what_ports_counted_beside_what_is_predicted(simulate: Simulate, tmp_path: Path) -> None:
    """All 32 channels alike but one with four times as much: 4 / 35 of all bytes, not 1 / 32."""
    counters = Path(__file__).parents[1] / "data" / "counters"
    told, drawn = tmp_path / "told.json", tmp_path / "drawn.svg"
    fig1 = (counters / "fig1.ibnetdiscover", "--route", "updn", "--pattern", "alltoall")
    files = [counters / "fig1.counters.ibqueryerrors", counters / "fig1.data.ibqueryerrors"]
    options = [word for file in files for word in ("--counters", file)]
    status, out, err = simulate(*fig1, *options, "--json", told, "--plot", drawn)
    assert (status, err) == (0, "")
    said = json.loads(told.read_text())["counters"]
    assert out.splitlines()[0] == (
        "32 channels of 32 between switches have counters; rank correlation with what alltoall "
        "predicts: undefined, as one of the two is the same everywhere; busiest now: "
        'switch "S0" port 5 -> switch "S4" port 1 with 11.4 % of all bytes, '
        "3.66 times the 3.12 % predicted."
    )
    hot = max(said["channels"], key=lambda channel: channel["share"])
    assert hot["share"] == pytest.approx(4 / 35, rel=1e-4)
    assert hot["predicted"] == 1 / 32
    assert hot["waited"] == 12000
    assert (said["ports"], said["unknown"], said["rank_correlation"]) == (64, 0, None)
    assert "share of the bytes that ports counted" in drawn.read_text()
    # The same again is what nothing was sent in between looks like.
    same = ("--counters", files[0], "--before", files[0], "--interval", "10s")
    status, out, _ = simulate(*fig1, *same)
    assert out.splitlines()[0] == (
        "The counters of 32 channels between switches say that nothing was sent."
    )


def _slow(path: Path) -> Path:
    """Eight leaves under four tops at 4xHDR, but the cable from leaf 3 to top 3 at 1xSDR."""
    fabric = make("xgft:2;8,8;1,4")
    ends = list(zip(fabric.cable_from.tolist(), fabric.cable_to.tolist(), strict=True))
    names = [tuple(fabric.switch_name[end] for end in both) for both in ends]
    rate = fabric.cable_rate.copy()
    rate[names.index(("leaf 3", "top 3"))] = len(fabric.rates)
    slow = fabric.replace(cable_rate=rate, rates=(*fabric.rates, "1xSDR"))
    save_topology(slow, path, "ibnetdiscover")
    return path


def test_a_slow_cable_is_the_hottest_channel(simulate: Simulate, tmp_path: Path) -> None:
    """Each uplink carries 8 x 56 / 4 = 112 messages of an all-to-all; 1xSDR is 4xHDR over 100."""
    net, told, page = _slow(tmp_path / "net"), tmp_path / "told.json", tmp_path / "net.svg"
    alltoall = (net, "--route", "minhop", "--pattern", "alltoall")
    drawing = ("--picture", "network", "--plot", page)
    status, out, err = simulate(*alltoall, "--channel", "hottest", "--json", told, *drawing)
    assert (status, err) == (0, "")
    assert out.startswith(
        'switch "leaf 3" port 11 -> switch "top 3" port 3 carries 112 messages per round at 1xSDR, '
        "which take as long as 11,200 at the fastest port, from 8 hosts on leaf "
    )
    assert re.search(r"11,200.00 +112.00 +1xSDR +switch \"leaf 3\" port 11 -> switch", out)
    assert "Heat is load over rate" in out
    said = json.loads(told.read_text())
    first, second, third = said["hottest_channels"][:3]
    assert [first[key] for key in ("messages_per_round", "heat", "rate")] == [112, 11200, "1xSDR"]
    assert (second["heat"], third["heat"], third["rate"]) == (11200, 112, "4xHDR")
    assert said["heat_unit"] == "4xHDR"
    assert said["channels"][0]["heat"] == 11200
    drawn = page.read_text()
    assert "hot: 112 messages at 1xSDR, as long as 11,200 at 4xHDR: leaf 3 port 11" in drawn
    # Counted alike it is like the others.
    status, out, _ = simulate(*alltoall, "--equal-rates", "--channel", "hottest", "--json", told)
    assert (
        'switch "leaf 1" port 9 -> switch "top 1" port 1 carries 112 messages per round, from'
        in out
    )
    said = json.loads(told.read_text())
    assert (said["heat_unit"], said["hottest_channels"][0]["heat"]) == ("", 112)


def test_the_hottest_counted_channel_is_the_busiest(simulate: Simulate, tmp_path: Path) -> None:
    """96 % of 0.25 GB/s beside 48 % of 25, and a hundredth of the bytes."""
    net, now, told = _slow(tmp_path / "net"), tmp_path / "now", tmp_path / "told.json"
    fabric = load(str(net))
    sent = np.full(fabric.cables, 3_000_000_000)
    sent[[fabric.rates[rate] == "1xSDR" for rate in fabric.cable_rate.tolist()]] = 60_000_000
    lines = [
        f"   GUID {int(fabric.switch_guid[switch]):#x} port {port}: [PortXmitData == {words}]\n"
        for words, ends in zip(sent.tolist(), fabric.cable_ends(), strict=True)
        for switch, port in (ends[:2], ends[2:])
    ]
    now.write_text("".join(lines))
    before = tmp_path / "before"
    before.write_text(re.sub(r"== \d+", "== 0", now.read_text()))
    counted = ("--counters", now, "--before", before, "--interval", "1s", "--json", told)
    status, out, err = simulate(net, "--route", "minhop", "--pattern", "alltoall", *counted)
    assert (status, err) == (0, "")
    assert 'hottest now, at 1xSDR: switch "leaf 3" port 11 -> switch "top 3" port 3' in out
    assert "PortXmitData and its like are taken as words of 4 bytes" in " ".join(out.split())
    said = json.loads(told.read_text())["counters"]
    hot = max(said["channels"], key=lambda channel: channel["heat"])
    assert (hot["rate"], hot["busy"], hot["heat"]) == ("1xSDR", 0.96, 100 * hot["bytes"])
    assert said["units"] == {"PortXmitData": 4}
    assert (said["compared"], said["fourfold"], said["full"]) == (0, 0, 0)
    # In a tenth of the time that is more than links carry.
    status, out, _ = simulate(
        *(net, "--route", "minhop", "--pattern", "alltoall"), *counted[:4], "--interval", "100ms"
    )
    assert "64 channels carried more than the link can" in out
    assert "9.6 times as much: the interval or the unit is wrong" in out


def test_a_source_that_passes_words_for_bytes_is_told(simulate: Simulate, tmp_path: Path) -> None:
    counters = Path(__file__).parents[1] / "data" / "counters"
    tool = counters / "fig1.counters.ibqueryerrors"
    metrics = (("transmit", "Xmit"), ("receive", "Rcv"))
    old = tmp_path / "old.prom"
    old.write_text(
        "".join(
            f"infiniband_switch_port_{way}_data_bytes_total"
            f'{{guid="{guid}",port="{port}"}} {words}\n'
            for way, name in metrics
            for guid, port, words in re.findall(
                rf"GUID (0x2\w+) port (\d+):.*\[Port{name}Data == (\d+)", tool.read_text()
            )
        )
    )
    fig1 = (counters / "fig1.ibnetdiscover", "--route", "updn", "--pattern", "alltoall")
    told = tmp_path / "told.json"
    status, out, _ = simulate(*fig1, "--counters", old, "--counters", tool, "--json", told)
    assert status == 0
    assert (
        "On 32 of 32 channels with two counters one is four times the other: a source counts words "
        "of four bytes as bytes, as old exporters do (taken here: PortXmitData as words of 4 "
        "bytes, infiniband_switch_port_transmit_data_bytes as bytes)."
    ) in out.splitlines()[0]
    said = json.loads(told.read_text())["counters"]
    assert (said["compared"], said["fourfold"]) == (32, 32)
    # What the tools count comes first.
    assert max(channel["bytes"] for channel in said["channels"]) > 47e9
    status, out, _ = simulate(*fig1, "--counters", tool)
    assert "four times" not in out
