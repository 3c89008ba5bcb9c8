"""What contend does with an input of each kind: it reads it, and uses what it has read."""

from __future__ import annotations

import contextlib
import io
import re
from functools import cache
from pathlib import Path

from contend.base.errors import ContendError, UsageError
from contend.base.names import expand, shorten, split_list
from contend.base.units import parse_numbers, parse_rate, parse_seconds, parse_share, parse_sizes
from contend.cli.app import run as run_command
from contend.congestion import simulate
from contend.cure.phased_traffic import sent_by
from contend.fabric import Fabric, carried, check_soundness, make, tell_rails, without
from contend.lab.runs import Run, SampleTail, read_samples
from contend.lab.studies import SimulatedPlan, read_plan, run_simulations
from contend.prediction import load_calibration
from contend.profiling import ProgramProfile
from contend.report.run.tables import run_tables
from contend.routes import KINDS as WRITTEN
from contend.routes import adopt, compute, load_tables
from contend.routes.loading import load, load_topology
from contend.routes.saving import content as content_of
from contend.traffic.pattern import parse as parse_pattern
from contend.traffic.placement import parse as parse_placement
from contend.traffic.placement import read_jobs

DATA = Path(__file__).parents[1] / "data"
KEPT = DATA / "kept"
COUNTED = str(DATA / "counters" / "fig1.ibnetdiscover")
RANKS = 12
"""Of every pattern."""


@cache
def small() -> Fabric:
    return load("xgft:2;3,4;1,2", route="minhop")


@cache
def seated() -> Fabric:
    """The same with names that launchers take."""
    return small().replace(host_name=tuple(f"node{host:02}" for host in range(12)))


@cache
def tiny() -> Fabric:
    return load_topology(str(DATA / "tiny.ibnetdiscover"))


@cache
def counted() -> Fabric:
    return load(COUNTED)


def _text_of(path: Path) -> str:
    return path.read_bytes()[:4096].decode("utf-8", "replace")


def write_everything(fabric: Fabric) -> None:
    """What could be read can be written, or is refused, and may be looked at."""
    for kind in WRITTEN:
        with contextlib.suppress(UsageError):
            for _ in content_of(fabric, kind):
                pass


def fabric(path: Path) -> None:
    fabric = load(path)
    write_everything(fabric)
    check_soundness(fabric)
    fabric._repr_html_()


@cache
def railed() -> Fabric:
    """Servers n1 and n2 of five adapters, which the seeds of rails name."""
    fabric = make("xgft:2;2,5;1,2")
    names = tuple(f"n{host % 2 + 1} mlx5_{host // 2}" for host in range(10))
    return fabric.replace(host_name=names, host_system_guid=0 * fabric.host_system_guid)


def rails(path: Path) -> None:
    check_soundness(tell_rails(railed(), str(path)))


def counters(path: Path) -> None:
    carried(counted(), [path])


def jobs(path: Path) -> None:
    assert all(job.nodes for job in read_jobs(str(path)))


def tables(path: Path) -> None:
    write_everything(adopt(tiny(), load_tables(str(path)), str(path)))


def host_file(path: Path) -> None:
    assert parse_placement(f"file:{path}", seated()).hosts.max() < seated().hosts
    parse_placement("given", seated(), hosts=f"file:{path}")


def host_list(path: Path) -> None:
    text = path.read_bytes().decode("utf-8", "replace")
    shorten([name for item in split_list(text) for name in expand(item, str(path))])
    with contextlib.suppress(ContendError):
        parse_placement("given", small(), hosts=text)


def pattern_file(path: Path) -> None:
    simulate(small(), parse_pattern(f"file:{path}", RANKS), samples=2)
    sent_by(f"file:{path}", RANKS)


def pattern(path: Path) -> None:
    parse_pattern(_text_of(path), RANKS).messages()


def generator(path: Path) -> None:
    text = _text_of(path)
    if max(map(len, "".join(c if c.isdigit() else " " for c in text).split()), default=0) < 3:
        make(text)
    else:
        # Large ones are made by those who can wait.
        with contextlib.suppress(MemoryError):
            load(f"degrade:{text}")


def engine(path: Path) -> None:
    compute(small(), _text_of(path))


def dead(path: Path) -> None:
    without(small(), [f"file:{path}"])


def units(path: Path) -> None:
    text = _text_of(path)
    refusals = []
    for parse in (parse_sizes, parse_numbers, parse_rate, parse_share, parse_seconds):
        try:
            parse(text)
        except UsageError as error:
            refusals.append(error)
    if len(refusals) == 5:
        raise refusals[0]


def plan(path: Path) -> None:
    plan = read_plan(path)
    if isinstance(plan, SimulatedPlan):
        sum(1 for _ in plan.cells())


def run(path: Path) -> None:
    run = Run.load(path.parent)
    run_tables(run)
    run.document().json()


def launch(path: Path) -> None:
    """What a launch has left is followed while it grows, shown, and read."""
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    tail = SampleTail(path)
    before = tail.poll()
    path.write_bytes(content)
    assert tail.poll().samples >= before.samples
    loaded = Run.load(path.parent)
    run_tables(loaded)
    loaded.document().json()
    raw = read_samples(path)
    assert raw.frame.height <= len(content) / 16
    assert raw.frame["rank"].is_between(0, raw.probe.ranks - 1).all()


@cache
def _finished_plan() -> SimulatedPlan:
    return read_plan(KEPT / "small.toml")


def study(path: Path) -> None:
    folder = path.parents[2]
    for outcome in run_simulations(_finished_plan(), folder, beside=KEPT).outcomes:
        if outcome.record.status == "done":
            outcome.simulation()


def profile(path: Path) -> None:
    profile = ProgramProfile.load(path.parent)
    document = profile.document()
    document.content()


def calibration(path: Path) -> None:
    calibration = load_calibration(path)
    calibration.costs()
    calibration.cables(1e6)
    for end in calibration.ends:
        end.costs()


def command_line(path: Path) -> None:
    words = _text_of(path).split("\n")
    # So many samples take hours, as the command says.
    if re.search(r"(?:--samples|-n)\n\d{8,}$", "\n".join(words), re.MULTILINE):
        return
    # Nothing is started, and nothing is written where others are.
    if words[0] in ("fabric", "simulate", "place", "route", "predict") and not any(
        word.startswith(
            ("-o", "--out", "--json", "--plot", "--csv", "--markdown", "opensm", "--tab")
        )
        or "opensm" in word
        for word in words
    ):
        run_in_silence(words)


class CommandFaultError(Exception):
    """What a command line did that it must not."""


def run_in_silence(words: list[str], encoding: str = "utf-8") -> None:
    """Runs a command line, and looks at its status and what it wrote to standard error.

    Raises:
        CommandFaultError: another status than 0 to 3, or an error that is not one line.
    """
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding=encoding) for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run_command(words)
    err.flush()
    told = err.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]
    lines = [line for line in told.splitlines() if not line.startswith("contend: warning: ")]
    if status not in (0, 1, 2, 3):
        raise CommandFaultError(f"status {status}")
    if "Traceback" in told or max(map(len, lines), default=0) > 500 + len("contend: "):
        raise CommandFaultError(f"status {status} and {told[:600]!r}")
    out.flush()
    # A group of commands alone answers with its help.
    helped = status == 2 and b"Usage: " in out.buffer.getvalue()  # type: ignore[attr-defined]
    # How far it was may stand before.
    errors = [line for line in lines if line.startswith("contend: ")]
    if status in (2, 3) and len(errors) != 1 and not (helped and not lines):
        raise CommandFaultError(f"status {status} and {len(errors)} errors: {told[:300]!r}")
