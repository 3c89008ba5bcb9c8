"""NCCL's own rings and trees, from files made by hand in the form that it writes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import contend
from contend.base.errors import InputError, UsageError
from contend.congestion import simulate
from contend.cure import place
from contend.traffic.pattern import parse
from contend.traffic.pattern.nccl_graph import holds_nccl_graphs

Pairs = list[tuple[int, int]]


def channel(enters: int | str, leaves: int | str, gpus: int = 2) -> str:
    inside = "".join(f'<gpu dev="{gpu}"/>' for gpu in range(gpus))
    return f'<channel>\n<net dev="{enters}"/>{inside}<net dev="{leaves}"/>\n</channel>\n'


def graph(pattern: int, *channels: str, crossnic: int = 0, said: int | None = None) -> str:
    count = len(channels) if said is None else said
    return (
        f'<graph id="0" pattern="{pattern}" crossnic="{crossnic}" nchannels="{count}" '
        f'speedintra="20" speedinter="20" typeintra="NVL" typeinter="PIX">\n'
        f"{''.join(channels)}</graph>\n"
    )


def written(folder: Path, *graphs: str) -> str:
    path = folder / "graph.xml"
    path.write_text(f'<graphs version="1">\n{"".join(graphs)}</graphs>\n')
    return f"file:{path}"


def pairs(spec: str, ranks: int, number: int = 0) -> Pairs:
    source, target = parse(spec, ranks).messages(number)
    return sorted(zip(source.tolist(), target.tolist(), strict=True))


@pytest.mark.parametrize("servers", [2, 3, 8, 13])
def test_rings_on_every_rail(servers: int, tmp_path: Path) -> None:
    """Eight channels that enter and leave by one adapter each: 8 * ring."""
    rails = [channel(rail, rail, 8) for rail in range(8)]
    spec = written(tmp_path, graph(4, *rails), graph(3, *rails))
    assert parse(spec, 8 * servers).rounds == 2
    assert pairs(spec, 8 * servers) == pairs("8 * ring", 8 * servers)
    assert pairs(f"{spec},ring", 8 * servers) == pairs(spec, 8 * servers)
    assert pairs(f"{spec},tree", 8 * servers) == pairs(spec, 8 * servers, 1)


# Parents in the tree that NCCL draws: 0 - 8; 8 - 4, 12; 4 - 2, 6; 12 - 10, 13; and leaves below.
FOURTEEN = {1: 2, 2: 4, 3: 2, 4: 8, 5: 6, 6: 4, 7: 6, 8: 0, 9: 10, 10: 12, 11: 10, 12: 8, 13: 12}


def test_the_double_tree_of_an_even_number_is_mirrored(tmp_path: Path) -> None:
    spec = written(tmp_path, graph(3, channel(0, 0)))
    edges = [*FOURTEEN.items(), *((13 - child, 13 - up) for child, up in FOURTEEN.items())]
    assert pairs(spec, 14) == sorted([*edges, *((up, child) for child, up in edges)])


def test_the_double_tree_of_an_odd_number_is_shifted(tmp_path: Path) -> None:
    """Of five: 1 and 3 below 2, that below 4, that below 0; then everything one on."""
    spec = written(tmp_path, graph(3, channel(0, 0)))
    edges = [(1, 2), (3, 2), (2, 4), (4, 0), (2, 3), (4, 3), (3, 0), (0, 1)]
    assert pairs(spec, 5) == sorted([*edges, *((up, child) for child, up in edges)])


@pytest.mark.parametrize("servers", [4, 7, 16, 33])
def test_who_has_two_children_in_one_tree_has_none_in_the_other(
    servers: int, tmp_path: Path
) -> None:
    """So no server sends or gets more than three halves; the roots have one child."""
    spec = written(tmp_path, graph(3, channel(0, 0)))
    sent = Counter(source for source, _ in pairs(spec, servers))
    assert max(sent.values()) <= 4
    assert sum(sent.values()) == 4 * (servers - 1)


def test_two_servers(tmp_path: Path) -> None:
    """Both trees join them: each is once the root."""
    spec = written(tmp_path, graph(4, channel(0, 0)), graph(3, channel(0, 0)))
    assert pairs(spec, 2) == [(0, 1), (1, 0)]
    assert pairs(spec, 2, 1) == [(0, 1), (0, 1), (1, 0), (1, 0)]


@pytest.mark.parametrize(
    "comments", ["<!---->" * 500, "<!-- a -- b -->\n" * 500, "<!--" + "-" * 9000]
)
def test_any_number_of_comments_before_graphs_is_read_at_once(
    comments: str, tmp_path: Path
) -> None:
    """What is no end of a comment is not tried as one: each more would double the time."""
    path = tmp_path / "graph.xml"
    path.write_text(f"{comments}<graph/>")
    assert not holds_nccl_graphs(str(path))
    path.write_text(f"{comments}{'-->' * comments.endswith('---')}<graphs/>")
    assert holds_nccl_graphs(str(path))


def test_rings_leave_by_the_last_adapter_and_enter_by_the_first(tmp_path: Path) -> None:
    """Two channels of one file, two adapters a server: 0 in and 1 out, and the other way round."""
    spec = written(tmp_path, graph(4, channel(0, 1), channel(1, 0)))
    # Server s has ranks 2 s and 2 s + 1.
    assert pairs(spec, 6) == sorted([(1, 2), (3, 4), (5, 0), (0, 3), (2, 5), (4, 1)])


def test_every_other_server_swaps_channels_where_nics_cross(tmp_path: Path) -> None:
    """crossnic 2: what leaves server 0 by adapter 1 enters server 1, which swaps, by 1 too."""
    crossed = [channel(0, 1), channel(1, 0)]
    spec = written(tmp_path, graph(4, *crossed, crossnic=2))
    # Channel 0: server 0 has (0 in, 1 out), server 1 has (1 in, 0 out).
    assert pairs(spec, 8) == sorted(
        [(1, 3), (2, 4), (5, 7), (6, 0), (0, 2), (3, 5), (4, 6), (7, 1)]
    )
    # With an odd number of channels nobody swaps.
    spec = written(tmp_path, graph(4, *crossed, channel(0, 0), crossnic=2))
    assert (1, 2) in pairs(spec, 8)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        # Servers 0 to 3 by adapters 0 and 1 (ranks 2 s and 2 s + 1). In the first tree 2 is the
        # second child of 0, 1 the first and 3 the second of 2; the other is its mirror.
        (3, [(4, 0), (2, 4), (6, 4), (2, 6), (4, 2), (0, 2)]),
        # First children meet their parent at its second adapter.
        (1, [(4, 0), (2, 5), (6, 4), (2, 6), (4, 3), (0, 2)]),
        # All children do.
        (2, [(4, 1), (2, 5), (6, 5), (2, 7), (4, 3), (0, 3)]),
    ],
)
def test_trees_meet_their_parents_where_their_pattern_says(
    kind: int, expected: Pairs, tmp_path: Path
) -> None:
    spec = written(tmp_path, graph(kind, channel(0, 1)))
    both = expected + [(target, source) for source, target in expected]
    assert pairs(spec, 8) == sorted(both)
    # One GPU has one adapter.
    alone = written(tmp_path, graph(kind, channel(0, 1, gpus=1)))
    assert {end % 2 for pair in pairs(f"{alone},rails=2", 8) for end in pair} == {0}


def test_other_graphs_are_left_out_and_hexadecimals_read(tmp_path: Path) -> None:
    nvls = graph(5, "<channel>\n<gpu dev='0'/></channel>")
    spec = written(tmp_path, graph(4, channel("0", "0x1", 1)), nvls)
    assert pairs(spec, 4) == [(1, 2), (3, 0)]


def test_the_file_of_four_adapters() -> None:
    """Two channels of rings that swap, two of trees by the first and the last two adapters."""
    file = Path(__file__).parents[2] / "data" / "rails" / "server.graph.xml"
    spec = f"file:{file}"
    rounds = [pairs(spec, 12, number) for number in range(parse(spec, 12).rounds)]
    # Servers 0, 1 and 2 from ranks 0, 4 and 8 on; the middle one swaps, so 2 and 0 do not agree.
    assert rounds[0] == sorted([(1, 5), (4, 8), (9, 0), (0, 4), (5, 9), (8, 1)])
    # Two edges of each tree, both trees, both channels, both ways.
    assert len(rounds[1]) == 16
    assert {end % 4 for pair in rounds[1] for end in pair} == {0, 1, 2, 3}


def test_adapters_in_no_channel(tmp_path: Path) -> None:
    spec = written(tmp_path, graph(4, channel(0, 0), channel(2, 2)))
    assert pairs(f"{spec},rails=4", 8) == [(0, 4), (2, 6), (4, 0), (6, 2)]
    with pytest.raises(UsageError, match="ranks of two or more servers of 3 adapters, got 8"):
        parse(spec, 8)
    with pytest.raises(UsageError, match="at least 3 rails, as channels have them, got 2"):
        parse(f"{spec},rails=2", 8)
    with pytest.raises(UsageError, match="two or more servers of 4 adapters, got 4"):
        parse(f"{spec},rails=4", 4)
    with pytest.raises(UsageError, match=r"a graph of a tree in .*graph\.xml, got none"):
        parse(f"{spec},tree", 6)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("<graphs></graphs>", r"graph\.xml: expected channels of a ring or tree .*, got none"),
        ("<graphs><graph", r":1: expected well-formed XML, got"),
        ("<graphs>\n<ring/></graphs>", r":2: expected <graph>, as NCCL_GRAPH_DUMP_FILE has it"),
        ("<graphs>\n<graph pattern='4'/></graphs>", r":2: expected a number as nchannels, got ''"),
        (graph(4, channel(0, 0), said=2), r":1: expected 2 channels, as nchannels has it, got 1"),
        (graph(4, channel("", 0)), r":3: expected a number as dev of a <net>, got ''"),
        (graph(4, channel(256, 0)), r":3: expected adapters below 256, got 256"),
        (graph(4, channel("0x100000000000001", 0)), "expected adapters of one server"),
        (graph(4, "<channel><gpu dev='0'/></channel>"), "expected a <net> before and behind"),
        (
            graph(4, "<channel><gpu dev='0'/><net dev='0'/><net dev='0'/></channel>"),
            "expected a <net> before and behind",
        ),
        (graph(4, channel(0, 0, gpus=0)), r":2: expected a <gpu> in every channel, got none"),
        (graph(1, channel(0, 0)) + graph(2, channel(0, 0)), "expected trees of one pattern, 1"),
        ("<!DOCTYPE graphs><graphs/>", "graph.xml:1: expected"),
    ],
)
def test_what_is_no_graph_is_one_line(content: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "graph.xml"
    path.write_text(
        content
        if content.startswith("<graphs") or "DOC" in content
        else f"<graphs>{content}</graphs>"
    )
    with pytest.raises(InputError, match=said):
        parse(f"file:{path}", 8)


def test_messages_of_a_graph_on_a_fabric_and_the_order_of_its_servers(tmp_path: Path) -> None:
    """Rings that change rails at every server cross the spines, those on rails stay on leaves."""
    fabric = contend.load("rails:2,4,2,1", route="minhop")
    on_rails = written(tmp_path, graph(4, channel(0, 0), channel(1, 1)))
    straight = simulate(fabric, on_rails, placement="servers").round_max_congestion.tolist()
    assert (
        straight == simulate(fabric, "2 * ring", placement="servers").round_max_congestion.tolist()
    )
    better = place(on_rails, fabric, placement="round-robin")
    assert better.rails == 2
    assert better.after.busy == place("2 * ring", fabric, placement="round-robin").after.busy
    crossing = written(tmp_path, graph(4, channel(0, 1), channel(1, 0)))
    assert simulate(fabric, crossing, placement="servers").round_max_congestion[0] > straight[0]
