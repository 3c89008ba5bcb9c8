"""The study ``verification``: measured bandwidths of pairs against the simulation's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from contend import report
from contend.cli.common import JsonOption, PlotOption, SeedOption, console_for, write_json
from contend.cli.emulated import BufferOption, RateOption, buffer_size, cable_rate
from contend.errors import ContendError, MissingError, ShortfallError, UsageError
from contend.units import format_seconds

if TYPE_CHECKING:
    from contend.study import Case

PatternsOption = Annotated[
    int, typer.Option("--patterns", metavar="N", min=1, help="Random patterns for each fabric.")
]
FabricOption = Annotated[
    list[str] | None,
    typer.Option(
        "--fabric",
        metavar="FABRIC[@ENGINE]",
        help="Verify this one instead, routed by ENGINE, such as kary:2,4@dmodk; may be repeated.",
    ),
]
BytesOption = Annotated[str, typer.Option("--bytes", metavar="SIZE", help="Bytes of a packet.")]
PacketsOption = Annotated[
    int, typer.Option("--packets", metavar="R", min=1, help="Packets that make up a message.")
]
TwoWayOption = Annotated[bool, typer.Option("--two-way", help="Both of each pair send.")]
LibraryOption = Annotated[
    str | None, typer.Option("--mpi", metavar="LIBRARY", help="The MPI library, as in measure.")
]
OutOption = Annotated[
    Path,
    typer.Option("--out", metavar="DIR", help="Run folder; what is in it is not measured again."),
]


def verification(
    patterns: PatternsOption = 40,
    fabric: FabricOption = None,
    rate: RateOption = None,
    buffer: BufferOption = None,
    bytes: BytesOption = "100K",  # noqa: A002
    packets: PacketsOption = 20,
    two_way: TwoWayOption = False,
    mpi: LibraryOption = None,
    seed: SeedOption = 1,
    out: OutOption = Path("verification"),
    json: JsonOption = None,
    plot: PlotOption = None,
) -> None:
    """Measures random bisect patterns on emulated fabrics and holds them against the simulation.

    Every message of every pattern is compared with γ/π and with its max-min fair share. The paper
    of 2008 ran 5000 patterns on its cluster: --patterns 5000 takes hours here, and says how many.
    Needs root. A study that was interrupted goes on with the next fabric when it is called again.

    Example: contend study verification --patterns 40 --plot verification.png
    """
    # Imported here: measuring and reports take longer to load than other verbs run.
    from contend.cli.measure.watch import watching
    from contend.measurement import BisectWork, Conditions
    from contend.study import CASES, Network, agreement, failures, predicted_seconds, verify_case
    from contend.units import parse_size

    if plot is not None:
        report.check_suffix(plot)
    work = BisectWork(patterns, two_way=two_way, bytes=parse_size(bytes), packets=packets)
    network = Network(cable_rate(rate), buffer_size(buffer))
    cases = tuple(map(_case, fabric)) if fabric else CASES
    console = console_for(json)
    seconds = predicted_seconds(work, network)
    console.print(f"{len(cases)} fabrics, at least {format_seconds(seconds)} each", highlight=False)
    conditions = Conditions((2,), budget=max(300.0, 10 * seconds), seed=seed)
    compared, tables, errors, results = [], [], [], []
    for case in cases:
        try:
            with watching(console) as observer:
                pairs, wire = verify_case(
                    case, work, network, conditions, out, library=mpi, observer=observer
                )
            found = agreement(pairs)
        except (MissingError, UsageError):
            raise
        except ContendError as error:
            errors.append((case, error))
            continue
        compared.append(report.Compared(case.name, pairs, found))
        shown = report.agreement_tables(case.name, found, wire)
        report.print_tables(console, shown)
        tables += shown
        results.append(report.verified_json(case, found, wire))
    write_json(json, report.verification_json(seed, results))
    if plot is not None and compared:
        report.save_figure(report.agreement_figure(compared), plot, tables)
    if errors:
        raise ShortfallError(failures(errors))


def _case(text: str) -> Case:
    from contend.study import Case

    source, _, engine = text.partition("@")
    return Case(source, engine=engine or None, name=text)
