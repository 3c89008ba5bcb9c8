"""What pairs of ranks got in bisect patterns, as JSON."""

from __future__ import annotations

from typing import Any

import msgspec
import polars as pl
from msgspec import UNSET, UnsetType

from contend.measurement import Agreement, usable


class GroupJson(msgspec.Struct, frozen=True, kw_only=True):
    """Messages of one congestion.

    Attributes:
        congestion: π.
        pairs: number of messages.
        median: of their bandwidths, as a fraction of γ.
        low: a quarter of the messages got less.
        high: a quarter of the messages got more.
        within: fraction of them within 10 % of 1/π.
    """

    congestion: int
    pairs: int
    median: float
    low: float
    high: float
    within: float


class ModelJson(msgspec.Struct, frozen=True, kw_only=True):
    """A way to predict bandwidths, compared with all messages.

    Attributes:
        name: ``γ/π`` or ``max-min fair share``.
        within: fraction of the messages within 10 % of it.
        error: median deviation of messages from it, as a factor minus 1.
        error_apart: the same of the messages for which the models differ; null where they never do.
        effective: mean bandwidth that it predicts, as a fraction of γ.
    """

    name: str
    within: float
    error: float
    error_apart: float | None
    effective: float


class AgreementJson(msgspec.Struct, frozen=True, kw_only=True):
    """Measured bandwidths against predicted ones.

    Attributes:
        gamma: γ, what an uncontended pair gets, in bytes per second.
        messages: number of messages that were compared.
        apart: for how many of them the models' predictions differ by more than 1 %.
        patterns: number of patterns.
        late: number of messages left out because a rank had started late.
        effective: measured effective bisection bandwidth, as a fraction of γ.
        effective_ci95: both ends of its 95 % interval over patterns; null for a single pattern.
        by_congestion: messages by π.
        models: what each model predicts.
        nearest: name of the model with the least error.
    """

    gamma: float
    messages: int
    apart: int
    patterns: int
    late: int
    effective: float
    effective_ci95: tuple[float, float]
    by_congestion: list[GroupJson]
    models: list[ModelJson]
    nearest: str


class PairsJson(msgspec.Struct, frozen=True, kw_only=True):
    """Bandwidths of all messages; each of them is in what ``--messages`` writes.

    Attributes:
        messages: number of messages that count.
        late: number of messages left out because a rank had started late.
        patterns: number of patterns.
        mean_Bps: mean bandwidth of a message in bytes per second.
        median_Bps: median bandwidth in bytes per second.
        agreement: with the predictions; there where the routes are known.
    """

    messages: int
    late: int
    patterns: int
    mean_Bps: float | None  # noqa: N815
    median_Bps: float | None  # noqa: N815
    agreement: AgreementJson | UnsetType = UNSET


def agreement_json(agreement: Agreement) -> AgreementJson:
    """An agreement of measured and predicted bandwidths."""
    return AgreementJson(**agreement_keys(agreement))


def agreement_keys(agreement: Agreement) -> dict[str, Any]:
    """What `AgreementJson` is made of, for structs that extend it."""
    names = msgspec.structs.fields(AgreementJson)
    keys = {field.name: getattr(agreement, field.name) for field in names}
    return {
        **keys,
        "by_congestion": msgspec.convert(
            agreement.by_congestion, list[GroupJson], from_attributes=True
        ),
        "models": msgspec.convert(agreement.models, list[ModelJson], from_attributes=True),
        "nearest": agreement.nearest.name,
    }


def pair_json(pairs: pl.DataFrame, agreement: Agreement | None = None) -> PairsJson:
    """Mean and median of all messages.

    Args:
        pairs: of `contend.measurement.pair_bandwidths`.
        agreement: with predictions, where there are any.
    """
    used = usable(pairs)
    return PairsJson(
        messages=len(used),
        late=len(pairs) - len(used),
        patterns=used["pattern"].n_unique(),
        mean_Bps=_number(used["bandwidth_Bps"].mean()),
        median_Bps=_number(used["bandwidth_Bps"].median()),
        agreement=UNSET if agreement is None else agreement_json(agreement),
    )


def _number(value: object) -> float | None:
    return value if isinstance(value, float) else None
