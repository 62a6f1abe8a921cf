"""Rows of tables that contradict themselves or state what memory and hardware cannot do; and rows that are sound."""

from __future__ import annotations

import pytest

from planner.audit.run_audit import audit_run
from planner.audit.stated_run import stated_by_row
from planner.model.answer.audit import AuditVerdict, RunAudit
from planner.model.evidence.measurement import Measurement
from tests.audit.test_runs import CATALOG, CEILINGS

LLAMA_2 = {
    "id": "a-row", "source": "서울 연구소", "gpu": "A100-80GB-SXM", "num_gpus": 8, "model": "Llama-2-7b",
    "n_layers": 32, "hidden": 4096, "n_heads": 32, "ffn_hidden": 11008, "vocab": 32000, "mlp_type": "swiglu",
    "seq_len": 2048, "params_total": 6.74e9, "precision": "bf16", "tokens_per_s_per_gpu": 3500, "packing": "packed",
}  # fmt: skip
BY_SIZE = {key: value for key, value in LLAMA_2.items() if key not in ("n_layers", "hidden", "n_heads", "ffn_hidden")}


def audited(**told: object) -> RunAudit:
    row = Measurement.model_validate({**LLAMA_2, **told})
    return audit_run(stated_by_row(row, CATALOG, {}), CEILINGS)


WRONG = [
    pytest.param({"tokens_per_s_per_gpu": 3_500_000}, "above_peak", "impossible", id="rescaled by a thousand"),
    pytest.param({"precision": "fp8"}, "format_not_in_hardware", "impossible", id="float8 on an A100"),
    pytest.param({"throughput_total": 3_500, "unit": "tokens/s"}, "counts_disagree", "doubtful", id="total of one"),
    pytest.param({"throughput_total": 137, "unit": "samples/s"}, "counts_disagree", "doubtful",
                 id="137 x 2,048 / 8 is 35,072"),
    pytest.param({"num_nodes": 1, "gpus_per_node": 4}, "counts_disagree", "doubtful", id="eight of four"),
    pytest.param({"tp": 3}, "counts_disagree", "doubtful", id="eight by three"),
    pytest.param({"micro_batch": 1, "grad_accum": 1, "global_batch": 512}, "counts_disagree", "doubtful",
                 id="512 of 1 x 1 x 8"),
    pytest.param({"gpu": "RTX-4090", "num_gpus": 1, "params_total": 7e10, "tokens_per_s_per_gpu": 10},
                 "memory_above_capacity", "impossible", id="140 GB of weights on 24"),
    pytest.param({"gpu": "RTX-4090", "num_gpus": 1, "tokens_per_s_per_gpu": 1_000}, "memory_above_capacity", "doubtful",
                 id="40 GB of the leanest states on 24"),
]  # fmt: skip


@pytest.mark.parametrize(("told", "code", "verdict"), WRONG)
def test_what_is_wrong_is_found_by_its_code(told, code, verdict):
    audit = audited(**told)
    assert code in {finding.code for finding in audit.findings}
    assert audit.verdict is AuditVerdict(verdict)


SOUND = [
    pytest.param({}, id="46 % of the peak"),
    pytest.param({"throughput_total": 28_000, "unit": "tokens/s"}, id="total of eight"),
    pytest.param({"throughput_total": 3_500, "unit": "tokens/s per device"}, id="of one, said so"),
    pytest.param({"throughput_total": 28_000, "unit": "tokens/s/gpu"}, id="of all, under the source's own unit"),
    pytest.param({"throughput_total": 13.67, "unit": "samples/s"}, id="13.67 x 2,048 / 8"),
    pytest.param({"num_nodes": 1, "gpus_per_node": 8, "tp": 2, "pp": 2}, id="eight by four"),
    pytest.param({"micro_batch": 4, "grad_accum": 4, "global_batch": 128}, id="4 x 4 x 8"),
    pytest.param({"gpu": "RTX-4090", "num_gpus": 1, "tokens_per_s_per_gpu": 1_000, "offload": "optimizer"},
                 id="offload"),
    pytest.param({"gpu": "RTX-4090", "num_gpus": 1, "tokens_per_s_per_gpu": 1_500, "method": "LoRA", "lora_rank": 16},
                 id="adapters"),
]  # fmt: skip


@pytest.mark.parametrize("told", SOUND)
def test_what_is_sound_is_credible(told):
    audit = audited(**told)
    assert audit.verdict is AuditVerdict.CREDIBLE, audit.findings


def test_a_divided_network_that_would_fit_one_is_noted():
    codes = {finding.code for finding in audited(params_total=3e8, tp=8).findings}
    assert "sharding_not_needed" in codes


@pytest.mark.parametrize(
    ("told", "verdict"),
    [
        # 6 x 0.75 x 6.74e9 x 12,000 = 364 TFLOP/s of 312
        pytest.param({"tokens_per_s_per_gpu": 12_000}, "impossible", id="12,000 tokens/s"),
        pytest.param({"tokens_per_s_per_gpu": 3_500}, "credible", id="3,500"),
        # 4 instead of 6
        pytest.param({"tokens_per_s_per_gpu": 12_000, "method": "LoRA", "lora_rank": 8}, "doubtful", id="adapters"),
        pytest.param({"model": "Mixtral-8x7B", "params_total": 4.67e10}, "undecidable", id="a mixture, all counted"),
        pytest.param({"params_total": None}, "undecidable", id="nothing known"),
    ],
)
def test_a_network_known_by_its_size_alone_is_counted_by_it_and_marked(told, verdict):
    row = Measurement.model_validate({**BY_SIZE, **told})
    audit = audit_run(stated_by_row(row, CATALOG, {}), CEILINGS)
    assert audit.verdict is AuditVerdict(verdict), audit.findings
    marked = "work_by_parameters" in {finding.code for finding in audit.findings}
    assert marked is (verdict != "undecidable")
