from . import pattern as pattern
from . import placement as placement
from . import schedule as schedule
