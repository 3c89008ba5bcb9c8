from .programs import Profile as Profile
from .programs import calibrate as calibrate
from .programs import profile as profile
