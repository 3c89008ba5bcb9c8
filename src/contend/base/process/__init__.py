"""Everything that starts, watches and ends programs; no other room does."""

from typing import TYPE_CHECKING

from contend.base.faces import shown

if TYPE_CHECKING:
    from .agent import enter_network, new_network
    from .bpf import Instruction, load_classifier, make_counts
    from .folders import (
        HeldFolder,
        hold_folder,
        is_own,
        left_folders,
        private_folder,
        scratch_folder,
    )
    from .processes import (
        FirstEnded,
        ancestors,
        end_processes,
        is_gone,
        is_in_use,
        maps_file,
        process_folders,
    )
    from .programs import (
        Finished,
        Program,
        Run,
        end_kindly,
        run_foreground,
        run_process,
        run_watched,
        start_program,
        wait_for,
    )
else:
    __getattr__, __dir__, __all__ = shown(__name__, __file__)
