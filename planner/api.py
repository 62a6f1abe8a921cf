"""Functions for notebooks and scripts, with the answers of the commands: questions, plans, memory and prices.

Every answer has its `document` (the model behind `--json`) and `to_frame()` (pandas), and shows itself in a notebook.
Wrong input raises `PlannerError` with the message and the fix of the command line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from planner import clock
from planner.adapters.documents import parse_model
from planner.errors import InputError, PlannerError
from planner.model.base import MOST_COUNT, SCHEMA_VERSION
from planner.model.catalog import Catalog
from planner.model.network.adapters import Adapters
from planner.model.network.trainer_memory import Attention, Kernels, Loss, Offload, Optimizer, WeightFormat
from planner.model.network.training_method import Reference
from planner.model.network.workload import Checkpointing, Method, Precision, Strategy
from planner.model.plan.plan import Plan, Training
from planner.model.prices.offer import PriceKind
from planner.present.notebook import Comparison, Estimate, Memory, Prices
from planner.use_cases import catalogs, networks, plans, price_books
from planner.use_cases import prices as price_use_case
from planner.use_cases.asking.ask import answer_of, plan_of_question
from planner.use_cases.asking.question import TrainingQuestion
from planner.use_cases.asking.stated_files import run_of_log
from planner.use_cases.memory import MemoryRequest, estimate_memory
from planner.use_cases.plans import DatedPlan, dated
from planner.use_cases.trained_adapters import AdapterChoice, Trained

if TYPE_CHECKING:
    pass

__all__ = [
    "Comparison",
    "Estimate",
    "Memory",
    "PlannerError",
    "Prices",
    "ask",
    "compare",
    "estimate",
    "memory",
    "prices",
]

PlanLike = str | Path | Mapping[str, Any] | Plan
"""A plan file's path, its content as a mapping with the same keys, or a plan already read."""
Choice = TypeVar("Choice", bound=StrEnum)
Home = str | Path | None
"""Path of the workspace; None for `$PLANNER_HOME`, else ./planner-data."""


def ask(
    workload: str,
    *,
    data: str | None = None,
    tokens: float | None = None,
    epochs: float | None = None,
    seq_len: int | None = None,
    training: Mapping[str, Any] | None = None,
    method: Trained | str | None = None,
    completion: str | None = None,
    lora_rank: int | None = None,
    lora_targets: str | None = None,
    own: Sequence[str] = (),
    on: Sequence[str] = (),
    budget: float | None = None,
    by: str | None = None,
    runs: int | None = None,
    log: str | Path | None = None,
    home: Home = None,
) -> Comparison:
    """Answer one question with machines, time and cost, as `planner ask` does.

    `data`: "50000x700", samples x mean tokens. `training`: keys of a plan's `training`, for example
    {"precision": "fp16"}. `method`: full, lora, qlora, or a preference method such as dpo. A preference method needs
    `completion`: "350" tokens of an answer; `data` then counts prompts. `own`: ["2xRTX-3090"]. `on`: offers, for
    example ["aws/p5.48xlarge"]; without them, the best dozen of all is taken. `budget`: USD. `by`: "2027-06-30" or
    "3w". `log`: a trainer's log, written on the first machine of `own`. `.assumed` of the answer lists the assumptions.

    Raises PlannerError for wrong input.
    """
    catalog = catalogs.audited(catalogs.open_catalog(_folder(home)))
    choice = AdapterChoice(
        method=_chosen(Trained, method, "method"),
        completion=completion,
        lora_rank=_at_least_one(lora_rank, "lora_rank"),
        lora_targets=lora_targets,
    )
    question = TrainingQuestion(
        workload=workload, data=data, tokens=tokens, epochs=epochs, seq_len=_at_least_one(seq_len, "seq_len"),
        training=parse_model(Training, dict(training or {}), where="training"), adapters=choice.adapters,
        objective=choice.objective(),
        own=tuple(own), on=tuple(on), budget=budget, by=by, runs=_at_least_one(runs, "runs"),
    )  # fmt: skip
    if log is not None:
        question = replace(question, log=run_of_log(Path(log), question, catalog))
    asked = plan_of_question(question, catalog, today=clock.today())
    document, answered = answer_of(asked, catalog, now=clock.now())
    return Comparison(document, answered.assumed)


def compare(plan: PlanLike, *, home: Home = None, with_price_book: bool = False) -> Comparison:
    """Rank the options of a plan under its deadline and budget.

    `with_price_book` takes your own net prices from the workspace's price book. If no option meets the limits,
    `recommended` is None, and `headline` names the binding limit. Raises PlannerError for wrong input.
    """
    asked, catalog = _dated_plan_and_catalog(plan, home, with_price_book=with_price_book)
    return Comparison(plans.compare(asked.plan, catalog, today=asked.today), asked.assumed)


def estimate(plan: PlanLike, *, home: Home = None, with_price_book: bool = False) -> Estimate:
    """Estimate time, cost and energy of one training on each option of a plan. Raises PlannerError for wrong input."""
    asked, catalog = _dated_plan_and_catalog(plan, home, with_price_book=with_price_book)
    return Estimate(plans.estimate(asked.plan, catalog, today=asked.today))


def memory(
    workload: str,
    *,
    on: str,
    gpus: int | None = None,
    strategy: Strategy | str = Strategy.DDP,
    micro_batch: int | None = None,
    seq_len: int | None = None,
    precision: Precision | str | None = None,
    checkpointing: Checkpointing | str | None = None,
    loss: Loss | str | None = None,
    kernels: Kernels | str | None = None,
    optimizer: Optimizer | str | None = None,
    weights: WeightFormat | str | None = None,
    offload: Offload | str | None = None,
    attention: Attention | str | None = None,
    framework: str | None = None,
    tensor: int = 1,
    pipeline: int = 1,
    context: int = 1,
    method: Trained | str | None = None,
    adapters: Adapters | Mapping[str, Any] | None = None,
    completion: str | None = None,
    reference: Reference | str | None = None,
    group: int | None = None,
    prompts: int | None = None,
    home: Home = None,
) -> Memory:
    """Estimate the memory of one accelerator (GiB): states, activations, logits, buffers; and whether it fits.

    `workload`: a preset's name or the path of an architecture or plan file. `on`: an accelerator by any usual name.
    `checkpointing=None`: the least that fits. `adapters`: as in a plan, e.g. `{"rank": 16, "frozen": "nf4"}`.
    `method`: full, lora, qlora, or a method of preferences or rewards (dpo, grpo ...); "full" trains all weights of a
    file that names adapters. `completion`: "350" tokens of an answer. `reference`: where dpo and kto keep the frozen
    model. `group` and `prompts`: of grpo, rloo and ppo. `tensor`, `pipeline`, `context`: parts of a divided network. A
    setting that is None is not stated, and the range holds every likely value. Raises PlannerError for wrong input.
    """
    catalog = catalogs.open_catalog(_folder(home))
    choice = AdapterChoice(
        method=_chosen(Trained, method, "method"),
        completion=completion,
        group=_at_least_one(group, "group"),
        prompts=_at_least_one(prompts, "prompts"),
        reference=_chosen(Reference, reference, "reference"),
    )
    asked = {
        "workload": workload, "on": on, "gpus": gpus, "strategy": strategy, "micro_batch": micro_batch,
        "seq_len": seq_len, "precision": precision, "checkpointing": checkpointing, "loss": loss, "kernels": kernels,
        "optimizer": optimizer, "weights": weights, "offload": offload, "attention": attention, "framework": framework,
        "tensor": tensor, "pipeline": pipeline, "context": context, "objective": choice.objective(),
        "method": Method.FULL if choice.method is Trained.FULL else None,
        "adapters": adapters or choice.adapters(networks.find_architecture(workload, catalog)),
    }  # fmt: skip
    request = parse_model(MemoryRequest, asked, where="planner.memory")
    return Memory(estimate_memory(request, catalog))


def prices(
    *,
    accelerator: str | None = None,
    provider: str | None = None,
    region: str | None = None,
    kind: PriceKind | str | None = None,
    every: bool = False,
    with_price_book: bool = False,
    home: Home = None,
) -> Prices:
    """Return the prices that plans use, the lowest USD per accelerator-hour first.

    `accelerator`: "H100" means all H100s. `every` includes prices that a newer or better one has replaced.
    Raises PlannerError for wrong input.
    """
    folder = _folder(home)
    document = price_use_case.show(
        home=folder, now=clock.now(), accelerator=accelerator, provider=provider, region=region,
        kind=_chosen(PriceKind, kind, "kind"), every=every,
        book=price_books.own_book(folder) if with_price_book else None,
    )  # fmt: skip
    return Prices(document)


def _dated_plan_and_catalog(plan: PlanLike, home: Home, *, with_price_book: bool) -> tuple[DatedPlan, Catalog]:
    """Return the plan as it is answered now, and the catalog for its answer."""
    if isinstance(plan, Mapping):
        asked = parse_model(Plan, {"schema_version": SCHEMA_VERSION, **plan}, where="the plan")
    else:
        asked = plan if isinstance(plan, Plan) else plans.read_plan(Path(plan))
    folder = _folder(home)
    catalog = catalogs.catalog_for(asked, folder)
    if with_price_book:
        catalog = price_books.booked(catalog, folder, today=clock.today())
    return dated(asked, now=clock.now()), catalog


def _chosen(choice: type[Choice], value: Choice | str | None, name: str) -> Choice | None:
    """Return the member of a choice. Raises InputError with the known ones for another value."""
    if value is None:
        return None
    if value not in list(choice):
        raise InputError(f"{name}: {value!r} is not known.", fix=f"Choose one of: {', '.join(choice)}.")
    return choice(value)


def _at_least_one(value: int | None, name: str) -> int | None:
    """Return a count. Raises InputError if it is below 1 or too large."""
    if value is not None and not 1 <= value <= MOST_COUNT:
        raise InputError(f"{name} is {value}; it must be 1 or more.")
    return value


def _folder(home: Home) -> str | None:
    return None if home is None else str(home)
