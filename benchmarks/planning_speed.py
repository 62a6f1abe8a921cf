"""How many configurations the estimator answers in a second, with ranges: one, and 100,000 at once.

Prints one JSON document. llm-analysis answers about 3,200 a second; where it is installed, it is timed in the same run
(it pulls an old transformers in, so it lives in an environment of its own: name its interpreter with LLM_ANALYSIS).
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import time

from planner.adapters.catalog import load_catalog
from planner.estimate.estimator import estimate_many
from planner.estimate.physics.configs import Configs, from_rows
from planner.estimate.planned_config import labels_of, planned_config
from planner.model.architecture import Decoder
from planner.model.workload import Checkpointing, Precision, Strategy

MANY = 100_000
REPEATS = 200
NODES = ("aws/p4d.24xlarge", "aws/p5.48xlarge", "aws/p5e.48xlarge", "rtx3090-x10")
PEER = """
import json, time
from llm_analysis.analysis import LLMAnalysis
from llm_analysis.config import ParallelismConfig, get_dtype_config_by_name
from llm_analysis.config import get_gpu_config_by_name, get_model_config_by_name
analysis = LLMAnalysis(get_model_config_by_name("facebook_opt-1.3b"), get_gpu_config_by_name("a100-sxm-80gb"),
                       get_dtype_config_by_name("w16a16e16"), ParallelismConfig(dp_size=8))
began = time.perf_counter()
for count in range(300):
    analysis.training(batch_size_per_gpu=1 + count % 8, seq_len=2048, total_num_tokens=10**9, total_num_gpus=8)
print(json.dumps(300 / (time.perf_counter() - began)))
"""


def described() -> list[tuple[dict[str, float], str]]:
    """Describe hardware x nodes x strategy x micro-batch once; the numbers repeat beyond."""
    catalog = load_catalog()
    decoder = catalog.presets["llama3-8b"].architecture
    assert isinstance(decoder, Decoder)
    found = []
    for name in NODES:
        node = catalog.nodes[name]
        accelerator = catalog.accelerators[node.accelerator]
        for nodes in (1, 2, 4, 8, 16, 32):
            for strategy in Strategy:
                for micro_batch in (1, 2, 4, 8):
                    for checkpointing in Checkpointing:
                        config = planned_config(
                            decoder, seq_len=4096, micro_batch=micro_batch, micro_batches=4, strategy=strategy,
                            precision=Precision.BF16, checkpointing=checkpointing, compiled=False,
                            accelerator=accelerator, node=node, nodes=nodes, per_node=node.accelerators,
                        )  # fmt: skip
                        assert not isinstance(config, str)
                        found.append((config, accelerator.id))
    return found


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
    estimate_many(few, labels, catalog.calibration)
    began = time.perf_counter()
    found = estimate_many(many, many_labels, catalog.calibration)
    many_s = time.perf_counter() - began
    assert len(found.low_90) == MANY
    one, one_label = few.at(slice(0, 1)), labels[:1]
    began = time.perf_counter()
    for _ in range(REPEATS):
        estimate_many(one, one_label, catalog.calibration)
    one_ms = (time.perf_counter() - began) / REPEATS * 1e3
    document = {
        "kind": "planning_speed",
        "configurations": MANY,
        "seconds": round(many_s, 3),
        "per_s": round(MANY / many_s),
        "one_ms": round(one_ms, 3),
        "peak_gib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 3),
        "llm_analysis_per_s": _peer(),
    }
    peer = document["llm_analysis_per_s"]
    document["ratio"] = round(MANY / many_s / peer, 1) if isinstance(peer, float) else None
    print(json.dumps(document, indent=1))


def _peer() -> float | str:
    interpreter = os.environ.get("LLM_ANALYSIS")
    if interpreter is None:
        return "not run: name an interpreter that has llm-analysis with LLM_ANALYSIS"
    done = subprocess.run([interpreter, "-c", PEER], capture_output=True, text=True, check=False)
    return float(json.loads(done.stdout)) if done.returncode == 0 else f"failed: {done.stderr[-200:]}"


if __name__ == "__main__":
    main()
