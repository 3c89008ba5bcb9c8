"""Which library a command is for, and how a library gets into its ranks on every host."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from contend.base.errors import MissingError
from contend.base.process import Finished, run_process
from contend.lab.mpi import (
    Library,
    launch_environment,
    library_of,
    lost_on_the_way,
    preloaded,
    record,
)
from processes import finished

Libraries = dict[str, tuple[Library, Path]]
LIBRARIES = ("openmpi4", "openmpi5", "mpich")
SHOW = ["/bin/sh", "-c", "echo preload=$LD_PRELOAD key=$KEY own=$OWN on $(/bin/hostname)"]
# A remote shell to a host that knows nothing of this one's environment.
_AGENT = """\
while [ "${{1#-}}" != "$1" ]; do shift; done
host=$1; shift
exec env -i HOME=/ PATH={path} {variables} \\
  unshare --uts sh -c 'hostname "$0"; exec sh -c "$*"' "$host" "$@"
"""
_REMOTELY = {
    "openmpi4": ["--mca", "plm_rsh_agent", "{agent}", "--host", "beta:2", "-n", "2"],
    "openmpi5": ["--prtemca", "plm_ssh_agent", "{agent}", "--host", "beta:2", "-n", "2"],
    "mpich": ["-launcher", "ssh", "-launcher-exec", "{agent}", "-hosts", "beta", "-n", "2"],
}


@pytest.fixture
def harmless(tmp_path: Path, require_program: Callable[[str], str]) -> Path:
    """A library that does nothing."""
    made = tmp_path / "harmless.so"
    source = tmp_path / "harmless.c"
    source.write_text("int nothing;\n")
    cc = require_program("cc")
    subprocess.run([cc, "-shared", "-fPIC", source, "-o", made], check=True)
    return made


def _run(words: Sequence[str], variables: dict[str, str]) -> str:
    environment = {**launch_environment(os.environ), **variables}
    ended = finished(words, env=environment)
    assert ended.returncode == 0, ended.stderr + ended.stdout
    return ended.stdout


@pytest.mark.parametrize("own", [False, True], ids=["nothing of its own", "a variable of its own"])
@pytest.mark.parametrize("name", LIBRARIES)
def test_ranks_on_other_hosts_load_it(
    libraries: Libraries, script: Callable[[str, str], Path], harmless: Path, name: str, own: bool
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may give a process another host name")
    library, _ = libraries[name]
    settings = launch_environment({})
    variables = " ".join(f"{key}={value}" for key, value in settings.items())
    folders = f"{Path(library.launcher).parent}:/usr/bin:/bin"
    agent = script("agent", _AGENT.format(path=folders, variables=variables))
    passed = {"mpich": ["-genv", "OWN", "mine"]}.get(name, ["-x", "OWN"]) if own else []
    options = [word.format(agent=agent) for word in _REMOTELY[name]]
    command = preloaded(
        [library.launcher, *passed, *options, *SHOW], harmless, {"KEY": "value"}, os.environ
    )
    mine = {"OWN": "mine"} if own else {}
    said = re.findall(r"preload=.*", _run(command.words, {**mine, **command.variables}))
    assert said == 2 * [f"preload={harmless} key=value own={'mine' if own else ''} on beta"]


def test_ranks_that_srun_starts_load_it(slurm: Path, harmless: Path) -> None:
    for exported in ("ALL", "NONE", "OWN"):
        environment = {"SLURM_CONF": str(slurm), "SLURM_EXPORT_ENV": exported, "OWN": "mine"}
        command = preloaded(["srun", "-n", "2", *SHOW], harmless, {"KEY": "value"}, environment)
        told = _run(command.words, {**environment, **command.variables})
        assert told.count(f"preload={harmless} key=value") == 2, exported


def test_what_is_there_already_stays(harmless: Path) -> None:
    before = {"LD_PRELOAD": "/other.so", "OMPI_MCA_mca_base_env_list": "ONE;TWO=2"}
    command = preloaded(["mpirun", "-n", "2", "x"], harmless, {}, before)
    assert command.words == ("mpirun", "-n", "2", "x")
    assert command.variables == {
        "LD_PRELOAD": f"/other.so:{harmless}",
        "OMPI_MCA_mca_base_env_list": "ONE;TWO=2;LD_PRELOAD",
    }


def test_what_a_command_itself_preloads_stays(harmless: Path) -> None:
    both = f"LD_PRELOAD=/other.so:{harmless}"
    for before, after in (
        (["-x", "LD_PRELOAD=/other.so"], ["-x", "KEY", "-x", both]),
        (["-genv", "LD_PRELOAD", "/other.so"], ["-genv", "LD_PRELOAD", both.partition("=")[2]]),
        (["env", "LD_PRELOAD=/other.so"], ["env", both]),
    ):
        command = preloaded(["mpirun", *before, "x"], harmless, {"KEY": "value"}, {})
        assert command.words == ("mpirun", *after, "x")
    # What a shell is to read stays as it is.
    script = ("sh", "-c", "LD_PRELOAD=/other.so ./x")
    assert preloaded(script, harmless, {}, {}).words == script


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("export LD_PRELOAD=/other.so", "sets LD_PRELOAD anew: let it set LD_PRELOAD=theirs.so:"),
        ('LD_PRELOAD="/other.so" exec "$@"', "sets LD_PRELOAD anew"),
        ("unset KEY LD_PRELOAD", "takes LD_PRELOAD away"),
        ("exec env -u CONTEND_PROFILE x", "takes CONTEND_PROFILE away"),
        ('env -i "$@"', 'empties the environment: let it pass on LD_PRELOAD="$LD_PRELOAD"'),
        ("env - x", "empties the environment"),
        ("ssh node2 ./x", "goes over ssh"),
        ('export LD_PRELOAD="/other.so:$LD_PRELOAD"', ""),
        ("export LD_PRELOAD=$HOME/other.so:${LD_PRELOAD}", ""),
        ("# unset LD_PRELOAD", ""),
        ("env KEY=value x", ""),
    ],
)
def test_where_a_script_loses_variables(tmp_path: Path, line: str, said: str) -> None:
    script = tmp_path / "start.sh"
    script.write_text(f"#!/bin/sh\n\n{line}\n")
    found = lost_on_the_way(["mpirun", "-n", "2", str(script), "x"], ["LD_PRELOAD", "KEY"])
    assert found.startswith(f"line 3 of {script} {said}" if said else "")
    assert bool(found) == bool(said)


def test_a_path_that_the_loader_would_take_apart_is_refused() -> None:
    with pytest.raises(MissingError, match="path has a space or a colon in it; set XDG_CACHE_HOME"):
        preloaded(["mpirun", "x"], Path("/my folder/library.so"), {}, {})


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_program_tells_its_library(libraries: Libraries, name: str) -> None:
    """Whatever launcher is named first."""
    library, program = libraries[name]
    found = library_of(["mpirun", "-n", "2", str(program), "x"])
    assert (found.reported, found.file) == (library.reported, library.file)


@pytest.mark.parametrize("name", LIBRARIES)
def test_otherwise_the_launcher_does(libraries: Libraries, name: str) -> None:
    library, _ = libraries[name]
    assert library_of([library.launcher, "-n", "2", "python3"]).reported == library.reported


@pytest.mark.parametrize("named", ["program", "launcher"])
@pytest.mark.parametrize("name", LIBRARIES)
def test_a_script_tells_its_library(
    libraries: Libraries, tmp_path: Path, name: str, named: str
) -> None:
    library, program = libraries[name]
    line = f"$RUN -n 2 {program}" if named == "program" else f'time {library.launcher} -n 2 "$APP"'
    script = tmp_path / "job.sh"
    script.write_text(f"#!/bin/sh\n# mpirun is not meant: {tmp_path}\ncd /tmp\n{line} >out\n")
    assert library_of(["sh", str(script)]).reported == library.reported


def test_wrappers_that_cannot_be_tried_are_told(libraries: Libraries) -> None:
    library, program = libraries["mpich"]

    def run(words: Sequence[str], environment: Mapping[str, str], limit: float) -> Finished:
        told = words[0] == "ldd" or "-show" in words or "--version" in words
        return run_process(words, environment, limit) if told else Finished(153)

    with pytest.raises(
        MissingError, match=f"no compiler wrapper .* works here .*{library.wrapper}: "
    ):
        library_of([str(program)], run=run)


def test_a_command_without_either() -> None:
    with pytest.raises(MissingError, match="cannot tell which MPI library echo hi is for; name it"):
        library_of(["echo", "hi"])


def test_a_command_is_recorded(libraries: Libraries, tmp_path: Path) -> None:
    library, program = libraries["openmpi4"]
    folder = tmp_path / "records"
    command = record([library.launcher, "-n", "2", str(program)], folder, memory=1 << 20)
    assert "contend met 2" in _run(command.words, dict(command.variables))
    left = sorted(folder.glob("*.record"))
    assert [path.name for path in left] == ["rank-000000.record", "rank-000001.record"]
    assert all(path.stat().st_size < 1 << 20 for path in left)


def test_the_runtime_of_a_sanitizer_need_not_come_first(
    tmp_path: Path, require_program: Callable[[str], str]
) -> None:
    compiler, program, other = require_program("gcc"), tmp_path / "program", tmp_path / "other.so"
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    (tmp_path / "other.c").write_text("int other;\n")
    for options in (
        ["-fsanitize=address", "main.c", "-o", program],
        ["-shared", "-fPIC", "other.c", "-o", other],
    ):
        subprocess.run([compiler, *options], cwd=tmp_path, check=True)
    own = {"PATH": os.environ["PATH"], "ASAN_OPTIONS": "detect_leaks=0"}
    variables = preloaded([str(program)], other, {}, own).variables
    assert variables["ASAN_OPTIONS"] == "verify_asan_link_order=0:detect_leaks=0"
    ended = finished([program], env={**own, **variables})
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "ASAN_OPTIONS" not in preloaded([compiler], other, {}, own).variables
