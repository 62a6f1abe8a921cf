"""Statements of a record besides its speed: contradictions are found, sound records get no finding."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.model.answer.audit import AuditVerdict, RunAudit
from planner.model.evidence.run import RunRecord
from tests.audit.test_runs import audited, codes
from tests.use_cases.test_check_run import CATALOG, run


def llama(accelerator: str = "H100-SXM", speed: float = 11_500, *, gpus: int = 8, **more: Any) -> RunRecord:
    """Llama 3 8B at 4,096 tokens: 11,500 tokens/s are 56 % of an H100's dense peak, a good training."""
    told = {"log": None, "global_batch": None, "checkpointing": None, "strategy": "fsdp2", **more}
    node, nodes = told.pop("node", None), told.pop("nodes", 1)
    record = run("llama3-8b", accelerator, gpus, 4096, told.pop("micro_batch", 1), speed)
    hardware = record.hardware.model_copy(update={"node": node, "nodes": nodes})
    return RunRecord.model_validate({**record.model_dump(mode="json"), "hardware": hardware, **told})


def drawn(kilowatts: float) -> dict[str, object]:
    span = {"value": kilowatts, "low": kilowatts, "high": kilowatts, "unit": "kW", "basis": "measured"}
    return {**span, "source": "energy counters", "as_of": "2026-01-01"}


P5 = {"node": "aws/p5.48xlarge", "nodes": 4, "speed": 9_000}
DENSE = CATALOG.find_preset("qwen3-0.6b").architecture
WRONG = [
    pytest.param({"speed": 11.5e6}, "above_peak", "impossible", id="a thousand times"),
    pytest.param({"speed": 19_000}, "above_ceiling", "impossible", id="19,000: 93 % of the peak"),
    pytest.param({"speed": 14_200}, "above_best_published", "doubtful", id="14,200: 69 %"),
    pytest.param({"precision": "fp32"}, "above_peak", "impossible", id="fp32"),
    pytest.param(
        {"accelerator": "A100-80GB-SXM", "speed": 2_000, "precision": "float8"},
        "format_not_in_hardware",
        "impossible",
        id="float8 on an A100",
    ),
    pytest.param(
        {"accelerator": "A100-80GB-SXM", "speed": 3_000, "node": "aws/p5.48xlarge"},
        "node_holds_other_parts",
        "impossible",
        id="A100 in a p5",
    ),
    pytest.param({"gpus": 16, "node": "aws/p5.48xlarge"}, "node_holds_other_parts", "impossible", id="sixteen in a p5"),
    pytest.param({"micro_batch": 64}, "memory_above_capacity", "impossible", id="64 samples of 4,096 on 80 GiB"),
    pytest.param({"memory": {"used_gib": 95.0}}, "memory_above_capacity", "impossible", id="95 of 80 GiB used"),
    pytest.param({"memory": {"used_fraction": 0.04}}, "memory_unlike_reported", "doubtful", id="4 % used"),
    pytest.param(P5, "fabric_not_recorded", "doubtful", id="four p5, nothing said of EFA"),
    pytest.param({**P5, "environment": {"efa": None}}, "fabric_not_recorded", "doubtful", id="EFA: null"),
    pytest.param({**P5, "environment": {"efa": False}}, "fabric_off", "doubtful", id="EFA off"),
    pytest.param({**P5, "node": None, "environment": {"NCCL_NET": "Socket"}}, "fabric_off", "doubtful", id="sockets"),
    pytest.param({"architecture": DENSE}, "size_disagrees", "doubtful", id="a network of 0.6B named 8B"),
    pytest.param({"parameters": 70_000_000_000}, "size_disagrees", "doubtful", id="70 billion parameters stated"),
    pytest.param({"note": "LlamaMoeForCausalLM"}, "model_names_disagree", "doubtful", id="a mixture named beside it"),
    pytest.param({"samples": 2_246, "wall_seconds": 1_000.0}, "counts_disagree", "doubtful", id="a tenth of samples"),
    pytest.param(
        {"samples": 2_246, "wall_seconds": 1_000.0, "repeats": (30.0, 22.0)},
        "counts_disagree",
        "doubtful",
        id="slower than each of two starts",
    ),
    pytest.param({"grad_accumulation": 1, "global_batch": 64}, "counts_disagree", "doubtful", id="64 of 8 x 1 x 1"),
    pytest.param(
        {"micro_batch": 4, "grad_accumulation": 4, "global_batch": 8, "checkpointing": "full"},
        "counts_disagree",
        "doubtful",
        id="8 of 4 x 4 on one",
    ),
    pytest.param({"samples": 225, "wall_seconds": 10.0}, "short_window", "doubtful", id="ten seconds"),
    pytest.param({"short_window": True}, "short_window", "doubtful", id="marked as short"),
    pytest.param(
        {"matmul_flops_by_dtype": {"float32": 9e12, "bfloat16": 1e12}},
        "precision_not_as_declared",
        "doubtful",
        id="fp32 products under bf16",
    ),
    pytest.param({"mfu": {"mfu": 1.5}}, "mfu_disagrees", "doubtful", id="150 % of the peak stated"),
    pytest.param({"mfu": {"full_attention_of_nominal_peak": 0.3}}, "mfu_disagrees", "doubtful", id="30 % of 60 %"),
    pytest.param({"accelerator_power": drawn(1.0)}, "power_unlike_load", "doubtful", id="1 of 5.6 kW at 56 %"),
    pytest.param({"accelerator_power": drawn(2.0)}, "power_unlike_load", "doubtful", id="36 % of the limit at 56 %"),
    pytest.param({"accelerator_power": drawn(5_200)}, "power_unlike_load", "doubtful", id="watts as kilowatts"),
    pytest.param({"power": drawn(0.7)}, "power_unlike_load", "doubtful", id="the machine: 0.7 kW"),
    pytest.param({"power": drawn(30)}, "power_unlike_load", "doubtful", id="the machine: 30 kW"),
    pytest.param(
        {"telemetry": [{"devices": [{"throttle_shares": {"hw_thermal": 0.4}}]}]}, "throttling", "doubtful", id="hot"
    ),
    pytest.param(
        {"telemetry": [{"devices": [{"power_limit_w": 500, "default_power_limit_w": 700}]}]},
        "throttling",
        "doubtful",
        id="under a power limit",
    ),
]
SOUND = [
    pytest.param({}, id="56 % of the peak"),
    pytest.param({"speed": 18_000, "precision": "float8"}, id="float8: 44 % of its peak"),
    pytest.param({"node": "aws/p5.48xlarge"}, id="one p5"),
    pytest.param({**P5, "environment": {"efa": True}}, id="four p5 over EFA"),
    pytest.param({"parameters": 8_030_000_000}, id="its own parameters"),
    pytest.param({"samples": 22_460, "wall_seconds": 1_000.0}, id="samples / time"),
    pytest.param({"grad_accumulation": 8, "global_batch": 64}, id="8 x 1 x 8"),
    pytest.param({"matmul_flops_by_dtype": {"torch.bfloat16": 9e12, "torch.float32": 1e11}}, id="bf16 products"),
    pytest.param({"mfu": {"causal_of_nominal_peak": 0.56, "full_attention_of_measured_peak": 0.9}}, id="its own MFU"),
    pytest.param({"accelerator_power": drawn(5.0)}, id="5 kW of eight H100"),
    pytest.param({"power": drawn(8.5)}, id="8.5 kW of the machine"),
    pytest.param({"speed": 4_000, "accelerator_power": drawn(2.0)}, id="2 kW at 20 % of the peak"),
    pytest.param(
        {"samples": 18_000, "wall_seconds": 1_000.0, "repeats": (16.0, 1e4)}, id="two starts of unlike speed: their sum"
    ),
    pytest.param({"memory": {"peak_reserved_gib": 60.0}}, id="60 GiB of 80"),
    pytest.param({"accelerator": "MI300X", "speed": 8_000}, id="MI300X at 30 %"),
    pytest.param({"accelerator": "RTX-4090", "gpus": 1, "speed": 2_500, "method": "lora"}, id="LoRA on an RTX 4090"),
    pytest.param(
        {"telemetry": [{"devices": [{"throttle_shares": {"hw_thermal": 0.01}}, {}, None]}, {}]}, id="hardly hot"
    ),
    pytest.param(
        {"telemetry": [{"devices": [{"throttled_share": 1.0, "throttle_shares": {"power_cap": 1.0}}]}]},
        id="at its factory power limit",
    ),
    pytest.param({"node": "my-own-box", "environment": {"EFA": None, "note": "서울"}}, id="an unknown machine"),
]


def of(**told: Any) -> RunAudit:
    return audited(llama(**told))[0]


@pytest.mark.parametrize(("told", "code", "verdict"), WRONG)
def test_what_is_wrong_is_found_by_its_code(told, code, verdict):
    audit = of(**told)
    assert code in codes(audit)
    assert audit.verdict is AuditVerdict(verdict)


@pytest.mark.parametrize("told", SOUND)
def test_what_is_sound_is_credible(told):
    audit = of(**told)
    assert audit.verdict is AuditVerdict.CREDIBLE, audit.findings


def test_products_in_fewer_bits_explain_what_fp32_cannot_do():
    explained = {explanation.code: explanation for explanation in of(precision="fp32", speed=4_000).explanations}
    # 4,000 tokens/s are 193 TFLOP/s of 67 in fp32; TF32 has 495, bf16 989
    assert "TF32 or bf16 or fp8" in explained["lower_precision"].says
    assert "--precision tf32" in explained["lower_precision"].test


@pytest.mark.parametrize(("speed", "verdict"), [(11_500, "credible"), (30_000, "impossible")])
def test_a_network_known_by_its_size_alone_is_counted_by_it_and_marked(speed, verdict):
    # 6 x 0.75 x 8.03e9 x 30,000 = 1,084 TFLOP/s of 989
    audit = of(architecture=None, parameters=8_030_000_000, speed=speed)
    assert audit.verdict is AuditVerdict(verdict)
    assert "work_by_parameters" in codes(audit)


@settings(max_examples=20, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["precision", "strategy", "micro_batch", "seq_len", "architecture", "parameters", "note"]),
        st.none(),
    )
)
def test_a_record_of_which_anything_is_null_is_audited(nulls):
    record = llama()
    nulls = {key: value for key, value in nulls.items() if not (key == "architecture" and "seq_len" not in nulls)}
    assert audited(record.model_copy(update=nulls))[0].verdict in (AuditVerdict.CREDIBLE, AuditVerdict.UNDECIDABLE)


@pytest.mark.parametrize(
    ("told", "explanations"),
    [
        pytest.param({"micro_batch": 64}, ["leaner_states", "smaller_batch"], id="a batch that does not fit"),
        pytest.param({"accelerator": "RTX-4090", "gpus": 1, "speed": 500}, ["leaner_states"], id="states that do not"),
        pytest.param({"memory": {"used_gib": 95.0}}, ["other_machine"], id="more memory reported than there is"),
        pytest.param({"gpus": 16, "node": "aws/p5.48xlarge"}, ["other_machine"], id="sixteen in a p5"),
        pytest.param({"accelerator": "A100-80GB-SXM", "speed": 2_000, "precision": "float8"}, ["other_format"],
                     id="float8 on an A100"),
        pytest.param({"speed": 19_000}, ["shorter_samples", "more_accelerators", "less_work_per_token",
                                         "wrong_throughput", "lower_precision"], id="93 % of the peak"),
    ],
)  # fmt: skip
def test_what_is_impossible_comes_with_all_that_would_make_it_true(told, explanations):
    audit = of(**told)
    assert audit.verdict is AuditVerdict.IMPOSSIBLE
    assert [explanation.code for explanation in audit.explanations] == explanations
    assert all(explanation.test for explanation in audit.explanations)


def test_explanations_of_a_doubtful_run_lead_down_to_the_best_published():
    said = {explanation.code: explanation.says for explanation in of(speed=14_200).explanations}
    # a token: 6 x 7.505e9 + 6 x 32 x 4096 x 4096 = 48.25 GFLOP; 14,200 are 685 TFLOP/s; 79 % of 794.5 are 92 % of that
    assert "at most 92% of the FLOPs" in said["less_work_per_token"]
    assert "at least 9 and not 8" in said["more_accelerators"]
