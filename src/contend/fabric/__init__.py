"""Fabrics: hosts, switches and channels; read, written, generated and described."""

from typing import TYPE_CHECKING

from contend.base.faces import shown

if TYPE_CHECKING:
    from .altered import (
        Cable,
        Rest,
        cable_ports,
        free_ports,
        only,
        part_of,
        with_cables,
        with_hosts,
        with_ports,
        without,
        without_numbers,
    )
    from .assemble import Topology, what_is_missing
    from .cabling_rule import CablingRule
    from .changes import Change, Difference, difference
    from .composition import (
        Structure,
        cables_per_pair,
        cables_within_reach,
        capacities,
        relative_rates,
        size_of,
        structure,
        switch_distances,
    )
    from .counters.counted_ports import Carried, Reading, Samples, carried, carried_between
    from .counters.port_counters import PortCount
    from .counters.sources import CounterSource, counter_source
    from .cuts.rated_bisection import Bisection, Plane, bisection
    from .fabric import NO_SWITCH, Fabric, FabricSize, Finding, build, connected_parts, made_of
    from .faults.checks import MOST_DETAILS, Check, Status, at_most_ten
    from .faults.incomplete import MissingCables, missing_cables
    from .faults.link_speeds import slow_links
    from .faults.soundness import TOPOLOGY_FAULTS, check_soundness
    from .formats.ibnetdiscover import check_lids, one_line
    from .formats.ibsim import host_id, not_read_by_ibsim, port_guids
    from .formats.topology import WRITERS, Writer, read_bundle, read_topology, recognise
    from .generate.catalogue import Family, catalogue, is_generator, make
    from .generate.degrade import remove_cables, remove_switches, with_parallel_links
    from .graph import from_networkx, to_networkx
    from .groups import SwitchGroups, grid_coordinates, group_circle, short_names, switch_groups
    from .levels import (
        Part,
        PartSize,
        bare_switches,
        few_hosts,
        idle_switches,
        is_tree,
        parts_of,
        switch_levels,
    )
    from .named import Names, channels_named, machine_names
    from .rails import Rail, Rails, count_rails, find_rails, leaf_rails, rails_of, strays_of
    from .servers import is_nobody, server_names, servers_of
    from .streams.source import XmlReader, naming, open_chunks, peek, source_name, survey
    from .subnet import LARGEST_LID
    from .told.telling import tell_rails
    from .told.told_rails import ToldRails
else:
    __getattr__, __dir__, __all__ = shown(__name__, __file__)
