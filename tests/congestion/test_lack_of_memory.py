"""Memory that runs out anywhere in the core, on any of its threads, is a MemoryError in Python."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from processes import finished

_FAILING = """
#include <atomic>
#include <cstdlib>
#include <new>

extern "C" int PyGILState_Check();

// How many more allocations succeed; below 0: all of them. Who holds Python's lock is not in the
// core.
static std::atomic<long> left{-1};
static std::atomic<long> failed{0};

extern "C" void succeed(long times) { left = times; failed = 0; }
extern "C" long failures() { return failed; }

void* operator new(std::size_t size) {
  if (left >= 0 && !PyGILState_Check() && left.fetch_sub(1) == 0) {
    ++failed;
    throw std::bad_alloc();
  }
  if (void* block = std::malloc(size ? size : 1)) return block;
  throw std::bad_alloc();
}
"""
# Lets one allocation after the other fail, until none is left that could.
_PROGRAM = """
import ctypes
import numpy as np
from contend import _core
from contend.congestion import simulate
from contend.base.errors import MissingError
from contend.fabric import make
from contend.routes import compute
from contend.routes.checking import check

failing = ctypes.CDLL(None)
tree = make("xgft:2;3,3;1,3")
routed = compute(tree, "dmodk")
ring = make("torus:4")

calls = {
    **{name: lambda name=name: compute(tree, name) for name in ("minhop", "updn", "dmodk")},
    "contend": lambda: compute(ring, "contend"),
    "levels": lambda: _core.find_levels(tree.core),
    "check": lambda: check(routed),
    "all-to-all": lambda: simulate(routed, "alltoall", threads=3),
    "samples": lambda: simulate(routed, "bisect", samples=50, threads=3),
    "users": lambda: simulate(routed, "alltoall", threads=3, channels=["hottest"]),
}
for name, call in calls.items():
    call()
    times, errors = 0, 0
    while True:
        failing.succeed(ctypes.c_long(times))
        try:
            call()
        except (MemoryError, MissingError):
            errors += 1
        finally:
            failed = failing.failures()
            failing.succeed(ctypes.c_long(-1))
        if not failed:
            break
        times += 1 if times < 200 else 7
    print(name, "told" if errors else "never failed")
"""


def test_every_allocation_of_the_core_may_fail(
    tmp_path: Path, require_program: Callable[[str], str]
) -> None:
    (tmp_path / "failing.cpp").write_text(_FAILING)
    library = tmp_path / "failing.so"
    compiler = require_program("g++")
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", str(tmp_path / "failing.cpp"), "-o", str(library)],
        check=True,
    )
    environment = {**os.environ, "LD_PRELOAD": str(library), "OMP_NUM_THREADS": "3"}
    done = finished([sys.executable, "-c", _PROGRAM], env=environment)
    names = ["minhop", "updn", "dmodk", "contend", "levels", "check", "all-to-all", "samples"]
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [f"{name} told" for name in [*names, "users"]]
