"""Content of the form on the first page, as a value that a link can carry."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from planner.adapters.user_text import name_without_secrets
from planner.model.base import Day, Frozen, Text
from planner.model.network.training_method import TrainingMethod
from planner.model.network.workload import Precision
from planner.model.plan.find_filters import Terms

MOST_MACHINES = 6
KRW_PER_USD, KRW_SOURCE, KRW_AS_OF = 1439.0, "close of 2025 in Seoul, KBS World news 198497", date(2025, 12, 30)
Money = Annotated[float, Field(ge=0, le=1e15)]
Share = Annotated[float, Field(ge=0, lt=100)]


class Start(StrEnum):
    """Starting point of a question."""

    TRAIN = "train"
    BUY = "buy"
    OFFERS = "offers"
    PLAN = "plan"
    """A plan file, either an example or an upload."""


class WeightsChoice(StrEnum):
    """Trained weights: all, or adapters."""

    FULL = "full"
    LORA = "lora"
    QLORA = "qlora"


class MachineRow(Frozen):
    """A row of the machines: a card, or a whole machine of the catalog."""

    name: Text
    """Id of an accelerator or a site."""
    count: Annotated[int, Field(ge=1, le=72)] = 1
    """Number of cards; always 1 for a site."""
    buy: bool = False
    usd: Annotated[float, Field(gt=0, le=1e12)] | None = None
    """Price in USD of a machine to be bought; None for its site's price."""


class Form(Frozen):
    """A question in the terms of the page."""

    start: Start = Start.TRAIN
    model: Annotated[Text, AfterValidator(name_without_secrets)] = "llama3-8b"
    config: Annotated[str, Field(max_length=60_000)] | None = None
    """Text of an uploaded config.json. Its name is `model`."""
    example: Annotated[str, Field(max_length=80)] | None = None
    """Name of a bundled plan for `start: plan`; None if `plan` has the text."""
    plan: Annotated[str, Field(max_length=200_000)] | None = None
    log: Annotated[str, Field(max_length=60_000)] | None = None
    """Run of a pasted log as JSON. Its speed counts for the machine that it ran on."""
    method: WeightsChoice = WeightsChoice.LORA
    learns: TrainingMethod | None = None
    """Training objective; None for the next token."""
    completion: Annotated[int, Field(ge=1, le=10**7)] | None = None
    """Tokens of an answer. `mean` then counts those of a prompt."""
    amount: Literal["data", "samples", "tokens"] = "data"
    samples: Annotated[int, Field(ge=1, le=10**12)] = 50_000
    mean: Annotated[int, Field(ge=1, le=10**7)] = 700
    """Tokens of a conversation."""
    epochs: Annotated[float, Field(gt=0, le=10_000)] = 3.0
    tokens: Annotated[float, Field(gt=0, le=1e16)] = 1e9
    seq_len: Annotated[int, Field(ge=1, le=10**7)] | None = None
    precision: Precision | None = None
    machines: Annotated[tuple[MachineRow, ...], Field(max_length=MOST_MACHINES)] = ()
    find: bool = True
    offers: Annotated[tuple[Text, ...], Field(max_length=40)] = ()
    regions: Annotated[tuple[Text, ...], Field(max_length=20)] = ()
    terms: Terms | None = None
    currency: Annotated[str, Field(max_length=3)] = "USD"
    per_usd: Annotated[float, Field(gt=0, le=1e12)] | None = None
    kwh: Annotated[float, Field(ge=0, le=1e6)] | None = None
    deadline: Day | None = None
    budget: Money | None = None
    """Budget. `budget` and `kwh` are in `currency`."""
    runs: Annotated[int, Field(ge=1, le=10**15)] = 1
    confidence: Annotated[float, Field(ge=0.5, le=0.99)] = 0.8
    provider: Annotated[str, Field(max_length=60)] | None = None
    """Provider of `discount` and `credits`."""
    discount: Share = 0.0
    """Discount in percent of the list price."""
    credits: Money = 0.0
    """Credits in USD."""
    book: Annotated[str, Field(max_length=20_000)] | None = None
    """Price book of the visit as JSON."""

    def changed(self, **values: object) -> Form:
        """Return the form with other values, without checking them."""
        return self.model_copy(update=values)


STARTS = {
    Start.TRAIN: Form(machines=(MachineRow(name="RTX-3090", count=2),), budget=300.0),
    Start.BUY: Form(
        start=Start.BUY,
        samples=200_000,
        machines=(
            MachineRow(name="dgx-station-v100"),
            MachineRow(name="pc-rtx4090", buy=True),
            MachineRow(name="h200-x1", buy=True),
        ),
        precision=Precision.FP16,
        find=False,
        offers=("lambda/gpu_1x_h100_sxm5", "lambda/gpu_1x_a100_sxm4"),
        runs=50,
    ),
    Start.OFFERS: Form(
        start=Start.OFFERS,
        model="llama-3.1-8b",
        method=WeightsChoice.FULL,
        amount="tokens",
        tokens=2e10,
        find=False,
        offers=(
            "lambda/gpu_8x_h100_sxm5",
            "aws/p5.48xlarge:on_demand",
            "aws/p5en.48xlarge:spot",
            "runpod/8x-h200-sxm",
            "nebius/gpu-h200-sxm_8gpu",
        ),
        provider="aws",
        budget=100_000.0,
    ),
}
"""Form of each starting point. Each asks a question with an answer."""
