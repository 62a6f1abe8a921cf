"""Adapters in plans: their speed, their checkpoints, and their runs as evidence."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from planner.duration.data_volumes import data_volumes
from planner.model.catalog import Catalog
from planner.model.network.adapters import AdapterKind, Adapters
from planner.model.network.architecture import Decoder, MoeDecoder
from planner.model.plan.plan import Data, FlopsConvention
from planner.network.flops import flops_per_token
from planner.network.lora_memory import adapted, adapter_parameters, adapters_of
from planner.speed.physics.adapter_facts import planned_adapters
from planner.speed.throughput.matching_runs import same_workload
from tests.bundled import bundled_catalog
from tests.speed.physics.llama_prediction import AT_16_BIT, OF_LLAMA, QUERY_VALUE, predicted, question, run_of


def test_frozen_weights_need_no_product_for_their_gradients() -> None:
    """4 N + 12 L H Q T: 7,504,920,576 parameters in products (32 layers of 218,103,808, a head of 525,336,576),
    attention 12 x 32 x 4,096 x 2,048."""
    network = bundled_catalog().presets["llama3-8b"].architecture
    count = flops_per_token(network, seq_len=2048, convention=FlopsConvention.FULL_ATTENTION, adapters=True)
    assert count == 4 * (32 * 218_103_808 + 128_256 * 4096) + 12 * 32 * 4096 * 2048


@settings(deadline=None)
@given(st.sampled_from([1, 2, 4, 8]), st.sampled_from(["none", "selective", "full"]))
def test_adapters_on_16_bit_weights_are_never_slower_than_full_training(micro_batch: int, checkpointing: str) -> None:
    catalog = bundled_catalog()
    how = {"micro_batch": micro_batch, "checkpointing": checkpointing, "framework": "Megatron-LM"}
    trainings: list[dict[str, object]] = [{}, {"adapters": {}}, {"adapters": {"frozen": "nf4"}}]
    full, lora, qlora = (predicted(catalog, how | training).samples_per_s.value for training in trainings)
    assert full <= lora
    assert qlora <= lora


def test_a_map_that_is_named_twice_is_refused() -> None:
    with pytest.raises(ValidationError, match="targets name query twice"):
        Adapters(targets=("query", "query"))


def test_checkpoints_and_downloads_contain_the_adapters(catalog: Catalog) -> None:
    defaults = catalog.bill_defaults
    job, _ = question(catalog, {"adapters": QUERY_VALUE})
    volumes = data_volumes(job, Data(), defaults)
    assert volumes.checkpoint is not None
    assert volumes.egress is not None
    each = defaults.checkpoint_bytes_per_parameter.value
    assert math.isclose(volumes.checkpoint.value, OF_LLAMA * each / 1e9)
    assert math.isclose(volumes.egress.value, OF_LLAMA * defaults.weight_bytes_per_parameter.value / 1e9)


@pytest.mark.parametrize(
    ("training", "million_tokens"),
    [
        pytest.param({}, 35.0, id="packed"),
        pytest.param({"packing": False}, 35.0, id="padding is not stored"),
    ],
)
def test_a_data_set_holds_real_tokens(catalog: Catalog, training: dict[str, object], million_tokens: float) -> None:
    """50,000 samples of 700 tokens."""
    work = {"samples_per_epoch": 50_000, "epochs": 3, "tokens_per_sample": 700}
    job, _ = question(catalog, training, work=work)
    dataset = data_volumes(job, Data(), catalog.bill_defaults).dataset
    assert dataset is not None
    assert math.isclose(dataset.value, million_tokens * 1e6 * catalog.bill_defaults.bytes_per_token.value / 1e9)


def test_a_run_of_adapters_corrects_the_estimate_of_others(catalog: Catalog) -> None:
    """A run that is twice as fast as predicted raises the prediction for a higher rank."""
    before = predicted(catalog, {"adapters": QUERY_VALUE}).samples_per_s.value
    rate = run_of(catalog).throughput.model_dump() | {"value": 2 * before, "low": 2 * before, "high": 2 * before}
    run = run_of(catalog, method="lora", trained_parameters=OF_LLAMA, throughput=rate)
    mine = catalog.model_copy(update={"runs": catalog.runs | {"mine": run}})
    wider = {"adapters": QUERY_VALUE | {"rank": 64}}
    assert predicted(mine, wider).samples_per_s.value > 1.2 * predicted(catalog, wider).samples_per_s.value


def test_kinds_of_adapters_cost_time_for_their_dense_weights(catalog: Catalog) -> None:
    """DoRA is slower than LoRA, and LoHa slower than DoRA; runs of LoRA do not measure the others."""
    every = ["query", "key", "value", "out", "gate", "up", "down"]
    lora, dora, loha = (
        predicted(catalog, {"adapters": {"kind": kind, "targets": every}}) for kind in ("lora", "dora", "loha")
    )
    assert lora.samples_per_s.value > 1.1 * dora.samples_per_s.value > 1.1 * 1.1 * loha.samples_per_s.value
    assert "trains DoRA adapters of rank 16 on" in "\n".join(dora.notes)
    run = run_of(catalog, method="lora", adapters=Adapters.model_validate(AT_16_BIT))
    for kind, same in (("lora", True), ("dora", False)):
        job, _ = question(catalog, {"adapters": QUERY_VALUE | {"kind": kind}})
        assert same_workload(run.model_copy(update={"seq_len": job.setup.seq_len}), job) is same


def test_a_run_as_fast_as_predicted_moves_nothing(catalog: Catalog) -> None:
    """The run records its adapters, query and value at rank 8, so no others are assumed."""
    before = predicted(catalog, {"adapters": QUERY_VALUE, "strategy": "ddp"}).samples_per_s.value
    rate = run_of(catalog).throughput.model_dump() | {"value": before, "low": before, "high": before}
    run = run_of(catalog, method="lora", adapters=Adapters.model_validate(AT_16_BIT), throughput=rate)
    mine = catalog.model_copy(update={"runs": catalog.runs | {"mine": run}})
    wider = {"adapters": QUERY_VALUE | {"rank": 64}, "strategy": "ddp"}
    moved = predicted(mine, wider).samples_per_s.value / predicted(catalog, wider).samples_per_s.value
    assert moved == pytest.approx(1.0, abs=0.01)


def test_adapters_on_maps_that_a_network_lacks_cost_nothing(catalog: Catalog) -> None:
    """All layers of Qwen3 30B A3B are sparse, so it has no gate, up or down for adapters."""
    decoder = catalog.presets["qwen3-30b-a3b"].architecture
    assert isinstance(decoder, MoeDecoder)
    every = Adapters(targets=("query", "key", "value", "out", "gate", "up", "down"))
    usual, other = (planned_adapters(decoder, found, None, compiled=False) for found in (Adapters(), every))
    assert usual == other
    assert usual["adapted_maps"] == 4
    assert usual["adapted"] == 2 * (2048 + 4096) + 2 * (2048 + 512)


@pytest.mark.parametrize(
    "adapters",
    [
        Adapters(rank=8, targets=("query", "value")),
        Adapters(rank=64),
        Adapters(rank=256, targets=("query", "key", "value", "out", "gate", "up", "down")),
    ],
    ids=["query and value", "attention", "everything"],
)
def test_adapters_of_a_run_follow_from_their_parameters(catalog: Catalog, adapters: Adapters) -> None:
    """A record states its trained parameters and no rank; if no adapters have that number, common ones are assumed."""
    decoder = catalog.presets["llama3-8b"].architecture
    assert isinstance(decoder, Decoder)
    found = adapters_of(decoder, adapter_parameters(decoder, adapters))
    assert adapted(decoder, found).numbers * found.rank == adapted(decoder, adapters).numbers * adapters.rank
    assert found == adapters or found.targets == Adapters().targets
    assert adapters_of(decoder, 12_345) == adapters_of(decoder, None) == Adapters()


def test_large_adapters_take_the_time_of_their_own_products_and_states(catalog: Catalog) -> None:
    """Rank 512 instead of 1 on all seven maps of Llama 3 8B adds 32 x 511 x 81,920 = 1.34 billion parameters.

    Each needs 8 FLOPs per token, with recomputation, at 989.4 TFLOPS, and an optimizer step per 4 samples of 2,048
    tokens. The host's launches are not counted, because the device nearly hides them.
    """
    every = ["query", "key", "value", "out", "gate", "up", "down"]
    small, large = (
        predicted(catalog, {"adapters": {"rank": rank, "targets": every}}).samples_per_s.value for rank in (1, 512)
    )
    assert catalog.calibration is not None
    constants, more = catalog.calibration.constants, 32 * 511 * 81_920
    products = 8 * more * 2048 / (989.4e12 * constants["gemm_hopper"])
    states = more * constants["optimizer"] / (3.35e12 * constants["hbm"]) / 4
    assert 1 / large - 1 / small == pytest.approx(products + states, rel=0.08)


@pytest.mark.parametrize("strategy", ["zero3", "fsdp2"])
def test_peft_s_adapters_are_gathered_with_their_layer(catalog: Catalog, strategy: str) -> None:
    """Eight H100 with 512 tokens wait for the host, which launches at most twice as many kernels per layer."""
    how = {"framework": "HF Trainer", "strategy": strategy, "micro_batch": 1}
    eight = {"offer": "lambda/gpu_8x_h100_sxm5", "usd_per_hour": 1.0}
    short = {"workload": {"ref": "llama3-8b", "seq_len": 512}}
    full, lora = (
        predicted(catalog, how | training, option=eight, **short).samples_per_s.value
        for training in ({}, {"adapters": {"rank": 16}})
    )
    assert lora > full / 2


@pytest.mark.parametrize("kind", AdapterKind)
def test_every_kind_of_adapter_has_a_name_its_weights_and_its_cost(kind: AdapterKind) -> None:
    """Low-rank adapters have fewer weights than the maps that they adapt, and no negative cost."""
    network = bundled_catalog().presets["llama3-8b"].architecture
    adapters = Adapters(kind=kind, rank=8)
    assert kind.written.casefold() == kind.value
    assert 0 < adapter_parameters(network, adapters) < adapted(network, adapters).weights
    facts = planned_adapters(network, adapters, None, compiled=False)
    assert facts["rank"] >= 8
    assert min(facts.values()) >= 0
