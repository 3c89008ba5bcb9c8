"""Every command that contend prints runs: in verdicts, remedies, closing lines and errors.

Texts that are made with commands in them are found in the source; a case must reach each.
"""

from __future__ import annotations

import ast
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import contend
from built_records import ALLTOALL, ROUTINES, Rank, leave_records
from commands import SOURCE, VERB, carry_out, commands_in, profile_of_two, workplace
from contend.base.errors import ContendError
from contend.cli.options.option import in_options
from contend.cure import read_rules
from contend.explanation import Explanation
from contend.lab.measurement import resume
from contend.lab.runs import PointError
from contend.profiling import ProgramProfile, load_profile
from contend.report import recorded_document
from measured_runs import alltoall_run
from nccl_outputs import printed

from .built_profiles import FINALIZE, MS, US, explained, pair
from .test_nccl_evidence import named
from .test_profiles import exchange, late, sent_between, stalled
from .test_runs import around, run_of
from .test_small_messages import many_small

DATA = Path(__file__).parents[1] / "data"
EMULATED = {"fabric": "fig1", "routes": "dmodk 0123", "rate": "100 Mbit/s", "buffer": "65536 B"}


def texts_of(explanation: Explanation) -> list[str]:
    return [text for remedy in explanation.remedies for text in (remedy.command, remedy.advice)]


def _fabric_from_files(folder: Path) -> Iterator[str]:
    """Seats and routes of a fabric that is known by its files."""
    fabric = contend.load("xgft:2;4,4;1,4", route="dmodk")
    contend.routes.save(fabric, folder / "tree.fabric")
    contend.routes.save(fabric, folder / "tree.lfts")
    ranks = sent_between(fabric, [(0, 4), (1, 8), (2, 12)], ticks=350 * MS)
    tables = contend.load("tree.fabric", routes="tree.lfts")
    # FILE stands for it.
    shutil.copy("tree.lfts", "net.lfts")
    files = [
        contend.load("tree.fabric", routes="tree.lfts"),
        contend.load(folder / "tree.fabric", without=["top 1"]),
        contend.load("tree.fabric", route="dmodk"),
        fabric,
        fabric.replace(command_line=((), ())),
        tables.replace(command_line=((), ())),
    ]
    for number, loaded in enumerate(files):
        told = explained(folder / f"p{number}", ranks, {"wire_Bps": 1e6}, fabric=loaded)
        yield from texts_of(told)


def _other_engines(folder: Path) -> Iterator[str]:
    everyone = [(a, b) for a in range(16) for b in range(16) if a != b]
    for number, (tree, route) in enumerate((("1,4", "dor"), ("1,1", "dmodk"), ("1,2", "dor"))):
        fabric = contend.load(f"xgft:2;4,4;{tree}", route=route)
        ranks = sent_between(fabric, everyone, ticks=500 * MS)
        for more in ({}, {"asked": {**EMULATED, "fabric": fabric.name}}):
            known = {"wire_Bps": 1e7, **more}
            told = explained(folder / f"e{number}{len(more)}", ranks, known, fabric=fabric)
            yield from texts_of(told)


def _seats_in_order(folder: Path) -> Iterator[str]:
    """Pairs across leaves, whom the order of hosts brings together as well as any other."""
    fabric = contend.load("xgft:2;2,4;1,1", route="dmodk")
    ranks = sent_between(fabric, [(2 * n, 2 * n + 1) for n in range(4)], ticks=350 * MS)
    names = [fabric.host_name[n] for n in (0, 4, 1, 5, 2, 6, 3, 7)]
    for rank, name in zip(ranks, names, strict=True):
        rank.host = name
    yield from texts_of(explained(folder / "s", ranks, {"wire_Bps": 1e6}, fabric=fabric))


def _profiles(folder: Path) -> Iterator[str]:
    emulated = {"asked": EMULATED, "wire_Bps": 1e9}
    in_files = pair()
    for rank in in_files:
        rank.routines = (*ROUTINES, "MPI_File_write_at_all")
        rank.cell(FINALIZE, ticks=800 * MS, size=8_000_000, size_class=23)
    alltoalls = stalled()
    for rank in alltoalls:
        rank.cell(ALLTOALL, ticks=300 * MS, calls=2, size=16_000, size_class=14)
    for number, (ranks, known) in enumerate(
        (
            (late(2)[0], {"machine": "node1", "cpus": 2}),
            (late(1)[0], {"machine": "node1", "cpus": 1}),
            (late(1)[0], {"machine": "node1", "cpus": 1, "asked": EMULATED}),
            (exchange("n0", "n1"), {"wire_Bps": 1e7}),
            (many_small(250 * US, 300 * US), {}),
            (in_files, {}),
            (stalled(), {"drops": 12, "wire_Bps": 1e9}),
            (stalled(), {"drops": 12, **emulated}),
            (alltoalls, {"drops": 12, "wire_Bps": 1e9}),
            (alltoalls, {"drops": 12, **emulated}),
        )
    ):
        yield from texts_of(explained(folder / f"k{number}", ranks, known))


def _runs(folder: Path) -> Iterator[str]:
    for kept in sorted((DATA / "explained").iterdir()):
        yield from texts_of(contend.explain(kept))
    for study in ("mistry2015", "kutzner2005"):
        yield from texts_of(contend.explain(study))
    yield from texts_of(contend.explain(alltoall_run(folder / "collapsed")))
    cells = {("shift", size): around(0.01) for size in (1, 16, 64)}
    yield from texts_of(contend.explain(run_of(folder / "small", cells)))
    cells[("bruck", 1)] = around(0.001)
    yield from texts_of(contend.explain(run_of(folder / "rival", cells)))
    for probe, times in (("sort", (0.5, 0.01)), ("alltoall", (0.5, 0.01))):
        both = {(name, 1000): around(t) for name, t in zip(("linear", "shift"), times, strict=True)}
        run = run_of(folder / f"rival-{probe}", both, probe=probe)
        yield from texts_of(contend.explain(run))
    crowded = run_of(folder / "crowded", cells, oversubscribed=True)
    yield from texts_of(contend.explain(crowded))
    full = (PointError("memory", "the data need 4 GiB", None, "linear", 1 << 20),)
    failed = run_of(folder / "full", {("linear", 64): around(1e-3)}, errors=full)
    yield from texts_of(contend.explain(failed))
    port = run_of(folder / "port", {("linear", 10**6): around(3.1)}, hosts=["n0", "n1"] * 2)
    yield from texts_of(contend.explain(port))
    good = contend.load("xgft:2;4,4;1,4", route="dmodk")
    ports = good.routes.ports.copy()  # type: ignore[attr-defined]
    for leaf in np.unique(good.host_switch):
        ports[leaf, good.host_lid[good.host_switch != leaf]] = 5
    bad = good.replace(routes=contend.ForwardingTables(ports, engine=""))
    narrow = contend.load("xgft:2;4,4;1,1", route="dmodk")
    for number, fabric in enumerate((bad, narrow)):
        run = run_of(
            folder / f"t{number}", {("linear", 1000): around(0.05)}, hosts=list(good.host_name)
        )
        yield from texts_of(contend.explain(run, fabric=fabric))


def _gpus(folder: Path) -> Iterator[str]:
    file = folder / "test.txt"
    hosts = [f"s{number}" for number in range(1, 9) for _ in range(2)]
    file.write_text(printed("alltoall_perf", hosts, {8 * 10**9: 0.7}))
    fabric = named(contend.load("rails:2,4,2,4", route="dor"))
    yield from texts_of(contend.explain(file, fabric=fabric))


def _documents(folder: Path) -> Iterator[str]:
    """Closing lines, and errors that tell how to go on."""
    profile_of_two(folder / "two", ["n0", "n1"])
    leave_records(folder / "left", [Rank(0, 1)])
    run = alltoall_run(folder / "m", launches=2, sizes=(65536,), schedules=("library", "shift"))
    yield from contend.tune(run, output=folder / "rules").document().closing
    profiles = [load_profile(folder / name) for name in ("two", "before")]
    yield from recorded_document(8 * profiles).closing
    shutil.copytree(DATA / "kept" / "simulated", folder / "simulated")
    for refused in (
        lambda: contend.explain(folder / "two", calibration=folder / "none"),
        lambda: read_rules(folder / "none"),
        lambda: contend.place("nothing", contend.load("fig1", route="minhop")),
        lambda: contend.place(None, contend.load("fig1", route="minhop")),
        lambda: contend.emulate(contend.load("crossbar:1500", route="minhop"), "true"),
        lambda: contend.emulate(contend.load("fig1", route="minhop"), "true", hosts="1"),
        lambda: ProgramProfile.load(folder / "left"),
        lambda: resume(folder / "simulated"),
    ):
        with pytest.raises(ContendError) as refusal:
            refused()
        yield in_options(refusal.value)


CASES: dict[str, Callable[[Path], Iterator[str]]] = {
    "files": _fabric_from_files,
    "engines": _other_engines,
    "order": _seats_in_order,
    "profiles": _profiles,
    "runs": _runs,
    "gpus": _gpus,
    "documents": _documents,
}
# What follows a command in a sentence.
_AFTER = re.compile(r" (?:writes|makes|lists|chooses|says|gives|learns)\b.*", re.DOTALL)


def sources() -> Iterator[tuple[str, str]]:
    """File and pattern of every text in the source that is made and holds a command or options."""
    for path in sorted(SOURCE.rglob("*.py")):
        here = path.parent.name == "explanation"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            parts = node.values if isinstance(node, ast.JoinedStr) else [node]
            told = [part.value if isinstance(part, ast.Constant) else "\0" for part in parts]
            text = "".join(map(str, told))
            command = VERB.search(text)
            options = here and text.startswith("--") and " " in text
            if options or (command and "\0" in _AFTER.sub("", text[command.end() :])):
                pattern = ".*".join(map(re.escape, text.split("\0")))
                yield str(path.relative_to(SOURCE)), pattern


def test_every_text_with_a_command_is_printed_and_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workplace(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    texts = [text for case in CASES.values() for text in case(tmp_path)]
    done: dict[str, bool] = {}
    refused: list[str] = []
    for text in texts:
        if (found := VERB.search(text)) is not None:
            for words in commands_in(_AFTER.sub("", text[found.start() :]).replace("...", "")):
                line = shlex.join(words)
                # Verbs and options are named in passing, too.
                if len(words) > 1 and line not in done and not line.endswith(" --hosts"):
                    try:
                        done[line] = carry_out(words)
                    except AssertionError:
                        refused.append(line)
    missing = [
        (file, pattern)
        for file, pattern in sources()
        if not any(re.search(pattern, text, re.DOTALL) for text in texts)
    ]
    print(f"{sum(done.values())} commands ran, {len(done) - sum(done.values())} were understood")
    assert refused == []
    assert missing == [], "\n".join(map(str, missing))
