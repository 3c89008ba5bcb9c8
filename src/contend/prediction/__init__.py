"""Predictions: costs of messages taken from measurements, and how long schedules take with them."""

from typing import TYPE_CHECKING

from contend.base.faces import shown

if TYPE_CHECKING:
    from .alltoalls import Comparison, Predictions, beside_measured, predict
    from .calibrating import calibrate
    from .calibration import (
        FILE,
        Calibration,
        Parameter,
        SizeClass,
        assumed_costs,
        costs_of,
        load_calibration,
        save_calibration,
    )
    from .conditions import (
        PredictionConditions,
        conditions_of,
        fastest_port,
        recorded_hosts,
        where_recorded,
    )
    from .correction import Correction, Recorded, held_against, record_of
    from .dropping import TcpPrediction, TcpPredictions, TcpState, predict_tcp
    from .elsewhere import (
        CableCost,
        Elsewhere,
        PredictedCalls,
        PredictedProgram,
        predict_program,
        run_time,
    )
    from .fitting import Measurements, fit
    from .lossless import PacketPrediction, PacketPredictions, predict_packets
    from .predicting import LIBRARY, Piling, Prediction, predict_alltoall
    from .program import ProfiledProgram, program_of
else:
    __getattr__, __dir__, __all__ = shown(__name__, __file__)
