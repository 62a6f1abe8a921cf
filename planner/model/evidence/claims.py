"""Claims of a document, as a user writes them down: one statement each, with its numbers and units."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from planner.model.base import Count, Day, Frozen, Text
from planner.model.evidence.amount import Stated, read_count
from planner.model.prices.offer import PriceKind

Several = Annotated[tuple[Stated, ...], Field(max_length=100)]
"""Inputs: numbers, or numbers with units."""
MOST_ACCELERATORS = 10**9
"""Largest number of accelerators of a training. All that were ever built are fewer."""
Large = Annotated[float, BeforeValidator(read_count), Field(strict=True, gt=0, le=1e20)]
"""A count as people write it: 7.0e9, 7B, 70억."""


def _as_text(name: object) -> object:
    return str(name) if isinstance(name, int) and not isinstance(name, bool) else name


def _as_word(said: object) -> object:
    """Read "FP16", "ZeRO-2", "DeepSpeed ZeRO stage 3", "FSDP" and "on demand" as the words that are listed."""
    if not isinstance(said, str):
        return said
    word = re.sub(r"deepspeed|stage", "", said.casefold())
    plain = re.sub(r"[\s_-]+", "", word)
    return WORDS.get(plain, plain if plain.startswith("zero") else re.sub(r"[\s-]+", "_", word.strip()))


Word = BeforeValidator(_as_word)
WORDS = {"fsdp": "fsdp2", "dp": "ddp", "float8": "fp8", "bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}


class _Claim(Frozen):
    id: Annotated[Text, BeforeValidator(_as_text)]
    quote: Text | None = None
    """Words of the document, in any language."""
    source: Text | None = None


class HardwareClaim(_Claim):
    """A figure of an accelerator, or of a machine with several."""

    kind: Literal["hardware"]
    accelerator: Text | None = None
    node: Text | None = None
    figure: Text
    """fp32, tf32, fp16, bf16, fp8, fp4, memory, bandwidth, link, network, power, tensor_core_generation."""
    amount: Stated


class PartClaim(_Claim):
    """A part that a machine has or could have: a link of an accelerator, accelerators of a node, its host."""

    kind: Literal["part"]
    accelerator: Text | None = None
    link: Text | None = None
    """Link: NVLink, NVSwitch or PCIe."""
    node: Text | None = None
    accelerators: Count | None = None
    host: Text | None = None


class MemoryClaim(_Claim):
    """Memory of a training or inference, or the number of accelerators on which it fits."""

    kind: Literal["memory"]
    purpose: Annotated[Literal["training", "inference"], Word] = "training"
    method: Annotated[Literal["full", "full_bf16", "full_8bit_adam", "lora", "qlora"] | None, Word] = None
    """Weights and states that a training keeps; for bf16 alone, or with an optimizer in 8 bits."""
    parameters: Large | None = None
    accelerator: Text | None = None
    accelerators: Count = 1
    strategy: Annotated[Literal["ddp", "zero1", "zero2", "zero3", "fsdp2"], Word] = "zero3"
    """Strategy. zero3 and fsdp2 shard everything: the least that a device can hold."""
    amount: Stated | None = None
    bytes_per_parameter: Annotated[float, Field(strict=True, gt=0, le=1000)] | None = None
    workload: Text | None = None
    micro_batch: Count | None = None
    used_share: Annotated[float, Field(strict=True, gt=0, le=1)] | None = None
    """Share of the memory in use; needs workload and micro_batch."""


class TrainingClaim(_Claim):
    """Time and cost of a training. For a mixture of experts, `parameters` are the active ones."""

    kind: Literal["training"]
    method: Annotated[Literal["full", "lora"], Word] = "full"
    parameters: Large
    tokens: Large | None = None
    """Number of tokens, or the numbers that it is a product of."""
    steps: Large | None = None
    global_batch: Large | None = None
    seq_len: Large | None = None
    tokens_per_s: Large | None = None
    """Tokens per second of all accelerators together."""
    accelerator: Text
    accelerators: Annotated[Count, Field(le=MOST_ACCELERATORS)]
    precision: Annotated[Literal["fp32", "tf32", "bf16", "fp16", "fp8"] | None, Word] = None
    time: Stated | None = None
    """Wall-clock time, or accelerator-hours."""
    cost: Stated | None = None
    price: Stated | None = None


class PriceClaim(_Claim):
    """Hourly price of a machine, or of one of its accelerators."""

    kind: Literal["price"]
    node: Text | None = None
    accelerator: Text | None = None
    """Accelerator of any provider, if no machine is named."""
    price_kind: Annotated[PriceKind | None, Word] = None
    """Kind of price; None means on demand, or a block."""
    amount: Stated
    as_of: Day | None = None


class ArithmeticClaim(_Claim):
    """A figure with its own inputs: product / over, in the unit of `amount`, or in the units that they carry."""

    kind: Literal["arithmetic"]
    amount: Stated
    product: Several = ()
    over: Several = ()


class SpeedupClaim(_Claim):
    """Speed of one machine relative to another: by its own inputs, and by what the hardware allows."""

    kind: Literal["speedup"]
    amount: Stated
    product: Several = ()
    over: Several = ()
    accelerator: Text | None = None
    accelerators: Count | None = None
    than_accelerator: Text | None = None
    than_accelerators: Count | None = None
    precision: Annotated[Literal["fp32", "tf32", "bf16", "fp16", "fp8", "fp4"] | None, Word] = None
    """Precision of both runs; None means that each used its fastest."""


class SumClaim(_Claim):
    """A total with its parts."""

    kind: Literal["sum"]
    amount: Stated
    terms: Annotated[tuple[Stated, ...], Field(min_length=1, max_length=1000)]


class BatchRow(Frozen):
    """One row: the document's figures for an epoch."""

    batch: Annotated[float, Field(strict=True, gt=0, le=1e12)]
    seconds_per_batch: Annotated[float, Field(strict=True, gt=0, le=1e9)]
    epoch: Stated


class FigureRow(Frozen):
    """One row: a figure that is a sum of `terms`, or product / over."""

    label: Text | None = None
    amount: Stated
    terms: Several = ()
    product: Several = ()
    over: Several = ()


class TableClaim(_Claim):
    """A table: of batches over the same samples, or of figures with their inputs."""

    kind: Literal["table"]
    samples: Large | None = None
    rows: Annotated[tuple[BatchRow | FigureRow, ...], Field(min_length=1, max_length=1000)]


Claim = Annotated[
    HardwareClaim
    | PartClaim
    | MemoryClaim
    | TrainingClaim
    | PriceClaim
    | ArithmeticClaim
    | SpeedupClaim
    | SumClaim
    | TableClaim,
    Field(discriminator="kind"),
]


class ClaimFile(Frozen):
    """The claims of one document."""

    schema_version: Literal[1] = 1
    kind: Literal["claims"] = "claims"
    source: Text
    claims: Annotated[tuple[Claim, ...], Field(min_length=1, max_length=10_000)]
