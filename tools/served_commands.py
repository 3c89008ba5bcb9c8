"""Commands of one version of contend: carried out by a process that has it loaded, or drawn.

Run as a script by the Python of a version, this answers a `Server`.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from random import Random
from typing import Any

# What a version loads before it carries out commands: most of what these would wait for.
LIBRARIES = "numpy polars scipy.optimize scipy.sparse.csgraph scipy.stats rich.table"
FIGURES = "matplotlib.figure matplotlib.backends.backend_svg bokeh.plotting bokeh.embed"
# Seconds after which a command is ended, and so not compared.
LIMIT = 300.0


class Server:
    """A process with a version loaded, which carries out every command in a child of its own."""

    def __init__(self, script: str) -> None:
        path = Path(shutil.which(script) or script)
        with path.open(errors="replace") as file:
            python = file.readline().removeprefix("#!").strip()
        if not Path(python).is_file():
            raise SystemExit(f"{script}: expected a script of Python that pip installed")
        self.checkout = str(Path(python).parents[2])
        # Lines are as long in every terminal; what runs beside others has no threads.
        plain = {"COLUMNS": "80", "TERM": "dumb", "OMP_NUM_THREADS": "1"}
        plain["CONTEND_FAULTS"] = tempfile.gettempdir()
        self._process = subprocess.Popen(
            [python, "-P", __file__],
            env={**os.environ, **plain},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def ask(self, request: Any) -> Any:
        """The exit status of `[words, folder]`, None where it did not end; of None all options."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(request), file=self._process.stdin, flush=True)
        return json.loads(self._process.stdout.readline())


def serve() -> int:
    """Answers a `Server`, with the contend of the Python that runs this."""
    (script,) = entry_points(group="console_scripts", name="contend")
    main = script.load()
    options = offered()
    for library in f"{LIBRARIES} {FIGURES}".split():
        import_module(library)
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(options if request is None else _in_a_child(main, *request)), flush=True)
    return 0


def _in_a_child(main: Any, words: list[str], folder: str) -> int | None:
    child = os.fork()
    if not child:
        _end_as(main, words, Path(folder))
    ended, _, _ = select.select([os.pidfd_open(child)], [], [], LIMIT)
    with contextlib.suppress(ProcessLookupError):
        # What it has started too.
        os.killpg(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status if ended else None


def _end_as(main: Any, words: list[str], folder: Path) -> None:
    """Carries out one command as its script would, and ends the process."""
    status: Any = 1
    try:
        os.setsid()
        os.chdir(folder / "runs")
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(os.open(folder / name, os.O_WRONLY | os.O_CREAT), number)
        sys.argv = ["contend", *words]
        main()
        status = 0
    except SystemExit as end:
        status = end.code or 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status if isinstance(status, int) else 1)


def offered() -> dict[str, list[dict[str, Any]]]:
    """Every verb with its arguments and options, as the parser of the command line has them."""
    verbs = {}
    left = [((), import_module("contend.cli.app").command())]
    while left:
        name, verb = left.pop()
        if below := getattr(verb, "commands", None):
            left += [((*name, word), one) for word, one in below.items()]
            continue
        verbs[" ".join(name)] = [
            {
                "names": one.opts if one.param_type_name == "option" else [],
                "takes": re.sub(r"^\[|\]$|(?<!,)\.\.\.$", "", one.metavar or ""),
                "flag": bool(getattr(one, "is_flag", False)),
                "needed": one.required,
                "several": one.nargs == -1,
                "choices": list(getattr(one.type, "choices", [])),
                "least": getattr(one.type, "min", None),
            }
            for one in getattr(verb, "command", verb).params
        ]
    return verbs


def drawn(
    verbs: Mapping[str, list[dict[str, Any]]], words: Mapping[str, Any], count: int, seed: int
) -> list[str]:
    """Random command lines; the same seed draws the same ones of the same options.

    Args:
        verbs: what may be drawn, of `offered`.
        words: the table's `[random]`.
        count: of lines.
        seed: of all choices.
    """
    names = sorted(name for name in verbs if not name.startswith(tuple(words["unasked"])))
    lines = []
    for number in range(count):
        choice = Random(f"{seed}/{number}")
        verb = choice.choice(names)
        line: list[str] = []
        for one in verbs[verb]:
            name = (*one["names"], "")[0]
            share = words["shares"].get(name, 0.15)
            if name and not one["needed"] and choice.random() > share:
                continue
            for _ in range(1 + (one["several"] and choice.random() < 0.2)):
                line += one["names"][:1] + _value(choice, one, verb, words)
        if line and choice.random() < words["wrong_share"]:
            # A wrong word, one too few or one too many.
            at = choice.randrange(len(line))
            line[at : at + 1] = choice.choice([[choice.choice(words["wrong"])], [], [line[at]] * 2])
        lines.append(" ".join([verb, *(shlex.quote(word) for word in line)]))
    return lines


def _value(choice: Random, one: dict[str, Any], verb: str, words: Mapping[str, Any]) -> list[str]:
    """Words for an option or an argument, by its name, by what it takes or by what is allowed."""
    if one["flag"]:
        return []
    name = one["names"][0] if one["names"] else one["takes"]
    values = words["values"]
    known = one["choices"] or next(
        (values[key] for key in (f"{verb}/{name}", name, one["takes"]) if key in values), None
    )
    if known is None and one["least"] is not None:
        known = [str(one["least"] + more) for more in (0, 1, 2, 3, 7)]
    return shlex.split(choice.choice(known or words["wrong"]))


if __name__ == "__main__":
    sys.exit(serve())
