from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest

from contend.base.errors import MissingError, ShortfallError, UsageError
from contend.base.process import start_program
from contend.fabric import Fabric
from contend.routes import NO_PORT, compute, opensm
from small_fabrics import of_cables

Paper = Callable[[str], Fabric]


class Recorder:
    """Starts processes for real and remembers them."""

    def __init__(self) -> None:
        self.started: list[subprocess.Popen[bytes]] = []
        self.folders: list[Path] = []

    def __call__(
        self, command: Sequence[str], folder: Path, environment: Mapping[str, str], out: IO[bytes]
    ) -> subprocess.Popen[bytes]:
        process = start_program(command, folder, environment, out)
        self.started.append(process)
        self.folders.append(folder)
        return process

    def assert_nothing_left(self) -> None:
        assert self.started
        assert all(process.poll() is not None for process in self.started)
        assert not any(folder.exists() for folder in self.folders)


@pytest.fixture
def recorder(require_program: Callable[[str], str]) -> Recorder:
    """A recorder, where OpenSM and ibsim are installed."""
    require_program("opensm")
    return Recorder()


def assert_same_as_ours(real: Fabric, engine: str) -> None:
    """Our engine, given OpenSM's LIDs, makes the tables that OpenSM made."""
    ours = compute(real.replace(routes=None), engine).routes
    assert np.array_equal(ours.ports, real.routes.ports)


@pytest.mark.parametrize("engine", ["minhop", "dor"])
def test_ours_is_opensms(any_paper: Fabric, engine: str, recorder: Recorder) -> None:
    assert_same_as_ours(opensm.route(any_paper, engine, start=recorder), engine)
    recorder.assert_nothing_left()


@pytest.mark.parametrize("order", ["minhop,lmc=1", "minhop,lmc=2", "dor,lmc=2"])
@pytest.mark.parametrize("name", ["parallel tree", "random 2"])
def test_ours_is_opensms_with_several_addresses(
    name: str, order: str, paper: Paper, recorder: Recorder
) -> None:
    real = opensm.route(paper(name), order, start=recorder)
    assert_same_as_ours(real, order.partition(",")[0])


def test_our_updn_is_opensms_on_trees(any_tree: Fabric, recorder: Recorder) -> None:
    assert_same_as_ours(opensm.route(any_tree, "updn", start=recorder), "updn")


def test_our_updn_is_opensms_from_given_roots(
    any_paper: Fabric, recorder: Recorder, tmp_path: Path
) -> None:
    file = tmp_path / "roots"
    present = [root for root in (1, 2, 9) if root < any_paper.switches]
    guids = any_paper.switch_guid[present].tolist()
    file.write_text("".join(f"0x{guid:016x}\n" for guid in guids), encoding="utf-8")
    real = opensm.route(any_paper, f"updn,roots={file}", start=recorder)
    assert_same_as_ours(real, f"updn,roots={file}")


@pytest.mark.parametrize("engine", sorted(opensm.engine_names()))
def test_every_engine_of_opensm_routes_a_tree(
    engine: str, paper: Paper, recorder: Recorder
) -> None:
    fabric = opensm.route(paper("three levels"), engine, start=recorder)
    assert fabric.routes.engine == f"opensm:{engine}"
    own = fabric.routes.ports[fabric.host_switch, fabric.host_lid]
    assert own.tolist() == fabric.host_port.tolist()
    assert (fabric.routes.ports[:, fabric.host_lid] != NO_PORT).all()


def test_lids_are_those_that_opensm_gave(paper: Paper, recorder: Recorder) -> None:
    fabric = opensm.route(paper("figure"), "minhop,lmc=2", start=recorder)
    assert (fabric.host_lmc == 2).all()
    assert (fabric.host_lid % 4 == 0).all()
    assert len(np.unique(fabric.host_lid)) == 16
    own = fabric.routes.ports[np.arange(6), fabric.switch_lid]
    assert own.tolist() == [0] * 6


def test_a_hostile_name_does_no_harm(paper: Paper, recorder: Recorder) -> None:
    names = tuple(f'"[1] "H0"[1]\n# {k}' for k in range(16))
    fabric = opensm.route(paper("figure").replace(host_name=names), "minhop", start=recorder)
    assert fabric.host_name == names
    assert_same_as_ours(fabric, "minhop")


def test_unknown_guids_are_made_up(paper: Paper, recorder: Recorder) -> None:
    bare = paper("figure")
    nameless = bare.replace(
        host_port_guid=np.zeros(16, dtype=np.uint64), switch_guid=np.zeros(6, dtype=np.uint64)
    )
    expected = opensm.route(bare, "minhop", start=recorder)
    fabric = opensm.route(nameless, "minhop", start=recorder)
    assert np.array_equal(fabric.routes.ports, expected.routes.ports)


@pytest.mark.parametrize(
    ("engine", "reason"),
    [
        ("updn", "OpenSM's engine updn can't route this fabric: .*no root nodes were found"),
        ("ftree,lmc=1", "OpenSM's engine ftree can't route this fabric: LMC > 0 is not supported"),
    ],
)
def test_a_silent_fallback_to_minhop_is_an_error(
    engine: str, reason: str, paper: Paper, recorder: Recorder
) -> None:
    with pytest.raises(ShortfallError, match=reason):
        opensm.route(paper("torus"), engine, start=recorder)
    recorder.assert_nothing_left()


def test_a_run_that_takes_too_long_is_ended(paper: Paper, recorder: Recorder) -> None:
    with pytest.raises(ShortfallError, match="within 1e-09 s"):
        opensm.route(paper("torus"), "minhop,limit=0.000000001", start=recorder)
    recorder.assert_nothing_left()


def test_a_manager_that_does_not_end_is_ended(paper: Paper, recorder: Recorder) -> None:
    def start(command: Sequence[str], *others: Any) -> subprocess.Popen[bytes]:
        return recorder(["sh", "-c", "echo Network simulator ready; exec sleep 600"], *others)

    with pytest.raises(ShortfallError, match="not done within 1 s; opensm:minhop,limit=SECONDS"):
        opensm.route(paper("figure"), "minhop,limit=1", start=start)
    recorder.assert_nothing_left()


@pytest.mark.parametrize(
    ("simulator", "manager", "message"),
    [
        ("exec sleep 600", "kill -9 $$", "OpenSM was killed by signal 9 before its tables"),
        ("exit 3", "exec sleep 600", "ibsim ended with status 3 while OpenSM ran"),
    ],
)
def test_a_process_that_ends_halfway_is_named(
    simulator: str, manager: str, message: str, paper: Paper, recorder: Recorder
) -> None:
    def start(command: Sequence[str], *others: Any) -> subprocess.Popen[bytes]:
        part = manager if command[0].endswith("opensm") else simulator
        return recorder(["sh", "-c", f"echo Network simulator ready; {part}"], *others)

    with pytest.raises(ShortfallError, match=message):
        opensm.route(paper("figure"), "minhop,limit=60", start=start)
    recorder.assert_nothing_left()


def test_ctrl_c_ends_the_simulator_too(paper: Paper, recorder: Recorder) -> None:
    def start(command: Sequence[str], *others: Any) -> subprocess.Popen[bytes]:
        if command[0].endswith("opensm"):
            raise KeyboardInterrupt
        return recorder(command, *others)

    with pytest.raises(KeyboardInterrupt):
        opensm.route(paper("figure"), "minhop", start=start)
    assert len(recorder.started) == 1
    recorder.assert_nothing_left()


def test_a_switch_that_no_cable_joins_is_named(paper: Paper, recorder: Recorder) -> None:
    """OpenSM manages what it reaches from the first host; the other part gets no tables."""
    bare = paper("figure")
    # Leaf 1 loses all its cables to the two top switches, 4 and 5.
    apart = of_cables(bare, (bare.cable_from != 1) & (bare.cable_to != 1))
    with pytest.raises(ShortfallError, match="OpenSM made no table for switch"):
        opensm.route(apart, "minhop", start=recorder)
    recorder.assert_nothing_left()


def test_a_simulator_that_refuses_the_fabric_is_quoted(paper: Paper, recorder: Recorder) -> None:
    def start(command: Sequence[str], *others: Any) -> subprocess.Popen[bytes]:
        return recorder(["sh", "-c", "echo no more ports; exit 1"], *others)

    with pytest.raises(ShortfallError, match="ended before the fabric was up: no more ports"):
        opensm.route(paper("figure"), "minhop", start=start)
    recorder.assert_nothing_left()


def test_runs_side_by_side_do_not_meet(paper: Paper, recorder: Recorder) -> None:
    names = ["figure", "three levels", "parallel tree"]
    alone = [opensm.route(paper(name), "minhop", start=recorder) for name in names]
    together: dict[str, Fabric] = {}

    def run(name: str) -> None:
        together[name] = opensm.route(paper(name), "minhop", start=recorder)

    threads = [threading.Thread(target=run, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name, expected in zip(names, alone, strict=True):
        routes = together[name].routes
        assert np.array_equal(routes.ports, expected.routes.ports)


def test_missing_programs_are_named_with_their_packages(
    paper: Paper, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(opensm, "_MORE_FOLDERS", ())
    with pytest.raises(MissingError, match=r"no program ibsim; .* opensm ibsim-utils"):
        opensm.route(paper("figure"), "minhop")


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ("minhopp", "OpenSM has no engine 'minhopp' among minhop, updn.*; did you mean 'minhop'"),
        ("minhop,lmc=8", "lmc is a number from 0 to 7, not '8'"),
        ("minhop,lmc=²", "lmc is a number from 0 to 7, not '²'"),
        ("minhop,lmc", "option lmc needs a value"),
        ("minhop,limit=0", "limit is a number of seconds, not '0'"),
        ("minhop,limit=nan", "limit is a number of seconds, not 'nan'"),
        ("minhop,mtu=4", "engine minhop has no option 'mtu'; it has limit, lmc, roots"),
    ],
)
def test_orders_that_cannot_be_met_are_refused(paper: Paper, order: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        opensm.route(paper("figure"), order)


def test_more_lids_than_there_are_are_refused(paper: Paper) -> None:
    bare = paper("figure")
    many = 49_151
    crowded = bare.replace(
        host_name=("h",) * many,
        host_port_guid=np.arange(1, many + 1, dtype=np.uint64),
    )
    with pytest.raises(UsageError, match="49151 hosts with 1 LIDs each and 6 switches need more"):
        opensm.route(crowded, "minhop")
