from .pattern import Pattern as Pattern
from .specification import FORMS as FORMS
from .specification import open_matrix as open_matrix
from .specification import parse as parse
from .specification import read_messages as read_messages
