from .pattern import Pattern as Pattern
from .pattern_file import open_matrix as open_matrix
from .pattern_file import read_messages as read_messages
from .specification import FORMS as FORMS
from .specification import parse as parse
