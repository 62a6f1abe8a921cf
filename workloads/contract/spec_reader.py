"""Reads spec.json strictly, with the standard library alone, and checks that its settings go together.

An invalid file is refused with one line that says where, what, and what would be right. An unknown key is refused too:
a misspelt setting that is silently ignored would be measured as something it is not.
"""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any, Dict, Mapping, Optional, Tuple, Type, TypeVar, get_type_hints

from ..contract.architecture import SHAPES, Architecture, problem
from ..contract.spec import (
    ATTENTION_KERNELS,
    ATTENTION_TARGETS,
    BUSY_DEVICE,
    DATA_DTYPES,
    FLOAT8_MULTIPLE,
    LORA_TARGETS,
    MODES,
    PRECISIONS,
    STRATEGIES,
    DataFiles,
    Lora,
    MeasurementWindow,
    ProbeTask,
    Spec,
    SpecError,
)

SCHEMA_VERSION = 1


KIND = "spec"


CHOICES: Dict[str, Tuple[str, ...]] = {
    "mlp": ("gelu", "swiglu"),
    "norm": ("layernorm", "rmsnorm"),
    "positions": ("learned", "rope"),
    "strategy": STRATEGIES,
    "precision": PRECISIONS,
    "checkpointing": ("none", "selective", "full"),
    "method": ("full", "lora"),
    "mode": MODES,
    "busy_device": BUSY_DEVICE,
    "dtype": DATA_DTYPES,
    "targets": LORA_TARGETS,
    "frozen": ("16bit",),
    "attention": ATTENTION_KERNELS,
}


MAY_BE_ZERO = ("seed", "shared_experts", "dense_layers", "min_warmup_steps", "min_warmup_s", "min_s")


Section = TypeVar("Section")


def read(path: Path) -> Spec:
    """Read spec.json. Raises SpecError."""
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
    """Check the document and return it as a Spec. Raises SpecError at the first error."""
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


def architecture_of(document: Mapping[str, Any], *, where: str = "architecture") -> Architecture:
    """Check an architecture's document and return it. Raises SpecError."""
    architecture: Architecture = _value("architecture", document, Architecture, where)
    wrong = problem(architecture)
    if wrong is not None:
        raise SpecError(f"{where}: {wrong}")
    return architecture


def to_json(spec: Spec) -> Dict[str, Any]:
    """Return the document that `from_json` reads back as the same Spec."""
    document: Dict[str, Any] = {"schema_version": SCHEMA_VERSION, "kind": KIND, **dataclasses.asdict(spec)}
    plain: Dict[str, Any] = json.loads(json.dumps(document))  # tuples become lists
    return plain


OPTIONAL: Dict[Any, Any] = {
    Optional[Lora]: Lora,
    Optional[DataFiles]: DataFiles,
    Optional[ProbeTask]: ProbeTask,
    Optional[str]: str,
}
"""Types that may be null, and their type otherwise."""


def _section(section: Type[Section], body: Mapping[str, Any], where: str) -> Section:
    hints = get_type_hints(section)
    types = {field.name: hints[field.name] for field in dataclasses.fields(section)}  # type: ignore[arg-type]
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
    if expected == Optional[int]:
        return None if value is None else _number(key, value, int, where)
    if expected in (Architecture, MeasurementWindow, Lora, DataFiles, ProbeTask):
        if not isinstance(value, dict):
            raise SpecError(f"{where}: {value!r} is not an object. Write {{...}}.")
        return _section(_shape(value, where) if expected == Architecture else expected, value, where)
    if expected == Tuple[str, ...]:
        if not isinstance(value, list) or not value:
            raise SpecError(f'{where}: {value!r} is not a list of texts. Write ["..."].')
        return tuple(_text(key, text, where) for text in value)
    if expected == Tuple[int, ...]:
        if not isinstance(value, list):
            raise SpecError(f"{where}: {value!r} is not a list of whole numbers. Write [...].")
        return tuple(_number(key, number, int, where) for number in value)
    if expected is str:
        return _text(key, value, where)
    if expected is bool:
        if not isinstance(value, bool):
            raise SpecError(f"{where}: {value!r} is not a truth value. Write true or false.")
        return value
    return _number(key, value, expected, where)


def _shape(value: Mapping[str, Any], where: str) -> Type[Any]:
    kind = value.get("kind", "decoder")
    if kind not in SHAPES:
        raise SpecError(f"{where}: kind: {kind!r} is not known here. Choose one of: {', '.join(SHAPES)}.")
    return SHAPES[kind]


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
    window = spec.window
    wrong = problem(spec.architecture)
    if wrong is not None:
        raise SpecError(f"{where}: architecture: {wrong}")
    _check_samples(spec, where)
    _check_training(spec, where)
    if spec.precision == "float8":
        _check_float8(spec, where)
    if window.max_warmup_s < window.min_warmup_s:
        raise SpecError(
            f"{where}: window: max_warmup_s: {window.max_warmup_s} is below min_warmup_s {window.min_warmup_s}."
        )
    if window.max_s < window.min_s:
        raise SpecError(f"{where}: window: max_s: {window.max_s} is below min_s {window.min_s}.")


def _check_samples(spec: Spec, where: str) -> None:
    architecture = spec.architecture
    if architecture.sample == "image":
        if spec.seq_len is not None:
            raise SpecError(f"{where}: seq_len: a sample of a {architecture.kind} is an image. Take seq_len out.")
        return
    if spec.channels_last:
        raise SpecError(f"{where}: channels_last: is of images. Take it out.")
    if spec.seq_len is None:
        raise SpecError(f"{where}: seq_len: is missing. Add it; no setting has a silent default.")
    if architecture.positions == "learned" and spec.seq_len > architecture.max_positions:
        raise SpecError(
            f"{where}: seq_len: {spec.seq_len} is longer than architecture.max_positions {architecture.max_positions}."
        )


def _check_float8(spec: Spec, where: str) -> None:
    """Refuse settings that torchao's float8 linear maps do not support, or that were not tried."""
    if spec.architecture.kind != "decoder":
        raise SpecError(f"{where}: precision: float8 is for dense decoders, not for a {spec.architecture.kind}.")
    if spec.strategy not in ("ddp", "fsdp2"):
        raise SpecError(f"{where}: precision: float8 goes with ddp and fsdp2, not with {spec.strategy}.")
    if spec.method != "full":
        raise SpecError(f"{where}: precision: float8 trains all weights; it does not go with method {spec.method!r}.")
    if spec.micro_batch * spec.tokens_per_sample % FLOAT8_MULTIPLE:
        raise SpecError(
            f"{where}: micro_batch: {spec.micro_batch} x seq_len {spec.seq_len} is not a multiple of "
            f"{FLOAT8_MULTIPLE}, which float8 products need."
        )


def _check_training(spec: Spec, where: str) -> None:
    if spec.data is not None and spec.unit != "tokens":
        raise SpecError(f"{where}: data: holds tokens, and this network reads images. Leave data out.")
    if (spec.method == "lora") != (spec.lora is not None):
        wanted = "give rank, alpha and targets" if spec.method == "lora" else 'write method "lora", or take it out'
        raise SpecError(f"{where}: lora: does not go with method {spec.method!r}. Please {wanted}.")
    if spec.loss_chunks > spec.micro_batch * spec.units_per_sample:
        raise SpecError(f"{where}: loss_chunks: {spec.loss_chunks} is more than micro_batch x seq_len.")
    architecture = spec.architecture
    if architecture.is_convolutional and spec.checkpointing == "selective":
        raise SpecError(f"{where}: checkpointing: selective is of matrix products, and a resnet has convolutions.")
    if architecture.sample == "image" and spec.loss_chunks > 1:
        raise SpecError(f"{where}: loss_chunks: is of large vocabularies; a {architecture.kind} has one loss an image.")
    if spec.lora is not None:
        _check_lora(spec, spec.lora, where)
    if spec.fused_loss:
        _check_fused_loss(spec, where)
    if spec.cuda_graphs and not spec.compile:
        raise SpecError(f"{where}: cuda_graphs: records compiled blocks. Write compile: true, or take it out.")


def _check_fused_loss(spec: Spec, where: str) -> None:
    """Refuse settings that the fused loss does not support: it takes the head's whole weight, and trains it."""
    wrong = None
    if spec.architecture.sample == "image":
        wrong = f"is of decoders, not of a {spec.architecture.kind}"
    elif spec.strategy != "ddp":
        wrong = f"needs the whole output layer on each device, so it goes with ddp, not with {spec.strategy}"
    elif spec.method != "full":
        wrong = f"trains the output layer; it does not go with method {spec.method!r}"
    elif spec.precision == "fp16":
        wrong = "computes gradients before fp16's loss scaling. Take bf16"
    if wrong is not None:
        raise SpecError(f"{where}: fused_loss: {wrong}.")


def _check_lora(spec: Spec, lora: Lora, where: str) -> None:
    architecture = spec.architecture
    if architecture.sample == "image":
        raise SpecError(f"{where}: lora: adapters are for decoders, not for a {architecture.kind}.")
    if architecture.has_experts and not set(lora.targets) <= set(ATTENTION_TARGETS):
        raise SpecError(f"{where}: lora: targets: of a moe_decoder only {', '.join(ATTENTION_TARGETS)} take adapters.")
    if "gate" in lora.targets and architecture.mlp != "swiglu":
        raise SpecError(f"{where}: lora: targets: 'gate' is in no {architecture.mlp} mlp.")
    if lora.frozen is not None and spec.precision in ("fp32", "tf32"):
        raise SpecError(f"{where}: lora: frozen: 16bit does not go with precision {spec.precision}. Write null.")
