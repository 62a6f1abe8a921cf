"""Options of a campaign made by hand, and their comparison."""

from __future__ import annotations

from datetime import date
from typing import Any

from planner.decide.campaign.budget import budget_of
from planner.decide.campaign.chances import with_chances
from planner.decide.recommend.compare import compare
from planner.model.answer.campaign import CostByHours, LastingCredit
from planner.model.answer.documents import CampaignDocument
from planner.model.answer.option_estimate import CampaignOption
from planner.model.answer.reason import Reason, ReasonCode
from planner.model.network.workload import Strategy
from planner.model.owning.acquisition import Hold
from planner.model.plan.campaign_limits import CampaignLimits
from planner.model.plan.plan import Owning
from planner.model.quantity import Basis, Quantity, Unit

TODAY = date(2026, 11, 21)
NO_PRICE = Reason(code=ReasonCode.NO_PRICE, text="no price: sold out")


def quantity(value: float, unit: Unit, spread: float = 1.0) -> Quantity:
    return Quantity(
        value=value, low=value / spread, high=value * spread, unit=unit, basis=Basis.MEASURED, source="by hand"
    )


def paid_by_credits(usd: float, credits: float, *, hours: float = 1e9, spread: float = 1.0) -> dict[str, Any]:
    """Return the fields of an option whose bill is paid by credits that last `hours`."""
    return {
        "to_pay_usd": quantity(max(0.0, usd - credits), Unit.USD, spread),
        "cost_by_hours": CostByHours(
            hours=(1.0,), usd=(usd,), least_factor=1 / spread, most_factor=spread,
            credits=(LastingCredit(hours=hours, usd=credits),),
        ),
    }  # fmt: skip


def option(name: str, hours: float | None, usd: float | None, **changes: Any) -> CampaignOption:
    changes.pop("limits", None)
    spread = changes.pop("spread", 1.0)
    fields: dict[str, Any] = dict.fromkeys(
        ("region", "price_kind", "micro_batch", "checkpointing", "epoch_hours", "training_hours", "usd_per_hour",
         "usd_per_epoch", "usd_total", "usd_marginal", "energy_kwh", "power_kw", "rated_kw", "smallest_purchase_usd",
         "why_not", "site", "carbon_kg", "owning")
    )  # fmt: skip
    fields |= {
        "id": name,
        "name": name,
        "offer": name,
        "nodes": 1,
        "accelerators": 1,
        "accelerator": "H100-SXM",
        "fits": True,
        "strategy": Strategy.DDP,
        "throughput": quantity(1.0, Unit.SAMPLES_PER_S),
        "runs": ("run-1",),
        "doubts": (),
        "notes": (),
        "at_once": 1,
        "campaign_hours": None if hours is None else quantity(hours, Unit.HOURS, spread),
        "campaign_usd": None if usd is None else quantity(usd, Unit.USD, spread),
        "finish": TODAY,
        "meets_deadline": None if hours is None else True,
        "within_budget": None if usd is None else True,
        "usd_confident": usd,
        "hold": Hold.HAVE if changes.get("site") else Hold.RENT,
    }
    owning = Owning.MARGINAL if changes.get("site") else None
    return CampaignOption.model_validate(fields | {"owning": owning} | changes)


def compared(
    options: list[CampaignOption],
    limits: CampaignLimits | None = None,
    left_whole: list[CampaignOption] | None = None,
) -> Any:
    limits = limits or CampaignLimits()

    def campaign(of: list[CampaignOption]) -> CampaignDocument:
        sure = [with_chances(option, limits, budget=budget_of(limits), today=TODAY) for option in of]
        return CampaignDocument(plan="test", assumptions=(), runs=1, options=tuple(sure))

    other = None if left_whole is None else campaign(left_whole)
    return compare(campaign(options), limits, today=TODAY, left_whole=other)


def why(answer: Any, name: str) -> str | None:
    return next(found.why_not for found in answer.options if found.id == name)
