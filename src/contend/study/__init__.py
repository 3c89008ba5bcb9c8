"""Studies: plans of many simulations, run cell by cell into a folder."""

from contend.study.folder import RunFolder
from contend.study.plan import Cell, FabricEntry, PatternEntry, Plan, Reference
from contend.study.read_plan import find_plan, read_plan, shipped_plans
from contend.study.record import Outcome, Record
from contend.study.runner import Step, run
from contend.study.services import Services, real_services

__all__ = [
    "Cell",
    "FabricEntry",
    "Outcome",
    "PatternEntry",
    "Plan",
    "Record",
    "Reference",
    "RunFolder",
    "Services",
    "Step",
    "find_plan",
    "read_plan",
    "real_services",
    "run",
    "shipped_plans",
]
