"""Runs compared with physics: the support case by hand, and laws for any record."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.adapters.bundled_tables import read_matmul_ceilings
from planner.adapters.catalog import accelerator_aliases
from planner.audit.findings import CODES
from planner.audit.rate_rules import with_chips
from planner.model.answer.audit import AuditVerdict, ComparisonVerdict, RunAudit
from planner.model.evidence.imported_log import ImportedLog
from planner.model.evidence.run import RunRecord
from planner.use_cases.audited_records import audit_records
from tests.bundled import bundled_catalog

CATALOG = bundled_catalog().model_copy(update={"aliases": accelerator_aliases()})
CEILINGS = with_chips(read_matmul_ceilings(), CATALOG.accelerators)
A100, H200 = CATALOG.runs["seed-004-onprem-a100"], CATALOG.runs["seed-004-p5e-h200"]
ONE_CARD = CATALOG.runs["seed-003-rtx3090-ddp-x1"]
ORDER = [AuditVerdict.CREDIBLE, AuditVerdict.UNDECIDABLE, AuditVerdict.DOUBTFUL, AuditVerdict.IMPOSSIBLE]


def audited(*records: RunRecord) -> list[RunAudit]:
    return audit_records(records, CATALOG, CEILINGS)[0]


def codes(run: RunAudit) -> set[str]:
    return {finding.code for finding in run.findings}


def figure(run: RunAudit, code: str, name: str) -> float:
    finding = next(finding for finding in run.findings if finding.code == code)
    return next(fact.value for fact in finding.evidence if fact.name == name)


def faster(record: RunRecord, times: float) -> RunRecord:
    told = record.throughput
    throughput = told.model_copy(update={name: getattr(told, name) * times for name in ("value", "low", "high")})
    return record.model_copy(
        update={"throughput": throughput, "samples": None, "wall_seconds": None, "step_seconds": None}
    )


def test_the_a100_record_is_impossible_and_four_explanations_survive():
    run = audited(A100)[0]
    assert run.verdict is AuditVerdict.IMPOSSIBLE
    assert [explanation.code for explanation in run.explanations] == [
        "shorter_samples", "more_accelerators", "less_work_per_token", "wrong_throughput",
    ]  # fmt: skip
    assert figure(run, "above_ceiling_recomputing", "executed_recomputing") == pytest.approx(291, abs=1)
    assert figure(run, "above_ceiling_recomputing", "ceiling") == 271.2


@pytest.mark.parametrize(
    ("record", "fp32", "tf32", "tf32_full", "open_below"),
    [
        pytest.param(H200, 6.71, 0.71, 0.91, 996, id="H200: TF32 is not ruled out"),
        pytest.param(A100, 15.1, 1.47, 1.88, 465, id="A100: TF32 is ruled out"),
    ],
)
def test_formats_are_ruled_out_as_stated_and_open_again_below_a_length(record, fp32, tf32, tf32_full, open_below):
    run = audited(record)[0]
    assert figure(run, "precision_ruled_out", "fp32_share_full_attention") == pytest.approx(fp32, rel=0.01)
    assert figure(run, "precision_ruled_out", "tf32_share") == pytest.approx(tf32, abs=0.005)
    assert figure(run, "precision_ruled_out", "tf32_share_full_attention") == pytest.approx(tf32_full, abs=0.005)
    assert figure(run, "precision_open_below", "tokens") == pytest.approx(open_below, abs=1)


def test_the_support_cases_comparison_is_unfair_and_says_what_to_run():
    comparison = audit_records([H200, A100], CATALOG, CEILINGS)[1]
    assert comparison is not None
    assert comparison.verdict is ComparisonVerdict.UNFAIR
    found = {finding.code for finding in comparison.findings}
    assert {"run_impossible", "precision_not_stated", "packing_not_stated", "batch_not_tuned"} <= found
    assert "aws/p5e.48xlarge" in comparison.rerun[0]
    assert "--precision bf16" in comparison.rerun[0]


RUN_CASES = [
    pytest.param(A100, "model_names_disagree", id="dense, and a mixture of experts"),
    pytest.param(A100, "memory_forces_recomputation", id="four samples on 40 GiB"),
    pytest.param(A100, "above_best_published", id="73 % causal against 69 %"),
    pytest.param(H200, "sharding_not_needed", id="ZeRO-2 of 0.6B"),
    pytest.param(H200, "precision_not_stated", id="fp16=False"),
    pytest.param(
        H200.model_copy(update={"memory": {"used_fraction": 0.04}}), "memory_unlike_reported", id="4 % of the memory"
    ),
    pytest.param(H200.model_copy(update={"environment": {}}), "fabric_not_recorded", id="nothing says EFA"),
    pytest.param(CATALOG.runs["seed-003-rtx3090-ddp-x2"], "no_peer_to_peer", id="CNS"),
    pytest.param(H200.model_copy(update={"wall_seconds": 20_000.0}), "counts_disagree", id="samples, time, rate"),
    pytest.param(faster(H200, 3.5), "above_peak", id="over the peak"),
    pytest.param(faster(A100, 1.3), "above_ceiling", id="between the measured ceiling and the peak"),
    pytest.param(A100.model_copy(update={"micro_batch": 512}), "memory_above_capacity", id="512 samples on 40 GiB"),
    pytest.param(A100.model_copy(update={"seq_len": None}), "work_not_known", id="no sample length"),
    pytest.param(
        A100.model_copy(update={"hardware": A100.hardware.model_copy(update={"accelerator": "QX-9000"})}),
        "accelerator_not_known",
        id="unknown accelerator",
    ),
]


LOG = ImportedLog(format="csv", framework=None, sha256=("0" * 64,), counted_steps=30.0, counted_seconds=30.0)
LOG_CASES = [
    pytest.param(LOG.model_copy(update={"drift": 1.2}), (), "drift", id="steps grow longer by a fifth"),
    pytest.param(LOG.model_copy(update={"drift": 0.8}), (), "drift", id="steps grow shorter"),
    pytest.param(LOG, ("only totals are known",), "log_doubt", id="what the import doubts"),
]


@pytest.mark.parametrize(("log", "doubts", "code"), LOG_CASES)
def test_an_imported_log_is_doubtful_by_what_it_shows(log, doubts, code):
    run = audited(ONE_CARD.model_copy(update={"log": log, "verdict": doubts}))[0]
    assert code in codes(run)
    assert run.verdict is AuditVerdict.DOUBTFUL


def test_a_log_without_drift_or_doubt_is_credible():
    still = LOG.model_copy(update={"drift": 1.04})
    assert audited(ONE_CARD.model_copy(update={"log": still}))[0].verdict is AuditVerdict.CREDIBLE


@pytest.mark.parametrize(("record", "code"), RUN_CASES)
def test_a_mistake_of_a_run_is_found_by_its_code(record, code):
    assert code in codes(audited(record)[0])


def test_float8_keeps_an_h200_without_precision_from_being_impossible():
    run = audited(faster(H200, 2.6))[0]
    assert run.verdict is AuditVerdict.DOUBTFUL
    assert "lower_precision" in {explanation.code for explanation in run.explanations}


@pytest.mark.parametrize(
    ("names", "place", "code"),
    [
        pytest.param(("ddp-x2", "ddp-x4"), 1, "slower_with_more", id="DDP: 28.6 on four, 29.3 on two"),
        pytest.param(("zero2-x8", "zero2-x10"), 1, "slower_with_more", id="ZeRO-2: 52.6 on ten, 59.4 on eight"),
    ],
)
def test_runs_on_more_cards_are_held_against_those_on_fewer(names, place, code):
    runs = audited(*(CATALOG.runs[f"seed-003-rtx3090-{name}"] for name in names))
    assert code in codes(runs[place])


def test_scaling_above_linear_is_found():
    four = CATALOG.runs["seed-003-rtx3090-ddp-x4"]
    runs = audited(ONE_CARD, faster(four, 4.5))  # 128.7 on four, 27.4 on one: 117 %
    assert "scaling_above_linear" in codes(runs[1])


@pytest.mark.parametrize(
    ("name", "times", "found"),
    [
        pytest.param("ddp-x8", 1.0, False, id="DDP on eight: PCIe without peer-to-peer explains it"),
        pytest.param("ddp-x10", 1.0, False, id="on ten"),
        pytest.param("ddp-2n-x20", 1.0, False, id="two nodes at 20 Gbit/s"),
        pytest.param("ddp-x8", 0.1, True, id="a tenth of that"),
    ],
)
def test_scaling_below_what_the_slowest_link_explains_is_found(name, times, found):
    many = faster(CATALOG.runs[f"seed-003-rtx3090-{name}"], times)
    assert ("scaling_below_link" in codes(audited(ONE_CARD, many)[1])) is found


def test_of_a_machine_that_is_not_known_the_slowest_link_counts():
    eight = CATALOG.runs["seed-003-rtx3090-ddp-x8"]
    unknown = eight.model_copy(update={"hardware": eight.hardware.model_copy(update={"node": None})})
    assert "scaling_below_link" not in codes(audited(ONE_CARD, unknown)[1])


@settings(max_examples=30, deadline=None)
@given(st.sampled_from([A100, H200, ONE_CARD]), st.floats(0.05, 8), st.floats(1, 8))
def test_more_throughput_never_makes_a_run_more_credible(record, times, more):
    slow, fast = audited(faster(record, times))[0], audited(faster(record, times * more))[0]
    assert ORDER.index(slow.verdict) <= ORDER.index(fast.verdict)


@settings(max_examples=20, deadline=None)
@given(st.sampled_from([A100, H200, ONE_CARD]), st.from_regex(r"[A-Za-z0-9]{1,20}", fullmatch=True))
def test_a_name_changes_no_verdict(record, name):
    renamed = audited(record.model_copy(update={"id": name}))[0]
    assert renamed.model_copy(update={"id": record.id}) == audited(record)[0]


@pytest.mark.parametrize("times", [2, 3, 8])
@pytest.mark.parametrize("record", [A100, H200, CATALOG.runs["seed-003-rtx3090-ddp-x10"]], ids=lambda run: run.id)
def test_so_many_times_the_nodes_and_the_throughput_is_the_same_verdict(record, times):
    hardware = record.hardware.model_copy(update={"nodes": record.hardware.nodes * times})
    batch = record.global_batch and record.global_batch * times
    larger = faster(record, times).model_copy(update={"hardware": hardware, "global_batch": batch, "id": "renamed"})
    first, other = audited(record)[0], audited(larger)[0]
    assert other.verdict is first.verdict
    assert codes(other) == codes(first)
    assert [explanation.code for explanation in other.explanations] == [
        explanation.code for explanation in first.explanations
    ]


@pytest.mark.parametrize("record", CATALOG.runs.values(), ids=lambda run: run.id)
def test_every_code_is_documented(record):
    run = audited(record)[0]
    assert {*codes(run), *(explanation.code for explanation in run.explanations)} <= CODES.keys()
