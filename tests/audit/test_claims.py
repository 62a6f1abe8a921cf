"""The mistakes of the five documents, each found by its code; and claims that say too little."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter

from planner.adapters.bundled_tables import read_matmul_ceilings
from planner.adapters.catalog import accelerator_aliases
from planner.adapters.workspace import examples_dir
from planner.audit.claims.claim_audit import audit_claim
from planner.audit.rate_rules import with_chips
from planner.model.answer.audit import AuditVerdict, ClaimAudit
from planner.model.evidence.claims import Claim
from planner.use_cases.audit import read_claims
from tests.bundled import bundled_catalog

CATALOG = bundled_catalog().model_copy(update={"aliases": accelerator_aliases()})
CEILINGS = with_chips(read_matmul_ceilings(), CATALOG.accelerators)
FILES = sorted((examples_dir() / "claims").glob("*.yaml"))
AUDITED = {
    f"{path.stem}/{claim.id}": audit_claim(claim, CATALOG, CEILINGS) for path in FILES for _, claim in read_claims(path)
}


def figure(audit: ClaimAudit, code: str, name: str) -> float:
    finding = next(finding for finding in audit.findings if finding.code == code)
    return next(fact.value for fact in finding.evidence if fact.name == name)


def audited(**claim: object) -> ClaimAudit:
    parsed: Claim = TypeAdapter(Claim).validate_python({"id": "one", **claim})
    return audit_claim(parsed, CATALOG, CEILINGS)


@pytest.mark.parametrize(
    ("name", "code", "fact", "expected"),
    [
        pytest.param("gpu_cluster/7b-on-four-3090", "does_not_fit", "needed", 38.5, id="2N + 14N/4"),
        pytest.param("gpu_cluster/30b-on-twenty-3090", "does_not_fit", "needed", 24.0, id="16 x 30e9 / 20"),
        pytest.param("gpu_cluster/30b-on-two-pro", "does_not_fit", "needed", 240, id="16 x 30e9 / 2"),
        pytest.param("gpu_cluster/serve-405b-on-four", "does_not_fit", "needed", 202.5, id="810 / 4"),
        pytest.param("gpu_guide/train-405b", "states_above_claim", "usual", 6480, id="16 x 405e9"),
        pytest.param("gpu_guide/llama3-8b-on-p4d", "faster_than_physics", "share of peak", 2.79, id="279 %"),
        pytest.param("gpu_guide/llama3-8b-on-p4d", "faster_than_physics", "at half of the peak", 44.7, id="44.7 days"),
        pytest.param("dgx_station/rtx3060-epoch", "arithmetic", "computed", 106.96, id="106.96 h"),
        pytest.param("dgx_station/rtx3060-slowdown", "arithmetic", "computed", 18.87, id="18.87 times"),
        pytest.param("gpu_cluster/ddp-speedup-of-ten", "arithmetic", "computed", 1.75, id="47.9 / 27.4"),
    ],
)
def test_both_numbers_are_shown(name, code, fact, expected):
    assert figure(AUDITED[name], code, fact) == pytest.approx(expected, rel=0.003)


@pytest.mark.parametrize(
    ("claim", "code"),
    [
        pytest.param({"kind": "hardware", "accelerator": "무명 GPU", "figure": "fp16", "amount": "1 TFLOPS"},
                     "accelerator_not_known", id="an unknown GPU, in Korean"),
        pytest.param({"kind": "hardware", "accelerator": "H100-SXM", "figure": "fp16", "amount": 989},
                     "unit_missing", id="no unit"),
        pytest.param({"kind": "hardware", "accelerator": "H100-SXM", "figure": "fp16", "amount": "989 bananas"},
                     "unit_not_known", id="a unit of something else"),
        pytest.param({"kind": "hardware", "figure": "fp16", "amount": "989 TFLOPS"},
                     "accelerator_not_known", id="no accelerator"),
        pytest.param({"kind": "price", "node": "aws/none.1xlarge", "amount": "3 USD/h"},
                     "machine_not_known", id="an unknown machine"),
        pytest.param({"kind": "price", "node": "aws/p5.48xlarge", "amount": 98.32}, "unit_missing", id="a bare price"),
        pytest.param({"kind": "memory"}, "work_not_known", id="memory of nothing"),
        pytest.param({"kind": "speedup", "amount": "2x", "product": [1], "over": [0]}, "arithmetic", id="over zero"),
    ],
)  # fmt: skip
def test_a_claim_that_says_too_little_is_undecidable(claim, code):
    audit = audited(**claim)
    assert audit.verdict is AuditVerdict.UNDECIDABLE
    assert code in {finding.code for finding in audit.findings}


def test_a_renamed_claim_has_the_same_verdict():
    claim = {"kind": "part", "accelerator": "RTX PRO 6000 Blackwell Server", "link": "nvswitch"}
    first, other = audited(**claim), audited(**claim, quote="RTX PRO 6000에 NVSwitch 추가")
    assert first.verdict is other.verdict is AuditVerdict.IMPOSSIBLE
