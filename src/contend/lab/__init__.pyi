from . import emulation as emulation
from . import measurement as measurement
from . import mpi as mpi
from . import runs as runs
from . import session as session
from . import studies as studies
