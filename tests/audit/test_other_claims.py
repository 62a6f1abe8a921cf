"""Claims beyond the examples (`other_claims.yaml`): wrong ones get their code, sound ones get no finding."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from planner.audit.findings import CODES
from planner.model.answer.audit import AuditVerdict
from tests.audit.test_claims import audited

TABLE = yaml.safe_load(Path(__file__).with_name("other_claims.yaml").read_text("utf-8"))
CASES = [
    pytest.param(verdict, claim, id=claim["id"]) for verdict, claims in TABLE.items() for claim in claims
]  # fmt: skip


@pytest.mark.parametrize(("verdict", "claim"), CASES)
def test_a_claim_is_judged_as_by_hand(verdict, claim):
    code = claim.get("code")
    audit = audited(**{key: value for key, value in claim.items() if key not in ("code", "id")})
    codes = {finding.code for finding in audit.findings}
    assert audit.verdict is AuditVerdict(verdict), audit.findings
    assert code is None or code in codes
    assert codes <= CODES.keys()


def test_the_table_is_large_and_has_sound_claims_in_it():
    assert sum(map(len, TABLE.values())) > 150
    assert len(TABLE["credible"]) > 60


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        pytest.param(
            {"kind": "hardware", "accelerator": "H100-PCIe", "figure": "bf16", "amount": "989 TFLOPS"},
            ("989", "756", "figure of H100-SXM"), id="the figure of another card",
        ),
        pytest.param(
            {"kind": "hardware", "accelerator": "RTX-3090", "figure": "fp16", "amount": "35.6 TFLOPS"},
            ("35.6", "71", "its fp32 figure"), id="the figure of another format",
        ),
        pytest.param(
            {"kind": "price", "node": "aws/p5.48xlarge", "amount": "$6.88/h"},
            ("6.88", "55.04", "one of its 8 accelerators"), id="the price of one of eight",
        ),
        pytest.param(
            {"kind": "price", "accelerator": "H100", "amount": "$98.32/h"}, ("98.32", "machine of several"),
            id="the price of eight as of one",
        ),
        pytest.param(
            {"kind": "sum", "amount": "151,000 USD", "terms": ["12,000 USD", "3,100 USD"]},
            ("151,000", "15,100", "factor of 10"), id="a zero too many",
        ),
        pytest.param(
            {"kind": "speedup", "amount": "10x", "accelerator": "H200", "than_accelerator": "A100",
             "precision": "bf16"},
            ("10", "3.17", "2.35"), id="above peaks (989.4 / 312) and bandwidth (4,800 / 2,039)",
        ),
        pytest.param(
            {"kind": "training", "parameters": "8B", "tokens": "1T", "accelerator": "H100", "accelerators": 64,
             "time": "9.4 days"},
            ("93%", "only fp8"), id="6 x 8e9 x 1e12 / (64 x 989.4e12 x 812,160 s), which fp8 could do",
        ),
    ],
)  # fmt: skip
def test_the_sentence_shows_both_numbers_and_what_was_mixed_up(claim, words):
    (finding,) = audited(**claim).findings
    assert all(word in finding.says for word in words), finding.says


def test_a_training_of_machines_priced_one_by_one_adds_up():
    # 32 H100 are four machines at 60 USD an hour: 4 x 60 x 240 h
    claim = {"kind": "training", "parameters": "8B", "tokens": "300B", "accelerator": "H100", "accelerators": 32,
             "time": "10 days", "price": "60 USD/h"}  # fmt: skip
    assert audited(**claim, cost="57,600 USD").verdict is AuditVerdict.CREDIBLE
    wrong = audited(**claim, cost="8,000 USD")
    assert {finding.code for finding in wrong.findings} == {"arithmetic"}


def test_a_machine_charged_once_for_each_of_its_accelerators_is_found():
    claim = {"kind": "training", "parameters": "8B", "tokens": "100B", "accelerator": "H100", "accelerators": 8,
             "time": "20 days", "price": "98.32 USD/h", "cost": "377,549 USD"}  # fmt: skip
    audit = audited(**claim)  # 98.32 x 480 h x 8
    assert {finding.code for finding in audit.findings} == {"price_not_for_the_machine"}
