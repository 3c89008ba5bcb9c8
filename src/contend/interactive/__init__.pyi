from .programs import Profile as Profile
from .programs import calibrate as calibrate
from .programs import profile as profile
from .simulations import SimulationResult as SimulationResult
from .simulations import simulate as simulate
