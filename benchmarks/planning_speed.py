"""Measures the configurations per second of the estimator with ranges: one at a time, and 100,000 at once.

Prints one JSON document. The same run times llm-analysis if its environment exists (`make accuracy-peers`, or the
interpreter in LLM_ANALYSIS). The target is 30 times its rate.
"""

from __future__ import annotations

import json
import math
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import peers
from planner.adapters.catalog import load_catalog
from planner.model.answer.reason import Reason
from planner.model.network.architecture import Decoder
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.scenario.cluster import Cluster
from planner.scenario.training_setup import TrainingSetup
from planner.speed.estimator.text_estimator import OF_TEXT
from planner.speed.physics.config_arrays import Configs, from_rows
from planner.speed.physics.planned_text_config import labels_of, planned_text_config

MANY = 100_000
REPEATS = 200
TURNS = 3
NODES = ("aws/p4d.24xlarge", "aws/p5.48xlarge", "aws/p5e.48xlarge", "rtx3090-x10")


def described() -> list[tuple[dict[str, float], str]]:
    """Describe each combination of hardware, nodes, strategy, micro-batch and checkpointing once."""
    catalog = load_catalog()
    decoder = catalog.presets["llama3-8b"].architecture
    assert isinstance(decoder, Decoder)
    configs = []
    for name in NODES:
        node = catalog.nodes[name]
        accelerator = catalog.accelerators[node.accelerator]
        for nodes in (1, 2, 4, 8, 16, 32):
            for strategy in Strategy:
                for micro_batch in (1, 2, 4, 8):
                    for checkpointing in Checkpointing:
                        config = planned_text_config(
                            TrainingSetup(
                                workload="asked",
                                network=decoder,
                                seq_len=4096,
                                precision=Precision.BF16,
                                checkpointing=checkpointing,
                                strategy=strategy,
                                compiled=False,
                            ),
                            Cluster(accelerator, node, nodes, node.accelerators),
                            micro_batch=micro_batch,
                            micro_batches=4,
                        )
                        assert not isinstance(config, Reason)
                        configs.append((config, accelerator.id))
    return configs


def main() -> None:
    """Time both, and print."""
    import numpy as np

    catalog = load_catalog()
    assert catalog.calibration is not None
    kinds = described()
    labels = [labels_of(catalog.accelerators[name], "llama3-8b") for _, name in kinds]
    few = from_rows([config for config, _ in kinds])
    places = np.arange(MANY) % len(kinds)
    many: Configs = few.at(places)
    many_labels = [labels[place] for place in places]
    OF_TEXT.estimate(few, labels, catalog.calibration)
    many_s, peer = math.inf, None
    for _ in range(TURNS):  # alternately, so that other work on the machine slows both; the best of each counts
        began = time.perf_counter()
        estimates = OF_TEXT.estimate(many, many_labels, catalog.calibration)
        many_s = min(many_s, time.perf_counter() - began)
        peer = _faster(peer, _peer())
    assert len(estimates.low_90) == MANY
    single, one_label = few.at(slice(0, 1)), labels[:1]
    began = time.perf_counter()
    for _ in range(REPEATS):
        OF_TEXT.estimate(single, one_label, catalog.calibration)
    one_ms = (time.perf_counter() - began) / REPEATS * 1e3
    document = {
        "kind": "planning_speed",
        "configurations": MANY,
        "seconds": round(many_s, 3),
        "per_s": round(MANY / many_s),
        "one_ms": round(one_ms, 3),
        "peak_gib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 3),
        "llm_analysis_per_s": peer,
    }
    document["ratio"] = round(MANY / many_s / peer, 1) if isinstance(peer, float) else None
    print(json.dumps(document, indent=1))


def _faster(best: float | str | None, other: float | str) -> float | str:
    return max(best, other) if isinstance(best, float) and isinstance(other, float) else other


def _peer() -> float | str:
    answer = peers.ask([])
    return answer if isinstance(answer, str) else float(answer["per_s"])


if __name__ == "__main__":
    main()
