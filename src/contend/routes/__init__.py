"""Routes: forwarding tables; read, written, computed, checked and followed."""

from typing import TYPE_CHECKING

from contend.base.faces import shown

if TYPE_CHECKING:
    from .addresses import addresses_of_hosts
    from .checking import (
        CheckReport,
        Repair,
        RepairFigure,
        RoutesSummary,
        all_to_all_load,
        check,
        dependency_cycle,
        summarise_routes,
    )
    from .dumps.columns import adopt
    from .dumps.readers import load_tables, recognises_tables
    from .engines import (
        Demand,
        TableSteps,
        check_engine,
        compute,
        default_engine,
        engine_names,
        fewest_collisions,
        hashes,
        table_steps,
    )
    from .loading import LoadedFabric, load
    from .mending import left_in_groups, mendable, mended
    from .multipath.adaptive import AdaptiveTables, PortGroups
    from .multipath.split import SprayedRoutes, UgalRoutes, ValiantRoutes
    from .multipath.without_tables import HashedRoutes, NextHops
    from .opensm import find_program, opensm_programs
    from .others import with_others_found
    from .routes import (
        ONE_WAY,
        Round,
        Routes,
        RoutesLeft,
        Ways,
        each_alone,
        make_resolver,
        routes_of,
        tables_of,
    )
    from .saving import HOLD_ROUTES, KINDS, NEED_ROUTES, kind_of, lost, save, save_to
    from .tables import MOST_LANES, NO_PORT, ForwardingTables, changed_ports
    from .tracing import Route, find_route
else:
    __getattr__, __dir__, __all__ = shown(__name__, __file__)
