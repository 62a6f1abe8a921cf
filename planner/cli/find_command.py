"""`planner find`: which machines of all that are offered should train this?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from planner import clock
from planner.adapters.documents import parse_model
from planner.cli.number_arguments import short_number
from planner.cli.output import HomeOption
from planner.cli.plan_commands import WRITE_A_PLAN, AnswerOptions, print_answer
from planner.cli.registration import command, command_app
from planner.cli.streams import say
from planner.cli.workload_options import MethodOptions, NetworkOption, TrainingOptions, WorkloadArgument
from planner.errors import EXIT_NOTHING_FEASIBLE
from planner.model.plan.find_filters import FindFilters, Terms
from planner.use_cases import answer_ids, find
from planner.use_cases.plans import assumed_lines

app = command_app()


@dataclass(frozen=True, kw_only=True)
class FilterOptions:
    """Filters for machines."""

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
        """Return the filters. InputError if a number is out of range."""
        given = {
            "accelerator": self.accelerator, "gpus": self.gpus, "max_usd_per_hour": self.max_usd_per_hour,
            "network_gbit_per_s": self.network, "provider": self.provider, "region": self.region,
            "terms": None if self.spot is None else Terms.SPOT if self.spot else Terms.FIRM,
            "available": self.available,
        }  # fmt: skip
        asked = {name: value for name, value in given.items() if value is not None and value is not False}
        return parse_model(FindFilters, asked, where="planner find", fix="See: planner find --help")


@dataclass(frozen=True, kw_only=True)
class AmountOptions:
    """Amount of training."""

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
    method: MethodOptions,
    machines: FilterOptions,
    *,
    write: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a plan with the options found, to go on from")
    ] = None,
    output: AnswerOptions,
    home: HomeOption = None,
) -> int:
    """Find machines for a training among all that are offered.

    Looks through the catalog, all prices and your own sites, and compares the best dozen. WORKLOAD may be a plan file,
    whose work and limits count then.
    """
    found = find.find_machines(
        workload, machines.filters(), tokens=amount.tokens, seq_len=amount.seq_len, training=training.training,
        objective=method.objective,
        adapters=None if method == MethodOptions() else method.adapters, home=home, now=clock.now(),
    )  # fmt: skip
    document = found.document
    if write is not None:
        find.write_plan(found.plan, write)
    given = write or (workload if found.of_file else None)
    plan_words = None if given is None else str(given)
    plan, today, assumed = found.answered
    answer_ids.keep(document, today=today, plan=plan, plan_words=plan_words, assumed=assumed)
    for line in assumed_lines(assumed):
        say(line)
    print_answer(document, output, plan_words=plan_words)
    if write is not None:
        say(f"Wrote {write}.")
    elif given is None:
        say(WRITE_A_PLAN)
    return 0 if document.feasible else EXIT_NOTHING_FEASIBLE
