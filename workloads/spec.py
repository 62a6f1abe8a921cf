"""Knows what a benchmark run is told to do: the file spec.json, read strictly, with the standard library alone.

A wrong file is refused with one line that says where, what, and what would be right. An unknown key is refused
too: a misspelt setting that is silently ignored would be measured as something it is not.
"""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, Mapping, Optional, Tuple, Type, TypeVar, get_type_hints

SCHEMA_VERSION = 1
KIND = "spec"

STRATEGIES = ("ddp", "fsdp2", "zero1", "zero2", "zero3")
PRECISIONS = ("fp32", "tf32", "bf16", "fp16")
DATA_DTYPES = ("uint16", "uint32")
MODES = ("matched", "tuned")
LORA_TARGETS = ("query", "key", "value", "out", "gate", "up", "down")

CHOICES: Dict[str, Tuple[str, ...]] = {
    "mlp": ("gelu", "swiglu"),
    "norm": ("layernorm", "rmsnorm"),
    "positions": ("learned", "rope"),
    "strategy": STRATEGIES,
    "precision": PRECISIONS,
    "checkpointing": ("none", "selective", "full"),
    "method": ("full", "lora"),
    "mode": MODES,
    "dtype": DATA_DTYPES,
    "targets": LORA_TARGETS,
}
MAY_BE_ZERO = ("seed", "min_warmup_steps", "min_warmup_s", "min_s")
SHORT_WINDOW_S = 10.0

Section = TypeVar("Section")


class SpecError(ValueError):
    """One thing is wrong in spec.json: where, what, and what would be right."""


@dataclass(frozen=True)
class Architecture:
    """A decoder-only transformer. Sizes are in elements; `tied_head` shares the head with the token embedding."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn_hidden: int
    mlp: str
    norm: str
    norm_eps: float
    bias: bool
    positions: str
    max_positions: int
    rope_theta: float
    qk_norm: bool
    vocab: int
    tied_head: bool


@dataclass(frozen=True)
class Window:
    """How long to warm up and how long to measure. Source: the measurement protocol in workloads/README.md."""

    min_warmup_steps: int
    min_warmup_s: float
    max_warmup_s: float
    min_steps: int
    min_s: float
    max_s: float

    @property
    def is_short(self) -> bool:
        """A smoke test, not a measurement: its steadiness is judged at 5 % instead of 1 %."""
        return self.min_s < SHORT_WINDOW_S


@dataclass(frozen=True)
class Lora:
    """Low-rank adapters beside the linear maps named by `targets`, the same ones in every block."""

    rank: int
    alpha: float
    targets: Tuple[str, ...]


@dataclass(frozen=True)
class Data:
    """A file or folder of token shards on the node; `dtype` is that of raw .bin files."""

    path: str
    dtype: str


@dataclass(frozen=True)
class Spec:
    """One benchmark run. `micro_batch` is sequences per device and forward pass.

    Keys with a value here came later than the first specs and may be left out: that is what those specs meant.
    """

    workload: str
    architecture: Architecture
    seq_len: int
    micro_batch: int
    grad_accumulation: int
    strategy: str
    precision: str
    seed: int
    window: Window
    checkpointing: str = "none"
    compile: bool = False
    loss_chunks: int = 1
    method: str = "full"
    lora: Optional[Lora] = None
    calibrate: bool = False
    data: Optional[Data] = None
    mode: str = "matched"
    note: Optional[str] = None
    peer_timeout_s: float = 300.0

    def global_batch(self, world_size: int) -> int:
        """Sequences in one optimizer step of the whole world: micro_batch * grad_accumulation * world_size."""
        return self.micro_batch * self.grad_accumulation * world_size


def read(path: Path) -> Spec:
    """Read spec.json; raises SpecError."""
    return from_json(read_document(path), where=path.name)


def read_document(path: Path) -> Dict[str, Any]:
    """Return the JSON object in the file, not yet checked."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SpecError(f"{path.name}: cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise SpecError(f"{path.name}: is not JSON: {error}.") from error
    if not isinstance(document, dict):
        raise SpecError(f"{path.name}: is not a JSON object. Write {{...}}.")
    return document


def from_json(document: Mapping[str, Any], *, where: str = "spec.json") -> Spec:
    """Check the document and return it as a Spec; raises SpecError at the first thing wrong."""
    body = dict(document)
    version = body.pop("schema_version", None)
    kind = body.pop("kind", None)
    if kind != KIND:
        raise SpecError(f"{where}: kind: {kind!r} is not {KIND!r}. Pass the run's spec, not its result.")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise SpecError(f"{where}: schema_version: {version!r} is not a version. Write {SCHEMA_VERSION}.")
    if version > SCHEMA_VERSION:
        raise SpecError(
            f"{where}: schema_version: {version} is newer than {SCHEMA_VERSION}, the newest this copy of workloads/ "
            "reads. Copy the workloads/ folder that wrote the spec to the node."
        )
    spec = _section(Spec, body, where)
    _check_consistency(spec, where)
    return spec


def to_json(spec: Spec) -> Dict[str, Any]:
    """Return the document that `from_json` reads back as the same Spec."""
    document: Dict[str, Any] = {"schema_version": SCHEMA_VERSION, "kind": KIND, **dataclasses.asdict(spec)}
    if spec.lora is not None:
        document["lora"]["targets"] = list(spec.lora.targets)
    return document


OPTIONAL: Dict[Any, Any] = {Optional[Lora]: Lora, Optional[Data]: Data, Optional[str]: str}
"""What may be null, and what it is otherwise."""


def _section(section: Type[Section], body: Mapping[str, Any], where: str) -> Section:
    types = get_type_hints(section)
    unknown = [key for key in body if key not in types]
    if unknown:
        raise SpecError(f"{where}: {unknown[0]}: is not a known key. Known: {', '.join(types)}.")
    may_be_left_out = [field.name for field in dataclasses.fields(section) if field.default is not dataclasses.MISSING]  # type: ignore[arg-type]
    missing = [key for key in types if key not in body and key not in may_be_left_out]
    if missing:
        raise SpecError(f"{where}: {missing[0]}: is missing. Add it; no setting has a silent default.")
    return section(**{key: _value(key, body[key], types[key], f"{where}: {key}") for key in types if key in body})


def _value(key: str, value: Any, expected: Any, where: str) -> Any:
    if expected in OPTIONAL:
        if value is None:
            return None
        expected = OPTIONAL[expected]
    if expected in (Architecture, Window, Lora, Data):
        if not isinstance(value, dict):
            raise SpecError(f"{where}: {value!r} is not an object. Write {{...}}.")
        return _section(expected, value, where)
    if expected == Tuple[str, ...]:
        if not isinstance(value, list) or not value:
            raise SpecError(f'{where}: {value!r} is not a list of texts. Write ["..."].')
        return tuple(_text(key, text, where) for text in value)
    if expected is str:
        return _text(key, value, where)
    if expected is bool:
        if not isinstance(value, bool):
            raise SpecError(f"{where}: {value!r} is not a truth value. Write true or false.")
        return value
    return _number(key, value, expected, where)


def _number(key: str, value: Any, expected: Any, where: str) -> Any:
    if expected is int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise SpecError(f"{where}: {value!r} is not a whole number. Write plain digits.")
    elif isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise SpecError(f"{where}: {value!r} is not a number. Write plain digits, e.g. 60.0.")
    if value < 0 or (value == 0 and key not in MAY_BE_ZERO):
        least = "zero or more" if key in MAY_BE_ZERO else "more than zero"
        raise SpecError(f"{where}: {value!r} is out of range. It must be {least}.")
    return value if expected is int else float(value)


def _text(key: str, value: Any, where: str) -> str:
    if not isinstance(value, str) or not value:
        raise SpecError(f"{where}: {value!r} is not a text. Write it in quotes.")
    if key in CHOICES and value not in CHOICES[key]:
        raise SpecError(f"{where}: {value!r} is not known here. Choose one of: {', '.join(CHOICES[key])}.")
    return value


def _check_consistency(spec: Spec, where: str) -> None:
    architecture, window = spec.architecture, spec.window
    if architecture.heads % architecture.kv_heads:
        raise SpecError(
            f"{where}: architecture: kv_heads: {architecture.kv_heads} does not divide heads {architecture.heads}."
        )
    if architecture.positions == "rope" and architecture.head_dim % 2:
        raise SpecError(f"{where}: architecture: head_dim: {architecture.head_dim} is odd. Rotary positions pair up.")
    if architecture.positions == "learned" and spec.seq_len > architecture.max_positions:
        raise SpecError(
            f"{where}: seq_len: {spec.seq_len} is longer than architecture.max_positions {architecture.max_positions}."
        )
    _check_training(spec, where)
    if window.max_warmup_s < window.min_warmup_s:
        raise SpecError(
            f"{where}: window: max_warmup_s: {window.max_warmup_s} is below min_warmup_s {window.min_warmup_s}."
        )
    if window.max_s < window.min_s:
        raise SpecError(f"{where}: window: max_s: {window.max_s} is below min_s {window.min_s}.")


def _check_training(spec: Spec, where: str) -> None:
    if (spec.method == "lora") != (spec.lora is not None):
        wanted = "give rank, alpha and targets" if spec.method == "lora" else 'write method "lora", or take it out'
        raise SpecError(f"{where}: lora: does not go with method {spec.method!r}. Please {wanted}.")
    if spec.lora is not None and "gate" in spec.lora.targets and spec.architecture.mlp != "swiglu":
        raise SpecError(f"{where}: lora: targets: 'gate' is in no {spec.architecture.mlp} mlp.")
    if spec.loss_chunks > spec.micro_batch * spec.seq_len:
        raise SpecError(f"{where}: loss_chunks: {spec.loss_chunks} is more than micro_batch x seq_len.")
