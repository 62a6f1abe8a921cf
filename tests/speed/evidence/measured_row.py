"""Published row for tests, with changes, as the physics sees it."""

from __future__ import annotations

from typing import Any

from planner.adapters.catalog import accelerator_aliases
from planner.model.evidence.measurement import Measurement
from planner.speed.evidence.measured_text_config import observe
from planner.speed.physics.observation import Observation, Refusal
from tests.bundled import bundled_catalog

LLAMA = {
    "id": "a", "source": "somebody", "gpu": "H100-SXM5-80GB", "gpus_per_node": "8", "num_gpus": "8", "n_layers": "32.0",
    "hidden": "4096.0", "n_heads": "32", "n_kv_heads": "8", "ffn_hidden": "14336", "mlp_type": "swiglu",
    "vocab": "128256", "seq_len": "8192", "precision": "bf16", "micro_batch": "1", "zero": "3.0", "framework": "own",
    "tokens_per_s_per_gpu": "300",
}  # fmt: skip
MAVERICK = {
    "n_layers": "48", "hidden": "5120", "n_heads": "40", "n_kv_heads": "8", "ffn_hidden": "8192", "vocab": "202048",
    "mlp_type": "swiglu moe(128 experts, top1)", "params_total": "400700000000", "params_active": "17200000000",
}  # fmt: skip
"""Network with experts in every second layer, one shared expert, and a wider network in the other layers."""


def seen(**changes: Any) -> Observation | Refusal:
    row = Measurement.model_validate({key: value for key, value in (LLAMA | changes).items() if value != ""})
    return observe(row, bundled_catalog().accelerators, accelerator_aliases())


def config(**changes: Any) -> dict[str, float]:
    found = seen(**changes)
    assert isinstance(found, Observation), found
    return found.config
