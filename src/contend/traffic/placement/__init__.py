"""Placement: which rank runs on which host."""

from typing import TYPE_CHECKING

from contend.base.faces import shown

if TYPE_CHECKING:
    from .batch_systems import ListedJob
    from .host_list import HostEntry, ListFormat, list_hosts, renamed, write_list
    from .host_names import HostNames, read_host_names
    from .job_list import jobs_of_slurm, parse_jobs, read_jobs
    from .order import by_name, by_server, leaf_by_leaf, seats_by_server
    from .placement import HostChoice, Placement, choose_hosts, parse
else:
    __getattr__, __dir__, __all__ = shown(__name__, __file__)
