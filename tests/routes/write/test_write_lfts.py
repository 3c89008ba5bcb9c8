"""The dump is one that the real OpenSM loads, on a simulated fabric."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from contend.fabric import Fabric
from contend.routes import load_fabric, save
from sample_fabrics import host_ports, two_leaves

PRELOAD = Path("/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so")


def run_opensm(folder: Path, fabric: Fabric, ibsim: str, opensm: str) -> None:
    """Lets OpenSM load our dump on ibsim; what it then has in its tables is in the folder."""
    environment = {
        **os.environ,
        "IBSIM_SOCKNAME": f"contend{os.getpid()}",
        "IBSIM_SERVER_PORT": str(20000 + os.getpid() % 20000),
    }
    net = folder / "x.ibnetdiscover"
    simulator = subprocess.Popen(
        [ibsim, "-s", str(net)],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        manager = {
            **environment,
            "LD_PRELOAD": str(PRELOAD),
            "SIM_HOST": f"H-{int(fabric.host_guid[0]):016x}",
            "OSM_TMP_DIR": str(folder),
            "OSM_CACHE_DIR": str(folder),
        }
        command = [opensm, "-R", "file", "-U", str(folder / "x.lfts"), "-o", "-D", "0x47"]
        for _ in range(20):
            log = folder / "osm.log"
            log.unlink(missing_ok=True)
            subprocess.run(
                [*command, "-f", str(log)],
                env=manager,
                capture_output=True,
                timeout=60,
                check=False,
            )
            # The simulator may not listen yet; it does not say when it does.
            if (folder / "opensm-lfts.dump").exists() or simulator.poll() is not None:
                return
    finally:
        simulator.kill()
        simulator.communicate()


@pytest.mark.skipif(not PRELOAD.exists(), reason="the library of ibsim is not installed")
def test_opensm_loads_the_dump_and_dumps_it_back(
    tmp_path: Path, require_program: Callable[[str], str]
) -> None:
    fabric = two_leaves()
    save(fabric, tmp_path / "x.ibnetdiscover")
    save(fabric, tmp_path / "x.lfts")
    run_opensm(tmp_path, fabric, require_program("ibsim"), require_program("opensm"))
    assert "file tables configured on all switches" in (tmp_path / "osm.log").read_text()
    dumped = tmp_path / "opensm-lfts.dump"
    again = load_fabric(str(tmp_path / "x.ibnetdiscover"), routes=str(dumped))
    assert host_ports(again) == host_ports(fabric)
    entries = [line for line in dumped.read_text().splitlines() if line.startswith("0x")]
    ours = (tmp_path / "x.lfts").read_text().splitlines()
    assert entries == [line for line in ours if line.startswith("0x")]
