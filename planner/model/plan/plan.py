"""Plan file: what is trained, how often, under which limits, and on which options."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from planner.model.base import Count, Flag, Fraction, Frozen, Id, Positive, Text
from planner.model.currency import Currency
from planner.model.hardware.storage import StorageRates
from planner.model.network.adapters import Adapters
from planner.model.network.trainer_memory import TrainerSettings
from planner.model.network.training_method import MethodSettings, Reference
from planner.model.network.work import Work, WorkloadChoice
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.model.owning.country import CountryCode
from planner.model.plan.campaign_limits import (
    CampaignLimits,
    Money,
)
from planner.model.plan.convergence import Practice
from planner.model.plan.find_filters import AUTO, FindFilters, with_auto
from planner.model.plan.goodput import Goodput
from planner.model.plan.plan_option import PlanOption

MOST_OPTIONS = 500
"""Largest number of options of a plan. Each of several numbers of nodes or accelerators counts separately."""
Gigabytes = Annotated[float, Field(strict=True, ge=0, le=1e12)]
Hours = Annotated[float, Field(strict=True, ge=0, le=10_000)]
Share = Annotated[float, Field(strict=True, ge=0, lt=1)]


class FlopsConvention(StrEnum):
    """Operations that "FLOPs per token" counts; see `planner/network/flops.py`."""

    FULL_ATTENTION = "full_attention"
    CAUSAL = "causal"
    SIX_N = "six_n"


class Training(TrainerSettings, MethodSettings):
    """Way of training. An option may name another strategy."""

    precision: Precision | None = None
    """Number format of matrix products. Default: the 16-bit format that is best on the card."""
    strategy: Strategy | Literal["auto"] = "auto"
    """Strategy. auto means as measured there, otherwise the fastest that fits, option by option."""
    global_batch: Count | None = None
    """Samples of one optimizer step, over all accelerators."""
    micro_batch: Count | Literal["auto"] = "auto"
    """Samples of one forward pass on one accelerator. auto means the largest that fits."""
    checkpointing: Checkpointing | Literal["auto"] = "auto"
    """Recomputation. auto means the fastest that fits for a decoder; other networks recompute only if they would not
    fit otherwise.
    """
    packing: Flag | None = None
    """True (the default) if samples of `work.tokens_per_sample` are joined to full sequences; false if each is padded
    to the longest of its micro-batch.
    """
    adapters: Adapters | None = None
    """Low-rank adapters to train (LoRA, QLoRA). Default: all weights are trained."""
    framework: Text | None = None
    """Framework with its kernels ("HF Trainer, liger"). Default: the planner's own benchmark."""

    @model_validator(mode="after")
    def _goes_with_the_method(self) -> Self:
        if self.reference is Reference.ADAPTERS_OFF and self.adapters is None:
            raise ValueError("reference adapters_off needs adapters: add them, or write reference: model")
        if self.method is not None and self.packing:
            raise ValueError(f"packing: samples of {self.method.value} are not joined: leave packing out")
        if self.prompts is not None and self.global_batch is not None:
            raise ValueError("prompts say how much a step takes: leave global_batch out")
        return self


class Assumptions(Frozen):
    """Assumptions of the plan. Missing ones come from `catalogs/defaults.yaml` and are named in the answer."""

    electricity_usd_per_kwh: Money | None = None
    """Price of electricity at your own machines, USD per kWh."""
    tariff: Id | None = None
    """Tariff of `catalogs/tariffs/` by its id, for every owned machine, instead of electricity_usd_per_kwh."""
    country: CountryCode | None = None
    """Country of the owned machines (DE, KR), for the price of a kWh and for wages.

    Default: their sites' country, otherwise that of the plan's `currency`.
    """
    carbon_kg_per_kwh: Annotated[float, Field(strict=True, ge=0, le=10)] | None = None
    """Carbon intensity of the electricity, kg of CO2 equivalent. Without it no emissions are given."""
    electricity_local_per_kwh: Money | None = None
    """Price of electricity in the plan's `currency`."""
    pue: Annotated[float, Field(strict=True, ge=1, le=10)] | None = None
    """Power of the building over the power of its machines."""
    goodput_fraction: Fraction | None = None
    """Share of wall-clock time that trains.

    It replaces restarts, checkpoints, stalls and evaluation, which are then not counted one by one. By default they
    are, from `goodput` and the defaults.
    """
    mfu: Fraction | None = None
    """Model FLOPs utilization assumed on unmeasured hardware, relative to the dense peak."""
    flops_convention: FlopsConvention = FlopsConvention.FULL_ATTENTION
    """Operations that count as model FLOPs."""
    setup_hours: Hours | None = None
    """Hours of each launch of a rented machine until the first step: provisioning and installing."""
    idle_tail_hours: Hours | None = None
    """Hours of each launch from the last step until billing ends."""
    failed_launch_fraction: Share | None = None
    """Launches per training that fail in set-up and are billed for it."""
    support_fraction: Share | None = None
    """Share of everything else on a cloud's bill."""

    @model_validator(mode="after")
    def _one_tariff(self) -> Self:
        names = ("electricity_usd_per_kwh", "electricity_local_per_kwh", "tariff")
        given = [name for name in names if getattr(self, name) is not None]
        if len(given) > 1:
            raise ValueError(f"{' and '.join(given)} are {'two' if len(given) == 2 else 'three'} tariffs: keep one")
        return self


class Data(Frozen):
    """Data that the training moves and keeps on rented machines; 0 if there is none."""

    dataset_gb: Gigabytes | None = None
    """Size of the data set. Default: samples x sequence length x bytes a token, if the workload counts tokens."""
    already_there: Flag = False
    """True if the data set is at the provider already: it is not uploaded, and its storage is paid for anyway."""
    upload_mbit_per_s: Positive | None = None
    """Rate of your line to the cloud, in Mbit/s."""
    storage: Id | StorageRates | None = None
    """Storage of the samples: a kind of `catalogs/storage.csv`, or your own rates."""
    checkpoint_storage: Id | StorageRates | None = None
    """Storage of the checkpoints. Default: `storage`, otherwise the provider's."""
    checkpoint_gb: Gigabytes | None = None
    """Size of one full checkpoint. Default: parameters x bytes of weights and optimizer, if the network is known."""
    checkpoints_kept: Annotated[int, Field(strict=True, ge=0, le=10_000)] | None = None
    """Checkpoints kept at a time, for each running training. The last ones stay for `keep_days`."""
    keep_days: Hours | None = None
    """Days for which data and checkpoints stay after the campaign."""
    egress_gb: Gigabytes | None = None
    """Data taken out of the cloud by the campaign. Default: the weights of each training, if the network is known."""


class SpotUse(StrEnum):
    """Use of machines that may be taken away."""

    ALLOWED = "allowed"
    NEVER = "never"


class ProviderLimits(Frozen):
    """Providers whose offers are considered, by the first part of their names. Owned machines are not affected."""

    allow: Annotated[tuple[Id, ...], Field(min_length=1)] | None = None
    """Providers that are allowed. Default: all."""
    deny: tuple[Id, ...] = ()
    """Providers whose offers are left out."""

    @model_validator(mode="after")
    def _not_both(self) -> Self:
        both = next((name for name in self.deny if name in (self.allow or ())), None)
        if both is not None:
            raise ValueError(f"'{both}' is both allowed and denied: keep one")
        return self


class OptionLimits(Frozen):
    """Options that are considered: by place, provider and terms. An option with an unknown place is not allowed."""

    allowed_regions: Annotated[tuple[Text, ...], Field(min_length=1)] | None = None
    """Regions as price rows name them, and ids of owned sites in an allowed place."""
    data_region: Text | None = None
    """The data must stay in this region (or on this site)."""
    spot: SpotUse = SpotUse.ALLOWED
    """Use of spot. never excludes spot and marketplace, whose machines may be taken away and whose prices move by the
    hour.
    """
    providers: ProviderLimits = ProviderLimits()
    """Providers whose offers are considered."""


class Owning(StrEnum):
    """Cost that a plan says owning counts.

    Since 0.2.0 it does not affect the ranking, because `hold` says what must be paid for.
    """

    MARGINAL = "marginal"
    """Cost that a training adds to the bills."""
    FULL = "full"
    """Full cost with purchase, place and staff: `full_usd` of an option."""


def _or_auto(schema: dict[str, Any]) -> None:
    """Extend the schema of `options` by what `with_auto` reads."""
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
    """Network to train."""
    work: Work
    """Amount of training."""
    training: Training = Training()
    """Settings of the training."""
    campaign: CampaignLimits = CampaignLimits()
    """Number of trainings, deadline and budget."""
    options: Annotated[tuple[PlanOption, ...], Field(max_length=MOST_OPTIONS, json_schema_extra=_or_auto)]
    """Options: a list, or `auto`, or filters (`find`) with which the planner searches the catalog and all prices."""
    find: FindFilters | None = None
    """Filters of `options: auto`. With them `options` is empty."""
    found: Text | None = None
    """Note by the planner on how options were found."""
    assumptions: Assumptions = Assumptions()
    """Assumptions that replace the planner's defaults."""
    goodput: Goodput = Goodput()
    """Interruptions of a training."""
    practice: Practice = Practice.TYPICAL
    """Times: those of a benchmark, typical ones, or those of tuned trainings.

    Steps that the plan states, or that were measured there, are not stretched.
    """
    owning: Owning = Owning.MARGINAL
    """Cost of an owned machine that counts."""
    data: Data = Data()
    """Data that the training moves and stores."""
    limits: OptionLimits = OptionLimits()
    """Limits on the options that are considered."""
    currency: Currency | None = None
    """Currency that is shown in addition to USD. Amounts that the plan states in it are converted at its rate."""

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
