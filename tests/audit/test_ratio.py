"""Explanations of the ratio of two runs: pairs of published rows that differ in one setting, and laws."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.model.answer.audit import ComparisonAudit
from planner.model.evidence.run import RunRecord
from planner.use_cases.audited_records import audit_records
from tests.audit.test_runs import A100, CATALOG, CEILINGS, H200, faster
from tests.use_cases.test_check_run import LLAMA, run

LLAMA_3B = ("meta-llama/Llama-3.2-3B", "A100-80GB-SXM", 1, 4096, 2)
TUNE = {"framework": "torchtune, torch.compile"}
PAIRS = [
    # field_reports.csv m04637, m04638: all else the same
    pytest.param(
        run(*LLAMA_3B, 9174, checkpointing="none", **TUNE), run(*LLAMA_3B, 7210, checkpointing="full", **TUNE),
        "recomputation", id="recomputation",
    ),
    # torchtitan.csv titan-12, titan-11
    pytest.param(
        run(*LLAMA, 8, 8192, 2, 6667, checkpointing="selective", framework="torchtitan"),
        run(*LLAMA, 8, 8192, 2, 5762, checkpointing="selective", framework="torchtitan, no torch.compile"),
        "software", id="torch.compile",
    ),
    # open_projects.csv proj-87, proj-86
    pytest.param(
        run("llama3-8b", "H200-SXM", 8, 4096, 4, 16432, precision="float8", framework="PyTorch, TransformerEngine"),
        run("llama3-8b", "H200-SXM", 8, 4096, 1, 11155, precision="float8", framework="PyTorch, TransformerEngine"),
        "batch", id="micro-batch",
    ),
]  # fmt: skip


def compared(*records: RunRecord) -> ComparisonAudit:
    comparison = audit_records(records, CATALOG, CEILINGS)[1]
    assert comparison is not None
    return comparison


def facts(comparison: ComparisonAudit, code: str) -> dict[str, float]:
    finding = next(finding for finding in comparison.findings if finding.code == code)
    return {fact.name: fact.value for fact in finding.evidence}


@pytest.mark.parametrize(("first", "second", "cause"), PAIRS)
def test_the_one_difference_explains_the_ratio_of_published_rows(first, second, cause):
    explained = facts(compared(first, second), "ratio_explained")
    assert {name for name in explained if not name.endswith("_share")} == {cause, "unexplained"}
    assert 0.5 < explained[f"{cause}_share"] < 1.5
    assert explained[cause] * explained["unexplained"] == pytest.approx(
        facts(compared(first, second), "ratio")["ratio"]
    )


def test_the_support_cases_ratio_is_half_of_what_hardware_and_recomputation_explain():
    explained = facts(compared(H200, A100), "ratio_explained")
    assert explained["hardware"] > 1.9  # by peaks 3.17, by memory bandwidth 3.09
    assert explained["recomputation"] > 1.1
    assert explained["unexplained"] < 0.65
    assert sum(value for name, value in explained.items() if name.endswith("_share")) == pytest.approx(1)


def test_an_impossible_run_is_no_evidence_of_the_true_ratio():
    ratio = facts(compared(H200, A100), "ratio")
    other = facts(compared(H200, faster(A100, 1.2)), "ratio")
    assert (ratio["true_low"], ratio["true_high"]) == (other["true_low"], other["true_high"])


def test_where_a_format_is_open_the_true_ratio_is_wider():
    stated = H200.model_copy(update={"precision": "bf16"})
    slower = faster(A100, 0.5)
    open_, known = (facts(compared(record, slower), "ratio") for record in (H200, stated))
    assert open_["true_high"] > known["true_high"]


@settings(max_examples=15, deadline=None)
@given(st.floats(0.2, 1.0), st.floats(0.2, 0.9))
def test_factors_multiply_to_the_ratio_and_turn_over_with_it(first, other):
    pair = faster(H200, first), faster(A100, other)
    there, back = (facts(compared(*runs), "ratio_explained") for runs in (pair, pair[::-1]))
    ratio = facts(compared(*pair), "ratio")["ratio"]
    assert math.prod(value for name, value in there.items() if not name.endswith("_share")) == pytest.approx(ratio)
    assert all(there[name] * back[name] == pytest.approx(1) for name in ("hardware", "recomputation", "unexplained"))


def test_what_the_estimator_does_not_know_is_said():
    comparison = compared(CATALOG.runs["seed-000-dgx-station-v100"], A100)
    assert "cannot model both runs" in next(
        finding.says for finding in comparison.findings if finding.code == "ratio_explained"
    )


def test_each_of_several_runs_is_held_against_the_first():
    records = [CATALOG.runs[f"seed-003-rtx3090-ddp-x{count}"] for count in (1, 2, 4)]
    ratios = [finding for finding in compared(*records).findings if finding.code == "ratio"]
    assert len(ratios) == 2
    assert all(ratio.says.startswith(records[0].id) for ratio in ratios)
    assert all(ratio.says != other.says for ratio, other in pairwise(ratios))
