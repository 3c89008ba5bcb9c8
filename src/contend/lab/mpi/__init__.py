"""MPI: the libraries of this machine, probes compiled with them, and ranks that launchers start."""

from typing import TYPE_CHECKING

from contend.base.faces import shown

if TYPE_CHECKING:
    from .compilation import Compiler, Preload, compile_preload, compile_probe, hash_of, made_once
    from .examination import examine, launch_environment
    from .hosts import HostRanks, HostResources, share_out, this_machine
    from .launches import Death, Ended, Launch, launch_folder, remove_left, shared_memory_folders
    from .preloading import Preloaded, carry, preloaded, record
    from .search import Candidate, Libraries, Library, find, merge
    from .selection import TO_INSTALL, library_of, lost_on_the_way, select, stands_before
    from .starting import Launching, launch, prepare
else:
    __getattr__, __dir__, __all__ = shown(__name__, __file__)
