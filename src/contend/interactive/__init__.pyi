from .programs import Profile as Profile
from .programs import calibrate as calibrate
from .programs import profile as profile
from .seats import Jobs as Jobs
from .seats import jobs as jobs
from .seats import place as place
from .simulations import SimulationResult as SimulationResult
from .simulations import simulate as simulate
