"""Networks of every kind: published counts, and laws of their memory and FLOPs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from planner.errors import InputError
from planner.model.catalog import Catalog
from planner.model.network.architecture import Architecture, Decoder, MoeDecoder
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.model.plan.plan import FlopsConvention
from planner.network.flops import active_parameters, flops_per_sample, flops_per_token, parameters
from planner.scenario.training_setup import TrainingSetup
from planner.speed.memory.device_fit import largest_micro_batch, usable_gib
from planner.speed.memory.memory import device_memory

FULL = FlopsConvention.FULL_ATTENTION
MIXTURE: dict[str, Any] = {
    "kind": "moe_decoder",
    "layers": 4,
    "hidden": 64,
    "heads": 4,
    "kv_heads": 2,
    "head_dim": 16,
    "mlp": "swiglu",
    "norm": "rmsnorm",
    "positions": "rope",
    "max_positions": 256,
    "vocab": 512,
    "tied_head": False,
    "experts": 8,
    "experts_per_token": 2,
    "moe_ffn_hidden": 96,
}


def mixture(**changes: Any) -> MoeDecoder:
    return MoeDecoder.model_validate(MIXTURE | changes)


@pytest.mark.parametrize(
    ("name", "gflop_per_image"),
    [
        pytest.param("resnet50", 24.30, id="resnet50: 6 x 4.089 GMAC less the image's gradient"),
        pytest.param("vit-b16", 105.2, id="vit-b16: 6 x 17.56 GMAC less the image's gradient"),
    ],
)
def test_training_flops_of_an_image(catalog: Catalog, name: str, gflop_per_image: float) -> None:
    for convention in FlopsConvention:  # an image has no causal half, and 6 N says nothing of it
        flops = flops_per_sample(catalog.presets[name].architecture, seq_len=None, convention=convention)
        assert flops / 1e9 == pytest.approx(gflop_per_image, rel=5e-4)


@pytest.mark.parametrize(
    ("name", "total", "active"),
    [
        pytest.param("qwen3-30b-a3b", 30.5e9, 3.3e9, id="Qwen3-30B-A3B model card: 30.5B in total and 3.3B activated"),
        pytest.param("mixtral-8x7b", 46.7e9, 12.9e9, id="Mixtral 8x7B announcement: 46.7B in total, 12.9B a token"),
    ],
)
def test_a_token_meets_a_part_of_a_mixture(catalog: Catalog, name: str, total: float, active: float) -> None:
    decoder = catalog.presets[name].architecture
    assert isinstance(decoder, MoeDecoder)
    assert parameters(decoder) == pytest.approx(total, rel=0.005)
    assert active_parameters(decoder) == pytest.approx(active, rel=0.02)


def test_a_token_that_meets_every_expert_meets_every_parameter() -> None:
    assert active_parameters(mixture(experts_per_token=8)) == parameters(mixture())


def test_one_expert_and_its_router_are_a_dense_mlp() -> None:
    single = mixture(experts=1, experts_per_token=1)
    same = {key: value for key, value in MIXTURE.items() if key in Decoder.model_fields and key != "kind"}
    dense = Decoder.model_validate(same | {"ffn_hidden": 96})
    routers = 4 * 64  # layers x hidden x 1 expert
    assert parameters(single) == parameters(dense) + routers
    extra = flops_per_token(single, seq_len=32, convention=FULL) - flops_per_token(dense, seq_len=32, convention=FULL)
    assert extra == 6 * routers


def test_more_experts_cost_memory_and_hardly_any_flops() -> None:
    few, many = mixture(experts=8), mixture(experts=64)
    expert = 3 * 64 * 96
    assert parameters(many) - parameters(few) == 4 * 56 * (expert + 64)
    more = flops_per_token(many, seq_len=32, convention=FULL) - flops_per_token(few, seq_len=32, convention=FULL)
    assert more == 6 * 4 * 56 * 64  # the routers' scores alone


def test_states_are_of_all_experts(catalog: Catalog) -> None:
    """12 bytes x 30,532,122,624 over 64 devices at the loss, without gradients, by hand: 5.332 GiB."""
    need = device_memory(
        TrainingSetup(
            workload="asked",
            network=catalog.presets["qwen3-30b-a3b"].architecture,
            seq_len=4096,
            precision=Precision.BF16,
            checkpointing=Checkpointing.FULL,
            strategy=Strategy.FSDP2,
            micro_batch=1,
        ),
        devices=64,
    )
    assert need.states_gib == pytest.approx(5.332, abs=0.001)


SETTINGS = st.fixed_dictionaries(
    {
        "micro_batch": st.integers(1, 512),
        "strategy": st.sampled_from(list(Strategy)),
        "precision": st.sampled_from(list(Precision)),
        "devices": st.integers(1, 64),
        "checkpointing": st.sampled_from(list(Checkpointing)),
    }
)


@given(settings=SETTINGS, more=st.integers(1, 100), name=st.sampled_from(["resnet50", "vit-b16", "qwen3-30b-a3b"]))
def test_memory_of_every_kind_never_falls_with_the_batch(
    catalog: Catalog, settings: dict[str, Any], more: int, name: str
) -> None:
    preset = catalog.presets[name]

    def total(**changes: Any) -> float:
        how = settings | changes
        devices = how.pop("devices")
        setup = TrainingSetup(workload=name, network=preset.architecture, seq_len=preset.seq_len, **how)
        return device_memory(setup, devices=devices).total_gib

    assert total(micro_batch=settings["micro_batch"] + more) >= total()
    none, selective, full = (total(checkpointing=way) for way in Checkpointing)
    assert none >= selective >= full
    if settings["strategy"] is not Strategy.DDP or settings["devices"] > 1:  # one device does without DDP's buckets
        assert total(devices=settings["devices"] + more) <= total()


@pytest.mark.parametrize(
    ("precision", "micro_batch", "hbm_gib"),
    [
        pytest.param(Precision.FP16, 256, 16, id="V100 of 16 GB, AMP"),
        pytest.param(Precision.FP32, 112, 16, id="V100 of 16 GB, fp32: 256 did not fit"),
        pytest.param(Precision.FP32, 256, 32, id="V100 of 32 GB, fp32"),
        pytest.param(Precision.FP32, 128, 15, id="T4, fp32: 256 did not fit"),
    ],
)
def test_the_batches_that_nvidia_trains_resnet50_with_fit(
    catalog: Catalog, precision: Precision, micro_batch: int, hbm_gib: float
) -> None:
    """Theirs is momentum and not Adam, 0.1 GiB less. Source: NVIDIA/DeepLearningExamples at 097c7ff, configs.yml."""

    def need(batch: int) -> float:
        return device_memory(
            TrainingSetup(
                workload="asked",
                network=catalog.presets["resnet50"].architecture,
                seq_len=None,
                precision=precision,
                checkpointing=Checkpointing.NONE,
                strategy=Strategy.DDP,
                micro_batch=batch,
            ),
            devices=8,
        ).total_gib

    largest = largest_micro_batch(lambda batch: need(batch) <= usable_gib(hbm_gib))
    assert largest >= micro_batch
    if micro_batch < 256:
        assert largest < 256


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        pytest.param({"kind": "moe"}, "kind must be one of: decoder, moe_decoder, encoder, resnet, vit", id="kind"),
        pytest.param({"experts_per_token": 9}, "experts_per_token (9) is more than experts (8)", id="top-k"),
        pytest.param({"dense_layers": [4], "ffn_hidden": 8}, "numbers from 0 to 3", id="no such layer"),
        pytest.param({"dense_layers": [0]}, "needs ffn_hidden", id="dense layers without a width"),
        pytest.param({"ffn_hidden": 8}, "ffn_hidden belongs to dense_layers", id="a width without dense layers"),
        pytest.param({"dense_layers": [0, 1, 2, 3], "ffn_hidden": 8}, "names every layer", id="all dense"),
        pytest.param({"heads": 3}, "must be a multiple of kv_heads", id="heads"),
    ],
)
def test_a_mixture_that_cannot_be_is_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(Architecture).validate_python(MIXTURE | changes)
    assert says in str(refused.value)


def test_a_file_without_a_kind_is_a_dense_decoder(catalog: Catalog) -> None:
    document = catalog.presets["llama3-8b"].architecture.model_dump(mode="json")
    del document["kind"]
    assert TypeAdapter(Architecture).validate_python(document) == catalog.presets["llama3-8b"].architecture


def test_a_cut_mixture_keeps_its_dense_layers(catalog: Catalog) -> None:
    whole = mixture(dense_layers=[0, 3], ffn_hidden=128)
    assert (whole.cut(2).dense_layers, whole.cut(2).ffn_hidden) == ((0,), 128)
    assert parameters(whole) > parameters(whole.cut(2))
    preset = catalog.presets["mixtral-8x7b"]
    cut = preset.cut(layers=2)
    assert (cut.name, MoeDecoder.model_validate(cut.architecture.model_dump()).layers) == ("mixtral-8x7b-2layers", 2)


@pytest.mark.parametrize(
    ("name", "layers", "says"),
    [
        pytest.param("resnet50", 3, "resnet50 is a resnet, whose stages differ", id="a resnet has no layers to cut"),
        pytest.param("vit-b16", 12, "has 12 layers; 12 would be no cut", id="no cut"),
    ],
)
def test_a_cut_that_would_show_nothing_is_refused(catalog: Catalog, name: str, layers: int, says: str) -> None:
    with pytest.raises(InputError, match=says):
        catalog.presets[name].cut(layers=layers)
