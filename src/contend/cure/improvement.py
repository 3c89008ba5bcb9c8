"""What cables that were added to a fabric are worth, one by one and all together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from contend.congestion import Simulation
from contend.fabric import Cable, Fabric
from contend.shown import Shown

if TYPE_CHECKING:
    import polars

# What rounding of shares can make of no gain at all.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Addition:
    """A cable, or several that gain together, and what they are worth.

    Attributes:
        cables: switch and port of one end, then of the other.
        simulation: what the pattern gets with these and all before them.
        gain: by how much the effective bandwidth grew, as a share of a link's rate.
        margin: half of the 95 % interval of `gain`, by the same patterns before and after; 0 where
            all outcomes were counted.
        as_good: other kinds of cables that patterns did not tell from these when they were chosen.
        anew: whether all tables were recomputed; else few entries of those before changed.
    """

    cables: tuple[Cable, ...]
    simulation: Simulation
    gain: float
    margin: float
    as_good: int
    anew: bool

    @property
    def bandwidth(self) -> float:
        """Effective bandwidth with these and all before them."""
        return self.simulation.effective_bandwidth

    @property
    def rate_Bps(self) -> float | None:
        """The same in bytes per second; None where rates of links are not known."""
        return self.simulation.effective_rate

    @property
    def sure(self) -> bool:
        """Whether the patterns show a gain."""
        return self.gain > max(self.margin, ROUNDING)


@dataclass(frozen=True, eq=False)
class Improvement(Shown, told="improvement_document"):
    """Cables that were chosen for a fabric, in their order.

    Attributes:
        fabric: with them, and routes.
        before: what the pattern gets without them, by routes of the same kind.
        present: what it gets by the tables in use; None where the fabric has none.
        additions: the cables.
        gain: of all of them.
        margin: half of the 95 % interval of `gain`.
        asked: how many cables there were to spend.
        free_ports: free ports on all switches.
        joinable: pairs of switches that a cable was thought to help.
        tried: fabrics with more cables that were simulated.
        engine: that computed the routes before and after.
        bound: the most that random pairs get by what cuts carry, before; None for other patterns.
    """

    fabric: Fabric
    before: Simulation
    present: Simulation | None
    additions: tuple[Addition, ...]
    gain: float
    margin: float
    asked: int
    free_ports: int
    joinable: int
    tried: int
    engine: str
    bound: float | None

    @property
    def after(self) -> Simulation:
        """What the pattern gets with all of them."""
        return self.additions[-1].simulation if self.additions else self.before

    @property
    def cables(self) -> int:
        """Number of cables."""
        return sum(len(addition.cables) for addition in self.additions)

    def rate_of(self, cable: Cable) -> str:
        """The rate of one of the new cables, such as ``4xHDR``; "" where it is not known."""
        ends = list(self.fabric.cable_ends())
        rate: int = self.fabric.cable_rate[ends.index(cable)]
        return self.fabric.rates[rate]

    def to_frame(self) -> polars.DataFrame:
        """One row per cable, in their order.

        Columns: ``from``, ``from_port``, ``to``, ``to_port``, ``rate``, ``addition`` (cables of one
        number gain together), and of the addition ``gain``, ``margin`` and ``bandwidth``.
        """
        label = self.fabric.switch_label
        import polars

        return polars.DataFrame(
            [
                {
                    "from": label[cable[0]],
                    "from_port": cable[1],
                    "to": label[cable[2]],
                    "to_port": cable[3],
                    "rate": self.rate_of(cable),
                    "addition": number,
                    "gain": addition.gain,
                    "margin": addition.margin,
                    "bandwidth": addition.simulation.effective_bandwidth,
                }
                for number, addition in enumerate(self.additions, 1)
                for cable in addition.cables
            ],
            schema_overrides={"gain": polars.Float64},
        )

    def __repr__(self) -> str:
        before, after = (100 * one.effective_bandwidth for one in (self.before, self.after))
        return (
            f"<Improvement of {self.before.fabric_name} by {self.cables} cables: "
            f"{before:.2f} to {after:.2f} % of link speed>"
        )
