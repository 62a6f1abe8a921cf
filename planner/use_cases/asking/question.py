"""A question as it was asked, the plan that it means, and the assumptions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date

from planner.errors import InputError
from planner.model.catalog import Catalog
from planner.model.currency import Currency
from planner.model.evidence.run import RunRecord
from planner.model.network.adapters import Adapters
from planner.model.network.training_method import NEXT_TOKEN, MethodSettings
from planner.model.network.workload import ArchitectureFile, StatedTraining
from planner.model.plan.find_filters import FindFilters
from planner.model.plan.plan import Plan, Training


class MissingAnswerError(InputError):
    """Missing information that cannot be assumed, with the flag that states it and an example."""

    def __init__(self, what: str, flag: str, example: str) -> None:
        super().__init__(f"planner ask: {what}?", fix=f"Add {flag} {example}")
        self.what, self.flag, self.example = what, flag, example


@dataclass(frozen=True)
class MachineToBuy:
    """A machine to be bought: `1xRTX-4090` or a site. Without a price, the site's price counts."""

    machine: str
    usd: float | None = None


@dataclass(frozen=True, kw_only=True)
class TrainingQuestion:
    """A question in the terms of the command's options. None means not stated."""

    workload: str | None = None
    data: str | None = None
    tokens: float | None = None
    epochs: float | None = None
    seq_len: int | None = None
    training: Training = field(default_factory=Training)
    """Training settings of a plan, without the adapters."""
    objective: MethodSettings = NEXT_TOKEN
    """Training objective, if it was stated."""
    adapters: Callable[[ArchitectureFile], Adapters | None] = lambda network: network.adapters
    network: ArchitectureFile | None = None
    """Network from a file that was read already. `workload` is then its name."""
    stated: StatedTraining | None = None
    """Settings that a trainer's files state, if `workload` names such files."""
    own: tuple[str, ...] = ()
    buy: tuple[MachineToBuy, ...] = ()
    on: tuple[str, ...] = ()
    """Offers; `aws/p5.48xlarge:spot` names the kind of price."""
    find: bool | None = None
    """True lets the planner search for offers. None means: search if `on` is empty."""
    filters: FindFilters = field(default_factory=FindFilters)
    """Regions and terms of offers, named or found."""
    budget: float | None = None
    """Budget in the question's currency, or in USD if it has none."""
    by: str | None = None
    runs: int | None = None
    log: RunRecord | None = None
    """The run of a trainer's log."""
    confidence: float | None = None
    currency: Currency | None = None
    kwh: float | None = None
    """Price of electricity, in the question's currency."""
    country: str | None = None
    """Country of the owned machines."""

    @property
    def finds(self) -> bool:
        """True if the planner searches for offers."""
        return not self.on if self.find is None else self.find


@dataclass(frozen=True)
class QuestionPlan:
    """The plan that a question means, with its assumptions."""

    plan: Plan
    """Plan with its options listed."""
    assumed: tuple[str, ...]
    search: Plan
    """Plan with the named options, and with the filters instead of the found options."""


@dataclass
class Draft:
    """A question while it is turned into a plan."""

    question: TrainingQuestion
    catalog: Catalog
    today: date
    assumed: list[str] = field(default_factory=list)

    def assume(self, what: str, *flags: str) -> None:
        """Note an assumption and the options that change it."""
        self.assumed.append(f"{what} ({', '.join(flags)})")
