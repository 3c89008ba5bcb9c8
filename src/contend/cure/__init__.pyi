from .tables import BetterTables as BetterTables
from .tables import Gain as Gain
from .tables import better_tables as better_tables
from .tables import write_steps as write_steps
