"""`check-run`: eight runs with a known fault and eight sound ones, with figures from named published tables."""

from __future__ import annotations

from typing import Any

import pytest

from planner.adapters.catalog import load_catalog
from planner.model.answer.run_check import RunVerdict
from planner.model.evidence.imported_log import ImportedLog
from planner.model.evidence.run import RunRecord
from planner.present.run_check_screen import run_check_lines
from planner.use_cases.importing.check_run import check_run
from tests.launcher.collect.h100 import h100_record

CATALOG = load_catalog()
TABLE = "catalogs/evidence"


def run(
    network: str, accelerator: str, gpus: int, seq_len: int, micro_batch: int, tokens_per_s_per_gpu: float, **more: Any
) -> RunRecord:
    """Return a run of a known network at a rate in tokens/s per accelerator."""
    rate = tokens_per_s_per_gpu * gpus / seq_len
    global_batch = more.pop("global_batch", micro_batch * gpus)
    framework, log = more.pop("framework", "HF Trainer"), more.pop("log", {})
    record = {
        "schema_version": 1,
        "id": "a-run",
        "workload": network,
        "architecture": CATALOG.find_preset(network).architecture,
        "seq_len": seq_len,
        "hardware": {
            "accelerator": accelerator, "node": None, "nodes": 1, "accelerators_per_node": gpus,
        },
        "strategy": "fsdp2" if gpus > 1 else "ddp",
        "precision": "bf16",
        "checkpointing": "none",
        "micro_batch": micro_batch,
        "global_batch": global_batch,
        "throughput": {
            "value": rate, "low": rate * 0.95, "high": rate * 1.05, "unit": "samples/s", "basis": "measured",
            "source": "a published table",
        },
        "log": ImportedLog(
            format="csv", framework=framework, sha256=("0" * 64,), counted_steps=100.0, counted_seconds=100.0, **log
        ),
    } | more  # fmt: skip
    return RunRecord.model_validate(record)


A100, H100 = "A100-80GB-SXM", "H100-SXM"
MISTRAL = ("mistralai/Mistral-7B-v0.1", A100)
LLAMA = ("llama3-8b", H100)
SOUND = {
    # field_reports.csv field-0180, field-0181: fms-hf-tuning's table
    "Mistral 7B, one A100": run(*MISTRAL, 1, 4096, 8, 3143.1, checkpointing="full"),
    "Mistral 7B, two A100": run(*MISTRAL, 2, 4096, 4, 3008.9, checkpointing="full"),
    # torchtitan.csv titan-11, titan-12: docs/performance.md
    "torchtitan": run(*LLAMA, 8, 8192, 2, 5762, checkpointing="selective", framework="torchtitan, no torch.compile"),
    "torchtitan, compiled": run(*LLAMA, 8, 8192, 2, 6667, checkpointing="selective", framework="torchtitan"),
    # nvidia_recipes.csv nemo-095, nemo-161
    "NeMo": run(*LLAMA, 8, 8192, 1, 10682, global_batch=128, framework="NeMo", strategy="zero1"),
    "NeMo, fine-tuning": run(*LLAMA, 8, 4096, 1, 12412, global_batch=32, framework="NeMo", strategy="zero1"),
    # research_trainers.csv rese-54
    "ATorch": run("meta-llama/Llama-2-7b-hf", A100, 8, 4096, 4, 3345, checkpointing="full", framework="FSDP"),
    # open_projects.csv proj-82
    "MI300X": run("llama3-8b", "MI300X", 8, 4096, 4, 7513.5, framework="PyTorch, torch.compile"),
}
FAULTY = {
    # fp32 products of an A100 at 19.5 TFLOP/s, 90 % of it: 0.9 x 19.5e12 / (8 x 7.2e9 FLOP a token) = 305 tokens/s
    "fp32": run(*MISTRAL, 1, 4096, 8, 305, checkpointing="full"),
    # 700 of 2,048 tokens are none of padding
    "padding": run(*LLAMA, 8, 2048, 4, 2500, log={"filled_share": 700 / 2048, "padded": True}),
    # open_projects.csv proj-86, proj-87: 11,155 tokens/s at a micro-batch of 1, 16,432 at 4
    "small_batch": run(
        "llama3-8b", "H200-SXM", 8, 4096, 1, 11155, precision="float8", framework="PyTorch, TransformerEngine"
    ),
    # 45 % of the seconds beyond the middle step, 5,762 x 0.55 tokens/s
    "data_wait": run(
        *LLAMA, 8, 8192, 2, 3170, checkpointing="selective", framework="torchtitan", log={"uneven_share": 0.45}
    ),
    "slow_rank": run(*LLAMA, 8, 8192, 2, 4300, checkpointing="selective", framework="torchtitan", slowest_rank=1.45),
    # 152,000 words of vocabulary on 1,024 dimensions: the logits hold more work than ten of the 28 layers
    "logits": run("qwen3-0.6b", H100, 1, 4096, 4, 38000),
    # runs/seed-003-rtx3090-ddp-x8: 39.6 samples/s of 512 tokens on eight cards, 27.4 on one
    "link": CATALOG.runs["seed-003-rtx3090-ddp-x8"],
    # field_reports.csv m04637, m04638: 9,174 tokens/s without recomputation, 7,210 with it, all else the same
    "recomputation": run(
        "meta-llama/Llama-3.2-3B", A100, 1, 4096, 2, 7210, checkpointing="full", framework="torchtune, torch.compile"
    ),
}


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_run_is_normal(name):
    assert check_run(SOUND[name], CATALOG).verdict is RunVerdict.NORMAL


def test_seven_of_eight_faults_are_the_first_cause():
    first = [name for name, run in FAULTY.items() if check_run(run, CATALOG).causes[0].code == name]
    assert len(first) >= 7, f"not first: {FAULTY.keys() - set(first)}"


@pytest.mark.parametrize("name", FAULTY)
def test_the_fault_is_among_the_causes(name):
    document = check_run(FAULTY[name], CATALOG)
    assert name in [cause.code for cause in document.causes]
    assert len(document.causes) <= 3
    for cause in document.causes:
        assert cause.gain_low <= cause.gain <= cause.gain_high
        assert "{" not in cause.test + cause.fix + cause.text


@pytest.mark.parametrize("code", ["fp32", "data_wait"])
def test_a_run_far_below_its_range_is_slow_by_a_fault_that_nothing_states(code):
    slow = {"fp32": FAULTY["fp32"], "data_wait": run(*LLAMA, 8, 8192, 2, 1900, checkpointing="selective")}[code]
    document = check_run(slow, CATALOG)
    assert document.verdict is RunVerdict.SLOW
    assert code in [cause.code for cause in document.causes if not cause.proven]


def test_a_run_that_is_too_fast_gets_no_list_of_what_holds_it_back():
    document = check_run(run(*MISTRAL, 1, 4096, 8, 3143 * 5, checkpointing="full", log={"padded": True}), CATALOG)
    assert document.verdict is RunVerdict.TOO_FAST
    assert (document.causes, document.hardware_fixes) == ((), ())
    assert "shorter than 4,096 tokens" in document.sentence


def test_of_a_run_that_is_a_hundred_times_too_slow_no_cause_claims_to_explain_it():
    document = check_run(
        run(*LLAMA, 8, 8192, 2, 5762 / 100, checkpointing="selective", framework="torchtitan"), CATALOG
    )
    assert "None of these explains it" in document.sentence or "No usual cause explains it" in document.sentence
    assert document.unexplained is not None
    assert document.unexplained > 5
    assert [candidate.code for candidate in document.candidates] == ["spill", "dead_link", "cpu_fallback", "swap"]
    assert all(cause.probability < 0.5 for cause in document.causes if cause.evidence.startswith("unseen"))


def test_what_the_causes_explain_is_the_rest_of_the_slowdown():
    document = check_run(FAULTY["data_wait"], CATALOG)
    assert document.unexplained is None
    assert document.candidates == ()


def test_the_share_of_the_peak_is_that_of_the_model_flops():
    # 5,762 tokens/s x (6 x 7.504e9 matmul weights + 12 x 32 x 4096 x 8192 of attention) FLOP / 989.4e12
    expected = 5762 * (6 * 7.504e9 + 12 * 32 * 4096 * 8192) / 989.4e12
    assert check_run(SOUND["torchtitan"], CATALOG).share_of_peak == pytest.approx(expected, rel=0.01)


def test_what_is_expected_of_a_cpu_is_not_known_and_proven_faults_are_named_all_the_same():
    slow = run("gpt-305m", "CPU", 2, 512, 4, 100, slowest_rank=1.6, data_wait_fraction=0.05)
    document = check_run(slow, CATALOG)
    assert document.verdict is RunVerdict.NOT_KNOWN
    assert [cause.code for cause in document.causes][:1] == ["slow_rank"]


def test_eager_kernels_are_named_where_the_record_says_that_it_was_not_compiled():
    """One H100 at 12.93 samples/s eager, and at 19.67 compiled (2026-11-26): half as fast again."""
    eager, compiled = (check_run(h100_record(f"qwen3-0.6b-{name}"), CATALOG) for name in ("eager", "compiled"))
    (cause,) = [cause for cause in eager.causes if cause.code == "unfused"]
    assert eager.causes[0] == cause
    assert cause.text == "eager kernels (not compiled or fused)"
    assert "torch.compile" in cause.fix
    assert not [cause for cause in compiled.causes if cause.code == "unfused"]


def test_a_device_that_waits_for_the_host_proves_the_host():
    """ZeRO-3: 0.1216 s of work in a step of 6.175 / 25 s (2026-11-26)."""
    document = check_run(h100_record("gpt-305m-zero3", device_busy_seconds=0.1216), CATALOG)
    (cause,) = [cause for cause in document.causes if cause.code == "host"]
    assert cause.proven
    assert cause.gain == pytest.approx(6.175 / 25 / 0.1216, rel=0.01)


def test_the_causal_share_stands_beside_that_of_full_attention():
    """Qwen3-0.6B at 4,096 tokens takes 6.3945 GFLOP a token, 4.9852 causal; 80,560 tokens/s on 989.4 TFLOP/s."""
    document = check_run(h100_record("qwen3-0.6b-compiled"), CATALOG)
    assert document.share_of_peak == pytest.approx(80_560 * 6.3945e9 / 989.4e12, rel=0.002)
    assert document.causal_share_of_peak == pytest.approx(80_560 * 4.9852e9 / 989.4e12, rel=0.002)
    assert "MFU 52% (causal 41%)" in " ".join(run_check_lines(document, width=200))
