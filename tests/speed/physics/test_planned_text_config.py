"""Settings of plans in the physics' terms: adapters, frozen weights, and frameworks other than the benchmark."""

from __future__ import annotations

from typing import Any

import pytest

from planner.adapters.catalog import accelerator_aliases
from planner.errors import InputError
from planner.model.catalog import Catalog
from planner.model.evidence.measurement import Measurement
from planner.model.network.adapters import Adapters, FrozenFormat
from planner.scenario.frameworks import ONLY_ON, framework_family, name_and_kernels
from planner.speed.evidence.measured_text_config import observe
from planner.speed.physics.observation import Observation
from planner.speed.physics.planned_text_config import planned_kernels
from planner.speed.throughput.matching_runs import measured_runs
from planner.speed.throughput.predict import predict
from planner.speed.throughput.prediction import NoPrediction, Prediction
from tests.bundled import bundled_catalog
from tests.speed.physics.llama_prediction import LLAMA, OF_LLAMA, ONE_H100, QUERY_VALUE, predicted, question, run_of
from tests.speed.throughput.asking import asked

ROW = {
    "id": "a", "source": "a table", "site": "own runs", "model": "llama3-8b", "gpu": "H100-SXM",
    "gpus_per_node": "1", "num_gpus": "1",
    "n_layers": "32", "hidden": "4096", "n_heads": "32", "n_kv_heads": "8", "ffn_hidden": "14336",
    "mlp_type": "swiglu", "vocab": "128256", "seq_len": "2048", "precision": "bf16", "micro_batch": "4",
    "grad_accum": "1", "activation_checkpointing": "full", "flash_attention": "FA2", "tokens_per_s_per_gpu": "300",
}  # fmt: skip
"""Row of a table of measurements with the training of `llama_prediction`."""


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
    found = predicted(catalog, training).query
    assert found is not None
    row = Measurement.model_validate(ROW | said | {"framework": name_and_kernels(training["framework"])[0]})
    published = observe(row, bundled_catalog().accelerators, accelerator_aliases())
    assert isinstance(published, Observation)
    planned = found.observation
    assert planned.labels == published.labels
    apart = {"parameters", "gpus_per_node", "inter", "nvlink_domain", "intra", "bus_sharers", "through_host", "pcie"}
    apart |= {"pcie_cards", "pcie_5", "separate_gathers"}
    """Facts that may differ: tables count matrices only, one accelerator uses no link, and tables may mean FSDP 1."""
    differing = {key for key, value in planned.config.items() if value != published.config[key]} - apart
    assert not differing


@pytest.mark.parametrize(
    ("training", "option", "cast"),
    [
        pytest.param({}, {}, 1, id="the benchmark, DDP, 16 bit"),
        pytest.param({"precision": "float8"}, {}, 1, id="float8 is bf16 with narrow maps"),
        pytest.param({"precision": "fp32"}, {}, 0, id="fp32 casts nothing"),
        pytest.param({}, {"strategy": "zero1"}, 0, id="ZeRO holds weights of 16 bits"),
        pytest.param({"adapters": {"frozen": "nf4"}}, {}, 0, id="frozen weights have a format of their own"),
        pytest.param({"adapters": {}}, {}, 0, id="frozen weights are kept at 16 bit"),
        pytest.param({"framework": "HF Trainer"}, {}, 0, id="a framework's own effect includes its casts"),
    ],
)
def test_our_benchmark_casts_weights_under_ddp(
    catalog: Catalog, training: dict[str, Any], option: dict[str, Any], cast: float
) -> None:
    found = predicted(catalog, training, option=ONE_H100 | option).query
    assert found is not None
    assert found.observation.config["autocast"] == cast


def test_a_plan_may_name_the_kernels_that_send_tokens() -> None:
    h100, gb200 = (bundled_catalog().accelerators[name] for name in ("H100-SXM", "GB200-per-GPU"))
    sent = [
        planned_kernels(framework, accelerator, compiled=False)["dispatched"]
        for framework, accelerator in (
            ("Megatron-Bridge", h100), ("Megatron-Bridge, DeepEP", h100), ("Megatron-Bridge", gb200), (None, gb200),
        )
    ]  # fmt: skip
    assert sent == [0, 1, 1, 0]


def test_an_assumed_mfu_counts_the_computed_flops(catalog: Catalog) -> None:
    """Adapters are (6 N + attention) / (4 N + attention) faster than full training at the same share of the peak."""
    rates = []
    trainings: list[dict[str, object]] = [{}, {"adapters": {}}]
    for training in trainings:
        job, candidate = asked(catalog, ONE_H100, workload=LLAMA, training=training, assumptions={"mfu": 0.4})
        found = predict(job, candidate, catalog)
        assert isinstance(found, Prediction)
        rates.append(found.samples_per_s.value)
    products, attention = 32 * 218_103_808 + 128_256 * 4096, 12 * 32 * 4096 * 2048
    assert rates[1] / rates[0] == pytest.approx((6 * products + attention) / (4 * products + attention))


def test_a_framework_in_fp32_loads_fp32(catalog: Catalog) -> None:
    job, _ = question(catalog, {"adapters": {}, "framework": "HF Trainer", "precision": "fp32"})
    assert job.setup.adapters is not None
    assert job.setup.adapters.frozen is None


@pytest.mark.parametrize(
    ("training", "run", "answers"),
    [
        pytest.param({}, {"method": "full"}, True, id="full by full"),
        pytest.param({}, {"method": None}, True, id="full by a record that does not say"),
        pytest.param({}, {"method": "lora"}, False, id="full not by adapters"),
        pytest.param({"adapters": QUERY_VALUE}, {"method": "full"}, False, id="adapters not by full"),
        pytest.param(
            {"adapters": QUERY_VALUE, "strategy": "zero2"},
            {"method": "lora", "trained_parameters": OF_LLAMA, "strategy": "zero2"},
            False,
            id="adapters not by an older record, which does not say which it trained",
        ),
        pytest.param(
            {"adapters": QUERY_VALUE, "strategy": "zero2"},
            {"method": "lora", "trained_parameters": 2 * OF_LLAMA, "strategy": "zero2"},
            False,
            id="larger ones",
        ),
        pytest.param(
            {"adapters": QUERY_VALUE},
            {"method": "lora", "trained_parameters": OF_LLAMA},
            False,
            id="beside 16 bit not by an older record, whose ddp kept fp32",
        ),
        pytest.param(
            {"adapters": QUERY_VALUE, "precision": "fp32"},
            {"method": "lora", "adapters": Adapters(rank=8, targets=("query", "value")), "precision": "fp32"},
            True,
            id="fp32 by fp32",
        ),
        pytest.param(
            {"adapters": QUERY_VALUE},
            {"method": "lora", "trained_parameters": OF_LLAMA, "adapters": Adapters(rank=4)},
            False,
            id="as many parameters beside other maps",
        ),
        pytest.param(
            {"adapters": QUERY_VALUE},
            {
                "method": "lora",
                "adapters": Adapters(rank=8, targets=("value", "query"), frozen=FrozenFormat.SIXTEEN_BIT),
            },
            True,
            id="the same maps in another order",
        ),
        pytest.param(
            {"adapters": QUERY_VALUE | {"frozen": "nf4"}},
            {"method": "lora", "trained_parameters": OF_LLAMA},
            False,
            id="beside weights of 4 bits",
        ),
        pytest.param({"framework": "HF Trainer"}, {"method": "full"}, False, id="another framework than the benchmark"),
    ],
)
def test_only_a_run_of_the_same_training_is_a_measurement_of_it(
    catalog: Catalog, training: dict[str, Any], run: dict[str, Any], answers: bool
) -> None:
    job, candidate = question(catalog, training)
    assert (
        bool(measured_runs(job, candidate, catalog.model_copy(update={"runs": {"mine": run_of(catalog, **run)}})))
        is answers
    )


def test_a_known_framework_makes_the_range_narrower(catalog: Catalog) -> None:
    ours, theirs = predicted(catalog, {}), predicted(catalog, {"framework": "Megatron-LM 0.12"})
    assert "new framework" in ours.notes[0]
    assert "same accelerator and framework" in theirs.notes[0]
    width = [prediction.samples_per_s.high / prediction.samples_per_s.low for prediction in (ours, theirs)]
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
def test_a_framework_without_stated_kernels_has_its_common_ones(catalog: Catalog, bare: str, named: str) -> None:
    training = {"strategy": "ddp", "adapters": {"rank": 16}}
    usual, other = (predicted(catalog, training | {"framework": text}).samples_per_s for text in (bare, named))
    assert usual == other


def test_frameworks_of_one_maker_are_known_and_so_are_their_makers(catalog: Catalog) -> None:
    assert {framework_family(name) for name in ONLY_ON} == set(ONLY_ON)
    assert set(ONLY_ON.values()) <= {accelerator.vendor for accelerator in catalog.accelerators.values()}


def test_a_framework_of_another_maker_gives_no_estimate(catalog: Catalog) -> None:
    """NeuronX compiles for Trainium, not for an H100."""
    training = {"strategy": "ddp", "framework": "NeuronX Distributed"}
    job, candidate = question(catalog, training, option={"offer": "aws/p5.48xlarge", "usd_per_hour": 1.0})
    found = predict(job, candidate, catalog)
    assert isinstance(found, NoPrediction)
    assert "NeuronX Distributed runs on accelerators of AWS alone, and H100-SXM is one of NVIDIA" in found.reason.text
    on_trainium = {"offer": "aws/trn1.32xlarge", "usd_per_hour": 1.0}
    assert isinstance(predict(*question(catalog, training, option=on_trainium), catalog), Prediction)


def test_a_calibration_that_lacks_a_constant_answers_as_before(catalog: Catalog) -> None:
    """Constants that are newer than a lock have the values that leave the physics unchanged."""
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
def test_contradictory_settings_are_refused(catalog: Catalog, changes: dict[str, Any], message: str) -> None:
    mine = catalog.model_copy(update={"runs": catalog.runs | {"mine": run_of(catalog, method="lora")}})
    with pytest.raises(InputError, match=message):
        asked(mine, ONE_H100, **{"workload": LLAMA} | changes)
