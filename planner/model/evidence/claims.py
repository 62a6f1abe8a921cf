"""Claims of a document, as a person writes them down: one statement each, with its numbers and units."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from planner.model.base import Count, Day, Frozen, Text

NUMBER = re.compile(r"^[~≈약\s$]*([-+]?[\d,]*\.?\d+(?:[eE][-+]?\d+)?)\s*(.*)$", re.DOTALL)
Value = Annotated[float, Field(ge=-1e30, le=1e30)]
Several = Annotated[tuple[Value, ...], Field(max_length=100)]


class Amount(Frozen):
    """A number with its unit as the document prints it; without one, the audit says that it is missing."""

    value: Value
    unit: Annotated[str, Field(max_length=100)] = ""


def _amount(data: Any) -> Any:
    if isinstance(data, bool):
        raise ValueError("must be a number with its unit, as 83.5 h")
    if isinstance(data, int | float):
        return {"value": data}
    if isinstance(data, str):
        match = NUMBER.match(data.strip())
        if match is None:
            raise ValueError("must be a number with its unit, as 83.5 h")
        return {"value": float(match[1].replace(",", "")), "unit": match[2].strip()}
    return data


Stated = Annotated[Amount, BeforeValidator(_amount)]


class _Claim(Frozen):
    id: Text
    quote: Text | None = None
    """The document's words, in any language."""
    source: Text | None = None


class HardwareClaim(_Claim):
    """A figure of an accelerator, or of a machine with several."""

    kind: Literal["hardware"]
    accelerator: Text | None = None
    node: Text | None = None
    figure: Literal[
        "fp32", "tf32", "fp16", "bf16", "fp8", "fp4", "memory", "bandwidth", "link", "power", "tensor_core_generation"
    ]
    amount: Stated


class PartClaim(_Claim):
    """What a machine has or could have: a link of an accelerator, accelerators of a node, its host."""

    kind: Literal["part"]
    accelerator: Text | None = None
    link: Literal["nvlink", "nvswitch", "pcie"] | None = None
    node: Text | None = None
    accelerators: Count | None = None
    host: Text | None = None


class MemoryClaim(_Claim):
    """How much memory a training or inference takes, or on how many accelerators it fits."""

    kind: Literal["memory"]
    purpose: Literal["training", "inference"] = "training"
    parameters: Annotated[float, Field(gt=0, le=1e16)] | None = None
    accelerator: Text | None = None
    accelerators: Count = 1
    strategy: Literal["ddp", "zero1", "zero2", "zero3", "fsdp2"] = "zero3"
    """zero3 and fsdp2 shard everything: the least that a device can hold."""
    amount: Stated | None = None
    bytes_per_parameter: Annotated[float, Field(gt=0, le=1000)] | None = None
    workload: Text | None = None
    micro_batch: Count | None = None
    used_share: Annotated[float, Field(gt=0, le=1)] | None = None
    """Of the memory; needs workload and micro_batch."""


class TrainingClaim(_Claim):
    """How long a training takes, and what it costs."""

    kind: Literal["training"]
    parameters: Annotated[float, Field(gt=0, le=1e16)]
    tokens: Annotated[float, Field(gt=0, le=1e20)]
    accelerator: Text
    accelerators: Count
    precision: Literal["fp32", "tf32", "bf16", "fp16", "fp8"] | None = None
    time: Stated
    cost: Stated | None = None
    price: Stated | None = None


class PriceClaim(_Claim):
    """What a machine costs per hour."""

    kind: Literal["price"]
    node: Text
    amount: Stated
    as_of: Day | None = None


class ArithmeticClaim(_Claim):
    """A figure with its own inputs: product / divided by, in the unit of `amount`; a speed-up is one."""

    kind: Literal["arithmetic", "speedup"]
    amount: Stated
    product: Several
    over: Several = ()


class TableRow(Frozen):
    """One row: what the document prints for an epoch."""

    batch: Annotated[float, Field(gt=0, le=1e12)]
    seconds_per_batch: Annotated[float, Field(gt=0, le=1e9)]
    epoch: Stated


class TableClaim(_Claim):
    """A table of batches over the same samples."""

    kind: Literal["table"]
    samples: Annotated[float, Field(gt=0, le=1e18)]
    rows: Annotated[tuple[TableRow, ...], Field(min_length=1, max_length=1000)]


Claim = Annotated[
    HardwareClaim | PartClaim | MemoryClaim | TrainingClaim | PriceClaim | ArithmeticClaim | TableClaim,
    Field(discriminator="kind"),
]


class ClaimFile(Frozen):
    """The claims of one document."""

    schema_version: Literal[1] = 1
    kind: Literal["claims"] = "claims"
    source: Text
    claims: Annotated[tuple[Claim, ...], Field(min_length=1, max_length=10_000)]
