"""A small library that makes waiting ranks give the processor away, for MPI that lets them spin."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from importlib.resources import files
from pathlib import Path

from contend.mpi import Library, cache_folder, run_process

_LIMIT = 60.0


def compiled_nap(library: Library) -> Path | None:
    """The library to preload into ranks; compiled once, None where nothing compiles it.

    Args:
        library: whose wrapper compiles it, when there is no plain compiler.
    """
    source = (files("contend") / "emulate" / "idle.c").read_bytes()
    kind = os.uname().machine.encode()
    key = hashlib.sha256(source + kind).hexdigest()[:16]
    made = cache_folder(library.environment) / f"idle-{key}.so"
    if made.exists():
        return made
    path = library.environment.get("PATH")
    compiler = shutil.which("cc", path=path) or shutil.which("gcc", path=path) or library.wrapper
    if not compiler:
        return None
    try:
        made.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=made.parent, prefix=".new-") as folder:
            text, built = Path(folder) / "idle.c", Path(folder) / made.name
            text.write_bytes(source)
            command = [compiler, "-O2", "-shared", "-fPIC", str(text), "-o", str(built), "-ldl"]
            if run_process(command, library.environment, _LIMIT).status != 0:
                return None
            built.replace(made)
    except OSError:
        return None
    return made
