"""Studies: plans of many simulations, run cell by cell into a folder."""

from typing import TYPE_CHECKING

from contend.base.faces import shown

if TYPE_CHECKING:
    from .grid import GridCell, GridPlace, Known
    from .measured import MeasuredStudy, run_measurements
    from .measured_plan import MeasuredPlan, Table, TableRow
    from .memory import PredictedMemory, predict_memory, published
    from .plan import StudyPlan
    from .plan_file import changed_plan, copy_plan, find_plan, read_plan, shipped_plans
    from .results import Answer, Result
    from .simulated import run_simulations
    from .simulated_plan import (
        Application,
        FabricEntry,
        PatternEntry,
        PlanCell,
        Reference,
        SimulatedPlan,
    )
    from .simulated_study import (
        Impact,
        Record,
        SimulatedCell,
        SimulatedOutcome,
        SimulatedStudy,
        record_of,
        references_of,
        write_cell,
    )
    from .studying import Study, carry_out, study
    from .verification import Case, DrawnFabric, VerificationPlan, VerifiedFabric, VerifiedStudy
else:
    __getattr__, __dir__, __all__ = shown(__name__, __file__)
