"""The plan file: what is trained, how often, under which limits, and on which options."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from planner.model.base import Count, Day, Flag, Fraction, Frozen, Id, Positive, Text
from planner.model.currency import Currency
from planner.model.hardware.storage import StorageRates
from planner.model.network.adapters import Adapters
from planner.model.network.trainer_memory import TrainerSettings
from planner.model.network.training_method import MethodSettings, Reference
from planner.model.network.work import Work, WorkloadChoice
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.model.owning.country import CountryCode
from planner.model.plan.find_filters import AUTO, FindFilters, with_auto
from planner.model.plan.goodput import Goodput
from planner.model.plan.plan_option import PlanOption
from planner.model.plan.practice import Practice
from planner.model.plan.run_groups import MOST_GROUPS, RunGroup, Runs, SuccessiveHalving, with_runs
from planner.model.plan.time_zone import is_timezone

MOST_OPTIONS = 500
"""Of a plan, each of several numbers of nodes or accelerators counted by itself."""
Money = Annotated[float, Field(strict=True, ge=0, le=1e15)]
Gigabytes = Annotated[float, Field(strict=True, ge=0, le=1e12)]
Hours = Annotated[float, Field(strict=True, ge=0, le=10_000)]
Share = Annotated[float, Field(strict=True, ge=0, lt=1)]


class FlopsConvention(StrEnum):
    """Which operations "FLOPs per token" counts; see `planner/network/flops.py`."""

    FULL_ATTENTION = "full_attention"
    CAUSAL = "causal"
    SIX_N = "six_n"


class Prefer(StrEnum):
    """What decides between options that meet the limits."""

    COST = "cost"
    TIME = "time"


class Training(TrainerSettings, MethodSettings):
    """How it is trained; an option may name another strategy."""

    precision: Precision | None = None
    """Number format of matrix products; left out: the 16 bits that the card is best at."""
    strategy: Strategy | Literal["auto"] = "auto"
    """auto: as measured there, else the fastest that fits, option by option."""
    global_batch: Count | None = None
    """Samples of one optimizer step, over all accelerators."""
    micro_batch: Count | Literal["auto"] = "auto"
    """Samples of one forward pass on one accelerator. auto: the largest that fits."""
    checkpointing: Checkpointing | Literal["auto"] = "auto"
    """auto: of a decoder what is fastest of all that fits; else recompute only where it does not fit otherwise."""
    packing: Flag | None = None
    """Samples of `work.tokens_per_sample` are joined to full sequences, as where nothing is said; false: each is padded
    to the longest of its micro-batch."""
    adapters: Adapters | None = None
    """Only low-rank adapters are trained (LoRA, QLoRA); left out: all weights are."""
    framework: Text | None = None
    """What will train it, with its kernels ("HF Trainer, liger"); left out: the planner's own benchmark."""

    @model_validator(mode="after")
    def _goes_with_the_method(self) -> Self:
        if self.reference is Reference.ADAPTERS_OFF and self.adapters is None:
            raise ValueError("reference adapters_off needs adapters: add them, or write reference: model")
        if self.method is not None and self.packing:
            raise ValueError(f"packing: samples of {self.method.value} are not joined: leave packing out")
        if self.prompts is not None and self.global_batch is not None:
            raise ValueError("prompts say how much a step takes: leave global_batch out")
        return self


class CampaignLimits(Frozen):
    """How many trainings, until when, for how much money."""

    runs: Runs = 1
    """Number of trainings."""
    runs_per_year: Runs | None = None
    """How many such trainings a year has, for `planner own-or-rent`; left out: `runs` are one year's work, or are
    spread over the years to a deadline that is more than one away."""
    at_once: Count | None = None
    """Trainings side by side on each option, each on machines of its own. Left out: one, or where the option has a
    `quota` as many as that holds."""
    groups: Annotated[tuple[RunGroup, ...], Field(min_length=1, max_length=MOST_GROUPS)] | None = None
    """Runs that are not all alike, in place of `runs`."""
    successive_halving: SuccessiveHalving | None = None
    """A search that stops early, in place of `runs`."""
    timezone: Text | None = None
    """In which days begin and end, as the IANA data base names it ("Asia/Seoul"); left out: UTC."""
    waiting_usd_per_hour: Money | None = None
    """What an hour until the last run's end is worth to you: cost and time are weighed with it. It is no cost."""
    mix: Literal["allowed", "never"] = "allowed"
    """Whether the runs may be divided over several options; never: `compare` recommends one."""
    start: Day | None = None
    """First day; left out: today."""
    deadline: Day | None = None
    """Last day."""
    budget_usd: Money | None = None
    """Most that all runs together may cost, in USD."""
    budget_local: Money | None = None
    """The same in the plan's `currency`."""
    prefer: Prefer | None = None
    """Default: cost."""
    confidence: Annotated[float, Field(strict=True, ge=0.5, le=0.99)] = 0.8
    """The chance that an option must have to keep the deadline and the budget, and at which its cost is ranked."""

    @model_validator(mode="before")
    @classmethod
    def _sum_of_runs(cls, data: Any) -> Any:
        return with_runs(data)

    @model_validator(mode="after")
    def _one_way_to_say_how_many(self) -> Self:
        if self.groups is not None and self.successive_halving is not None:
            raise ValueError("groups and successive_halving both say what runs: keep one")
        counted = with_runs({"groups": self.groups, "successive_halving": self.successive_halving}).get("runs")
        if counted is not None and counted != self.runs:
            raise ValueError(f"runs is {self.runs}, but its groups have {counted}: leave runs out")
        names = [group.name for group in self.groups or ()]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"groups: '{twice}' is the name of two")
        if self.timezone is not None and not is_timezone(self.timezone):
            raise ValueError(f"timezone '{self.timezone}' is not known; write one such as Europe/Berlin, or UTC")
        return self

    @property
    def side_by_side(self) -> int:
        """Trainings side by side on an option without a quota."""
        return self.at_once or 1

    @model_validator(mode="after")
    def _one_window_and_budget(self) -> Self:
        if self.start is not None and self.deadline is not None and self.deadline < self.start:
            raise ValueError(f"deadline {self.deadline} is before start {self.start}")
        if self.budget_usd is not None and self.budget_local is not None:
            raise ValueError("budget_usd and budget_local are two budgets: keep one")
        return self


class Assumptions(Frozen):
    """What the plan assumes; whatever is missing comes from `catalogs/defaults.yaml` and is named in the answer."""

    electricity_usd_per_kwh: Money | None = None
    """Price of electricity at your own machines, USD per kWh."""
    tariff: Id | None = None
    """A tariff of `catalogs/tariffs/` by its id, for every owned machine; instead of electricity_usd_per_kwh."""
    country: CountryCode | None = None
    """Where the owned machines stand (DE, KR), for the price of a kWh and for wages; left out: as their sites say, else
    the country of the plan's `currency`."""
    carbon_kg_per_kwh: Annotated[float, Field(strict=True, ge=0, le=10)] | None = None
    """Carbon intensity of the electricity, kg of CO2 equivalent; without it no emissions are given."""
    electricity_local_per_kwh: Money | None = None
    """The same in the plan's `currency`."""
    pue: Annotated[float, Field(strict=True, ge=1, le=10)] | None = None
    """Power of the building over the power of its machines."""
    goodput_fraction: Fraction | None = None
    """Share of wall-clock time that trains: takes off restarts, checkpoints, stalls and evaluation, all of which are
    then not counted one by one. Left out: they are, from `goodput` and the defaults."""
    mfu: Fraction | None = None
    """Model FLOPs utilisation assumed on hardware nobody measured, of the dense peak."""
    flops_convention: FlopsConvention = FlopsConvention.FULL_ATTENTION
    """Which operations count as model FLOPs."""
    setup_hours: Hours | None = None
    """Of each launch of a rented machine, until the first step: provisioning and installing."""
    idle_tail_hours: Hours | None = None
    """Of each launch, from the last step until billing ends."""
    failed_launch_fraction: Share | None = None
    """Launches that fail in set-up and are billed for it, for each training."""
    support_fraction: Share | None = None
    """Of everything else on a cloud's bill."""

    @model_validator(mode="after")
    def _one_tariff(self) -> Self:
        names = ("electricity_usd_per_kwh", "electricity_local_per_kwh", "tariff")
        given = [name for name in names if getattr(self, name) is not None]
        if len(given) > 1:
            raise ValueError(f"{' and '.join(given)} are {'two' if len(given) == 2 else 'three'} tariffs: keep one")
        return self


class Data(Frozen):
    """What is moved and kept beside the training, of rented machines; 0 where there is none."""

    dataset_gb: Gigabytes | None = None
    """Left out: samples x sequence length x bytes a token, where the workload counts tokens."""
    already_there: Flag = False
    """The data set lies with the provider already: it is not uploaded, and its storage is paid for anyway."""
    upload_mbit_per_s: Positive | None = None
    """Rate of your line to the cloud, in Mbit/s."""
    storage: Id | StorageRates | None = None
    """Where samples are read: a kind of `catalogs/storage.csv`, or rates of your own."""
    checkpoint_storage: Id | StorageRates | None = None
    """Where checkpoints are written; left out: `storage`, else the provider's."""
    checkpoint_gb: Gigabytes | None = None
    """Of one full checkpoint. Left out: parameters x bytes of weights and optimizer, where the network is known."""
    checkpoints_kept: Annotated[int, Field(strict=True, ge=0, le=10_000)] | None = None
    """At a time, of each training that runs; the last ones stay `keep_days`."""
    keep_days: Hours | None = None
    """How long data and checkpoints stay after the campaign."""
    egress_gb: Gigabytes | None = None
    """Taken out of the cloud by the campaign. Left out: the weights of each training, where the network is known."""


class SpotUse(StrEnum):
    """Whether machines that may be taken away are considered."""

    ALLOWED = "allowed"
    NEVER = "never"


class ProviderLimits(Frozen):
    """Whose offers are considered, by the first part of their names; what is owned is not affected."""

    allow: Annotated[tuple[Id, ...], Field(min_length=1)] | None = None
    """These alone; left out: all."""
    deny: tuple[Id, ...] = ()
    """Providers whose offers are left out."""

    @model_validator(mode="after")
    def _not_both(self) -> Self:
        both = next((name for name in self.deny if name in (self.allow or ())), None)
        if both is not None:
            raise ValueError(f"'{both}' is both allowed and denied: keep one")
        return self


class OptionLimits(Frozen):
    """Which options are considered: where, whose, and on which terms. One whose place is not known is not allowed."""

    allowed_regions: Annotated[tuple[Text, ...], Field(min_length=1)] | None = None
    """Regions as price rows name them, and ids of owned sites that stand in an allowed place."""
    data_region: Text | None = None
    """The data must stay in this region (or on this site)."""
    spot: SpotUse = SpotUse.ALLOWED
    """never: neither spot nor marketplace, whose machines may be taken away and whose prices move by the hour."""
    providers: ProviderLimits = ProviderLimits()
    """Providers whose offers are considered."""


class Owning(StrEnum):
    """What a plan says that owning counts; since 0.2.0 it ranks nothing, as `hold` says what must be paid for."""

    MARGINAL = "marginal"
    """What a training adds to the bills."""
    FULL = "full"
    """Purchase, place, staff and all: `full_usd` of an option."""


def _or_auto(schema: dict[str, Any]) -> None:
    """Let the schema of `options` take what `with_auto` reads."""
    listed = {key: schema.pop(key) for key in tuple(schema) if key not in ("title", "description")}
    schema["anyOf"] = [
        {**listed, "minItems": 1},
        {"const": AUTO},
        {"type": "object", "description": "Filters, as of `find`."},
    ]


class Plan(Frozen):
    """A question to the planner, as a file."""

    schema_version: Literal[1]
    """Version of the format."""
    name: Text
    """Name of the plan, shown above every answer."""
    workload: WorkloadChoice
    """What is trained."""
    work: Work
    """How much is trained."""
    training: Training = Training()
    """How it is trained."""
    campaign: CampaignLimits = CampaignLimits()
    """How many trainings, until when, for how much money."""
    options: Annotated[tuple[PlanOption, ...], Field(max_length=MOST_OPTIONS, json_schema_extra=_or_auto)]
    """A list; or `auto`, or filters in its place (`find`): the planner looks through the catalog and all prices."""
    find: FindFilters | None = None
    """Filters of `options: auto`, which is how they are written; with them `options` is empty."""
    found: Text | None = None
    """How options were found, where they were; the planner's own note."""
    assumptions: Assumptions = Assumptions()
    """Assumptions in place of the planner's defaults."""
    goodput: Goodput = Goodput()
    """What stops a training on its way."""
    practice: Practice = Practice.TYPICAL
    """Whether times are a benchmark's, as people usually get them, or as tuned trainings do; steps that the plan states
    or somebody measured there are not stretched."""
    owning: Owning = Owning.MARGINAL
    """What an owned machine's costs count."""
    data: Data = Data()
    """What is moved and stored beside the training."""
    limits: OptionLimits = OptionLimits()
    """Which options are considered."""
    currency: Currency | None = None
    """Shown beside USD; what the plan states in it is counted at its rate."""

    @model_validator(mode="before")
    @classmethod
    def _auto(cls, data: Any) -> Any:
        return with_auto(data)

    @model_validator(mode="after")
    def _listed_or_found(self) -> Self:
        if bool(self.options) == (self.find is not None):
            raise ValueError("options: list at least one, or write `options: auto`")
        return self

    @model_validator(mode="after")
    def _one_goodput(self) -> Self:
        if self.assumptions.goodput_fraction is not None and self.goodput != Goodput():
            raise ValueError("assumptions.goodput_fraction and goodput both say what is lost: keep one")
        if self.work.steps is not None and self.training.global_batch is None and self.training.prompts is None:
            key = "prompts" if self.training.method is not None and self.training.method.generates else "global_batch"
            raise ValueError(f"work.steps needs training.{key}: how many samples a step takes")
        return self

    @model_validator(mode="after")
    def _a_rate_for_local_amounts(self) -> Self:
        local = [f"options.{place}.local_per_hour" for place, o in enumerate(self.options) if o.local_per_hour]
        if self.assumptions.electricity_local_per_kwh is not None:
            local.append("assumptions.electricity_local_per_kwh")
        if self.campaign.budget_local is not None:
            local.append("campaign.budget_local")
        if local and self.currency is None:
            raise ValueError(f"{local[0]} is in the plan's own currency: state currency with its rate")
        return self
