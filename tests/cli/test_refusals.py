"""What commands refuse: one line, the status that belongs to it, and nothing left of the attempt.

What a word may be is for the tests of its parser; here stands what only the command knows, and of
each kind of word one that shows that the command asks its parser.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from contend.cli.app import VERBS, run
from contend.cli.verbs import Group

DATA = Path(__file__).parents[1] / "data"
# Words of the command line, where DATA, KEPT and JOBS are files, and what is said of them.
SIMULATE = {
    "": "Missing argument 'FABRIC...'.",
    "absent.file": "absent.file: no such file",
    "fig1 --pattern shift:x": "pattern shift:x",
    "fig1 --placement file:absent": "absent: no such file",
    "fig1 --hosts nobody": '--hosts: expected a host of fig1, got "nobody"',
    "fig1 --samples ten": "--samples: 'ten' is not a valid int",
    "fig1 --precision 0": "--precision: expected a share between 0 and 100 %, got 0 %",
    "fig1 --precision 100%": "100%",
    "fig1 --exhaustive": "518,918,400",
    "fig1 --route nothing": "no engine 'nothing'",
    "fig1 crossbar:4 --routes some": "--routes",
    "no-such-file --plot figure.jpg": "figure.jpg: expected a figure's name",
    "fig1 --json absent/result.json": "absent/result.json: No such file or directory",
    "fig1 --picture round --plot figure.svg": "--picture: 'round' is not one of",
    "fig1 --samples 9 --plot figure.svg --picture rounds": "--picture: expected one of bandwidth, "
    "congestion, channels, network for this result, got rounds",
    "ring:4;2 --route dmodk --route nothing": "dmodk needs a tree",
    "fig1 --channel 'laef 1:5'": "laef 1:5: fig1 has no such switch, cable (SWITCH:PORT) or host; "
    "did you mean 'leaf 1'?",
    "fig1 --before x": "--before and --interval go with --counters FILE, the later reading",
    "fig1 --interval 10s": "--before and --interval go with --counters FILE, the later reading",
    "fig1 --counters x --before x --interval 0s": "--interval is the time from --before to",
    "fig1 --counters x --interval 10s": "--interval is the time from --before to --counters, above",
    "fig1 --counters JOBS --samples 9": "jobs:1: expected counters as perfquery",
    "fig1 --without 'spine 1'": "spine 1: fig1 has no such switch, cable ",
}
FABRIC = {
    "diff chic chic --routes a --routes b --routes c": "--routes is for OLD and NEW, got 3",
    "diff chic chic --route a --route b --route c": "--route is for OLD and NEW, got 3",
    "draw DATA/tiny.ibnetdiscover --loads --plot x.svg": "holds no routes: give --routes FILE or",
    "draw --plot x.svg": "name a fabric to draw",
    "draw --alltoall 4 --loads --plot x.svg": "need a fabric",
    "draw --alltoall 4 --part 1 --plot x.svg": "need a fabric",
    "draw --alltoall four --plot x.svg": "--alltoall: expected numbers such as 2,4,8",
    "failures DATA/tiny.ibnetdiscover": "holds no routes",
    "hosts fig1 --placement random": "expected a fixed placement",
    "hosts fig1 --format pbs": "pbs",
    "improve xgft:2;4,6;1,2 --ports 12 --cables 0": "--cables: 0 is not in the range",
    "make chic": "make needs a generator and -o FILE, or --list",
    "make chic -o x --remove some": "--remove: expected a share such as 5% or 0.05, got 'some'",
    "make chic -o x --remove 200%": "--remove: expected a percentage within 0 .. 100",
    "make chic -o -": "give the kind of file with --to",
}
STUDY = {
    "nowhere.toml": "'nowhere.toml' is neither a file nor a study of contend's (hoefler2008, ",
    "hoefler2009": "did you mean 'hoefler2008'?",
    "hoefler2008 --launches 2": "--launches does not belong to the study hoefler2008",
    "hoefler2008 --two-way": "--two-way does not belong to the study hoefler2008",
    "hoefler2008 --precision 1e-300": "--precision: expected a share such as 5%",
    "hoefler2008 --only ulm": "--only: expected one of ",
    "hoefler2008 --plot x.jpeg": "expected a figure's name ending in",
    "kutzner2005 --predict": "kutzner2005: --predict is for plans that sort",
    "kutzner2005 --rate 1MB": "--rate belongs to --on emulated:FABRIC",
    "kutzner2005 --buffer 1MB": "--buffer belongs to --on emulated:FABRIC",
    "mistry2015 --hosts 0": "--hosts: expected numbers from 1, got 0",
    "mistry2015 --hosts 3,1,3": "--hosts: expected every number once, got 3 again",
    "mistry2015 --budget 0": "--budget: expected a time above 0 such as 90s or 5min, got '0'",
    "mistry2015 --bytes 1K": "--bytes: no measurement of mistry2015 takes it",
    "mistry2015 --on nowhere": "nowhere",
    "mistry2015 --samples 9": "--samples does not belong to the study mistry2015",
    "mistry2015 --predict --vectors 99999999999999999999999999": "8 EiB",
    "mistry2015 --predict --ranks-per-host 9999999999": "at most 2,147,483,647 processes",
    "mistry2015 --predict -m 512x": "--length: expected a vector length m such as 512 or 512N, got",
    "mistry2015 --predict -m 512N -m 0512N": "every length in [[measure]] number 1 once, got 512N",
    "mistry2015 --predict --memory 0": "--memory: expected a size above 0 such as 24GiB, got '0'",
    "verification --bytes 1K,2K": "--bytes: verification takes one, got 2",
    "verification --only fig2": "--only: expected one of 16-node figure; fat tree, 24 hosts;",
    "verification --case fig1@valiant": "routes by valiant have no tables, and this needs",
}
ALLTOALL = "alltoall -n 2"
ROUTED = "alltoall -n 4 --algorithm routed"
MEASURE = {
    "alltoall": "--ranks: expected a number of ranks, such as -n 4",
    f"{ALLTOALL} --budget soon": "--budget: expected a time such as 90s, 5min or 1.5h",
    f"{ALLTOALL} --bytes 9999999T": "is more bytes than 64 bits can count",
    f"{ALLTOALL} --wire fast": "--wire: expected a rate such as 1Gbit/s",
    "alltoall -n 4 --ranks-per-host 2": "need 2 hosts",
    f"{ALLTOALL} --on nowhere": "nowhere: no such file",
    f"{ALLTOALL} --mpi lam": "no MPI library lam is usable on this machine",
    f"{ALLTOALL} --mpi ./lam": "lam: no such folder or program",
    f"{ALLTOALL} --launcher no-such": "the launcher no-such is not installed",
    f"{ALLTOALL} --memory 1MiB": "16,777,216 bytes (16 MiB), and 1 MiB are free",
    "alltoall --resume nowhere": "there is no session here",
    "bisect -n 4 --pattern alltoall": "alltoall: a rank sends or receives several messages at once",
    "bisect -n 4 --pattern shift:1 --two-way": "two-way pairs are for the pattern bisect",
    "bisect -n 4 --pattern file:no.csv": "no.csv",
    "bisect -n 4 --messages pairs.txt": "--messages: expected a name that ends in .csv or .parquet",
    "hotspot -n 16 --on emulated:fig1": "give the number of other pairs with --rivals",
    "hotspot --on emulated:xgft:2;2,2;1,2 --route ecmp": "routes by ecmp are drawn anew for every",
    "pingpong -n 2 --part 2": "--without, --rails and --strict belong",
    ROUTED: "routed depends on the routes: measure on emulated:FABRIC, or name the fabric",
    f"{ROUTED} --fabric crossbar:4": "routed depends on which hosts the ranks are on: name them",
    f"{ROUTED} --on emulated:fig1 --fabric fig1": "--fabric: --on emulated:FABRIC already names",
    f"{ROUTED} --fabric crossbar:4 --rate 1MB": "--rate belongs to --on emulated:FABRIC",
    f"{ROUTED} --on HOSTS --fabric crossbar:4": 'host "nobody": expected one host of that',
}
OTHERS = {
    "emulate fig1": "give a command after --, or --shell",
    "emulate fig1 --shell -- true": "--shell takes neither a command nor -n",
    "emulate fig1 --mpi openmpi -- true": "--ranks-per-host and --mpi need -n",
    "emulate fig1 --rate 1kbit -- true": "--rate: expected 1 Mbit/s to 34 Gbit/s",
    "emulate fig1 --buffer 1B -- true": "--buffer: expected 1600 B to 1 GiB, got 1 B",
    "emulate fig1 --host-queue 1B -- true": "--host-queue: expected 1600 B to 1 GiB, got 1 B",
    "emulate fig1 --placement random -- true": "ranks need one placement here",
    "emulate fig1 -- ''": "the command after -- is empty",
    "emulate thunderbird -- true": "expected 2 to 1,000 hosts to emulate, got 4,391",
    "explain mistry2051": "mistry2051",
    "explain KEPT/alltoall --fabric fig1 --without 'spine 9'": "no such switch",
    "explain KEPT/alltoall --fabric fig1 --part 'spine 9'": "no part or host",
    "jobs fig1 JOBS --hosts 4": "--hosts says where the next job may go: give --next too",
    "jobs fig1 JOBS --next 15": "--next: 14 servers are free, expected 15",
    "jobs fig1 JOBS --samples 1": "--samples: 1 is not in the range x>=2",
    "jobs fig1 HOSTS": "hosts:1: expected a job and its hosts with a comma between, got 'nobody",
    "place nowhere fig1": "expected a profile, a .npy matrix or a pattern",
    "place ring fig1 -o - --json -": "only one of --output and --json",
    "place ring fig1 --ranks 17": "--ranks-per-host puts more on each",
    "predict collectives fig1 --bytes 1:1M": "--bytes: expected up to 12 sizes, got 21",
    "profile -- no-such-program": "no-such-program: no such program",
    "profile --on emulated:fig1 -- true": "need -n",
    "profile -n 2 --rate 1Gbit -- true": "--rate belongs to --on",
    "profile --output . -- true": "is not empty",
    "profile --part 2 -- true": "--on and --ranks-per-host need -n",
    "profile --plot it.jpeg -- true": "it.jpeg: expected a figure's name",
    "report .": "no run is here",
    "report KEPT/alltoall --picture rates": "--picture says what --plot FILE draws",
    "report KEPT/alltoall --at 4K": "--at says what --plot FILE draws",
    "report KEPT/alltoall --plot it.svg --at 17": "nothing was measured at 17 B",
    "report KEPT/hotspot --plot it.svg --picture hotspt": "got hotspt; did you mean 'hotspot'?",
    "report KEPT/ring --plot it.svg --at 4K": "profiles are reported without runs, and without",
    "route fig1 --for nothing.npy": "nothing.npy: no such file",
    "route fig1 --for halo:2d --placement random": "where its ranks are",
    "route fig1 --changes 3": "--changes N belongs to --keep TABLES",
    "route fig1 --keep x --route minhop": "--keep TABLES takes neither",
    "route torus:5x5 --lanes 4 -o x.lfts": "lfts files do not say which lane",
    "run --tuned . -- true": "rules.toml: No such file or directory",
}
ALL = [
    *((f"{verb} {words}", said) for verb, table in (
        ("simulate", SIMULATE), ("fabric", FABRIC), ("study", STUDY), ("measure", MEASURE),
    ) for words, said in table.items()),
    *OTHERS.items(),
]  # fmt: skip
# The machine lacks what these need, and those print what they begin with or have found.
LACKING = ("--mpi lam", "--launcher no-such", "--memory 1MiB")
PRINTING = ("fig1@valiant", "--at 17", "x.lfts")


@pytest.mark.parametrize(("words", "said"), ALL, ids=[words for words, _ in ALL])
def test_one_line_and_nothing_is_left(
    words: str,
    said: str,
    require_program: Callable[[str], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if words.startswith("measure"):
        require_program("mpicc.openmpi")
    monkeypatch.chdir(tmp_path)
    Path("jobs").write_text("1,[1-2]\n")
    Path("hosts").write_text("nobody slots=4\n")
    files = {"DATA": str(DATA), "KEPT": str(DATA / "kept"), "JOBS": "jobs", "HOSTS": "hosts"}
    for name, path in files.items():
        words = words.replace(name, path)
    status = run(shlex.split(words))
    printed = capsys.readouterr()
    assert said in printed.err
    assert status == (3 if words.endswith(LACKING) else 2)
    assert printed.out == "" or words.endswith(PRINTING)
    assert printed.err.startswith("contend: ")
    assert printed.err.count("\n") == 1
    assert sorted(path.name for path in Path().iterdir()) == ["hosts", "jobs"]


def _every_verb(verbs: Iterable[Any], *names: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    for verb in verbs:
        if isinstance(verb, Group):
            yield from _every_verb(verb.commands.values(), *names, verb.name)
        else:
            yield (*names, verb.name), verb


EVERY_VERB = {" ".join(words): verb for words, verb in _every_verb(VERBS)}


@pytest.mark.parametrize("words", EVERY_VERB)
def test_an_option_of_one_value_is_given_once(
    words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for option in EVERY_VERB[words].command.params:
        if option.param_type_name == "option" and not (option.is_flag or option.multiple):
            for times, number in ((2, "twice"), (3, "3 times")):
                given = [word for at in range(times) for word in (option.opts[-1], f"value{at}")]
                assert run([*words.split(), *given]) == 2
                told = f"contend: {option.opts[0]} takes one value, and is given {number}\n"
                assert capsys.readouterr() == ("", told)


def test_a_switch_that_is_turned_twice_is_on_and_so_are_words_of_a_program(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["fabric", "show", "fig1", "--strict", "--strict"]) == 0
    capsys.readouterr()
    assert run(["profile", "--", "no-such-program", "--seed", "1", "--seed", "2"]) == 2
    assert capsys.readouterr().err == "contend: no-such-program: no such program\n"
