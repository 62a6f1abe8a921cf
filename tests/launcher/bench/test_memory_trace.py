"""The formulas against the tensors that autograd really saves in the benchmark's decoder."""

from __future__ import annotations

import importlib.util

import pytest

from planner.errors import InputError, MissingExtraError
from planner.launcher.bench.memory_trace import traced_layer_bytes
from planner.model.network.adapters import Adapters
from planner.model.network.architecture import Architecture, Decoder, MoeDecoder
from planner.model.network.trainer_memory import USUAL_TRAINER, TrainerMemory
from planner.model.network.workload import Checkpointing, Precision
from planner.network.activations import bytes_per_number, layer_activation_bytes
from planner.network.families.known_families import family_of
from planner.network.lora_memory import lora_layer_bytes
from planner.scenario.training_setup import TrainingSetup
from planner.speed.memory.activations import saved_per_sample
from planner.speed.memory.constants import FITTED
from tests.bundled import bundled_catalog

torch = pytest.importorskip("torch")
REPEATED_HEADS = TrainerMemory(repeated_heads=True)


@pytest.fixture(scope="module")
def presets() -> dict[str, Architecture]:
    return {name: preset.architecture for name, preset in bundled_catalog().presets.items()}


@pytest.mark.parametrize(
    ("precision", "autocast"),
    [
        pytest.param(Precision.BF16, False, id="bf16 weights"),
        pytest.param(Precision.FP16, False, id="fp16 weights"),
        pytest.param(Precision.FP32, False, id="fp32"),
        pytest.param(Precision.BF16, True, id="autocast"),
    ],
)
@pytest.mark.parametrize("name", ["cpu-smoke", "gpt-305m", "llama3-8b", "qwen3-0.6b"])
def test_the_formula_counts_what_autograd_saves(
    presets: dict[str, Architecture], name: str, precision: Precision, autocast: bool
) -> None:
    traced = traced_layer_bytes(presets[name], precision=precision, autocast=autocast)
    layer = family_of(presets[name]).layers[-1]
    counted = layer_activation_bytes(layer, precision=precision, autocast=autocast, trainer=REPEATED_HEADS)
    assert counted == pytest.approx(traced, rel=0.005)


ATTENTION = ("query", "key", "value", "out")


@pytest.mark.parametrize(
    ("precision", "autocast"),
    [
        pytest.param(Precision.BF16, False, id="bf16 weights"),
        pytest.param(Precision.FP32, False, id="fp32"),
        pytest.param(Precision.BF16, True, id="autocast"),
    ],
)
@pytest.mark.parametrize(
    ("name", "rank", "targets"),
    [
        pytest.param("gpt-305m", 16, ATTENTION, id="gpt, attention"),
        pytest.param("gpt-305m", 64, (*ATTENTION, "up", "down"), id="gpt, all"),
        pytest.param("llama3-8b", 16, ("query", "value"), id="llama, query and value"),
        pytest.param("llama3-8b", 64, (*ATTENTION, "gate", "up", "down"), id="llama, all"),
        pytest.param("qwen3-0.6b", 16, ATTENTION, id="qwen with qk-norm, attention"),
    ],
)
def test_the_formula_counts_what_adapters_leave(
    presets: dict[str, Architecture],
    name: str,
    rank: int,
    targets: tuple[str, ...],
    precision: Precision,
    autocast: bool,
) -> None:
    """The benchmark repeats grouped heads for its kernel, so key and value are as wide as the queries."""
    decoder = presets[name]
    assert isinstance(decoder, Decoder)
    adapters = Adapters.model_validate({"rank": rank, "targets": targets})
    traced = traced_layer_bytes(decoder, precision=precision, autocast=autocast, adapters=adapters)
    b = bytes_per_number(precision)
    counted = lora_layer_bytes(
        family_of(decoder).layers[-1],
        adapters,
        bytes_per_number=b,
        residual_bytes=4 if autocast else b,
        autocast=autocast,
        kv_outputs=decoder.heads * decoder.head_dim,
    )
    assert counted == pytest.approx(traced, rel=0.005)


@pytest.mark.parametrize("autocast", [False, True], ids=["bf16 weights", "autocast"])
@pytest.mark.parametrize("name", ["qwen3-30b-a3b", "mixtral-8x7b"])
def test_the_formula_counts_what_experts_save(presets: dict[str, Architecture], name: str, autocast: bool) -> None:
    mixture = presets[name]
    assert isinstance(mixture, MoeDecoder)
    for change in ({}, {"shared_experts": 2}):
        changed = mixture.model_copy(update=change)
        traced = traced_layer_bytes(changed, precision=Precision.BF16, autocast=autocast)
        layer = family_of(changed).layers[-1]
        counted = layer_activation_bytes(layer, precision=Precision.BF16, autocast=autocast, trainer=REPEATED_HEADS)
        assert counted == pytest.approx(traced, rel=0.005)


def test_experts_are_traced_in_bf16_alone(presets: dict[str, Architecture]) -> None:
    with pytest.raises(InputError, match="cannot be traced in fp32"):
        traced_layer_bytes(presets["mixtral-8x7b"], precision=Precision.FP32)


@pytest.mark.parametrize(
    ("precision", "autocast"),
    [
        pytest.param(Precision.BF16, False, id="bf16 weights"),
        pytest.param(Precision.BF16, True, id="autocast"),
        pytest.param(Precision.FP32, False, id="fp32"),
    ],
)
def test_the_formula_counts_what_image_models_save(
    presets: dict[str, Architecture], precision: Precision, autocast: bool
) -> None:
    how = {
        "autocast": autocast, "sharded": False, "trainer": USUAL_TRAINER, "constants": FITTED,
    }  # fmt: skip
    for name in ("resnet50", "vit-b16"):
        setup = TrainingSetup(
            workload=name, network=presets[name], precision=precision, checkpointing=Checkpointing.NONE
        )
        traced = traced_layer_bytes(presets[name], precision=precision, autocast=autocast)
        formula = saved_per_sample(setup, **how).kept
        instead = saved_per_sample(setup, traced_layer_bytes=traced, **how).kept
        assert formula == pytest.approx(instead, rel=0.001)
        assert formula != instead  # the trace did take the formula's place


@pytest.mark.parametrize(
    ("name", "precision", "published"),
    [
        pytest.param("gpt-305m", Precision.BF16, 32, id="GPT block in bf16"),
        pytest.param("gpt-305m", Precision.FP32, 64, id="GPT block in fp32"),
        pytest.param("llama3-8b", Precision.BF16, 56, id="Llama 3 8B"),
        pytest.param("qwen3-0.6b", Precision.BF16, 84, id="Qwen3-0.6B in bf16"),
    ],
)
def test_the_trace_within_five_percent_of_the_published_bytes(
    presets: dict[str, Architecture], name: str, precision: Precision, published: float
) -> None:
    traced = traced_layer_bytes(presets[name], precision=precision) / presets[name].hidden
    assert traced == pytest.approx(published, rel=0.05)


def test_repeated_heads_are_all_that_lies_between_qwen_and_its_published_fp32_bytes(
    presets: dict[str, Architecture],
) -> None:
    """128 is of a kernel that reads grouped heads; ours are repeated: 2 x 4 bytes x (16 - 8) heads x 128 more."""
    decoder = presets["qwen3-0.6b"]
    traced = traced_layer_bytes(decoder, precision=Precision.FP32)
    assert (traced - 2 * 4 * 8 * 128) / decoder.hidden == pytest.approx(128, rel=0.005)


def test_the_number_of_layers_does_not_matter(presets: dict[str, Architecture]) -> None:
    shallow = presets["gpt-305m"].model_copy(update={"layers": 1})
    assert traced_layer_bytes(shallow, precision=Precision.BF16) == traced_layer_bytes(
        presets["gpt-305m"], precision=Precision.BF16
    )


def test_tracing_leaves_torch_as_it_was(presets: dict[str, Architecture]) -> None:
    before = torch.get_default_dtype()
    traced_layer_bytes(presets["cpu-smoke"], precision=Precision.BF16)
    assert torch.get_default_dtype() is before


def test_an_odd_head_cannot_rotate(presets: dict[str, Architecture]) -> None:
    odd = presets["llama3-8b"].model_copy(update={"head_dim": 127})
    with pytest.raises(InputError, match="odd"):
        traced_layer_bytes(odd, precision=Precision.BF16)


def test_without_torch_the_extra_is_named(presets: dict[str, Architecture], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match="bench"):
        traced_layer_bytes(presets["cpu-smoke"], precision=Precision.BF16)
