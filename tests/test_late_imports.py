"""What loads late may be asked for by several threads at once, and each gets all of it.

Libraries are imported by the functions that need them: an import statement waits for a thread that
is at it, where lazy_loader.load shows the others a module that is half there.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import contend
from processes import finished
from test_import_circles import homes, modules

# Holds up a module outside the main thread, or all of them, until the other threads have passed by.
_HELD_UP = """
import faulthandler, importlib, importlib.abc, importlib.machinery, json, sys, threading

# Threads that wait for each other for ever tell where.
faulthandler.dump_traceback_later(300, exit=True)

class Held(importlib.abc.Loader):
    def __init__(self, loader):
        self.loader = loader

    def __getattr__(self, name):
        return getattr(self.loader, name)

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        if threading.current_thread() is not threading.main_thread():
            threading.Event().wait(PATIENCE)
        self.loader.exec_module(module)

class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None and HELD(name):
            spec.loader = Held(spec.loader)
        return spec

sys.meta_path.insert(0, Finder())
"""


def run(script: str, held: str, patience: float) -> None:
    """Runs a script in a process of its own, in which modules take long to load in threads."""
    text = f"PATIENCE = {patience}\nHELD = lambda name: {held}\n{_HELD_UP}\n{script}"
    done = finished([sys.executable, "-c", text])
    assert done.returncode == 0, done.stdout + done.stderr


def libraries() -> Iterator[str]:
    """Modules of libraries that functions import."""
    for path in modules().values():
        for function in ast.walk(ast.parse(path.read_text())):
            if not isinstance(function, ast.FunctionDef):
                continue
            for node in ast.walk(function):
                if isinstance(node, ast.Import):
                    yield from (alias.name for alias in node.names)
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    yield node.module


@pytest.mark.parametrize(
    "words",
    [
        ("fabric", "failures", "xgft:2;2,4;1,2", "--samples", "20"),
        (
            "fabric",
            "improve",
            "xgft:2;2,4;1,2",
            "--ports",
            "12",
            "--samples",
            "20",
            "--cables",
            "1",
        ),
        ("simulate", "fattree2:4", "--route", "minhop", "--model", "packets", "--samples", "9"),
        ("predict", "alltoall", "crossbar:4", "--model", "tcp", "--buffer", "1MiB", "-a", "all"),
    ],
)
def test_commands_whose_threads_are_the_first_to_need_a_library(words: tuple[str, ...]) -> None:
    script = f"import contend.cli.endings\nsys.argv[1:] = {words!r}\ncontend.cli.endings.main()"
    run(script, "name in ('scipy', 'polars')", 0.5)


def test_threads_are_started_where_that_is_known() -> None:
    """Another place where a pool is made needs its command above, or threads that load nothing."""
    root = Path(contend.__file__).parent

    def having(text: str) -> set[str]:
        files = root.rglob("*.py")
        return {str(path.relative_to(root)) for path in files if text in path.read_text()}

    home = "congestion/processes.py"
    # The others wait for sockets and for compilers.
    compiling = {"lab/mpi/compilation.py"}
    assert having("ThreadPoolExecutor(") == {home, "lab/emulation/headroom.py", *compiling}
    cures = {"cure/each_failure.py", "cure/improvement.py"}
    packets = {"congestion/packets/sampling.py", "congestion/packets/jobs.py"}
    assert having("core_threads(") == {home, "prediction/dropping.py", *packets, *cures}


def test_no_module_shows_itself_before_it_is_loaded() -> None:
    for name, path in modules().items():
        if name == "contend.base.faces":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            assert not isinstance(node, ast.Import | ast.ImportFrom) or not {
                "lazy_loader",
                "importlib.util",
            } & {*(alias.name for alias in node.names), getattr(node, "module", "")}, name


def test_threads_load_libraries_side_by_side() -> None:
    """Each library by two threads, all libraries at once, as a caller's own threads may."""
    names = sorted(name for name in set(libraries()) if name.split(".")[0] in ("polars", "scipy"))
    assert {"polars", "scipy.special", "scipy.stats", "scipy.optimize"} <= set(names)
    script = f"""
faults = []

def load(name):
    try:
        module = importlib.import_module(name)
        assert not module.__spec__._initializing
    except BaseException as error:
        faults.append(repr(error))

threads = [threading.Thread(target=load, args=(name,)) for name in {names!r} for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
sys.exit("; ".join(faults) or 0)
"""
    run(script, "name.split('.')[0] in ('polars', 'scipy') and name.count('.') < 2", 0.01)


def test_threads_open_the_rooms_side_by_side() -> None:
    """Every name that a room shows, by threads that come from different ends."""
    names = sorted(homes())
    script = f"""
faults, found = [], []

def walk(names):
    seen = {{}}
    try:
        for name in names:
            room, _, shown = name.rpartition(".")
            seen[name] = id(getattr(importlib.import_module(room), shown))
    except BaseException as error:
        faults.append(repr(error))
    found.append(seen)

names = {names!r}
middle = len(names) // 2
turned = names[middle:] + names[:middle]
orders = (names, names[::-1], turned, turned[::-1])
threads = [threading.Thread(target=walk, args=(order,)) for order in orders]
for thread in threads: thread.start()
for thread in threads: thread.join()
sys.exit("; ".join(faults) or int(any(seen != found[0] for seen in found)))
"""
    run(script, "name.startswith('contend.')", 0.005)
