from .states import JobLoads as JobLoads
from .states import Watched as Watched
from .states import WatchedChannel as WatchedChannel
from .states import watch as watch
