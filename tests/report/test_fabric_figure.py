"""Drawings of networks: what is drawn and named, and what tooltips say."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

from contend.base.errors import UsageError
from contend.fabric import Fabric, make, switch_levels, tell_rails
from contend.report import Mark, fabric_figure, save_figure
from contend.report.fabric.layout import leveled
from contend.routes import all_to_all_load
from small_fabrics import (
    by_hand,
    crossbar,
    fat_tree,
    of_cables,
    ring,
    routed,
    three_level_tree,
    torus,
)

_SVG = "{http://www.w3.org/2000/svg}"


_FABRICS: list[Callable[[], Fabric]] = [
    lambda: crossbar(1),
    lambda: crossbar(40),
    lambda: fat_tree(3, 4, 2),
    lambda: fat_tree(3, 40, 2, parallel=3),
    lambda: ring(3, 1),
    lambda: torus((9, 9), 2),
    lambda: three_level_tree(12),
    lambda: make("chic"),
    lambda: make("torus:4x4x3"),
    lambda: make("hyperx:4x4"),
    lambda: make("hypercube:5"),
    lambda: make("dragonfly:2,4,2"),
    lambda: make("slimfly:5"),
    lambda: make("random:20,4,2"),
    lambda: make("benes:8"),
]


@pytest.mark.parametrize("made", _FABRICS, ids=lambda made: made().name)
@pytest.mark.parametrize("loaded", [False, True])
def test_every_fabric_is_drawn_whole(
    made: Callable[[], Fabric], loaded: bool, tmp_path: Path
) -> None:
    fabric = made()
    load = None
    if loaded:
        load = all_to_all_load(routed(fabric))
    figure = fabric_figure(fabric, load)
    path = tmp_path / "fabric.svg"
    save_figure(figure, path)
    switches, cables = _told(path)
    idle = [text.get_text() for text in _key(figure) if "not drawn" in text.get_text()]
    assert switches == fabric.switches or idle
    assert cables == fabric.cables or idle
    assert _covered(figure) == []


def _told(path: Path) -> tuple[int, int]:
    """How many switches and how many cables have tooltips of their own."""
    titles = [title.text or "" for title in ET.parse(path).getroot().iter(f"{_SVG}title")]
    switches = sum(bool(re.search(r"^level \d+, .* to switches$", t, re.MULTILINE)) for t in titles)
    cables = sum(len(re.findall(r"^.* port \d+ - .* port \d+", t, re.MULTILINE)) for t in titles)
    return switches, cables


def _key(figure: Figure) -> list[object]:
    return [text for legend in figure.legends for text in legend.get_texts()]


def _covered(figure: Figure) -> list[tuple[str, str]]:
    """Pairs of upright texts of which one covers a part of the other."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    texts = [t for t in figure.axes[0].texts if t.get_rotation() in (0, 90) and t.get_text()]
    boxes = [text.get_window_extent(renderer) for text in texts]
    spare = 0.06 * boxes[0].height if boxes else 0.0
    return [
        (texts[i].get_text(), texts[j].get_text())
        for i in range(len(boxes))
        for j in range(i)
        if boxes[i].x0 + spare < boxes[j].x1
        and boxes[j].x0 + spare < boxes[i].x1
        and boxes[i].y0 + spare < boxes[j].y1
        and boxes[j].y0 + spare < boxes[i].y1
    ]


def test_selene_is_read_by_groups(shared_data: Path, tmp_path: Path) -> None:
    import contend

    fabric = contend.load(shared_data / "selene.compute.ibnetdiscover.xz")
    figure = fabric_figure(fabric)
    path = tmp_path / "selene.svg"
    save_figure(figure, path)
    assert _told(path) == (666, 8511)
    assert _covered(figure) == []
    words = {text.get_text() for text in figure.axes[0].texts}
    assert {"LG01", "LG28", "CSPINE1", "CSPINE4", "CCORE1", "CCORE2", "MSPINE3-01"} <= words
    # Between the two groups of core switches and the four of spines: 4,449 cables of 4,480.
    assert {"555", "557", "560"} <= words
    # 25 leaves of each of eight rails; 29 faults stand over some.
    assert Counter(_rails_written(figure)) == {str(rail): 25 for rail in range(1, 9)}


def test_names_from_files_stay_text(tmp_path: Path) -> None:
    names = ["<b>&\"'", "</title><script>alert(1)</script>", "a\x1b[31m\x00b\ufffe", "x]]>\n$y$"]
    fabric = fat_tree(2, 2, 2)
    named = fabric.replace(switch_name=tuple(names), name="<i>&\x07")
    marks = [Mark("fault", "switch", switch, name) for switch, name in enumerate(names)]
    for suffix in (".svg", ".html"):
        path = tmp_path / f"fabric{suffix}"
        save_figure(fabric_figure(named, marks=marks), path)
        text = path.read_text()
        assert "<script>alert" not in text
        assert "\x1b" not in text
        assert "\x00" not in text
        if suffix == ".svg":
            titles = [title.text or "" for title in ET.fromstring(text).iter(f"{_SVG}title")]
            assert "<a " not in text
            for name in names[:2]:
                assert any(title.startswith(name) for title in titles)


def test_busiest_line_is_drawn_last_in_the_darkest_colour() -> None:
    fabric = fat_tree(4, 2, 2)
    load = np.zeros(2 * fabric.cables, dtype=np.uint64)
    load[3], load[8] = 10, 40  # Cable 1 down, cable 4 up.
    figure = fabric_figure(fabric, load)
    lines = next(c for c in figure.axes[0].collections if isinstance(c, PathCollection))
    brightness = np.asarray(lines.get_edgecolor())[:, :3].sum(axis=1)
    assert brightness[-1] < brightness[-2] < brightness[0]
    # Cable 4 joins leaf 2 and the first top switch.
    place = leveled(fabric, np.maximum(switch_levels(fabric), 1), 7.0).place
    ends = np.asarray(lines.get_paths()[-1].vertices)
    assert len(np.unique(place[[2, 4], 1])) == len(np.unique(ends[:, 1])) == 2
    urls = lines.get_urls()
    assert urls[-1] is not None
    assert "40 routes there" in urls[-1]
    assert "no route" in [text.get_text() for text in figure.legends[0].get_texts()]


def test_hot_channels_are_named_with_their_ports() -> None:
    fabric = fat_tree(4, 2, 2)
    load = np.zeros(2 * fabric.cables, dtype=np.uint64)
    load[8], load[3] = 40, 10
    texts = [text.get_text() for text in fabric_figure(fabric, load).axes[0].texts]
    ends = fabric.channel_ends(8)
    hot = next(text for text in texts if text.startswith("1  hot: 40 routes"))
    for name, port in (re.findall(r'"(.*)" port (\d+)', end)[0] for end in ends):
        assert f"{name} port {port}" in hot
    assert "1" in texts
    assert any(text.startswith("2  hot: 10 routes") for text in texts)


@pytest.mark.parametrize("spec", ["xgft:2;8,8;1,4", "xgft:2;18,60;1,18"])
def test_a_slow_cable_has_the_darkest_line(spec: str, tmp_path: Path) -> None:
    """All cables carry as much; the one of 1xSDR needs a hundred times as long at 4xHDR."""
    fabric = make(spec)
    slow = fabric.cable_rate.copy()
    slow[5] = len(fabric.rates)
    fabric = fabric.replace(cable_rate=slow, rates=(*fabric.rates, "1xSDR"))
    load = np.full(2 * fabric.cables, 7, dtype=np.uint64)
    figure = fabric_figure(fabric, load)
    texts = [text.get_text() for text in figure.axes[0].texts]
    (hot,) = (text for text in texts if " hot: " in text)
    assert hot.startswith("1  hot: 7 routes at 1xSDR, as long as 700 at 4xHDR: ")
    lines = next(c for c in figure.axes[0].collections if isinstance(c, PathCollection))
    brightness = np.asarray(lines.get_edgecolor())[:, :3].sum(axis=1)
    assert brightness[-1] < brightness[:-1].min() - 0.5
    assert "needs" in figure.get_suptitle()
    assert figure.axes[1].get_ylabel().startswith("heat over the hottest channel")
    assert "heat: routes over rate, as at 4xHDR" in [
        text.get_text() for text in figure.legends[0].get_texts()
    ]
    path = tmp_path / "slow.svg"
    save_figure(figure, path)
    titles = [title.text or "" for title in ET.parse(path).getroot().iter(f"{_SVG}title")]
    assert sum("1xSDR: 7 routes there, 7 back, as long as 700 at 4xHDR" in t for t in titles) == 1


def test_even_loads_have_no_hot_channel() -> None:
    fabric = fat_tree(4, 2, 2)
    load = np.ones(2 * fabric.cables, dtype=np.uint64)
    texts = [text.get_text() for text in fabric_figure(fabric, load).axes[0].texts]
    assert not any("hot" in text for text in texts)


@pytest.mark.parametrize("spec", ["xgft:2;4,6;1,4", "chic"])
def test_slow_cables_are_marked_and_named(spec: str, tmp_path: Path) -> None:
    fabric = make(spec)
    rate = fabric.cable_rate.copy()
    rate[5] = len(fabric.rates)
    slow = fabric.replace(cable_rate=rate, rates=(*fabric.rates, "1xSDR"))
    figure = fabric_figure(slow)
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert "A" in texts
    start, end = slow.channel_ends(10)
    named = next(text for text in texts if text.startswith("A  fault: "))
    assert start in named
    assert end in named
    assert "1 fault marked" in figure.get_suptitle()
    path = tmp_path / "slow.svg"
    save_figure(figure, path)
    titles = [title.text or "" for title in ET.parse(path).getroot().iter(f"{_SVG}title")]
    assert sum("1xSDR, where similar links run at" in title for title in titles) == 1


def test_cable_back_to_its_switch_is_a_fault() -> None:
    fabric = fat_tree(3, 2, 2)
    port = int(fabric.switch_ports.max())
    looped = fabric.replace(
        switch_ports=np.full(fabric.switches, port + 2, dtype=np.uint16),
        cable_from=np.append(fabric.cable_from, 0).astype(np.uint32),
        cable_to=np.append(fabric.cable_to, 0).astype(np.uint32),
        cable_from_port=np.append(fabric.cable_from_port, port + 1).astype(np.uint16),
        cable_to_port=np.append(fabric.cable_to_port, port + 2).astype(np.uint16),
        cable_rate=np.append(fabric.cable_rate, 1).astype(np.uint16),
    )
    texts = [text.get_text() for text in fabric_figure(looped).axes[0].texts]
    assert any("leads back to its switch" in text for text in texts)


def _with_stub() -> Fabric:
    """Two switches of one host each, and switch 1 behind the first, which leads nowhere."""
    return by_hand(
        "stub", [["a"], [], ["b"]], [(0, 3, 1, 1), (0, 4, 2, 2)], switches=["leaf", "stub", "end"]
    )


def test_idle_switches_are_grey_unless_used() -> None:
    fabric = _with_stub()
    assert "idle switch" in {text.get_text() for text in _key(fabric_figure(fabric))}
    load = np.zeros(4)
    load[1] = 1
    assert "idle switch" not in {text.get_text() for text in _key(fabric_figure(fabric, load))}


def test_adapters_on_other_rails_are_marked() -> None:
    """Server 1 of four has its first two adapters swapped."""
    fabric = make("rails:1,4,4,2")
    at = fabric.host_switch.copy()
    at[:2] = at[1::-1]
    figure = fabric_figure(fabric.replace(host_switch=at))
    told = [text.get_text() for text in figure.axes[0].texts if "fault: " in text.get_text()]
    assert told == [
        "A  fault: server 1 rail 1: on a leaf of rail 2, not 1",
        "B  fault: server 1 rail 2: on a leaf of rail 1, not 2",
    ]
    assert "2 faults marked" in figure.get_suptitle()


def test_networks_that_are_too_large_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contend.report.fabric.network.MOST_HOSTS", 7)
    with pytest.raises(
        UsageError, match=r"has 8 hosts\. Networks of more than 20,000 hosts are not"
    ):
        fabric_figure(fat_tree(4, 2, 2))


def test_title_says_the_finding() -> None:
    fabric = fat_tree(4, 2, 2)
    load = np.ones(2 * fabric.cables, dtype=np.uint64)
    load[0] = 17  # The mean is (15 + 17) / 16 = 2.
    title = fabric_figure(fabric, load).get_suptitle()
    assert title.replace("\n", " ") == (
        "fat tree: the hottest channel of an all-to-all carries 8.5 times the mean"
    )
    assert "8 hosts, 6 switches, 8 cables" in fabric_figure(fabric).get_suptitle()


def test_missing_cables_are_marked_where_no_loads_are() -> None:
    short = of_cables(make("xgft:2;4,4;1,4"), slice(-1))
    figure = fabric_figure(short)
    texts = [text.get_text() for text in figure.axes[0].texts]
    [told] = [text for text in texts if text.startswith("A  fault: ")]
    assert "no cable joins them, where similar pairs have 1" in told
    assert "1 fault marked" in figure.get_suptitle()
    loaded = fabric_figure(short, np.ones(2 * short.cables))
    assert not any("fault" in text.get_text() for text in loaded.axes[0].texts)


def _rails_written(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts if text.get_color() == "white"]


def test_leaves_say_their_rail(tmp_path: Path) -> None:
    """In units of four rails; by a file that tells another order, in that."""
    fabric = make("rails:2,4,4,2")
    figure = fabric_figure(fabric)
    assert _rails_written(figure) == ["1", "2", "3", "4"] * 2
    assert "number in a switch: its rail" in {text.get_text() for text in _key(figure)}
    path = tmp_path / "rails.svg"
    save_figure(figure, path)
    titles = [title.text or "" for title in ET.parse(path).getroot().iter(f"{_SVG}title")]
    assert any("unit 2 leaf 3\n" in t and "level 1, rail 3, 4 hosts" in t for t in titles)
    file = tmp_path / "rails"
    file.write_text('* "rail 4" "rail 3" "rail 2" "rail 1"\n')
    assert _rails_written(fabric_figure(tell_rails(fabric, str(file)))) == ["4", "3", "2", "1"] * 2


@pytest.mark.parametrize("name", ["xgft:2;4,4;1,4", "rails:1,2,2,2", "rails:40,4,8,2"])
def test_only_what_knows_rails_says_them(name: str) -> None:
    """Hosts of their own; two hosts a leaf, which tell nothing; 320 leaves in groups, which do."""
    figure = fabric_figure(make(name))
    said = "number in a switch: its rail" in {text.get_text() for text in _key(figure)}
    assert said is bool(_rails_written(figure))
    assert said is (name == "rails:40,4,8,2")
    assert _covered(figure) == []
