"""One published measurement of training speed (`catalogs/evidence/*.csv`), and why some do not calibrate."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from planner.model.base import Frozen, Text, not_tiny
from planner.model.evidence.source_site import site_of


def _whole_number(value: object) -> object:
    """Read a count that a table program wrote with a point: 80.0."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return value
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, BeforeValidator(_whole_number), Field(ge=1, le=10**15)]
Amount = Annotated[float, Field(gt=0, le=1e18), AfterValidator(not_tiny)]

COLUMNS = (
    "id", "source", "site", "source_ref", "source_date", "model", "model_family", "params_total", "params_active",
    "n_layers", "hidden", "n_heads", "n_kv_heads", "ffn_hidden", "mlp_type", "vocab", "seq_len",
    "avg_tokens_per_sample", "packing", "gpu", "gpus_per_node", "num_nodes", "num_gpus", "interconnect_intra",
    "interconnect_inter", "precision", "method", "lora_rank", "lora_targets", "quantization", "parallelism", "dp",
    "tp", "pp", "cp", "ep", "vpp", "zero", "offload", "micro_batch", "global_batch", "grad_accum",
    "activation_checkpointing", "compile_kernels", "flash_attention", "framework", "metric", "unit",
    "throughput_total", "tokens_per_s_per_gpu", "quality", "excluded", "notes",
)  # fmt: skip
"""Columns of a published file. A table may have more, which are ignored, and lack some."""


def _year(text: str) -> str:
    """Refuse a date whose year is a typing error. Other words for a date are left unchanged."""
    if text[:4].isdecimal() and not EARLIEST <= int(text[:4]) <= LAST:
        raise ValueError(f"must begin with a year from {EARLIEST} to {LAST}, as 2026-11")
    return text


EARLIEST, LAST = 1990, 2100
LATEST = 2026
"""Year assumed for a row without a date."""


class Measurement(Frozen):
    """One training with its machine and speed. None means that the source does not say."""

    id: Text
    source: Text
    site: str = ""
    """Repository or site, if `site_of` does not find it in the source's words."""
    source_ref: str = ""
    source_date: Annotated[str, AfterValidator(_year)] = ""
    model: str = ""
    model_family: str = ""
    params_total: Amount | None = None
    params_active: Amount | None = None
    n_layers: Whole | None = None
    hidden: Whole | None = None
    n_heads: Whole | None = None
    n_kv_heads: Whole | None = None
    ffn_hidden: Whole | None = None
    mlp_type: str = ""
    vocab: Whole | None = None
    seq_len: Amount | None = None
    avg_tokens_per_sample: Amount | None = None
    packing: str = ""
    gpu: Text
    gpus_per_node: Whole | None = None
    num_nodes: Whole | None = None
    num_gpus: Whole
    interconnect_intra: str = ""
    interconnect_inter: str = ""
    precision: str = ""
    method: str = ""
    lora_rank: Amount | None = None
    lora_targets: str = ""
    """Maps that have adapters: some of query, key, value, out, gate, up, down, or all."""
    quantization: str = ""
    parallelism: str = ""
    dp: Whole | None = None
    tp: Whole | None = None
    pp: Whole | None = None
    cp: Whole | None = None
    ep: Whole | None = None
    vpp: Whole | None = None
    zero: str = ""
    offload: str = ""
    micro_batch: Amount | None = None
    global_batch: Amount | None = None
    grad_accum: Amount | None = None
    activation_checkpointing: str = ""
    compile_kernels: str = ""
    flash_attention: str = ""
    framework: str = ""
    metric: str = ""
    unit: str = ""
    throughput_total: Amount | None = None
    tokens_per_s_per_gpu: Amount | None = None
    quality: str = "ok"
    excluded: Annotated[Excluded | None, BeforeValidator(excluded_by)] = None
    """Code of the reason why it calibrates nothing. Other words count as a doubt."""
    notes: str = ""
    """Free text, read for a method that has no column of its own."""

    @property
    def origin(self) -> str:
        """Return the repository or site that it comes from."""
        return self.site or site_of(self.source)


def year_of(row: Measurement) -> int:
    """Return the year of a measurement; the latest year if it has no date."""
    return int(row.source_date[:4]) if row.source_date[:4].isdecimal() else LATEST


USUAL_NODE = 8
"""Accelerators of a node, if a row does not say."""


class Excluded(StrEnum):
    """Codes of the column `excluded`; the first that applies counts. None depends on the speed or on a prediction."""

    NO_ACCELERATOR = "no-accelerator"
    """The accelerator's kind, form, memory or number is not stated."""
    NO_NETWORK = "no-network"
    """Layers, widths, heads or vocabulary are not stated."""
    NO_LENGTH = "no-length"
    """The length of samples, or whether they are packed or padded, is not stated."""
    NO_BATCH = "no-batch"
    """Neither the samples of a step nor those of a pass are stated."""
    NO_METHOD = "no-method"
    """Number format, recomputation, splits, adapters or offload are not stated, and there is no usual one."""
    NO_UNIT = "no-unit"
    """The counted quantity is not stated: padding, one device or all, which FLOPs, which parts of a step."""
    WHOLE_RUN = "whole-run"
    """The time includes evaluation, checkpoints or start-up."""
    COARSE = "coarse"
    """The figure comes from a few steps, a forecast of a progress bar, or fewer than two digits."""
    CONTRADICTS = "contradicts"
    """Two statements of the source on the same setting contradict each other."""
    NO_COLUMN = "no-column"
    """The source names something that decides the speed and has no column: a power limit, another part that trains."""
    DOUBTED = "doubted"
    """Its `quality` begins with weak, and no code is given."""


def excluded_by(said: object) -> object:
    """Return the code that a cell names. Other words mean that the row is doubted."""
    return Excluded.DOUBTED if isinstance(said, str) and said not in list(Excluded) else said


def exclusion_of(row: Measurement, *, text: bool) -> Excluded | None:
    """Return the code of a row: the one that it states, otherwise from its empty cells; None if it calibrates."""
    if row.excluded is not None:
        return row.excluded
    if text and row.seq_len is None and row.avg_tokens_per_sample is None:
        return Excluded.NO_LENGTH
    if row.micro_batch is None and row.global_batch is None:
        return Excluded.NO_BATCH
    if not row.precision:
        return Excluded.NO_METHOD
    return Excluded.DOUBTED if row.quality.startswith("weak") else None


def usual_settings(row: Measurement, *, text: bool) -> list[str]:
    """Return the settings that a row leaves open and that are replaced by usual ones. It calibrates anyway."""
    several = row.num_gpus > 1
    left_open = {
        "something that its quality names": row.quality.startswith("hw-assumed"),
        "micro-batch": row.micro_batch is None,
        "recomputation": not row.activation_checkpointing,
        "kernels": not (row.compile_kernels or row.flash_attention),
        "vocabulary": row.vocab is None,
        "splits": several and not (row.parallelism or row.tp or row.zero),
        "link": several and not row.interconnect_intra,
        "network": row.num_gpus > (row.gpus_per_node or USUAL_NODE) and not row.interconnect_inter,
    }
    of_images = ("something that its quality names", "micro-batch", "kernels", "link", "network")
    return [name for name, is_open in left_open.items() if is_open and (text or name in of_images)]
