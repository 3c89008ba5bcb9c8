"""One measurement: planned, launched within its budget, and kept as a run."""

from typing import TYPE_CHECKING

from contend.base.faces import shown

if TYPE_CHECKING:
    from .bisect import (
        PATTERNS,
        MeasuredPairs,
        beside_predictions,
        bisect_options,
        compared_pairs,
        measured_pairs,
        measured_patterns,
        pair_bandwidths,
        patterns_of,
    )
    from .carried_rates import PASSING_ON, carried, messages_of
    from .draws import ByPart, Distribution, DrawnAgreement, drawn_agreement
    from .hotspot import (
        ROUND_TRIP,
        STREAM,
        HotspotPairs,
        are_beyond_wire,
        hotspot_options,
        victim_operations,
        victim_samples,
    )
    from .measuring import measure, measure_each, place_of, resume
    from .memory import (
        BYTES_OF_DOUBLE,
        NEAR,
        Fit,
        MemoryComparison,
        MemoryPrediction,
        VectorLength,
        compare_memory,
    )
    from .method import Measured, compiled
    from .models import (
        MODELS,
        RATE_OVER_LOAD,
        TOLERANCE,
        Agreement,
        ByCongestion,
        Model,
        agreement,
        predictions,
        usable,
    )
    from .place import Place, RealHosts, Shape, make_shapes, ready_command
    from .question import MeasuredCell, OptionValue, arguments_of, ask, memory_of, options_of
    from .result import MeasuredRuns, Measurement
    from .standard import DEFAULT_BUDGET, OF_ALL_PROBES, STANDARD
    from .work import MeasuredWork
else:
    __getattr__, __dir__, __all__ = shown(__name__, __file__)
