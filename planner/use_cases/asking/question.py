"""A question as it was asked, the plan that it means, and what was assumed on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date

from planner.errors import InputError
from planner.model.catalog import Catalog
from planner.model.currency import Currency
from planner.model.evidence.run import RunRecord
from planner.model.network.adapters import Adapters
from planner.model.network.stated_training import StatedTraining
from planner.model.network.training_method import NEXT_TOKEN, MethodSettings
from planner.model.network.workload import ArchitectureFile
from planner.model.plan.find_filters import FindFilters
from planner.model.plan.plan import Plan, Training


class MissingAnswerError(InputError):
    """A question that must be answered: its flag and an example."""

    def __init__(self, what: str, flag: str, example: str) -> None:
        super().__init__(f"planner ask: {what}?", fix=f"Add {flag} {example}")
        self.what, self.flag, self.example = what, flag, example


@dataclass(frozen=True)
class Purchase:
    """A machine to be bought: `1xRTX-4090` or a site; its price is that of the site where none is given."""

    machine: str
    usd: float | None = None


@dataclass(frozen=True, kw_only=True)
class Question:
    """What was asked, in the words of the options; None: not said."""

    workload: str | None = None
    data: str | None = None
    tokens: float | None = None
    epochs: float | None = None
    seq_len: int | None = None
    training: Training = field(default_factory=Training)
    """How it is trained, as a plan states it, but for the adapters."""
    objective: MethodSettings = NEXT_TOKEN
    """What is optimized, where it was said."""
    adapters: Callable[[ArchitectureFile], Adapters | None] = lambda network: network.adapters
    network: ArchitectureFile | None = None
    """Of a file that was read already; `workload` is its name."""
    stated: StatedTraining | None = None
    """What the files of a trainer state, where `workload` names such."""
    own: tuple[str, ...] = ()
    buy: tuple[Purchase, ...] = ()
    on: tuple[str, ...] = ()
    """Offers; `aws/p5.48xlarge:spot` names the kind of price."""
    find: bool | None = None
    """Whether the planner looks for offers; None: where `on` is empty."""
    filters: FindFilters = field(default_factory=FindFilters)
    """Of offers, named or found: regions and terms."""
    budget: float | None = None
    """In the question's currency, where it has one."""
    by: str | None = None
    runs: int | None = None
    log: RunRecord | None = None
    """The run of a trainer's log."""
    confidence: float | None = None
    currency: Currency | None = None
    kwh: float | None = None
    """Price of electricity, in the question's currency."""
    country: str | None = None
    """Where the owned machines stand."""

    @property
    def finds(self) -> bool:
        """Whether the planner looks for offers."""
        return not self.on if self.find is None else self.find


@dataclass(frozen=True)
class Asked:
    """The plan, and what was assumed in it."""

    plan: Plan
    """With its options listed."""
    assumed: tuple[str, ...]
    search: Plan
    """The plan with the options that were named, and the filters of those that were found."""


@dataclass
class Draft:
    """A question on its way to a plan."""

    question: Question
    catalog: Catalog
    today: date
    assumed: list[str] = field(default_factory=list)

    def assume(self, what: str, *flags: str) -> None:
        """Note what was assumed, and the options that change it."""
        self.assumed.append(f"{what} ({', '.join(flags)})")
