"""What a plan may say of how it is trained: adapters beside frozen weights, and a framework that is not ours."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from planner.adapters.catalog import accelerator_aliases, load_catalog
from planner.errors import InputError
from planner.estimate.adapter_facts import planned_adapters
from planner.estimate.candidate import Candidate
from planner.estimate.data_volumes import data_volumes
from planner.estimate.evidence import measured_runs, same_workload
from planner.estimate.flops import flops_per_token
from planner.estimate.frameworks import ONLY_ON, framework_family, name_and_kernels
from planner.estimate.job import Job
from planner.estimate.lora_memory import adapted, adapter_parameters, adapters_of
from planner.estimate.measured_config import observe
from planner.estimate.observation import Observation
from planner.estimate.predict import predict
from planner.estimate.prediction import NoPrediction, Prediction
from planner.model.adapters import Adapters
from planner.model.architecture import Decoder, MoeDecoder
from planner.model.catalog import Catalog
from planner.model.evidence import Measurement
from planner.model.plan import Data, FlopsConvention
from planner.model.run import RunRecord
from tests.estimate.asking import asked

LLAMA = {"ref": "llama3-8b", "seq_len": 2048}
ONE_H100 = {"offer": "lambda/gpu_1x_h100_sxm5", "usd_per_hour": 1.0}
QUERY_VALUE = {"rank": 8, "targets": ["query", "value"]}
OF_LLAMA = 32 * 8 * ((4096 + 4096) + (4096 + 1024))
"""32 layers x rank 8 x (query 4,096 to 4,096, value 4,096 to 8 heads of 128)."""


def question(
    catalog: Catalog, training: dict[str, Any], *, option: dict[str, Any] = ONE_H100, **changes: Any
) -> tuple[Job, Candidate]:
    how = {"micro_batch": 4, "checkpointing": "full"} | training
    return asked(catalog, option, **{"workload": LLAMA, "training": how} | changes)


def predicted(catalog: Catalog, training: dict[str, Any], **option: Any) -> Prediction:
    job, candidate = question(catalog, training, **option)
    found = predict(job, candidate, catalog)
    assert isinstance(found, Prediction), found.reason
    return found


ROW = {
    "id": "a", "source": "own runs", "model": "llama3-8b", "gpu": "H100-SXM", "gpus_per_node": "1", "num_gpus": "1",
    "n_layers": "32", "hidden": "4096", "n_heads": "32", "n_kv_heads": "8", "ffn_hidden": "14336",
    "mlp_type": "swiglu", "vocab": "128256", "seq_len": "2048", "precision": "bf16", "micro_batch": "4",
    "grad_accum": "1", "activation_checkpointing": "full", "flash_attention": "FA2", "tokens_per_s_per_gpu": "300",
}  # fmt: skip
"""The same training, as a table of measurements would describe it."""


@pytest.mark.parametrize(
    ("training", "said"),
    [
        pytest.param({"adapters": {}, "framework": "HF Trainer"}, {"method": "LoRA"}, id="LoRA"),
        pytest.param(
            {"adapters": {"frozen": "nf4"}, "framework": "HF Trainer, liger"},
            {"method": "QLoRA", "quantization": "bnb-nf4", "compile_kernels": "liger"},
            id="QLoRA with fused kernels",
        ),
        pytest.param({"framework": "torchtune"}, {"method": "full"}, id="all weights, eager"),
        pytest.param(
            {"framework": "torchtitan"}, {"method": "full", "compile_kernels": "torch.compile"}, id="usually compiled"
        ),
        pytest.param({"framework": "torchtitan with fused kernels"}, {"compile_kernels": "fused"}, id="said otherwise"),
    ],
)
def test_a_plan_and_a_table_describe_one_training_alike(
    catalog: Catalog, training: dict[str, Any], said: dict[str, str]
) -> None:
    found = predicted(catalog, training).asked
    assert found is not None
    row = Measurement.model_validate(ROW | said | {"framework": name_and_kernels(training["framework"])[0]})
    published = observe(row, load_catalog().accelerators, accelerator_aliases())
    assert isinstance(published, Observation)
    planned = found.observation
    assert planned.labels == published.labels
    apart = {"parameters", "gpus_per_node", "inter", "nvlink_domain", "intra", "bus_sharers", "through_host", "pcie"}
    """A table counts matrices alone; one accelerator uses no link."""
    differing = {key for key, value in planned.config.items() if value != published.config[key]} - apart
    assert not differing


def test_frozen_weights_need_no_product_for_their_gradients() -> None:
    """4 N + 12 L H Q T: 7,504,920,576 parameters in products (32 layers of 218,103,808, a head of 525,336,576),
    attention 12 x 32 x 4,096 x 2,048."""
    network = load_catalog().presets["llama3-8b"].architecture
    count = flops_per_token(network, seq_len=2048, convention=FlopsConvention.FULL_ATTENTION, adapters=True)
    assert count == 4 * (32 * 218_103_808 + 128_256 * 4096) + 12 * 32 * 4096 * 2048


def test_an_assumed_mfu_counts_the_work_that_is_done(catalog: Catalog) -> None:
    """(6 N + attention) / (4 N + attention) faster than full training at the same share of the peak."""
    rates = []
    for training in ({}, {"adapters": {}}):
        job, candidate = asked(catalog, ONE_H100, workload=LLAMA, training=training, assumptions={"mfu": 0.4})
        found = predict(job, candidate, catalog)
        assert isinstance(found, Prediction)
        rates.append(found.samples_per_s.value)
    products, attention = 32 * 218_103_808 + 128_256 * 4096, 12 * 32 * 4096 * 2048
    assert rates[1] / rates[0] == pytest.approx((6 * products + attention) / (4 * products + attention))


@given(st.sampled_from([1, 2, 4, 8]), st.sampled_from(["none", "selective", "full"]))
def test_adapters_on_16_bit_weights_are_never_slower_than_full_training(micro_batch: int, checkpointing: str) -> None:
    catalog = load_catalog()
    how = {"micro_batch": micro_batch, "checkpointing": checkpointing, "framework": "Megatron-LM"}
    full, lora, qlora = (
        predicted(catalog, how | more).samples_per_s.value
        for more in ({}, {"adapters": {}}, {"adapters": {"frozen": "nf4"}})
    )
    assert full <= lora
    assert qlora <= lora


def test_a_framework_in_fp32_loads_fp32(catalog: Catalog) -> None:
    job, _ = question(catalog, {"adapters": {}, "framework": "HF Trainer", "precision": "fp32"})
    assert job.adapters is not None
    assert job.adapters.frozen is None


def test_a_map_named_twice_is_no_plan() -> None:
    with pytest.raises(ValidationError, match="targets name query twice"):
        Adapters(targets=("query", "query"))


def test_checkpoints_and_what_is_taken_home_are_of_the_adapters(catalog: Catalog) -> None:
    defaults = catalog.bill_defaults
    job, _ = question(catalog, {"adapters": QUERY_VALUE})
    volumes = data_volumes(job, Data(), defaults)
    assert volumes.checkpoint is not None
    assert volumes.egress is not None
    each = defaults.checkpoint_bytes_per_parameter.value
    assert math.isclose(volumes.checkpoint.value, OF_LLAMA * each / 1e9)
    assert math.isclose(volumes.egress.value, OF_LLAMA * defaults.weight_bytes_per_parameter.value / 1e9)


def run_of(catalog: Catalog, **changes: Any) -> RunRecord:
    """A measurement of Llama 3 8B on one H100."""
    model = next(iter(catalog.runs.values()))
    return RunRecord.model_validate(
        model.model_dump()
        | {
            "id": "mine",
            "workload": "llama3-8b",
            "architecture": catalog.presets["llama3-8b"].architecture.model_dump(),
            "seq_len": 2048,
            "hardware": model.hardware.model_dump()
            | {
                "accelerator": "H100-SXM", "accelerators_per_node": 1, "nodes": 1,
                "node": "lambda/gpu_1x_h100_sxm5",
            },
            "strategy": "ddp", "precision": None, "checkpointing": "full", "micro_batch": 4, "verdict": (),
            "step_seconds": None,
        }
        | changes
    )  # fmt: skip


@pytest.mark.parametrize(
    ("training", "run", "answers"),
    [
        pytest.param({}, {"method": "full"}, True, id="full by full"),
        pytest.param({}, {"method": None}, True, id="full by a record that does not say"),
        pytest.param({}, {"method": "lora"}, False, id="full not by adapters"),
        pytest.param({"adapters": QUERY_VALUE}, {"method": "full"}, False, id="adapters not by full"),
        pytest.param(
            {"adapters": QUERY_VALUE}, {"method": "lora", "trained_parameters": OF_LLAMA}, True, id="the same adapters"
        ),
        pytest.param(
            {"adapters": QUERY_VALUE}, {"method": "lora", "trained_parameters": 2 * OF_LLAMA}, False, id="larger ones"
        ),
        pytest.param(
            {"adapters": QUERY_VALUE},
            {"method": "lora", "trained_parameters": OF_LLAMA, "adapters": Adapters(rank=4)},
            False,
            id="as many parameters beside other maps",
        ),
        pytest.param(
            {"adapters": QUERY_VALUE},
            {"method": "lora", "adapters": Adapters(rank=8, targets=("value", "query"))},
            True,
            id="the same maps in another order",
        ),
        pytest.param(
            {"adapters": QUERY_VALUE | {"frozen": "nf4"}},
            {"method": "lora", "trained_parameters": OF_LLAMA},
            False,
            id="beside weights of 4 bits",
        ),
        pytest.param(
            {"adapters": QUERY_VALUE | {"frozen": "16bit"}}, {"method": "lora"}, False, id="ddp keeps fp32, not 16 bit"
        ),
        pytest.param({"framework": "HF Trainer"}, {"method": "full"}, False, id="another framework than the benchmark"),
    ],
)
def test_only_a_run_of_the_same_training_is_a_measurement_of_it(
    catalog: Catalog, training: dict[str, Any], run: dict[str, Any], answers: bool
) -> None:
    job, candidate = question(catalog, training)
    assert bool(measured_runs([run_of(catalog, **run)], job, candidate)) is answers


def test_a_run_of_adapters_corrects_the_estimate_of_others(catalog: Catalog) -> None:
    """A run twice as fast as foretold moves what is foretold of a higher rank towards it."""
    before = predicted(catalog, {"adapters": QUERY_VALUE}).samples_per_s.value
    rate = run_of(catalog).throughput.model_dump() | {"value": 2 * before, "low": 2 * before, "high": 2 * before}
    run = run_of(catalog, method="lora", trained_parameters=OF_LLAMA, throughput=rate)
    mine = catalog.model_copy(update={"runs": catalog.runs | {"mine": run}})
    wider = {"adapters": QUERY_VALUE | {"rank": 64}}
    assert predicted(mine, wider).samples_per_s.value > 1.2 * predicted(catalog, wider).samples_per_s.value


def test_kinds_of_adapters_cost_what_they_form(catalog: Catalog) -> None:
    """DoRA is slower than LoRA and LoHa slower still; runs of LoRA are no measurement of the others."""
    every = ["query", "key", "value", "out", "gate", "up", "down"]
    lora, dora, loha = (
        predicted(catalog, {"adapters": {"kind": kind, "targets": every}}) for kind in ("lora", "dora", "loha")
    )
    assert lora.samples_per_s.value > 1.1 * dora.samples_per_s.value > 1.1 * 1.1 * loha.samples_per_s.value
    assert "trains DoRA adapters of rank 16 on" in "\n".join(dora.notes)
    run = run_of(catalog, method="lora", adapters=Adapters.model_validate(QUERY_VALUE))
    for kind, same in (("lora", True), ("dora", False)):
        job, _ = question(catalog, {"adapters": QUERY_VALUE | {"kind": kind}})
        assert same_workload(run.model_copy(update={"seq_len": job.seq_len}), job) is same


def test_a_run_as_fast_as_foretold_moves_nothing(catalog: Catalog) -> None:
    """Of query and value at rank 8, recorded as such: no other adapters are taken for them."""
    before = predicted(catalog, {"adapters": QUERY_VALUE, "strategy": "ddp"}).samples_per_s.value
    rate = run_of(catalog).throughput.model_dump() | {"value": before, "low": before, "high": before}
    run = run_of(catalog, method="lora", adapters=Adapters.model_validate(QUERY_VALUE), throughput=rate)
    mine = catalog.model_copy(update={"runs": catalog.runs | {"mine": run}})
    wider = {"adapters": QUERY_VALUE | {"rank": 64}, "strategy": "ddp"}
    moved = predicted(mine, wider).samples_per_s.value / predicted(catalog, wider).samples_per_s.value
    assert moved == pytest.approx(1.0, abs=0.01)


def test_a_framework_that_is_known_makes_the_range_narrower(catalog: Catalog) -> None:
    ours, theirs = predicted(catalog, {}), predicted(catalog, {"framework": "Megatron-LM 0.12"})
    assert "new framework" in ours.notes[0]
    assert "same accelerator and framework" in theirs.notes[0]
    width = [one.samples_per_s.high / one.samples_per_s.low for one in (ours, theirs)]
    assert width[1] < width[0]
    assert "as trained by Megatron-LM 0.12" in theirs.notes


@pytest.mark.parametrize(
    ("bare", "named"),
    [
        ("torchtitan", "torchtitan with torch.compile"),
        ("MaxText", "MaxText, XLA"),
        ("nanoGPT", "nanoGPT, torch.compile"),
    ],
)
def test_a_framework_named_alone_has_its_usual_kernels(catalog: Catalog, bare: str, named: str) -> None:
    training = {"strategy": "ddp", "adapters": {"rank": 16}}
    one, other = (predicted(catalog, training | {"framework": text}).samples_per_s for text in (bare, named))
    assert one == other


def test_adapters_beside_maps_that_a_network_has_not_cost_nothing(catalog: Catalog) -> None:
    """All layers of Qwen3 30B A3B are sparse: no gate, up or down that adapters could stand beside."""
    decoder = catalog.presets["qwen3-30b-a3b"].architecture
    assert isinstance(decoder, MoeDecoder)
    every = Adapters(targets=("query", "key", "value", "out", "gate", "up", "down"))
    one, other = (planned_adapters(decoder, found, None, compiled=False) for found in (Adapters(), every))
    assert one == other
    assert one["adapted_maps"] == 4
    assert one["adapted"] == 2 * (2048 + 4096) + 2 * (2048 + 512)


@pytest.mark.parametrize(
    "adapters",
    [
        Adapters(rank=8, targets=("query", "value")),
        Adapters(rank=64),
        Adapters(rank=256, targets=("query", "key", "value", "out", "gate", "up", "down")),
    ],
    ids=["query and value", "attention", "everything"],
)
def test_a_run_says_its_adapters_by_their_parameters(catalog: Catalog, adapters: Adapters) -> None:
    """A record has how many were trained, and no rank; what no usual adapters have is taken for the usual ones."""
    decoder = catalog.presets["llama3-8b"].architecture
    assert isinstance(decoder, Decoder)
    found = adapters_of(decoder, adapter_parameters(decoder, adapters))
    assert adapted(decoder, found).numbers * found.rank == adapted(decoder, adapters).numbers * adapters.rank
    assert found == adapters or found.targets == Adapters().targets
    assert adapters_of(decoder, 12_345) == adapters_of(decoder, None) == Adapters()


def test_frameworks_of_one_maker_are_known_and_so_are_their_makers(catalog: Catalog) -> None:
    assert {framework_family(name) for name in ONLY_ON} == set(ONLY_ON)
    assert set(ONLY_ON.values()) <= {one.vendor for one in catalog.accelerators.values()}


def test_a_framework_of_another_maker_gives_no_estimate(catalog: Catalog) -> None:
    """NeuronX compiles for Trainium, not for an H100."""
    training = {"strategy": "ddp", "framework": "NeuronX Distributed"}
    job, candidate = question(catalog, training, option={"offer": "aws/p5.48xlarge", "usd_per_hour": 1.0})
    found = predict(job, candidate, catalog)
    assert isinstance(found, NoPrediction)
    assert "NeuronX Distributed runs on accelerators of AWS alone, and H100-SXM is one of NVIDIA" in found.reason
    on_trainium = {"offer": "aws/trn1.32xlarge", "usd_per_hour": 1.0}
    assert isinstance(predict(*question(catalog, training, option=on_trainium), catalog), Prediction)


def test_a_calibration_that_lacks_a_constant_answers_as_before(catalog: Catalog) -> None:
    """A lock of last year: what was added since stands at what leaves the physics as it was."""
    calibration = catalog.calibration
    assert calibration is not None
    new = ("host_experts", "host_loop")
    old = {name: value for name, value in calibration.constants.items() if name not in new}
    training = {"strategy": "fsdp2"}
    option = {"offer": "aws/p5.48xlarge", "usd_per_hour": 1.0}
    rates = []
    for constants in (old, old | {"host_experts": 1.0, "host_loop": 0.0}):
        then = catalog.model_copy(update={"calibration": calibration.model_copy(update={"constants": constants})})
        found = predicted(then, training, option=option)
        rates.append((found.samples_per_s.value, found.source))
    assert rates[0] == rates[1]


def test_large_adapters_take_the_time_of_their_own_products_and_states(catalog: Catalog) -> None:
    """Rank 512 instead of 1 on all seven maps of Llama 3 8B: 32 x 511 x 81,920 = 1.34 billion parameters more.

    8 FLOPs for each and token, recomputed, on 989.4 TFLOPS; and a step of the optimizer for 4 samples of 2,048 tokens.
    The host's launches, which the device nearly hides, are left out.
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


@pytest.mark.parametrize(
    ("text", "name", "kernels"),
    [
        pytest.param("HF Trainer", "HF Trainer", "", id="a name"),
        pytest.param("HF Trainer, liger", "HF Trainer", "liger", id="a comma"),
        pytest.param("torchtitan with torch.compile", "torchtitan", "with torch.compile", id="with"),
        pytest.param("Megatron-LM without TE", "Megatron-LM", "without TE", id="without"),
        pytest.param("PyTorch, FA2, liger", "PyTorch", "FA2, liger", id="two commas"),
    ],
)
def test_a_framework_is_a_name_and_its_kernels(text: str, name: str, kernels: str) -> None:
    assert name_and_kernels(text) == (name, kernels)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param(
            {"training": {"framework": "Keras"}}, "training.framework: there is no framework 'Keras'", id="unknown"
        ),
        pytest.param(
            {"workload": {"ref": "resnet50"}, "training": {"adapters": {}}}, "linear maps of a decoder", id="images"
        ),
        pytest.param(
            {
                "workload": {"ref": "mixtral-8x7b", "seq_len": 2048},
                "training": {"adapters": {"targets": ["gate", "up"]}},
            },
            "none of gate, up is a map",
            id="routed experts have no adapters",
        ),
        pytest.param(
            {"training": {"precision": "fp32", "adapters": {"frozen": "nf4"}}},
            "frozen at nf4 do not go with products in fp32",
            id="4 bits under fp32",
        ),
        pytest.param(
            {"workload": {"measured": "mine"}}, "run mine trained adapters alone", id="all weights from a run of some"
        ),
        pytest.param(
            {"workload": {"measured": "mine"}, "training": {"adapters": {}, "framework": "HF Trainer"}},
            "a measured run, which had its own",
            id="a framework beside a measured run",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(catalog: Catalog, changes: dict[str, Any], message: str) -> None:
    mine = catalog.model_copy(update={"runs": catalog.runs | {"mine": run_of(catalog, method="lora")}})
    with pytest.raises(InputError, match=message):
        asked(mine, ONE_H100, **{"workload": LLAMA} | changes)
