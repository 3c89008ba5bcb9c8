"""What MPI libraries must be told to start ranks on emulated hosts and talk over the fabric."""

from __future__ import annotations

from pathlib import Path

from contend.emulate.plan import (
    FABRIC_INTERFACE,
    FABRIC_NETWORK,
    MANAGEMENT_INTERFACE,
    MANAGEMENT_NETWORK,
)


def open_mpi(agent: Path) -> dict[str, str]:
    """For versions 4 (whose launcher is ORTE) and 5 (PRRTE).

    Ranks of one host share memory, all others use TCP on the fabric. Waiting ranks give the
    processor away: all hosts are on this machine.
    """
    shared = {
        "btl_tcp_if_include": str(FABRIC_NETWORK),
        "pml": "ob1",
        # What versions call the transport through shared memory differs, so others are left out.
        "btl": "^openib,uct,ofi,usnic,smcuda",
        "mpi_yield_when_idle": "1",
        "hwloc_base_binding_policy": "none",
    }
    orte = {
        "plm": "rsh",
        "plm_rsh_agent": str(agent),
        "plm_rsh_no_tree_spawn": "1",
        "oob_tcp_if_include": str(MANAGEMENT_NETWORK),
    }
    prrte = {
        "plm": "ssh",
        "plm_ssh_agent": str(agent),
        "plm_ssh_no_tree_spawn": "1",
        "prte_if_include": str(MANAGEMENT_NETWORK),
    }
    return {
        **{f"OMPI_MCA_{name}": value for name, value in {**shared, **orte}.items()},
        **{f"PRTE_MCA_{name}": value for name, value in prrte.items()},
        "PRTE_MCA_hwloc_default_binding_policy": "none",
    }


def mpich(agent: Path) -> dict[str, str]:
    """For MPICH and its relatives, whose launcher is hydra.

    Whatever a library was built upon (UCX, libfabric, or sockets of its own), it is told to use
    TCP on the fabric.
    """
    return {
        "HYDRA_LAUNCHER": "ssh",
        "HYDRA_LAUNCHER_EXEC": str(agent),
        "HYDRA_IFACE": MANAGEMENT_INTERFACE,
        "I_MPI_HYDRA_BOOTSTRAP": "ssh",
        "I_MPI_HYDRA_BOOTSTRAP_EXEC": str(agent),
        "UCX_TLS": "tcp,self",
        "UCX_NET_DEVICES": FABRIC_INTERFACE,
        "FI_PROVIDER": "tcp",
        "FI_TCP_IFACE": FABRIC_INTERFACE,
        "MPIR_CVAR_NEMESIS_TCP_NETWORK_IFACE": FABRIC_INTERFACE,
    }
