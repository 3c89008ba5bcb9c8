"""``contend fabric show``, ``check`` and ``draw`` as a user runs them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contend.cli.app import run
from contend.fabric import Fabric
from contend.routes import (
    NO_PORT,
    ForwardingTables,
    Repair,
    RepairFigure,
    check,
    loading,
    tables_of,
)
from small_fabrics import fat_tree, of_cables, routed, torus, two_planes, unequal_planes
from typed_commands import Typed


@pytest.fixture(autouse=True)
def _named_fabrics(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some names are fabrics; how files are read is tested elsewhere."""
    bare = fat_tree(4, 4, 2)
    ports = tables_of(routed(bare)).ports.copy()
    ports[0, 6] = NO_PORT
    broken = bare.replace(routes=ForwardingTables(ports))
    fabrics = {"bare": bare, "routed": routed(bare), "broken": broken}
    fabrics |= {
        "short": of_cables(bare, slice(-1)),
        "planes": two_planes(),
        "unequal": unequal_planes(),
        "large": torus((8, 8, 8)),
    }

    def load(source: str, **options: Any) -> Fabric:
        return fabrics[source]

    monkeypatch.setattr(loading, "load", load)
    monkeypatch.setenv("COLUMNS", "120")


def test_show(typed: Typed) -> None:
    out = typed("fabric show routed").out
    # 4 leaves with 4 hosts and 2 cables up: half bisection.
    assert "50.0 %" in out
    assert "2.00 : 1" in out
    assert "Routes per channel" in out


def test_show_lists_the_parts(typed: Typed) -> None:
    rows = [line.split() for line in typed("fabric show planes").out.splitlines()]
    assert [row[:4] + row[-2:] for row in rows if row[-1:] in (["mlx5_0"], ["mlx5_1"])] == [
        ["1", "8", "6", "8", "node1", "mlx5_1"],
        ["2", "6", "5", "6", "node1", "mlx5_0"],
    ]
    structure = json.loads(typed("fabric show planes --json -").out)["structure"]
    first = {"number": 1, "hosts": 8, "switches": 6, "cables": 8, "host": "node1 mlx5_1"}
    assert structure["parts"] == 2
    assert structure["each_part"][0] == first


def test_show_rates_chosen_hosts(typed: Typed) -> None:
    """All on one leaf: no cable is between them, and their own links carry all that they send."""
    result = json.loads(
        typed("fabric show bare --hosts", "host 0,host 1,host 2", "--json", "-").out
    )
    assert (result["rated_hosts"], result["bisection"]["share"]) == (3, 1)


def test_planes_are_rated_each_by_itself(typed: Typed) -> None:
    shown = " ".join(typed("fabric show unequal").out.split())
    assert "rated bisection 0.0 % no cable joins the 2 parts of the network, shown below" in shown
    assert "1 8 4 8 100.0 % 100.0 % host 0" in shown
    assert "2 8 4 4 50.0 %" in shown


def test_what_is_not_proved_says_at_most(typed: Typed) -> None:
    shown = " ".join(typed("fabric show large").out.split())
    assert "50.0 % at most: the narrowest cut found (128 cables) carries" in shown
    shown = " ".join(typed("fabric show bare").out.split())
    assert "50.0 % the narrowest cut (4 cables) carries" in shown


def test_check_passes(typed: Typed) -> None:
    said = typed("fabric check routed").out.splitlines()[0]
    assert said.endswith(" is sound: 16 checks passed.")


def test_what_could_not_be_checked_is_said_with_the_reason(typed: Typed) -> None:
    said = typed("fabric check bare").out.splitlines()[0]
    assert said.endswith("Not checked: routes (there are no forwarding tables).")


def test_a_missing_cable_is_a_warning(typed: Typed, tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    out = typed("fabric check short --json", target).out
    words = (
        'switch "switch 3" and switch "switch 5": no cable joins them, where similar pairs have 1; '
        "switch 3:6 - switch 5:4"
    )
    assert words in " ".join(out.split())
    said = (
        "works, but the cable switch 3:6 - switch 5:4 is missing. With 1 cable more and routes by "
        "contend, all-to-all would get 62.5 % of what ports allow instead of 31.2 %. Not checked: "
    )
    assert said in out.splitlines()[0]
    repair = json.loads(target.read_text())["repair"]
    assert (repair["cables"], repair["adapters"], repair["not_counted"]) == (1, 0, "")
    assert repair["figures"][0]["after"] == 2 * repair["figures"][0]["before"] == 0.625
    checks = {check["name"]: check for check in json.loads(target.read_text())["checks"]}
    assert checks["missing cables"]["status"] == "warning"
    assert checks["missing cables"]["details"] == [words]


@pytest.mark.parametrize(
    ("shares", "said"),
    [
        (
            {"alltoall": (0.3, 0.5, None), "bisect": (0.6, 0.597, None)},
            "2 cables more and routes by minhop, alltoall would get 50.0 % of what ports allow "
            "instead of 30.0 %",
        ),
        (
            {"alltoall": (0.3, 0.5, None), "bisect": (0.6, 0.5, None)},
            "alltoall would get 50.0 % of what ports allow instead of 30.0 %; bisect would get "
            "less, 50.0 % of a link's rate instead of 60.0 %",
        ),
        (
            {"alltoall": (0.3, 0.5, 0.7), "bisect": (0.6, 0.6, 0.8)},
            "50.0 % of what ports allow instead of 30.0 %; the tables in use give 70.0 % now",
        ),
        (
            {"2 * ring": (1.0, 1.0, 1.0), "2 * alltoall": (0.8, 0.8, 0.3)},
            "collectives of GPUs get no more than by minhop without. Routes by minhop alone let "
            "2 * alltoall get 80.0 % instead of 30.0 % by the tables in use",
        ),
    ],
)
def test_what_a_repair_takes_and_what_routes_alone_give_is_said(
    shares: dict[str, tuple[float, float, float | None]], said: str
) -> None:
    figures = tuple(
        RepairFigure(
            name=name,
            pattern=name,
            before=before,
            after=after,
            before_Bps=None,
            after_Bps=None,
            in_use=in_use,
        )
        for name, (before, after, in_use) in shares.items()
    )
    repair = Repair(cables=2, adapters=0, engine="minhop", figures=figures, not_counted="")
    checked = replace(check(fat_tree(4, 4, 2)), repair=repair)
    verdict, [*_, table] = checked.document().verdict, checked.document().tables
    assert f"{said}. Not checked" in verdict
    assert ("tables in use" in table.columns) == any(three[2] for three in shares.values())


def test_check_names_what_is_wrong(typed: Typed, tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    captured = typed("fabric check broken --json", target, status=1)
    assert 'switch "switch 0" has no port for host "host 5" (LID 6)' in captured.out
    assert captured.err == "contend: fat tree fails: arrival, missing entries\n"
    said = " checks: arrival (4 of 240 routes between hosts do not arrive); "
    assert captured.out.startswith("fat tree fails 2 of ")
    assert said in captured.out.splitlines()[0]
    assert json.loads(target.read_text())["passed"] is False


def test_lanes_decide_about_a_cycle(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    # Three leaves route over each other in a circle.
    three = fat_tree(3, 1, 3)
    ports = np.full((6, 10), NO_PORT, dtype=np.uint16)
    for leaf in range(3):
        here, there, after = leaf, (leaf + 1) % 3, (leaf + 2) % 3
        ports[here, here + 1] = 1
        # To the next leaf by top `leaf`; to the one after by way of the next leaf.
        ports[here, there + 1] = 2 + leaf
        ports[here, after + 1] = 2 + leaf
        ports[3 + leaf, [there + 1, after + 1]] = 1 + there
    looped = three.replace(routes=ForwardingTables(ports))
    monkeypatch.setattr(loading, "load", lambda source, **options: looped)
    assert "warning" in typed("fabric check looped").out
    assert "fails: deadlock" in typed("fabric check looped --no-lanes", status=1).err


def test_draw(tmp_path: Path) -> None:
    for name, arguments in (
        ("plain.svg", ["bare"]),
        ("loaded.png", ["routed", "--loads"]),
        ("pairs.pdf", ["--alltoall", "9,18,36"]),
        ("page.html", ["bare"]),
    ):
        assert run(["fabric", "draw", *arguments, "--plot", str(tmp_path / name)]) == 0
        assert (tmp_path / name).stat().st_size > 1000


@pytest.mark.parametrize("command", ["show", "check"])
@pytest.mark.parametrize("fabric", ["bare", "routed"])
def test_summaries_draw_the_fabric(command: str, fabric: str, tmp_path: Path) -> None:
    figure = tmp_path / "fabric.svg"
    assert run(["fabric", command, fabric, "--plot", str(figure)]) == 0
    text = figure.read_text()
    assert text.count("<title>") == 6 + 8  # switches, and pairs of them
    assert (" routes there" in text) == (command == "show" and fabric == "routed")
    assert run(["fabric", command, fabric, "--plot", str(tmp_path / "fabric.jpg")]) == 2


def test_a_page_needs_no_routes(tmp_path: Path) -> None:
    """The network is there to look into though nothing says what cables carry."""
    page = tmp_path / "net.html"
    assert run(["fabric", "page", "bare", "-o", str(page)]) == 0
    assert "explorer" in page.read_text()
