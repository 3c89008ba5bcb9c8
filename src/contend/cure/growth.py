"""More of the same: servers, switches and uplinks as the rule of a fabric has them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from contend.base.errors import UsageError
from contend.base.progress import Progress, shown_progress
from contend.base.schema import PythonOnly, Share, Shown
from contend.base.units import counted, rate_of, verb
from contend.congestion import Simulation
from contend.cure.purpose import MOST_HOSTS, OWN_ENGINE, CollectiveGain, Purpose
from contend.fabric import CablingRule, Fabric, with_ports
from contend.routes import default_engine


@dataclass(frozen=True, kw_only=True)
class CableToLay:
    """A cable to lay, or one to replace by a faster one."""

    source: str
    """Port of the lower or new end, such as ``leaf 3:6``, or the name of a host."""
    target: str
    """Port of the other end."""
    rate: str
    """Rate of the cable, such as ``4xNDR``; "" where it is not known."""
    what: str
    """``host`` for a cable to an adapter, ``switch`` for one between switches, ``faster`` for one
    that replaces another."""


@dataclass(frozen=True, kw_only=True)
class NewSwitch:
    """A new switch."""

    name: str
    """Name of it."""
    like: str
    """Name of the switch that it is a copy of."""
    level: int
    """Level at which it stands, 1 for leaves."""


@dataclass(frozen=True, kw_only=True)
class OtherRoutes:
    """What a pattern gets by the routes of another engine, before and after."""

    engine: str
    """Engine that routed both."""
    before: Share
    """What the pattern gets on the fabric as it was."""
    after: Share
    """What it gets on the larger one."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Growth(Shown, told="growth_document"):
    """A fabric with more servers, switches or faster uplinks."""

    cables: tuple[CableToLay, ...]
    """Cables to lay, those of switches first."""
    switches: tuple[NewSwitch, ...]
    """New switches."""
    servers: int
    """Number of new servers."""
    hosts: int
    """Number of their adapters."""
    fabric: Fabric
    """The fabric with all that is new, and with routes."""
    old: PythonOnly[Fabric]
    """The fabric as it was."""
    pattern: str
    """Pattern that was simulated on both."""
    engine: str
    """Engine that routed both."""
    simulation_before: PythonOnly[Simulation]
    """What the pattern gets on the fabric as it was."""
    simulation_after: PythonOnly[Simulation]
    """What it gets on the larger one."""
    before: Share
    """What the pattern gets on the fabric as it was: if ranks send several messages at once, what
    each host gets until its last is done, as a share of what its ports allow; else the effective
    bandwidth."""
    after: Share
    """The same on the larger one."""
    collectives: tuple[CollectiveGain, ...] = ()
    """What GPUs get in collectives on both; none unless servers have adapters on several rails."""
    otherwise: OtherRoutes | None = None
    """The same by other routes; null unless the same hosts get less than before by these."""
    remark: PythonOnly[str] = ""
    """Sentences on why a switch stands on no lower level, on rows of switches that have fewer than
    others, and on missing cables; "" where nothing is so."""


def extend(
    fabric: Fabric,
    *,
    servers: int = 0,
    spines: int = 0,
    units: int = 0,
    uplinks: str | None = None,
    ports: int | None = None,
    engine: str | None = None,
    seed: int = 1,
    progress: bool | Progress = False,
) -> Growth:
    """The fabric with more of what it has, cabled as it is itself.

    Servers are copies of the usual kind. They fill the places that are left on leaves, each rail
    where the servers there have it, and then leaves that are added. A leaf, or the leaves of all
    rails of a unit, or a pod of a tree of three levels or more, is a copy of one that is there and
    joins the same switches above by as many cables. A spine is a copy of one whose row has the
    fewest, on the lowest level where the switches below have ports left that are no places for
    hosts. Ports are those of what it is a copy of, at the other end the lowest that are free.

    Args:
        fabric: whose rule is kept; its routes do not count.
        servers: how many more.
        spines: how many more switches above others.
        units: how many more leaves, groups of leaves of all rails, or pods, full of servers.
        uplinks: rate of all cables between switches, such as ``4xNDR``; None: as they are.
        ports: that every switch has at least, where the file does not tell or is to change.
        engine: that routes the fabric before and after; None: ``contend``, on Ethernet ``ecmp``.
        seed: of the patterns that both get.
        progress: True shows a bar; a function is told how many tables are made, of how many.

    Raises:
        UsageError: there is nothing to add, or the fabric has no rule or no ports for it.
        MissingError: the engine is not installed.
    """
    if not (servers or spines or units or uplinks):
        raise UsageError("say what to add: --servers, --spines, --units or --uplinks")
    if uplinks is not None and not rate_of(uplinks):
        raise UsageError(f"--uplinks: expected a rate such as 4xNDR or 400GbE, got {uplinks!r}")
    labels = np.unique(np.concatenate([fabric.host_rate, fabric.cable_rate])).tolist()
    if uplinks is not None and not all(rate_of(fabric.rates[label]) for label in labels):
        raise UsageError(
            f"--uplinks: rates of some links of {fabric.name} are unknown, so that nothing tells "
            "what faster ones gain; contend predict collectives says it with rates that you give, "
            "such as --rate hosts=100GbE,switches=400GbE"
        )
    fabric = with_ports(fabric, ports)
    engine = engine or default_engine(fabric)
    rule = CablingRule(fabric)
    for _ in range(spines):
        rule.add_spine()
    for _ in range(units):
        rule.add_unit()
    if servers:
        rule.add_servers(servers)
    larger = rule.grown.fabric(f"{fabric.name} extended")
    if uplinks is not None:
        rates = (*larger.rates, *({uplinks} - set(larger.rates)))
        all_alike = np.full_like(larger.cable_rate, rates.index(uplinks))
        larger = larger.replace(rates=rates, cable_rate=all_alike)
    purpose = Purpose.of(fabric, None, None, None, seed)
    # One reading for both: of a larger fabric's traffic no pair is weighed.
    weighed = max(fabric.hosts, larger.hosts) <= MOST_HOSTS

    with shown_progress(progress, larger.name, "") as tell:

        def routed(by: str, before: int) -> Iterator[Fabric]:
            for number, each in enumerate((fabric, larger), before):
                demand = purpose.demand(each) if weighed else None
                tables = purpose.tables_made(by, demand)

                def made(done: float, begin: int = tables * number, of: int = tables) -> None:
                    tell(begin + done, of * (before + 2))

                made(0)
                yield purpose.routed(each, by, demand, made)[0]

        both = list(routed(engine, 0))
        before, after = (purpose.count(each, None) for each in both)
        otherwise = None
        fewer = after.judged_share < before.judged_share
        if fewer and larger.hosts == fabric.hosts and engine != OWN_ENGINE:
            # More cables for the same hosts take no bandwidth: it is how the engine spreads routes.
            shares = [purpose.count(each, None).judged_share for each in routed(OWN_ENGINE, 2)]
            otherwise = OtherRoutes(engine=OWN_ENGINE, before=shares[0], after=shares[1])
    remarks = [f"No room on {'; '.join(rule.reasons)}."] if rule.reasons else []
    remarks += [f"{rule.uneven}."] if rule.uneven else []
    if lacking := sum(pair.usual - pair.cables for pair in rule.missing):
        are = f"that similar pairs of switches have {verb(lacking, 'is')} missing"
        remarks.append(f"{counted(lacking, 'cable')} {are}; contend fabric improve names them.")
    return Growth(
        cables=tuple(_to_lay(fabric, larger)),
        switches=tuple(
            NewSwitch(
                name=larger.switch_label[fabric.switches + number],
                like=fabric.switch_label[like],
                level=int(rule.level[like]),
            )
            for number, like in enumerate(rule.grown.alike)
        ),
        servers=rule.servers,
        hosts=larger.hosts - fabric.hosts,
        fabric=both[1],
        old=both[0],
        pattern=purpose.pattern,
        engine=engine,
        simulation_before=before,
        simulation_after=after,
        before=before.judged_share,
        after=after.judged_share,
        collectives=purpose.collectives(*both),
        otherwise=otherwise,
        remark=" ".join(remarks),
    )


def _to_lay(old: Fabric, new: Fabric) -> Iterator[CableToLay]:
    """Cables that are new or faster, and those of new hosts."""
    label, rates = new.switch_label, new.rates
    for number, (near, near_port, far, far_port) in enumerate(new.cable_ends()):
        is_new, rate = number >= old.cables, rates[new.cable_rate[number]]
        if is_new or rate != old.rates[old.cable_rate[number]]:
            yield CableToLay(
                source=f"{label[near]}:{near_port}",
                target=f"{label[far]}:{far_port}",
                rate=rate,
                what="switch" if is_new else "faster",
            )
    for host in range(old.hosts, new.hosts):
        where = f"{label[new.host_switch[host]]}:{new.host_port[host]}"
        name, rate = new.host_label[host].strip(), rates[new.host_rate[host]]
        yield CableToLay(source=name, target=where, rate=rate, what="host")
