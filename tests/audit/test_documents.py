"""Every mistake of the five documents, with the example or record that contains it and the code of its finding."""

from __future__ import annotations

from functools import cache

import pytest

from planner.model.answer.audit import AuditVerdict, Finding
from planner.use_cases.audited_records import audit_records
from tests.audit.test_claims import AUDITED
from tests.audit.test_runs import CATALOG, CEILINGS

A100, H200 = "seed-004-onprem-a100", "seed-004-p5e-h200"
CARD = "seed-003-rtx3090-ddp-x1"
BOTH = (H200, A100)
MISTAKES = [
    # 000: a DGX Station against A100 and H200
    ("a larger batch, and as many batches an epoch", "dgx_station/tables-of-larger-batches", "arithmetic", "2.7"),
    ("the same: batch 256 on four A100", "dgx_station/tables-of-larger-batches", "arithmetic", "2.1"),
    ("the same: batch 512 on an H200", "dgx_station/tables-of-larger-batches", "arithmetic", "1.3 "),
    ("the same: batch 1,024 on two", "dgx_station/tables-of-larger-batches", "arithmetic", "1.1"),
    ("H200: 1,979 TFLOPS in FP16", "dgx_station/h200-fp16-peak", "sparse_peak_as_dense", "989"),
    ("H200: third-generation tensor cores", "dgx_station/h200-tensor-cores", "differs_from_data_sheet", "4"),
    ("A100: second-generation tensor cores", "dgx_station/a100-tensor-cores", "differs_from_data_sheet", "3"),
    ("a DGX Station A100 of two cards", "dgx_station/dgx-station-a100-cards", "node_holds_other_parts", "4"),
    # 001: the same against local PCs
    ("RTX 3060: 83.5 hours", "dgx_station/rtx3060-epoch", "arithmetic", "107"),
    ("RTX 3060: 14.7 times slower", "dgx_station/rtx3060-slowdown", "arithmetic", "18.87"),
    ("a DGX Station of 3,000 W", "dgx_station/dgx-station-power", "differs_from_data_sheet", "1,500"),
    # 002: a guide to GPUs and clouds
    ("7B needs 56 GB", "gpu_guide/train-7b", "states_above_claim", "112"),
    ("7B in full on one card of 80 GB", "gpu_guide/train-7b", "does_not_fit", "112"),
    ("8 bytes a parameter", "gpu_guide/train-7b", "method_not_usual", "16"),
    ("13B needs 104 GB", "gpu_guide/train-13b", "states_above_claim", "208"),
    ("70B needs 560 GB", "gpu_guide/train-70b", "states_above_claim", "1,120"),
    ("405B needs 3.2 TB", "gpu_guide/train-405b", "states_above_claim", "6,480"),
    ("1T needs 8 TB", "gpu_guide/train-1t", "states_above_claim", "16,000"),
    ("13B on two H100", "gpu_guide/train-13b", "does_not_fit", "104"),
    ("70B on eight", "gpu_guide/train-70b", "does_not_fit", "140"),
    ("405B on forty", "gpu_guide/train-405b", "does_not_fit", "162"),
    ("1T on a hundred", "gpu_guide/train-1t", "does_not_fit", "160"),
    ("trn1 carries Trainium 2", "gpu_guide/trn1-chip", "node_holds_other_parts", "Trainium1"),
    ("an NVL72 of Grace Hoppers", "gpu_guide/nvl72-host", "host_of_another_generation", "Blackwell"),
    ("NVL72: 1.4 EFLOPS in FP4", "gpu_guide/nvl72-fp4", "sparse_peak_as_dense", "720,000"),
    ("NVL72: 720 PFLOPS in FP8", "gpu_guide/nvl72-fp8", "sparse_peak_as_dense", "360,000"),
    ("V100: 14 TFLOPS beside NVLink", "gpu_guide/v100-fp32-with-nvlink", "differs_from_data_sheet", "V100-PCIe"),
    ("V100: 112 TFLOPS beside NVLink", "gpu_guide/v100-fp16-with-nvlink", "differs_from_data_sheet", "V100-PCIe"),
    ("the card of these figures has no NVLink", "gpu_guide/v100-pcie-nvlink", "part_does_not_exist", "NVLink"),
    ("Llama 3 8B on eight A100 in 8 days", "gpu_guide/llama3-8b-on-p4d", "faster_than_physics", "279%"),
    ("in 7 to 10 days", "gpu_guide/llama3-8b-in-a-week", "faster_than_physics", "44.7"),
    ("B200: 4,500 TFLOPS in FP16", "gpu_guide/b200-fp16", "sparse_peak_as_dense", "2,250"),
    ("B200: 9 PFLOPS in FP8", "gpu_guide/b200-fp8", "sparse_peak_as_dense", "4,500"),
    ("B200: 20 PFLOPS in FP4", "gpu_guide/b200-fp4", "sparse_peak_as_dense", "9,000"),
    ("RTX 4090: 330 TFLOPS", "gpu_guide/rtx4090-fp16", "sparse_peak_as_dense", "165"),
    ("RTX 2080 Ti: 107 TFLOPS", "gpu_guide/rtx2080ti-fp16", "sparse_peak_as_dense", "53.8"),
    ("TPU v4: 400 TFLOPS a chip", "gpu_guide/tpu-v4-peak", "differs_from_data_sheet", "275"),
    ("DGX A100: 5 PFLOPS in FP16", "gpu_guide/dgx-a100-fp16", "sparse_peak_as_dense", "2,496"),
    ("DGX H100: 32 PFLOPS in FP8", "gpu_guide/dgx-h100-fp8", "sparse_peak_as_dense", "15,832"),
    ("p5.48xlarge at 98.32 an hour", "gpu_guide/p5-price", "price_out_of_date", "55.04"),
    ("p4d.24xlarge at 32.77 an hour", "gpu_guide/p4d-price", "price_out_of_date", "21.96"),
    ("eight H100 at 19 to 25 an hour", "gpu_guide/a3-price", "price_not_for_the_machine", "8 such"),
    # 003: ten RTX 3090 and four RTX PRO 6000
    ("the speed-ups of DDP are those of ZeRO-2", "gpu_cluster/ddp-speedup-of-ten", "arithmetic", "1.748"),
    ("7B in full on four RTX 3090", "gpu_cluster/7b-on-four-3090", "does_not_fit", "38.5"),
    ("30B on twenty", "gpu_cluster/30b-on-twenty-3090", "does_not_fit", "24"),
    ("7B on one RTX PRO 6000", "gpu_cluster/7b-on-one-pro", "does_not_fit", "112"),
    ("30B on two", "gpu_cluster/30b-on-two-pro", "does_not_fit", "240"),
    ("70B on four", "gpu_cluster/70b-on-four-pro", "does_not_fit", "280"),
    ("200B on eight", "gpu_cluster/200b-on-eight-pro", "does_not_fit", "400"),
    ("serving 70B in FP16 on one", "gpu_cluster/serve-70b-on-one", "does_not_fit", "140"),
    ("serving 405B on four", "gpu_cluster/serve-405b-on-four", "does_not_fit", "202.5"),
    ("NVSwitch for the RTX PRO 6000", "gpu_cluster/pro-6000-nvswitch", "part_does_not_exist", "no NVLink"),
    ("RTX PRO 6000: 100 TFLOPS in FP16", "gpu_cluster/pro-6000-fp16", "differs_from_data_sheet", "480"),
    ("RTX 3090: 35 TFLOPS in FP16", "gpu_cluster/rtx3090-fp16", "differs_from_data_sheet", "its fp32 figure"),
    ("27.4 samples/s prove no precision", CARD, "precision_not_stated", "No precision"),
    ("no peer-to-peer", "seed-003-rtx3090-ddp-x2", "no_peer_to_peer", "CNS"),
    # 004: A100 against P5e
    ("the A100's rate, with the recomputation it needs", A100, "above_ceiling_recomputing", "107%"),
    ("94 % of its peak, above all published", A100, "above_best_published", "94%"),
    ("FP32 on the A100, and TF32", A100, "precision_ruled_out", "fp32 and TF32 are too slow"),
    ("FP32 on the H200", H200, "precision_ruled_out", "fp32 is too slow; open: TF32"),
    ("short samples open it again, on the A100", A100, "precision_open_below", "465"),
    ("and on the H200", H200, "precision_open_below", "996"),
    ("fp16=False read as FP32", H200, "precision_not_stated", "fp16=False"),
    ("four samples of 4,096 on 40 GiB", A100, "memory_forces_recomputation", "must have recomputed"),
    ("Qwen3MoeForCausalLM beside the dense 0.6B", A100, "model_names_disagree", "Qwen3MoeForCausalLM"),
    ("ZeRO-2 for 0.6B", H200, "sharding_not_needed", "ddp"),
    ("a batch of four on 141 GB", H200, "batch_far_below_memory", "8 and more"),
    ("4 % of the memory used", "support_case/memory-used", "occupancy_too_low", "4%"),
    ("1.53 ranks the two machines", BOTH, "run_impossible", "ranks nothing"),
    ("without a stated precision", BOTH, "precision_not_stated", "not stated"),
    ("nor whether samples were full", BOTH, "packing_not_stated", "full"),
    ("nor the global batch", BOTH, "global_batch_differs", "not stated"),
    ("nor whether the batch was tuned", BOTH, "batch_not_tuned", "tuned"),
]  # fmt: skip
"""Mistakes: text, place, code, and words that the sentence must also contain."""


@cache
def findings(where: str | tuple[str, ...]) -> tuple[Finding, ...]:
    if isinstance(where, tuple):
        comparison = audit_records([CATALOG.runs[run] for run in where], CATALOG, CEILINGS)[1]
        assert comparison is not None
        return comparison.findings
    if where in CATALOG.runs:
        return audit_records([CATALOG.runs[where]], CATALOG, CEILINGS)[0][0].findings
    return AUDITED[where].findings


@pytest.mark.parametrize(("mistake", "where", "code", "shown"), MISTAKES, ids=[row[0] for row in MISTAKES])
def test_a_mistake_of_the_documents_is_found_by_its_code(mistake, where, code, shown):
    says = [finding.says for finding in findings(where) if finding.code == code]
    assert any(shown in text for text in says), (mistake, says)


@pytest.mark.parametrize("name", sorted(AUDITED.keys() - {where for _, where, _, _ in MISTAKES}))
def test_every_other_claim_of_the_documents_holds(name):
    assert AUDITED[name].verdict is AuditVerdict.CREDIBLE, AUDITED[name].findings


def test_runs_of_one_setup_that_differ_are_both_kept():
    assert {"seed-003-rtx3090-zero2-x10", "seed-003-rtx3090-zero2-x10-b"} <= CATALOG.runs.keys()
