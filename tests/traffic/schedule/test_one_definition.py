"""What is measured, predicted and carried are the same messages in the same phases.

The definition is compiled alone, into the core, into the probe and into the drop-in library; the
last two are watched while they run.
"""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest

from contend.cure import Rule, Rules, write_rules
from contend.lab.mpi import carry
from contend.routes import load
from contend.traffic.schedule import (
    DIRECT,
    MEMBERS,
    Action,
    Exchange,
    Phases,
    RankPlan,
    Schedule,
    alltoall,
    phases_by_routes,
    plan,
    suited,
    write_routes,
)
from probe_programs import SCHEDULES, Ended, Mpi, probe

PROGRAMS = Path(__file__).parent / "programs"
CARRIED = Path(__file__).parents[2] / "tuned" / "programs"
BY_HOSTS = [name for name, direct in DIRECT.items() if direct.option == "ranks-per-node"]

Sides = tuple[Sequence[int], Sequence[int]]
"""To whom, and from whom."""


def shifted(ranks: int) -> Phases:
    """Phases of the shift schedule, as if routes asked for them."""
    places, rank = np.arange(1, ranks), np.arange(ranks)[:, None]
    target, source = (rank + places) % ranks, (rank - places) % ranks
    return Phases(target.astype(np.int32), source.astype(np.int32), ranks - 1)


def exchange_of(ranks: int, each: int, width: int = 32) -> Exchange:
    hosts = [rank // each for rank in range(ranks)]
    return Exchange(ranks, 1, width, width, hosts=hosts, phases=shifted(ranks))


def direct(ranks: int) -> list[str]:
    return [name for name in suited(ranks) if name in DIRECT]


def differing(ranks: int, each: int) -> list[str]:
    """Those for which it matters how many ranks share a host, beyond one."""
    return [name for name in direct(ranks) if each == 1 or name in BY_HOSTS]


def peers_of(name: str, rank: int, ranks: int, phase: int) -> Sides:
    """The rules of schedules that have one message in a phase, as their papers state them."""
    match name:
        case "shift" | "shift-barrier" | "routed" | "routed-barrier":
            return [(rank + phase + 1) % ranks], [(rank - phase - 1) % ranks]
        case "xor":
            return [rank ^ (phase + 1)], [rank ^ (phase + 1)]
    partner = (phase - rank) % ranks
    return ([partner], [partner]) if partner != rank else ([], [])


def check_rule(name: str, plans: Sequence[RankPlan], hosts: Sequence[int], width: int) -> None:
    """Holds every phase of every rank to the schedule's rule."""
    ranks, shared = len(plans), len(set(hosts)) < len(hosts)
    for rank, made in enumerate(plans):
        for phase, sides in enumerate(made.phases):
            if DIRECT[name].paired:
                assert sides == peers_of(name, rank, ranks, phase)
            elif name in BY_HOSTS:
                count, step = max(hosts) + 1, phase + (not shared)
                for side, way in zip(sides, (1, -1), strict=True):
                    there = (hosts[rank] + way * step) % count
                    assert sorted(side) == [
                        other for other in range(ranks) if hosts[other] == there and other != rank
                    ]
            else:
                most = ranks if name == "linear" else width
                places = range(1 + phase * most, min(ranks, 1 + (phase + 1) * most))
                assert sides == (
                    [(rank + place) % ranks for place in places],
                    [(rank - place) % ranks for place in places],
                )


@pytest.mark.parametrize("each", [1, 2, 3])
def test_every_schedule_is_an_all_to_all_whose_phases_fit_together(each: int) -> None:
    for ranks in range(1, 34):
        exchange = exchange_of(ranks, each, 3)
        for name in differing(ranks, each):
            plans = [plan(name, exchange, rank) for rank in range(ranks)]
            sent = {
                (phase, rank, to)
                for rank, made in enumerate(plans)
                for phase, (targets, _) in enumerate(made.phases)
                for to in targets
            }
            received = {
                (phase, source, rank)
                for rank, made in enumerate(plans)
                for phase, (_, sources) in enumerate(made.phases)
                for source in sources
            }
            assert sent == received, (name, ranks)
            pairs = sorted((source, target) for _, source, target in sent)
            assert pairs == [(s, t) for s in range(ranks) for t in range(ranks) if s != t]
            assert all(-1 <= made.own < max(len(made.phases), 1) for made in plans)
            # Barriers are for all, so that all have as many phases.
            assert len({len(made.phases) for made in plans}) == 1
            check_rule(name, plans, exchange.host_of.tolist(), 3)


@pytest.fixture(scope="module")
def plans_of(
    tmp_path_factory: pytest.TempPathFactory, require_program: Callable[[str], str]
) -> Path:
    """The definition by itself, as a program that a sanitizer watches."""
    program = tmp_path_factory.mktemp("plans") / "plans_of"
    strict = ("-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Wpedantic", "-Werror")
    flags = ["-std=c11", "-g", "-fsanitize=address,undefined", *strict, f"-I{SCHEDULES}"]
    sources = [PROGRAMS / "plans_of.c", SCHEDULES / "schedules.c"]
    cc = require_program("cc")
    subprocess.run([cc, *flags, *sources, "-o", program], check=True)
    return program


@pytest.mark.parametrize("each", [1, 2, 3])
def test_the_definition_by_itself_is_the_core_s(plans_of: Path, each: int) -> None:
    for ranks in range(1, 34):
        exchange = exchange_of(ranks, each, 3)
        words = [str(plans_of), str(ranks), str(each)]
        lines = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        expected = []
        for name in direct(ranks):
            for rank in range(ranks):
                made = plan(name, exchange, rank)
                sides = [
                    ["to", *map(str, targets), "from", *map(str, sources)]
                    for targets, sources in made.phases
                ]
                head = [name, str(rank), str(made.own), str(made.in_flight)]
                expected.append(" ".join([*head, *(word for side in sides for word in side)]))
        assert lines.splitlines() == expected


BARRIER = "barrier"


@dataclass
class Watched:
    """What one rank was seen to do in one all-to-all: phases, and the barriers between them."""

    events: list[Sides | str]

    @classmethod
    def of_plan(cls, name: str, made: RankPlan) -> Watched:
        events: list[Sides | str] = []
        for phase, sides in enumerate(made.phases):
            if DIRECT[name].barriers and phase:
                events.append(BARRIER)
            if any(sides):
                events.append(sides)
        return cls(events)

    @property
    def flat(self) -> Sides:
        """All that is sent, and all that is received, whatever the phases."""
        sides = [event for event in self.events if not isinstance(event, str)]
        return [to for phase, _ in sides for to in phase], [
            of for _, phase in sides for of in phase
        ]


def watched(lines: Sequence[str], own: int) -> list[Watched]:
    """What a rank wrote behind the first mark, cut at marks; messages to itself are copies."""
    cells: list[Watched] = []
    events: list[Sides | str] = []
    to: list[int] = []
    sources: list[int] = []
    for line in lines[lines.index("=") :]:
        kind, *peer = line.split()
        if peer and int(peer[0]) not in (own, -1):
            (to if kind == "s" else sources).append(int(peer[0]))
        elif kind in "wb=" and (to or sources):
            events.append((to, sources))
            to, sources = [], []
        if kind == "b":
            events.append(BARRIER)
        if kind == "=":
            if any(event != BARRIER for event in events):
                cells.append(Watched(events))
            events = []
    return cells


def of_model(schedule: Schedule) -> list[Watched]:
    """What the model's ranks do, read from its operations."""
    found = []
    for rank in range(schedule.ranks):
        part = slice(int(schedule.begin[rank]), int(schedule.begin[rank + 1]))
        columns = (schedule.action[part], schedule.peer[part], schedule.tag[part])
        lines = ["="]
        for action, peer, tag in zip(*(column.tolist() for column in columns), strict=True):
            if action in (Action.SEND, Action.RECEIVE):
                message = f"{'s' if action == Action.SEND else 'r'} {peer}"
                lines.append("b" if tag == 1 else message)
            elif action in (Action.WAIT, Action.WAIT_ALL):
                lines.append("w")
        [seen] = watched([*lines, "="], rank) or [Watched([])]
        # In every round of a barrier a rank sends and receives.
        halves = 2 * (schedule.ranks - 1).bit_length()
        events: list[Sides | str] = []
        for event, group in groupby(seen.events):
            alike = list(group)
            events += alike[: len(alike) // halves] if event == BARRIER else alike
        found.append(Watched(events))
    return found


@pytest.mark.parametrize("each", [1, 2, 3])
def test_the_model_carries_out_the_plans(each: int) -> None:
    for ranks in range(1, 34):
        exchange = exchange_of(ranks, each, 3)
        for name in sorted(MEMBERS.keys() & differing(ranks, each)):
            plans = [Watched.of_plan(name, plan(name, exchange, rank)) for rank in range(ranks)]
            modelled = of_model(alltoall(name, exchange))
            assert list(map(without_ends, modelled)) == list(map(without_ends, plans)), name


def without_ends(seen: Watched) -> list[Sides | str]:
    """Without barriers before the first message and behind the last, which others may be."""
    events = seen.events[:]
    while events and events[0] == BARRIER:
        events.pop(0)
    while events and events[-1] == BARRIER:
        events.pop()
    return events


@pytest.fixture(scope="module")
def order(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Mpi], Path]:
    """The library that watches, for each MPI library."""
    folder = tmp_path_factory.mktemp("order")

    def make(mpi: Mpi) -> Path:
        made = folder / f"{mpi.name}.so"
        if not made.exists():
            flags = ["-shared", "-fPIC", "-O1", "-fvisibility=hidden", "-Wl,--as-needed"]
            subprocess.run([mpi.wrapper, *flags, PROGRAMS / "order.c", "-o", made], check=True)
        return made

    return make


def seen_by_ranks(folder: Path, ranks: int) -> list[list[Watched]]:
    return [watched((folder / str(rank)).read_text().splitlines(), rank) for rank in range(ranks)]


def check_seen(asked: Sequence[tuple[str, Exchange]], seen: Sequence[Sequence[Watched]]) -> None:
    """Holds what all ranks were seen to do to what the model's do."""
    assert {len(cells) for cells in seen} == {len(asked)}
    for place, (name, exchange) in enumerate(asked):
        if name == "inflight":
            plans = [plan(name, exchange, rank) for rank in range(exchange.ranks)]
            flat = [Watched.of_plan(name, made).flat for made in plans]
            assert [cells[place].flat for cells in seen] == flat
            continue
        expected = map(without_ends, of_model(alltoall(name, exchange)))
        assert [without_ends(cells[place]) for cells in seen] == list(expected), name


@pytest.mark.parametrize(
    ("any_mpi", "ranks"),
    [*(("openmpi", ranks) for ranks in (2, 4, 5)), ("mpich", 2)],
    indirect=["any_mpi"],
)
def test_the_probe_sends_what_the_plans_say(
    any_mpi: Mpi, order: Callable[[Mpi], Path], tmp_path: Path, ranks: int
) -> None:
    phases = tmp_path / "phases"
    exchange = exchange_of(ranks, 1, 2)
    exchange.phases.write(phases)
    names = suited(ranks)
    words = ["--check", "--algorithm", ",".join(names), "--bytes", 9, "--counts", "even"]
    words += ["--batch", 2, "--in-flight", 2, "--ranks-per-node", "1,2,3", "--phases", phases]
    ended = any_mpi.run(
        ranks,
        probe(any_mpi, "alltoall"),
        *(*words, "--seed", 0),
        environment={"LD_AUDIT": str(order(any_mpi)), "ORDER": str(tmp_path)},
    )
    assert ended.status == 0, ended
    cells = [
        (name, exchange_of(ranks, each, 2))
        for name in names
        for each in ((1, 2, 3) if name in (*BY_HOSTS, "hierarchical") else (1,))
    ]
    check_seen(cells, seen_by_ranks(tmp_path, ranks))


@pytest.mark.parametrize(("ranks", "each"), [(2, 1), (4, 3), (5, 2), (5, 1), (4, 8)])
def test_the_drop_in_library_carries_what_the_plans_say(
    require_program: Callable[[str], str],
    order: Callable[[Mpi], Path],
    tmp_path: Path,
    ranks: int,
    each: int,
) -> None:
    mpi = Mpi("openmpi", require_program("mpicc.openmpi"), require_program("mpirun.openmpi"))
    program, hosts = tmp_path / "sized", tmp_path / "hosts.so"
    compiling = [mpi.wrapper, "-w", str(CARRIED / "sized.c"), "-o", str(program)]
    subprocess.run(compiling, check=True)
    cc = require_program("cc")
    subprocess.run([cc, "-shared", "-fPIC", str(CARRIED / "hosts.c"), "-o", hosts], check=True)
    names = direct(ranks)
    rules, folder = tmp_path / "rules", tmp_path / "order"
    folder.mkdir()
    host_of = [rank // each for rank in range(ranks)]
    fabric = load(f"crossbar:{max(host_of) + 1}", need_routes=True)
    machine = socket.gethostname()
    write_routes(fabric, [f"{machine}{host}" for host in range(fabric.hosts)], tmp_path / "routes")
    rule = [Rule((1, 99), (1, 99), (size, size), name) for size, name in enumerate(names, 1)]
    write_rules(Rules(tuple(rule)), rules, routes=tmp_path / "routes")
    command = [mpi.launcher, "-n", str(ranks), str(program), *map(str, range(1, 1 + len(names)))]
    loaded = carry(command, rules, mpi.wrapper)
    preloaded = f"{loaded.variables['LD_PRELOAD']}:{hosts}"
    ended: Ended = mpi.run_command(
        loaded.words,
        {
            **loaded.variables,
            "LD_PRELOAD": preloaded,
            "RANKS_PER_HOST": str(each),
            "CONTEND_TUNED_REPORT": "1",
            "LD_AUDIT": str(order(mpi)),
            "ORDER": str(folder),
        },
    )
    assert ended.status == 0, ended
    assert ended.output.count("right") == ranks, ended
    exchange = Exchange(ranks, 1, hosts=host_of, phases=phases_by_routes(fabric, host_of))
    check_seen([(name, exchange) for name in names], seen_by_ranks(folder, ranks))
