"""Every verdict's figure on a small uneven tree, held against a plain count of messages.

Routes are walked table by table, or spread by the definition; loads are counted for each channel;
a host that sends one message gets one over the fullest channel of its route, and a host that sends
several waits for its last one, which is done when the fullest channel of all is.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import contend
from contend.fabric import Fabric
from contend.routes import Ways, make_resolver
from counting import congestion, one_way_bisects, route
from exact_shares import exact_rates
from several_ways import by_any_switch, counted, sprayed
from typed_commands import Typed

Pairs = list[tuple[int, int]]
HDR = 25e9
TABLES = ("minhop", "dmodk", "contend")
SPLIT = {"spray": sprayed, "valiant": by_any_switch}
# Eight hosts on four leaves, one of the eight cables to two spines gone: so few that all random
# pairs can be counted.
TREE, GONE = "xgft:2;2,4;1,2", "leaf 2:3"
EVERY = list(permutations(range(8), 2))


@pytest.fixture(autouse=True)
def _in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _loaded(engine: str, *gone: str) -> Fabric:
    return contend.load(TREE, route=engine, without=gone or (GONE,))


def _slowness(fabric: Fabric, pairs: Pairs, draw: int | None = None) -> list[float]:
    """Times that each message takes as long as alone, while all others are sent too."""
    if fabric.routes.tables is not None:
        return [float(pi) for pi in congestion(fabric, pairs)]
    if (engine := fabric.routes.engine) in SPLIT:
        return counted(fabric, pairs, SPLIT[engine])[1].tolist()
    if engine == "adaptive":
        return (HDR / exact_rates(fabric, pairs)).tolist()
    assert draw is not None
    hosts = np.arange(fabric.hosts, dtype=np.uint32)
    source, target = np.array(pairs, np.uint32).T
    ways = make_resolver(fabric, hosts, follows=Ways.DRAWN).routes(source, target, draw)
    crossed = [set(way.ravel().tolist()) for way in ways]
    load = Counter(channel for each in crossed for channel in each)
    return [max(load[channel] for channel in each) for each in crossed]


def _share(fabric: Fabric, pairs: Pairs, draw: int | None = None) -> float:
    """What hosts get in a round: of several messages until the last is done."""
    slowness = _slowness(fabric, pairs, draw)
    sent = max(Counter(source for source, _ in pairs).values())
    if sent > 1:
        return sent / max(slowness)
    return sum(1 / times for times in slowness) / len(slowness)


def _shift(by: int, hosts: Sequence[int] = range(8)) -> Pairs:
    return [(host, hosts[(at + by) % len(hosts)]) for at, host in enumerate(hosts)]


def _random_pairs(fabric: Fabric) -> float:
    """The mean over all ways to pair all hosts."""
    every = list(one_way_bisects(range(fabric.hosts)))
    return sum(_share(fabric, pairs) for pairs in every) / len(every)


def _json(typed: Typed, *words: str | Path) -> Any:
    typed(*words, "--json", "out.json")
    return json.loads(Path("out.json").read_text())


@pytest.mark.parametrize("engine", [*TABLES, *SPLIT, "adaptive"])
def test_what_is_simulated(engine: str, typed: Typed) -> None:
    net = _loaded(engine)
    asked = f"simulate {TREE} --route {engine} --placement linear --pattern"
    near = {"rel": 6e-3 if engine == "adaptive" else 2e-3}
    one = _json(typed, f"{asked} shift:3 --without", GONE)["effective_bandwidth"]["mean"]
    assert one == pytest.approx(_share(net, _shift(3)), **near)
    each = _json(typed, f"{asked} alltoall --without", GONE)["each_host"]["share"]
    assert each == pytest.approx(_share(net, EVERY), **near)
    if engine in TABLES:
        pairs = _json(typed, f"simulate {TREE} --route {engine} --without", GONE)
        assert pairs["effective_bandwidth"]["mean"] == pytest.approx(_random_pairs(net))


def test_hashes_are_drawn_by_the_seed(typed: Typed) -> None:
    """Each sample by a number of its own, which the seed and the sample's number give."""
    net, draws = _loaded("ecmp"), [(5 * 0x9E3779B97F4A7C15 + n) % 2**64 for n in range(3)]
    asked = f"simulate {TREE} --route ecmp --placement linear --seed 5 --samples 3 --pattern"
    one = _json(typed, f"{asked} shift:3 --without", GONE)["effective_bandwidth"]["mean"]
    assert one == pytest.approx(np.mean([_share(net, _shift(3), draw) for draw in draws]))
    each = _json(typed, f"{asked} alltoall --without", GONE)["each_host"]["share"]
    assert each == pytest.approx(np.mean([_share(net, EVERY, draw) for draw in draws]))


@pytest.mark.parametrize("engine", [*TABLES, *SPLIT])
def test_collectives_and_engines(engine: str, typed: Typed) -> None:
    net = _loaded(engine)
    slowest = [max(_slowness(net, _shift(by))) for by in range(1, 8)]
    found = _json(typed, f"predict collectives {TREE} --route {engine} --without", GONE)
    shares = [one["share"] for one in found["operations"]]
    expected = [_share(net, EVERY), 7 / sum(slowest), 7 / sum(slowest), 1 / max(slowest)]
    assert shares[:4] == pytest.approx(expected, rel=2e-3)
    judged = _json(typed, f"fabric engines {TREE} --route {engine} --without", GONE)["engines"]
    by_name = {one["engine"]: one for one in judged}
    if engine in by_name:
        assert by_name[engine]["worst_shift"] == pytest.approx(expected[3], rel=2e-3)
        assert by_name[engine]["alltoall_bound"] == pytest.approx(expected[0], rel=2e-3)
    if engine in TABLES:
        assert by_name[engine]["bandwidth"] == pytest.approx(_random_pairs(net))


@pytest.mark.parametrize("engine", TABLES)
def test_schedules_take_their_steps_one_after_the_other(engine: str, typed: Typed) -> None:
    """A step takes 1.03 times the bytes over the rate, for each message of its fullest channel,
    and 1.8 µs: what a message and both its ends are assumed to take without a calibration."""
    net = _loaded(engine)
    asked = f"predict alltoall {TREE} -a shift,linear --bytes 64K --route {engine} --without"
    cells = {one["algorithm"]: one["counted_s"] for one in _json(typed, asked, GONE)["cells"]}
    for name, steps in (("linear", [EVERY]), ("shift", [_shift(by) for by in range(1, 8)])):
        slowest = [max(_slowness(net, step)) for step in steps]
        expected = sum(1.03 * 65536 * times / HDR + 1.8e-6 for times in slowest)
        assert cells[name] == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("engine", [*TABLES, "spray"])
def test_failures_and_changes(engine: str, typed: Typed) -> None:
    """Hosts that are left send before and after; who loses hosts is never better."""
    whole = _loaded(engine)
    asked = f"fabric failures {TREE} --route {engine} --pattern alltoall --without"
    found = _json(typed, asked, GONE)
    assert found["bandwidth"] == pytest.approx(_share(whole, EVERY), rel=2e-3)
    if engine in TABLES:
        contend.routes.save(whole, Path("tables.fabric"), "fabric")
    for failure in found["alone"]:
        if engine in TABLES:
            # These are mended, other routes are found anew.
            rest = contend.load("tables.fabric", without=[failure["parts"]])
        else:
            rest = _loaded(engine, GONE, failure["parts"])
        every = list(permutations(range(rest.hosts), 2))
        left = [whole.host_name.index(name) for name in rest.host_name]
        before = _share(whole, list(permutations(left, 2)))
        assert failure["hosts"] == 8 - rest.hosts
        assert failure["bandwidth"] == pytest.approx(_share(rest, every), rel=2e-3)
        assert failure["change"] == pytest.approx(failure["bandwidth"] - before, abs=2e-3)
    assert [one["hosts"] for one in found["alone"]] == sorted(
        (one["hosts"] for one in found["alone"]), reverse=True
    )
    free = not any(one["change"] < -1e-9 for one in found["alone"] if not one["hosts"])
    assert free != ("costs the most" in found["verdict"])
    assert free == ("it costs nothing" in found["verdict"])
    for gone in ("leaf 3", "top 1", "leaf 4:4"):
        rest = _loaded(engine, GONE, gone)
        for name, net in (("old", whole), ("new", rest)):
            contend.routes.save(net.replace(routes=None), Path(f"{name}.fabric"), "fabric")
        after = _json(typed, f"fabric diff old.fabric new.fabric --route {engine}")
        shares = {one["name"]: one for one in after["shares"]}
        states = [contend.load(f"{name}.fabric", route=engine) for name in ("old", "new")]
        for state, key in zip(states, ("before", "after"), strict=True):
            kept = [state.host_name.index(name) for name in rest.host_name]
            exchange = _share(state, list(permutations(kept, 2)))
            shifts = [max(_slowness(state, _shift(by, kept))) for by in range(1, len(kept))]
            assert shares["all-to-all at once"][key] == pytest.approx(exchange, rel=2e-3)
            assert shares["the worst shift"][key] == pytest.approx(1 / max(shifts), rel=2e-3)
        assert after["hosts_lost"] == 8 - rest.hosts
        assert after["outcome"] != "better"


@pytest.mark.parametrize("engine", [*TABLES, "spray"])
def test_cables_and_switches_to_buy(engine: str, typed: Typed) -> None:
    asked = f"fabric improve {TREE} --pattern alltoall --cables 1 --ports 12 --route {engine}"
    file = "better.fabric" if engine in TABLES else "better.ibnetdiscover"
    found = _json(typed, f"{asked} -o {file} --without", GONE)
    assert found["before"] == pytest.approx(_share(_loaded(engine), EVERY), rel=2e-3)
    better = contend.load(file, route=None if engine in TABLES else engine)
    assert found["after"] == pytest.approx(_share(better, EVERY), rel=2e-3)
    if engine in TABLES:
        asked = f"fabric extend {TREE} --spines 1 --ports 12 --route {engine} -o larger.fabric"
        found = _json(typed, f"{asked} --without", GONE)
        assert found["before"] == pytest.approx(_random_pairs(_loaded(engine)))
        assert found["after"] == pytest.approx(_random_pairs(contend.load("larger.fabric")))


@pytest.mark.parametrize("engine", [*TABLES, "spray"])
def test_jobs_and_seats(engine: str, typed: Typed) -> None:
    net, jobs = _loaded(engine), {"7": (0, 2, 5), "8": (1, 3, 6, 7)}
    names = [f"{job},{','.join(f'host {host + 1}' for host in own)}" for job, own in jobs.items()]
    Path("jobs").write_text("\n".join(names) + "\n")
    asked = f"jobs {TREE} jobs --pattern alltoall --route {engine} --without"
    sent = {job: list(permutations(own, 2)) for job, own in jobs.items()}
    together = [pair for pairs in sent.values() for pair in pairs]
    beside = dict(zip(together, _slowness(net, together), strict=True))
    for job in _json(typed, asked, GONE)["jobs"]:
        own = sent[job["job"]]
        ports = len(jobs[job["job"]]) - 1
        assert job["alone"] == pytest.approx(_share(net, own), rel=2e-3)
        expected = ports / max(beside[pair] for pair in own)
        assert job["beside"] == pytest.approx(expected, rel=2e-3)
    placed = _json(
        typed, f"place shift:3 {TREE} --placement linear --route {engine} --without", GONE
    )
    seats = [net.host_name.index(name) for name in placed["hosts"]]
    for state, hosts in (("before", range(8)), ("after", seats)):
        slowness = _slowness(net, _shift(3, hosts))
        assert placed[state]["mean_congestion"] == pytest.approx(np.mean(slowness), rel=2e-3)
        assert placed[state]["busy"] == pytest.approx(2**20 * max(slowness) / HDR, rel=2e-3)


@pytest.mark.parametrize("engine", TABLES)
@pytest.mark.parametrize(("purpose", "pairs"), [("alltoall", EVERY), ("shift:3", _shift(3))])
def test_tables_for_traffic(engine: str, purpose: str, pairs: Pairs, typed: Typed) -> None:
    asked = f"route {TREE} --for {purpose} --route {engine} -o better.lfts --without"
    gain = next(g for g in _json(typed, asked, GONE)["gains"] if g["pattern"] == purpose)
    assert gain["before"] == pytest.approx(_share(_loaded(engine), pairs))
    contend.routes.save(_loaded(engine).replace(routes=None), Path("net.fabric"), "fabric")
    better = contend.load("net.fabric", routes="better.lfts")
    assert len(route(better, 0, 7)) > 2
    assert gain["after"] == pytest.approx(_share(better, pairs))
