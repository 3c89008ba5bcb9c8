"""Traffic patterns: rounds of simultaneous messages between ranks."""

from typing import TYPE_CHECKING

from contend.base.faces import shown

if TYPE_CHECKING:
    from .nccl_graph import holds_nccl_graphs
    from .pattern import Pattern
    from .pattern_file import open_matrix, read_messages
    from .specification import FORMS, parse, rails_told, shift_distances
else:
    __getattr__, __dir__, __all__ = shown(__name__, __file__)
