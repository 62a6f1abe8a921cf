"""Small decoder on a machine in the physics' terms."""

from __future__ import annotations

from functools import cache

from planner.model.answer.reason import Reason
from planner.model.network.architecture import Decoder
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.scenario.cluster import Cluster
from planner.scenario.training_setup import TrainingSetup
from planner.speed.physics import compute
from planner.speed.physics.config_arrays import Configs, from_rows
from planner.speed.physics.parameters import PARAMETERS
from planner.speed.physics.planned_text_config import planned_text_config
from tests.bundled import bundled_catalog

PRIORS = {parameter.name: parameter.prior for parameter in PARAMETERS}
FREE = PRIORS | {"message_us": 0.0, "hop_us": 0.0, "network": 1.0, "nvlink": 1.0}
MIXTURE = {
    "experts": 64.0, "active_experts": 8.0, "routed_experts": 8.0, "mlp_matrices": 3.0, "ffn_hidden": 512.0,
    "parameters": 2e9, "dp": 64.0, "ep": 64.0, "tp": 1.0, "shards": 64.0, "intra": 1e15, "inter": 25e9,
}  # fmt: skip
"""Experts on 64 accelerators in machines of eight, with free links inside a machine."""
HIDDEN, FFN, HEADS = 1024, 4096, 16


@cache
def described(machine: str = "aws/p4d.24xlarge") -> dict[str, float]:
    catalog = bundled_catalog()
    node = catalog.nodes[machine]
    decoder = Decoder(
        layers=12, hidden=HIDDEN, heads=HEADS, kv_heads=HEADS, head_dim=64, ffn_hidden=FFN, mlp="gelu", norm="rmsnorm",
        positions="rope", max_positions=8192, vocab=32_000, tied_head=False,
    )  # fmt: skip
    found = planned_text_config(
        TrainingSetup(
            workload="asked",
            network=decoder,
            seq_len=1024,
            precision=Precision.FP16,
            checkpointing=Checkpointing.NONE,
            strategy=Strategy.DDP,
            compiled=False,
        ),
        Cluster(catalog.accelerators[node.accelerator], node, 1, 8),
        micro_batch=1,
        micro_batches=4,
    )
    assert not isinstance(found, Reason)
    return found


def configs(**changes: float) -> Configs:
    return from_rows([described() | changes])


def host_layers(**changes: float) -> float:
    """Return the host's time of a layer over that of a dense network that is not sharded."""
    changed, plain = (compute.host_seconds(configs(**facts), PRIORS)[0] for facts in (changes, {}))
    return float(changed / plain)
