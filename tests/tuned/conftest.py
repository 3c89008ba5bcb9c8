"""Real programs, run alone and with the drop-in all-to-all preloaded."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from contend.cure import Rule, Rules, write_rules
from contend.lab.mpi import carry
from contend.routes import load
from contend.traffic.schedule import write_routes
from probe_programs import Build, Ended, Mpi, builder

PROGRAMS = Path(__file__).parent / "programs"

# Every schedule by some number of ranks or bytes; the first of so many ranks is for uneven blocks.
OF_FIVE = (
    *("shift", "shift-barrier", "one-factor", "linear"),
    *("scattered", "inflight", "node-ordered", "node-ordered-barrier"),
    *("routed", "routed-barrier"),
)
MANY = 1 << 40
EVERY_SCHEDULE = Rules(
    (
        *(
            Rule((5, 5), (1, MANY), (3**power, 3 ** (power + 1) - 1), schedule)
            for power, schedule in enumerate(OF_FIVE)
        ),
        Rule((4, 4), (1, MANY), (0, MANY), "xor"),
        Rule((3, 3), (1, MANY), (0, MANY), "routed"),
        Rule((2, 2), (1, MANY), (0, MANY), "node-ordered"),
    )
)


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    return builder(PROGRAMS, tmp_path_factory.mktemp("programs"))


@pytest.fixture(scope="session")
def every_schedule(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of rules that use every schedule."""
    folder = tmp_path_factory.mktemp("rules")
    routes = folder / "routes"
    write_routes(load("crossbar:1", need_routes=True), [socket.gethostname()], routes)
    write_rules(EVERY_SCHEDULE, folder, routes=routes)
    return folder


def run_carried(mpi: Mpi, rules: Path, ranks: int, program: Path, *arguments: object) -> Ended:
    """Runs a program whose all-to-alls go by rules, with the line that tells of it at the end."""
    command = [mpi.launcher, "-n", str(ranks), str(program), *map(str, arguments)]
    loaded = carry(command, rules, mpi.wrapper)
    environment = {**loaded.variables, "CONTEND_TUNED_REPORT": "1"}
    return mpi.run_command(loaded.words, environment)
