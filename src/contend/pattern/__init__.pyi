from .pattern import Pattern as Pattern
from .specification import FORMS as FORMS
from .specification import parse as parse
