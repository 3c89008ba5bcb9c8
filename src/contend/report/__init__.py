"""Reports: tables, figures and JSON of results, by what is reported."""

from typing import TYPE_CHECKING

from contend.base.faces import shown

if TYPE_CHECKING:
    from .carried import emulation_document, network_line, watched_document
    from .collectives import collectives_document
    from .cure.cables import growth_document, improvement_document
    from .cure.failures import failures_document
    from .cure.jobs import jobs_document
    from .cure.routing import better_tables_document, engines_document
    from .cure.seats import better_seats_document
    from .document import Document, Metric, metrics_text
    from .explanation import explanation_document
    from .fabric.checks import check_document
    from .fabric.difference import changes_document
    from .fabric.marks import Mark
    from .fabric.network import alltoall_figure, fabric_figure
    from .fabric.summary import fabric_document
    from .fabric.written import (
        Made,
        generators_document,
        host_list_document,
        list_of_hosts,
        made_document,
    )
    from .machine import diagnosis_document, mpi_document
    from .page.explorable import explored
    from .page.networks import page_document
    from .prediction.packets import lossless_document, tcp_document
    from .prediction.program import program_document
    from .prediction.tables import calibration_document, prediction_document, prediction_figure
    from .profile.document import (
        draw_profile,
        profile_document,
        profiles_document,
        recorded_document,
    )
    from .progress import new_bars
    from .run.document import hotspot_document, pairs_document, run_document, runs_document
    from .save import check_suffix, save_figure, save_figures
    from .simulation.document import draw_simulation, simulation_document, simulations_document
    from .simulation.figures import channel_loads, congestion_distribution, simulation_comparison
    from .simulation.histograms import bandwidth_histogram, round_bounds
    from .simulation.packets import packets_document, packets_documents
    from .study.document import (
        measured_document,
        plans_document,
        study_document,
        verification_document,
    )
    from .study.figures import measured_figures, study_figures
    from .study.memory import memory_document
    from .study.simulated import PlanEntry
    from .table import ResultTable, markdown_of, print_tables
    from .tuning import tuning_document
else:
    __getattr__, __dir__, __all__ = shown(__name__, __file__)
