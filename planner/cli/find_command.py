"""`planner find`: which machines of all that are offered should train this?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from planner import clock
from planner.adapters.documents import parse_model
from planner.adapters.price_filter import NOTHING
from planner.cli.number_arguments import short_number
from planner.cli.output import HomeOption, ScreenOptions
from planner.cli.plan_commands import WRITE_A_PLAN, print_comparison
from planner.cli.registration import command, command_app
from planner.cli.streams import say
from planner.cli.workload_options import AdapterOptions, NetworkOption, TrainingOptions, WorkloadArgument
from planner.errors import EXIT_NOTHING_FEASIBLE, InputError
from planner.model.plan.find_filters import FindFilters, Terms
from planner.use_cases import catalogs, find, plans
from planner.use_cases.suggestions import with_suggestions

app = command_app()


@dataclass(frozen=True, kw_only=True)
class FilterOptions:
    """What a machine must be to be looked at."""

    heading: ClassVar = "Machines"

    accelerator: Annotated[list[str] | None, typer.Option(help="Accelerator, by any of its names; several allowed")] = (
        None
    )
    gpus: Annotated[list[int] | None, typer.Option(help="Accelerators of one training, over all nodes")] = None
    max_usd_per_hour: Annotated[float | None, typer.Option(help="Of all nodes together, at the list price")] = None
    network: NetworkOption = None
    provider: Annotated[list[str] | None, typer.Option(help="Provider, e.g. aws; several allowed")] = None
    region: Annotated[list[str] | None, typer.Option(help="Region as price rows name it; several allowed")] = None
    spot: Annotated[bool | None, typer.Option("--spot/--firm", help="Only what may be taken away, or never")] = None
    available: Annotated[bool, typer.Option("--available", help="Only what its source says is to be had")] = False

    def filters(self) -> FindFilters:
        """Return the filters; InputError where a number is none that they take."""
        given = {
            "accelerator": self.accelerator, "gpus": self.gpus, "max_usd_per_hour": self.max_usd_per_hour,
            "network_gbit_per_s": self.network, "provider": self.provider, "region": self.region,
            "terms": None if self.spot is None else Terms.SPOT if self.spot else Terms.FIRM,
            "available": self.available,
        }  # fmt: skip
        asked = {name: value for name, value in given.items() if value is not None and value is not False}
        return parse_model(FindFilters, asked, where="planner find")


@dataclass(frozen=True, kw_only=True)
class AmountOptions:
    """How much is trained."""

    heading: ClassVar = "Training"

    tokens: Annotated[
        float | None,
        typer.Option(parser=short_number, metavar="N", help="Tokens of the training (50B); default: a billion"),
    ] = None
    seq_len: Annotated[int | None, typer.Option(help="Tokens per sample; default: the workload's")] = None


@command(app, name="find", example="planner find llama3-8b --method lora --tokens 35e6 --firm")
def find_machines(
    workload: WorkloadArgument,
    amount: AmountOptions,
    training: TrainingOptions,
    adapters: AdapterOptions,
    machines: FilterOptions,
    *,
    write: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a plan with the options found, to go on from")
    ] = None,
    output: ScreenOptions,
    home: HomeOption = None,
) -> int:
    """Find machines for a training among all that are offered.

    Looks through the catalog, all prices and your own sites, and compares the best dozen. WORKLOAD may be a plan file,
    whose work and limits count then.
    """
    catalog = catalogs.audited(catalogs.open_catalog(home, wanted=NOTHING))
    filters = machines.filters()
    plan = find.read_plan_of(workload)
    of_file = plan is not None
    if plan is None:
        plan = find.plan_of(
            workload, catalog, filters, tokens=amount.tokens, seq_len=amount.seq_len, training=training.training,
            adapters=adapters.adapters,
        )  # fmt: skip
    elif amount != AmountOptions() or training != TrainingOptions() or adapters != AdapterOptions():
        raise InputError(f"{workload} is a plan: it says what is trained and how.", fix="Change it there.")
    else:
        plan = find.among_all(plan, filters)
    asked = plan
    catalog = catalogs.with_found_prices(plan, catalog, home)
    listed, paced = plans.find_options(plan, catalog, today=clock.today())
    estimated = plans.estimates_of(listed, catalog, today=clock.today(), paced=paced)
    document = plans.compare(listed, catalog, today=clock.today(), estimated=estimated)
    document = with_suggestions(
        document,
        lambda changed: asked.model_copy(update={"training": changed}),
        asked.training,
        catalog,
        today=clock.today(),
    )
    if write is not None:
        find.write_plan(listed, write)
    given = write or (workload if of_file else None)
    print_comparison(document, output, asked=None if given is None else str(given))
    if write is not None:
        say(f"Wrote {write}.")
    elif given is None:
        say(WRITE_A_PLAN)
    return 0 if document.feasible else EXIT_NOTHING_FEASIBLE
