from .nccl_graph import holds_nccl_graphs as holds_nccl_graphs
from .pattern import Pattern as Pattern
from .pattern_file import open_matrix as open_matrix
from .pattern_file import read_messages as read_messages
from .specification import FORMS as FORMS
from .specification import parse as parse
from .specification import rails_told as rails_told
from .specification import shift_distances as shift_distances
