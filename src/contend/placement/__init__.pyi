from .host_file import read_host_names as read_host_names
from .host_list import HostEntry as HostEntry
from .host_list import ListFormat as ListFormat
from .host_list import list_hosts as list_hosts
from .host_list import write_list as write_list
from .order import by_name as by_name
from .placement import Placement as Placement
from .specification import parse as parse
