"""Predictions of whole trainings, and their score."""

from __future__ import annotations

from datetime import date

import pytest

from planner.adapters.evidence import whole_trainings
from planner.model.evidence.whole_training import PracticeFit
from planner.model.plan.convergence import Practice
from planner.speed.calibration.metrics import wilson_90
from planner.use_cases.published import whole_trainings as whole_trainings_module
from planner.use_cases.published.accuracy import accuracy
from planner.use_cases.published.training_plans import plan_of
from planner.use_cases.published.whole_trainings import left_out_document, predict_trainings, whole_figures
from tests.bundled import bundled_catalog

CATALOG = bundled_catalog()
ROWS = {row.run.id: row for row in whole_trainings()}
TODAY = date(2026, 11, 24)
HEADER = "id,source,gpu,num_gpus,gpus_per_node,n_layers,hidden,n_heads,n_kv_heads,ffn_hidden,mlp_type,vocab,seq_len,"
LLAMA = "8,8,32,4096,32,32,11008,swiglu,32000,2048,"


def test_a_plan_says_what_the_row_says():
    plan = plan_of(ROWS["mpt-7b"], CATALOG)
    assert not isinstance(plan, str)
    (option,) = plan.options
    assert (option.own, option.count, option.nodes) == ("A100-40GB-SXM", 8, 55)  # 440 of them
    assert plan.work.tokens == pytest.approx(1e12)
    assert plan.practice is Practice.TYPICAL


def test_adapters_and_short_samples():
    plan = plan_of(ROWS["nanoalpaca-3b"], CATALOG)
    assert not isinstance(plan, str)
    assert plan.training.adapters is not None
    assert plan.work.samples == pytest.approx(15_011)


def test_what_no_plan_can_say_has_a_reason():
    _, without = predict_trainings([ROWS["swin-b-1"], ROWS["dolly-12b-reader"]], CATALOG, today=TODAY)
    assert without == {
        "swin-b-1": "a plan has no formula for swin_base_patch4_window7_224",
        "dolly-12b-reader": "the length of its samples is not stated",
    }


@pytest.mark.parametrize(
    ("changes", "length"),
    [
        pytest.param({"seq_len": 1024}, 1024, id="stated"),
        pytest.param({"seq_len": None}, 2048, id="tokens are stated, so that it hardly matters"),
        pytest.param({"seq_len": None, "avg_tokens_per_sample": 2049}, 4096, id="holds the mean one"),
        pytest.param({"seq_len": None, "model_family": "encoder"}, 512, id="an encoder's"),
    ],
)
def test_length_of_samples(changes: dict[str, object], length: int):
    row = ROWS["mpt-7b"]
    plan = plan_of(row.model_copy(update={"run": row.run.model_copy(update=changes)}), CATALOG)
    assert not isinstance(plan, str)
    assert plan.workload.seq_len == length


def test_no_owner_is_scored_by_a_fit_to_its_own(monkeypatch):
    rows = [ROWS[name] for name in ("mpt-7b", "llama2-7b", "llama2-13b")]
    fitted: list[set[str]] = []
    monkeypatch.setattr(whole_trainings_module, "whole_trainings", lambda: rows)

    def fit(shortfalls, **_: object) -> PracticeFit | None:
        fitted.append({shortfall.id for shortfall in shortfalls})
        return CATALOG.practice

    monkeypatch.setattr(whole_trainings_module, "fit_practice", fit)
    document = left_out_document(CATALOG, today=TODAY)
    assert fitted[:2] == [{"mpt-7b"}, {"llama2-7b", "llama2-13b"}]  # meta-llama, then mosaicml
    assert document["predicted"] == 3


def test_figures_weigh_sources_alike():
    predictions, _ = predict_trainings(
        [ROWS[name] for name in ("mpt-7b", "llama2-7b", "llama2-13b")], CATALOG, today=TODAY
    )
    figures = whole_figures(predictions)
    ratios = {prediction.training.run.id: prediction.typical_ratio for prediction in predictions}
    meta = (ratios["llama2-7b"] * ratios["llama2-13b"]) ** 0.5
    assert figures["sources"] == 2
    assert figures["middle"] == pytest.approx((ratios["mpt-7b"] + meta) / 2)


def test_wilson_by_hand():
    # 5 of 10, z = 1.645: 0.5 +- 1.645 / 1.2706 x sqrt(0.025 + 0.006765)
    assert wilson_90(0.5, 10) == pytest.approx((0.2693, 0.7307), abs=1e-3)


def test_rows_that_are_whole_trainings_are_scored_as_such(tmp_path):
    table = tmp_path / "rows.csv"
    table.write_text(
        f"{HEADER}metric,model_family,precision,tokens_per_s_per_gpu\n"
        f"whole,somebody/a,A100-80GB-SXM,{LLAMA}time_to_train,dense-decoder,bf16,2500\n"
        f"steps,somebody/b,A100-80GB-SXM,{LLAMA}throughput,dense-decoder,bf16,3500\n"
    )
    score = accuracy(table, CATALOG, anchors=0, leave_out=None, today=TODAY)
    assert [row["id"] for row in score["predictions"]] == ["steps"]
    assert [row["id"] for row in score["whole_trainings"]["predictions"]] == ["whole"]
    assert score["whole_trainings"]["predicted"] == 1
