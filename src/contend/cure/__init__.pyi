from .phased_traffic import Sent as Sent
from .phased_traffic import sent_by as sent_by
from .seats import BetterSeats as BetterSeats
from .seats import better_seats as better_seats
from .tables import BetterTables as BetterTables
from .tables import Gain as Gain
from .tables import better_tables as better_tables
from .tables import write_steps as write_steps
