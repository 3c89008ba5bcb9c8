from .programs import Profile as Profile
from .programs import profile as profile
