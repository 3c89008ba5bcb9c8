"""Where wrappers are looked for, and that each library is listed once."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from contend.base.errors import UsageError
from contend.lab.mpi import examine, find, merge
from contend.lab.mpi.search import mpi_modules

Script = Callable[[str, str], Path]
Require = Callable[[str], str]

AVAILABLE = """/opt/modules:
compiler/gcc-12
gcc/12.2(default)
hdf5/1.14-openmpi
mpi4py/3.1
mpi/openmpi-x86_64
mpifileutils/0.11
mpich/
mpich/4.0.2
mpich/4.1(default)
intel/impi/2021.9@
intel-oneapi-mpi/2021.10
cray-mpich/8.1.25
mvapich2/2.3.7
openmpi4/4.1.4
simpi/1.0
"""


def test_only_modules_named_after_an_mpi_library_count() -> None:
    assert mpi_modules(AVAILABLE) == [
        "mpi/openmpi-x86_64",
        "mpich/4.0.2",
        "mpich/4.1",
        "intel/impi/2021.9",
        "intel-oneapi-mpi/2021.10",
        "cray-mpich/8.1.25",
        "mvapich2/2.3.7",
        "openmpi4/4.1.4",
    ]


def test_links_to_one_wrapper_are_one_candidate(script: Script, tmp_path: Path) -> None:
    script("one/mpicc.mine", "exit 1")
    (tmp_path / "one" / "mpicc").symlink_to("mpicc.mine")
    (tmp_path / "two").symlink_to("one")
    path = f"{tmp_path}/one:{tmp_path}/two:relative:{tmp_path}/none"
    found = [one for one in find(environment={"PATH": path}) if one.origin == "PATH"]
    assert [one.wrapper for one in found] == [tmp_path / "one" / "mpicc"]


def test_debians_alternatives_are_found_without_path(
    require_program: Require, tmp_path: Path
) -> None:
    require_program("mpicc.openmpi")
    require_program("mpicc.mpich")
    # update-alternatives, and nothing else.
    (tmp_path / "update-alternatives").symlink_to(require_program("update-alternatives"))
    found = find(environment={"PATH": str(tmp_path)})
    names = {one.wrapper.name for one in found if one.origin == "alternatives" and one.wrapper}
    assert names == {"mpicc.openmpi", "mpicc.mpich"}


def test_named_prefixes(script: Script, tmp_path: Path) -> None:
    wrapper = script("prefix/bin/mpicc", "exit 1")
    (tmp_path / "empty").mkdir()
    for named in (tmp_path / "prefix", tmp_path / "prefix" / "bin", wrapper):
        assert find([named], environment={"PATH": ""})[0].wrapper == wrapper
    none = find([tmp_path / "empty"], environment={"PATH": ""})[0]
    assert (none.wrapper, none.missing) == (None, "it has no compiler wrapper")
    assert examine(none).why == "it has no compiler wrapper"
    with pytest.raises(UsageError, match="no such folder"):
        find([tmp_path / "absent"])


def test_real_modules_bring_their_library(
    require_program: Require, script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = require_program("modulecmd")
    real = require_program("mpicc.mpich")
    script("tree/bin/mpicc", f'test "$FROM_MODULE" = yes && exec {real} "$@"')
    script("tree/bin/mpiexec", f'exec {require_program("mpiexec.mpich")} "$@"')
    modules = {
        "mpich/1": f"prepend-path PATH {tmp_path}/tree/bin\nsetenv FROM_MODULE yes",
        "openmpi/2": "setenv NOTHING 1",
        "openmpi/3": "error broken",
        "gcc/12": "setenv NOTHING 1",
    }
    for name, code in modules.items():
        (tmp_path / "files" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "files" / name).write_text(f"#%Module1.0\n{code}\n", encoding="utf-8")
    monkeypatch.setenv("MODULES_CMD", command)
    monkeypatch.setenv("MODULEPATH", str(tmp_path / "files"))
    found = {one.origin: one for one in find() if one.origin.startswith("module ")}
    assert list(found) == ["module mpich/1", "module openmpi/2", "module openmpi/3"]
    library = examine(found["module mpich/1"])
    assert (library.usable, library.why, library.name) == (True, "", "MPICH")
    assert library.launcher == str(tmp_path / "tree/bin/mpiexec")
    assert found["module openmpi/2"].missing == "brings no compiler wrapper"
    assert found["module openmpi/3"].missing.startswith("does not load: ")


def test_two_wrappers_that_call_one_library_merge(
    require_program: Require, script: Script, tmp_path: Path
) -> None:
    real = require_program("mpicc.mpich")
    script("bin/mpicc", f'exec {real} "$@"')
    script("bin/mpicc.other", f'exec {real} -DOTHER "$@"')
    found = find([tmp_path], environment={"PATH": os.environ["PATH"]})
    own = [examine(one) for one in found if one.origin.startswith("--mpi")]
    (only,) = merge(own)
    assert (only.wrapper, only.also) == (
        str(tmp_path / "bin/mpicc"),
        (str(tmp_path / "bin/mpicc.other"),),
    )
