"""Studies: plans of many simulations, run cell by cell into a folder."""

from contend.study.folder import RunFolder
from contend.study.plan import Cell, FabricEntry, PatternEntry, Plan, Reference
from contend.study.read_plan import read_plan
from contend.study.record import Outcome, Record
from contend.study.runner import Step, run
from contend.study.services import Services, real_services
from contend.study.shipped import copy_plan, find_plan, shipped_plans

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
    "copy_plan",
    "find_plan",
    "read_plan",
    "real_services",
    "run",
    "shipped_plans",
]
