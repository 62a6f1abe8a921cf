"""Pairs of runs that differ in one setting besides the hardware, each with its code; and a pair that does not."""

from __future__ import annotations

from typing import Any

import pytest

from planner.model.answer.audit import ComparisonAudit, ComparisonVerdict
from planner.model.evidence.run import RunRecord
from planner.use_cases.audited_records import audit_records
from tests.audit.test_record_rules import llama
from tests.audit.test_runs import CATALOG, CEILINGS

MATCHED = {
    "mode": "tuned", "global_batch": 64, "grad_accumulation": 8, "data": "synthetic", "checkpointing": "selective",
    "compiled": True, "method_version": 3, "environment": {"torch": "2.8", "cuda": "12.8"},
}  # fmt: skip


def newer(**told: Any) -> RunRecord:
    return llama(**{**MATCHED, "id": "newer", **told})


def older(**told: Any) -> RunRecord:
    """Return an A100 at 3,400 tokens/s, 52 % of its dense peak."""
    return llama(**{"accelerator": "A100-80GB-SXM", "speed": 3_400, **MATCHED, "id": "older", **told})


def compared(*records: RunRecord) -> ComparisonAudit:
    comparison = audit_records(records, CATALOG, CEILINGS)[1]
    assert comparison is not None
    return comparison


def codes(comparison: ComparisonAudit) -> set[str]:
    return {finding.code for finding in comparison.findings}


def test_runs_that_differ_in_their_hardware_alone_are_fair():
    comparison = compared(newer(), older())
    assert comparison.verdict is ComparisonVerdict.FAIR
    assert codes(comparison) == {"ratio", "ratio_explained"}
    assert comparison.rerun == ()


NETWORK = {"workload": "mistral-7b-v0.1", "architecture": CATALOG.find_preset("mistralai/Mistral-7B-v0.1").architecture}
UNFAIR = [
    pytest.param({"precision": "tf32", "speed": 1_500}, "precision_differs", id="precision"),
    pytest.param({"strategy": "zero3"}, "strategy_differs", id="strategy"),
    pytest.param({"global_batch": 32, "grad_accumulation": 4}, "global_batch_differs", id="global batch"),
    pytest.param({"seq_len": 2048}, "sample_length_differs", id="sample length"),
    pytest.param({"checkpointing": "full", "speed": 2_800}, "recomputation_differs", id="recomputation"),
    pytest.param({"method": "lora"}, "method_differs", id="adapters"),
    pytest.param({"data": "shards"}, "data_differs", id="input"),
    pytest.param({"compiled": False}, "software_differs", id="compiled"),
    pytest.param({"environment": {"torch": "1.13", "cuda": "12.8"}}, "software_differs", id="torch"),
    pytest.param(NETWORK, "model_differs", id="network"),
    pytest.param({"matmul_flops_by_dtype": {"float32": 1e12}, "precision": None}, "precision_not_stated", id="fp32"),
    pytest.param({"speed": 9_000}, "run_impossible", id="impossible"),
    pytest.param({"speed": 5_000}, "run_doubtful", id="doubtful"),
    pytest.param({"speed": 600}, "speedup_above_hardware", id="19 times, of peaks of 3.17"),
]


@pytest.mark.parametrize(("told", "code"), UNFAIR)
def test_what_differs_beside_the_hardware_is_named(told, code):
    comparison = compared(newer(), older(**told))
    assert code in codes(comparison)
    assert comparison.verdict in (ComparisonVerdict.UNFAIR, ComparisonVerdict.UNDECIDABLE)
    assert comparison.rerun


UNDECIDABLE = [
    pytest.param({"precision": None}, "precision_not_stated", id="precision"),
    pytest.param({"global_batch": None}, "global_batch_differs", id="global batch"),
    pytest.param({"mode": None}, "batch_not_tuned", id="not tuned"),
    pytest.param({"data": None, "method_version": None}, "packing_not_stated", id="packing"),
    pytest.param({"environment": {}}, "software_not_stated", id="software"),
]


@pytest.mark.parametrize(("told", "code"), UNDECIDABLE)
def test_what_neither_states_leaves_it_open(told, code):
    comparison = compared(newer(**told), older(**told))
    assert code in codes(comparison)
    assert comparison.verdict is ComparisonVerdict.UNDECIDABLE


def test_a_network_known_by_its_name_alone_is_the_same_by_that_name():
    unknown = {"architecture": None, "seq_len": None}
    assert "model_differs" not in codes(compared(newer(**unknown), older(**unknown)))
    assert "model_differs" in codes(compared(newer(**unknown), older(**unknown, workload="another")))


def test_on_several_counts_of_one_accelerator_the_count_is_what_is_compared():
    single, eight = newer(gpus=1, global_batch=8, micro_batch=1), newer()
    (explained,) = (finding for finding in compared(eight, single).findings if finding.code == "ratio_explained")
    assert "count x" in explained.says
    assert "hardware" not in explained.says


def test_a_run_of_an_unnamed_network_is_not_run_again_by_name():
    unnamed = CATALOG.runs["seed-000-dgx-station-v100"]
    assert not any("unnamed" in line for line in compared(unnamed, older()).rerun)
