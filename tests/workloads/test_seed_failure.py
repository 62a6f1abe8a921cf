"""The benchmark that misled its readers, made small: each of its faults, in a real run, gets its reason."""

import pytest

from planner.launcher.collect.verdict import problems_of
from planner.model.evidence.node_shapes import NodeResult
from planner.model.evidence.run import Probe

pytestmark = pytest.mark.slow

QUICK = {"max_warmup_s": 0.1, "min_s": 0.1}


def problems(result, probes=()):
    return " | ".join(problems_of(NodeResult.model_validate(result), probes))


def test_a_run_declared_bf16_that_computes_in_fp32(bare_node, spec_document):
    node = bare_node()
    # without low types the context of autocast is left out, as people forget it
    node.append("strategies/precision.py", "LOW_TYPES.clear()\n")
    result = node.run(spec_document(precision="bf16", window=QUICK), processes=1).result
    assert result["spec"]["precision"] == "bf16"
    assert "was to compute in bf16, but of the work of its matrix products it did 100% in float32" in problems(result)


def test_padded_samples_counted_as_work(bare_node, spec_document):
    node = bare_node()
    node.append(
        "inputs/tokens.py",
        """
_whole = sequence
def sequence(spec, number):
    tokens = _whole(spec, number)
    tokens[65:] = NO_TARGET
    return tokens
_inputs_and_targets = _micro_batch
def _micro_batch(*arguments):
    inputs, targets = _inputs_and_targets(*arguments)
    return inputs.clamp(min=0), targets
""",
    )
    result = node.run(spec_document(window=QUICK), processes=1).result
    assert result["tokens"] == result["padding_tokens"] == result["samples"] * 64
    assert "50% of each sample is padding" in problems(result)
    # ... and the same run as the misleading one told it
    result["tokens"] *= 2
    assert f"{result['padding_tokens']:,} tokens of padding are counted as tokens" in problems(result)


def test_an_input_that_keeps_the_device_waiting(bare_node, spec_document):
    node = bare_node()
    node.append(
        "inputs/tokens.py",
        """
import time
_ready = SyntheticTokens.micro_batches
SyntheticTokens.micro_batches = lambda self, step: time.sleep(0.01) or _ready(self, step)
""",
    )
    result = node.run(spec_document(window=QUICK), processes=1).result
    assert result["data_wait_s"] > 0.009 * result["steps"]
    assert "of the window went by waiting for data" in problems(result)


def test_a_tiny_batch_on_a_device_with_room(two_process_run):
    probes = [Probe(micro_batch=2, samples_per_s=100.0), Probe(micro_batch=4, samples_per_s=150.0)]
    assert "the device is not full" in problems(two_process_run.result, probes)
